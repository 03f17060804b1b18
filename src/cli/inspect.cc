// SPDX-License-Identifier: Apache-2.0
// stowplan inspect: what is inside a serialized executable.
#include <string>

#include "cli/command.h"
#include "cli/console.h"
#include "executable/executable.h"
#include "page/inspect_page.h"

namespace stowplan::cli {
namespace {

int RunInspect(const Arguments& arguments, Console& console) {
  const Result<std::shared_ptr<const Source>> source = ReadSource(arguments.positionals[0]);
  if (!source) {
    console.Show(source.error());
    return kBadUse;
  }
  const Result<executable::Executable> executable = executable::ReadExecutable(*source);
  if (!executable) {
    console.Show(executable.error());
    return kBadUse;
  }
  return console.Print(arguments.option("format") == "json" ? page::InspectJson(*executable)
                                                            : page::InspectPage(*executable),
                       kFine);
}

}  // namespace

CommandSpec InspectCommand() {
  return {
      .name = "inspect",
      .summary = "show what is inside a serialized executable",
      .details =
          "Reads a serialized executable of XLA for CPUs or GPUs: what a JAX client's\n"
          "serialize_executable returns, a pickle of it, or an entry of JAX's persistent\n"
          "compilation cache. Lists the container, the thunks that the runtime executes,\n"
          "by kind, and the allocations, and says whether memory could be laid out anew.\n"
          "Nothing is unpickled, loaded or run.\n",
      .examples =
          "  stowplan inspect step.bin\n"
          "  stowplan inspect ~/.cache/jax/jit_step-1a2b3c-cache --format=json\n",
      .positional = "EXECUTABLE",
      .options =
          {
              {.name = "format",
               .value = "KIND",
               .help = "output format",
               .fallback = "text",
               .choices = {"text", "json"}},
          },
      .run = RunInspect,
  };
}

}  // namespace stowplan::cli
