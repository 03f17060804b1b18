// SPDX-License-Identifier: Apache-2.0
// stowplan repack: a serialized executable with a lower plan.
#include "repack/repack.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unpack.h"
#include "base/zstd.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/number.h"
#include "executable/container.h"
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

// --max-cost: "10%" as 0.1.
std::optional<double> ExtraWorkOf(const Arguments& arguments, Console& console) {
  const std::string& text = arguments.option("max-cost");
  constexpr double kMost = 1000;
  double percent = 0;
  const char* const last = text.data() + text.size() - 1;  // the option is not empty
  const auto [end, error] = std::from_chars(text.data(), last, percent);
  if (error == std::errc() && end == last && *last == '%' && percent >= 0 && percent <= kMost)
    return percent / 100;
  console.ShowError("--max-cost is `" + text + "`", "give 0% to 1000%");
  return std::nullopt;
}

std::optional<repack::RepackOptions> RepackOptionsOf(const Arguments& arguments, Console& console) {
  repack::RepackOptions options = {.reorders = !arguments.flag("keep-order"),
                                   .release = arguments.option("xla-version")};
  if (!arguments.option("budget").empty()) {
    options.budget = ReadBytes("budget", arguments, console);
    if (!options.budget) return std::nullopt;
  }
  if (!arguments.option("max-cost").empty()) {
    options.max_cost = ExtraWorkOf(arguments, console);
    if (!options.max_cost) return std::nullopt;
  }
  return options;
}

// Writes a rewritten executable, packed as the file at `path` is. A file is replaced as a whole or
// not at all.
int WriteRepacked(const std::string& path, const std::string& target, const std::string& bytes,
                  Console& console) {
  std::optional<std::string> packed = bytes;
  if (PackingOf(path) == Packing::kZstd) packed = console.Take(Zstd(bytes));
  if (!packed) return kBadUse;
  const std::unique_ptr<Output> output = console.Open(target);
  if (output == nullptr) return kBadUse;
  output->Write(*packed);
  return console.Finish(*output, kFine);
}

int RepackCode(const repack::Repacked& repacked) { return repacked.fits() ? kFine : kFinding; }

int RepackFile(const std::string& path, const Arguments& arguments,
               const repack::RepackOptions& options, Console& console) {
  std::optional<std::shared_ptr<const Source>> source = console.Take(ReadSource(path));
  if (!source) return kBadUse;
  std::optional<repack::Repacked> repacked = console.Take(repack::Repack(*source, options));
  if (!repacked) return kBadUse;
  const bool is_json = arguments.option("format") == "json";
  const int code = RepackCode(*repacked);
  const int printed =
      console.Print(is_json ? page::RepackJson(*repacked) : page::RepackPage(*repacked), code);
  const std::string target =
      arguments.flag("in-place") ? path : std::string(arguments.option("output"));
  if (printed != code || target.empty() || repacked->bytes.empty()) return printed;
  const int written = WriteRepacked(path, target, repacked->bytes, console);
  return written == kFine ? code : written;
}

// Files of a folder, by name. Folders inside it are left out.
std::vector<std::filesystem::path> FilesOf(const std::string& folder) {
  std::vector<std::filesystem::path> out;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_regular_file(error)) out.push_back(it->path());
  }
  std::ranges::sort(out);
  return out;
}

bool CopyFile(const std::filesystem::path& from, const std::string& to, Console& console) {
  std::ifstream file(from, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::unique_ptr<Output> output = file ? console.Open(to) : nullptr;
  if (output == nullptr) return false;
  output->Write(bytes);
  return console.Finish(*output, kFine) == kFine;
}

// All entries of a compilation cache. Those that cannot be read or are refused stay as they are.
int RepackFolder(const std::string& folder, const Arguments& arguments,
                 const repack::RepackOptions& options, Console& console) {
  const std::string target =
      arguments.flag("in-place") ? folder : std::string(arguments.option("output"));
  std::error_code error;
  if (!target.empty() && !std::filesystem::is_directory(target, error) &&
      !std::filesystem::create_directories(target, error)) {
    console.ShowError("cannot create the folder `" + target + "`");
    return kBadUse;
  }
  std::vector<page::RepackedEntry> entries;
  int code = kFine;
  for (const std::filesystem::path& path : FilesOf(folder)) {
    const std::string to =
        target.empty() ? std::string() : (std::filesystem::path(target) / path.filename()).string();
    const Result<std::shared_ptr<const Source>> source = ReadSource(path.string());
    std::string lower;
    if (source && executable::LooksLikeExecutable((*source)->bytes())) {
      page::RepackedEntry entry = {.name = path.filename().string()};
      Result<repack::Repacked> repacked = repack::Repack(*source, options);
      if (repacked) {
        lower = repacked->bytes;
        if (code == kFine) code = RepackCode(*repacked);
        entry.repacked = *std::move(repacked);
      } else {
        entry.failure = repacked.error().empty() ? "" : repacked.error()[0].message;
      }
      entries.push_back(std::move(entry));
    }
    if (to.empty()) continue;
    // The output folder gets all files, so that it is a complete cache.
    if (!lower.empty() ? WriteRepacked(path.string(), to, lower, console) != kFine
                       : !arguments.flag("in-place") && !CopyFile(path, to, console)) {
      return kBadUse;
    }
  }
  if (entries.empty()) {
    console.ShowError("no file in `" + folder + "` is a serialized executable");
    return kBadUse;
  }
  return console.Print(arguments.option("format") == "json" ? page::RepackFolderJson(entries)
                                                            : page::RepackFolderPage(entries),
                       code);
}

int RunRepack(const Arguments& arguments, Console& console) {
  const std::optional<repack::RepackOptions> options = RepackOptionsOf(arguments, console);
  if (!options) return kBadUse;
  if (arguments.flag("in-place") && !arguments.option("output").empty()) {
    console.ShowError("--in-place and --output cannot be combined");
    return kBadUse;
  }
  const std::string& path = arguments.positionals[0];
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return RepackFolder(path, arguments, *options, console);
  return RepackFile(path, arguments, *options, console);
}

}  // namespace

CommandSpec RepackCommand() {
  return {
      .name = "repack",
      .summary = "give a serialized executable a lower plan",
      .details =
          "Lays out the temporaries of a serialized executable anew, and runs its thunks in\n"
          "a different order if that needs less memory. With --budget or --max-cost,\n"
          "kernels may run a second time, so that their results need not stay in memory.\n"
          "The kernels themselves do not change and run on the same inputs, so the results\n"
          "are the same to the bit. The new executable is written only if it can be read\n"
          "back, the checker calls its plan sound, and its thunks compute what the\n"
          "original's do. An executable that is not fully understood is refused.\n"
          "\n"
          "Reads and writes what a JAX client's serialize_executable returns, and entries\n"
          "of JAX's persistent compilation cache; in a folder, all entries. What is refused\n"
          "stays as it is. Nothing is loaded or run. The exit code is 1 if an executable\n"
          "does not fit into the given budget.\n",
      .examples =
          "  stowplan repack step.bin                 what could be saved\n"
          "  stowplan repack step.bin -o lower.bin    the executable with the lower plan\n"
          "  stowplan repack step.bin --budget=8GiB -o lower.bin   recompute values to fit\n"
          "  stowplan repack ~/.cache/jax -o ~/.cache/jax-lower    all entries of a cache\n",
      .positional = "EXECUTABLE|FOLDER",
      .options =
          {
              {.name = "output",
               .short_name = 'o',
               .value = "FILE",
               .help = "write the new executable if it needs less; for a folder, write all files"},
              {.name = "in-place", .help = "replace the file, or the files in the folder"},
              {.name = "budget",
               .value = "SIZE",
               .help = "compute values again until all allocations fit"},
              {.name = "max-cost",
               .value = "PERCENT",
               .help = "extra work that is allowed; without a budget, all of it is used"},
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
