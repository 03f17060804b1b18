// SPDX-License-Identifier: Apache-2.0
// stowplan verify: checks that modules are well-formed.
#include "hlo/verify.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/human_bytes.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/number.h"
#include "cli/program_file.h"
#include "session/module_errors.h"
#include "stowplan/session.h"

namespace stowplan::cli {
namespace {

struct VerifyOptions {
  std::vector<std::string> files;
  size_t limit = kMaxErrors;  // complaints shown for each file
};

// Returns the exit code for this file, and appends its line to `report`.
int VerifyFile(const std::string& file, size_t limit, Console& console, std::string& report) {
  const std::string name = file == "-" ? "<stdin>" : file;
  const Result<hlo::Module> module = ReadModule(file);
  if (!module) {
    console.Show(ExplainModuleErrors(module.error()));
    report += name + ": not read\n";
    return kBadUse;
  }
  console.Show(module->warnings);
  const Diagnostics complaints = hlo::Verify(*module);
  console.Show(complaints, limit);
  if (!complaints.empty()) {
    report += name + ": " + CountOf(std::ssize(complaints), "complaint") + "\n";
    return kFinding;
  }
  report += name + ": well-formed (" +
            CountOf(static_cast<int64_t>(module->computations.size()), "computation") + ", " +
            CountOf(static_cast<int64_t>(module->instructions.size()), "instruction") + ")\n";
  return kFine;
}

int Verify(const VerifyOptions& options, Console& console) {
  int code = kFine;
  const std::unique_ptr<Output> output = console.Open("");
  for (const std::string& file : options.files) {
    std::string report;
    code = std::max(code, VerifyFile(file, options.limit, console, report));
    output->Write(report);
  }
  return console.Finish(*output, code);
}

int RunVerify(const Arguments& arguments, Console& console) {
  const auto limit = ReadCount("limit", arguments, console);
  if (!limit) return kBadUse;
  std::optional<std::vector<std::string>> files = ProgramFiles(arguments.positionals, console);
  if (!files) return kBadUse;
  return Verify({.files = *std::move(files), .limit = *limit == 0 ? SIZE_MAX : *limit}, console);
}

}  // namespace

CommandSpec VerifyCommand() {
  return {
      .name = "verify",
      .summary = "check that modules are well-formed",
      .details =
          "Checks names, order and schedules, parameters, shapes across tuples, loops,\n"
          "branches, calls and fusions, aliases, and the header. Complaints go to standard\n"
          "error, and one line per file to standard output. The exit code is 1 if there are\n"
          "complaints. FILE may also be a dump directory: all of its modules.\n",
      .examples =
          "  stowplan verify module.txt\n"
          "  stowplan verify dumps/*.hlo.pb 2>complaints.txt\n"
          "  stowplan verify --limit=0 module.txt     all complaints, not the first 20\n",
      .positional = "FILE",
      .count = Positionals::kAny,
      .options = {{.name = "limit",
                   .value = "N",
                   .help = "show at most N complaints per file; 0 shows all",
                   .fallback = "20"}},
      .run = RunVerify,
  };
}

}  // namespace stowplan::cli
