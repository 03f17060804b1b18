// SPDX-License-Identifier: Apache-2.0
// stowplan print: prints a module as text, in its own dialect or a different one.
#include "hlo/print.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/suggest.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/program_file.h"
#include "page/dialect_list.h"
#include "session/module_errors.h"
#include "session/sequence.h"
#include "stowplan/hlo/dialect.h"
#include "stowplan/session.h"

namespace stowplan::cli {
namespace {

struct PrintOptions {
  std::string file;
  std::string dialect;  // empty: the module's own
  std::string output;   // empty: standard output
};

constexpr std::string_view kList = "list";

std::vector<std::string_view> DialectNames() {
  std::vector<std::string_view> names;
  for (const hlo::NamedDialect& dialect : hlo::Dialects()) names.push_back(dialect.name);
  return names;
}

int Print(const PrintOptions& options, Console& console) {
  std::optional<hlo::Dialect> dialect;
  if (!options.dialect.empty()) {
    dialect = hlo::FindDialect(options.dialect);
    if (!dialect) {
      std::string hint = DidYouMean(options.dialect, DialectNames());
      if (hint.empty()) hint = "`stowplan print --dialect=list` shows them";
      console.ShowError("there is no dialect `" + options.dialect + "`", hint);
      return kBadUse;
    }
  }
  Result<hlo::Module> module = ReadModule(options.file);
  if (!module) {
    console.Show(ExplainModuleErrors(module.error()));
    return kBadUse;
  }
  console.Show(module->warnings);
  if (!dialect && module->format == hlo::Format::kProto) CompleteFromDump(options.file, *module);
  const std::unique_ptr<Output> output = console.Open(options.output);
  if (output == nullptr) return kBadUse;
  hlo::PrintModule(*module, dialect.value_or(module->dialect),
                   [&](std::string_view piece) { return output->Write(piece); });
  return console.Finish(*output, kFine);
}

int RunPrint(const Arguments& arguments, Console& console) {
  const std::string& dialect = arguments.option("dialect");
  if (dialect == kList) return console.Print(page::DialectList(hlo::Dialects()), kFine);
  if (arguments.positionals.empty()) {
    console.ShowError("print needs a FILE", "`stowplan print --help` shows its options");
    return kBadUse;
  }
  PlanOptions options;
  options.module = arguments.option("module");
  options.speech = Speech::kCommandLine;
  std::optional<std::string> file = ProgramFile(arguments.positionals[0], options, console);
  if (!file) return kBadUse;
  return Print({.file = *std::move(file), .dialect = dialect, .output = arguments.option("output")},
               console);
}

}  // namespace

CommandSpec PrintCommand() {
  return {
      .name = "print",
      .summary = "print a module as HLO text",
      .details =
          "Reads a module and prints it as HLO text. Text is printed in the dialect it was\n"
          "written in, byte for byte as XLA wrote it. A proto from a dump is printed as its\n"
          "compiler prints it, judging by the files beside it; any other proto, in XLA's\n"
          "newest long form.\n",
      .examples =
          "  stowplan print module.hlo.pb                       a proto as text\n"
          "  stowplan print --dialect=jaxlib-0.4.35 module.txt  as an older XLA writes it\n"
          "  stowplan print --dialect=list                      all dialects\n"
          "  stowplan print -o tidy.txt by_hand.hlo             in its canonical form\n",
      .positional = "FILE",
      .count = Positionals::kAtMostOne,
      .options =
          {
              {.name = "module", .value = "NAME", .help = "the module to use from a directory"},
              {.name = "dialect",
               .value = "NAME",
               .help = "print as this release of XLA does; `list` shows all"},
              {.name = "output",
               .short_name = 'o',
               .value = "FILE",
               .help = "write to this file instead of standard output"},
          },
      .run = RunPrint,
  };
}

}  // namespace stowplan::cli
