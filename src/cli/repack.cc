// SPDX-License-Identifier: Apache-2.0
// stowplan repack: a serialized executable with a lower plan.
#include "repack/repack.h"

#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "base/unpack.h"
#include "base/zstd.h"
#include "cli/command.h"
#include "cli/console.h"
#include "page/repack_page.h"

namespace stowplan::cli {
namespace {

// How the file itself is packed, which reading it hides.
Packing PackingOf(const std::string& path) {
  std::string head(16, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return FindPacking(head);
}

int RunRepack(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.positionals[0];
  std::optional<std::shared_ptr<const Source>> source = console.Take(ReadSource(path));
  if (!source) return kBadUse;
  std::optional<repack::Repacked> repacked =
      console.Take(repack::Repack(*source, {.reorders = !arguments.flag("keep-order"),
                                            .release = arguments.option("xla-version")}));
  if (!repacked) return kBadUse;
  const bool is_json = arguments.option("format") == "json";
  const int printed =
      console.Print(is_json ? page::RepackJson(*repacked) : page::RepackPage(*repacked), kFine);
  const std::string& target = arguments.option("output");
  if (printed != kFine || target.empty() || repacked->bytes.empty()) return printed;
  std::optional<std::string> bytes = std::move(repacked->bytes);
  if (PackingOf(path) == Packing::kZstd) bytes = console.Take(Zstd(*bytes));
  if (!bytes) return kBadUse;
  const std::unique_ptr<Output> output = console.Open(target);
  if (output == nullptr) return kBadUse;
  output->Write(*bytes);
  return console.Finish(*output, kFine);
}

}  // namespace

CommandSpec RepackCommand() {
  return {
      .name = "repack",
      .summary = "give a serialized executable a lower plan",
      .details =
          "Lays out the temporaries of a serialized executable anew, and runs its thunks in\n"
          "another order if that needs less memory. The kernels stay as they are and run on\n"
          "the same inputs, so the results are the same to the bit. The new executable is\n"
          "written only if it was read again, the checker calls its plan sound, and its\n"
          "thunks compute what the original's do. Whatever is not understood is refused.\n"
          "\n"
          "Reads and writes what a JAX client's serialize_executable returns, and entries of\n"
          "JAX's persistent compilation cache. Nothing is loaded or run.\n",
      .examples =
          "  stowplan repack step.bin                 what could be saved\n"
          "  stowplan repack step.bin -o lower.bin    the executable with the lower plan\n",
      .positional = "EXECUTABLE",
      .options =
          {
              {.name = "output",
               .short_name = 'o',
               .value = "FILE",
               .help = "write the new executable, if it is lower"},
              {.name = "keep-order", .help = "change places only, not the order"},
              {.name = "xla-version",
               .value = "NAME",
               .help = "the release of XLA that compiled it, if it is not recognized"},
              {.name = "format",
               .value = "KIND",
               .help = "output format",
               .fallback = "text",
               .choices = {"text", "json"}},
          },
      .run = RunRepack,
  };
}

}  // namespace stowplan::cli
