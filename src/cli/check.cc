// SPDX-License-Identifier: Apache-2.0
// stowplan check: whether plans are sound.
#include "check/check.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "cli/check_view.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/names.h"
#include "cli/number.h"
#include "cli/plan_input.h"
#include "cli/report_list.h"
#include "cli/report_load.h"

namespace stowplan::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> inputs;
  std::string target;  // empty: found
  size_t limit = 20;
  std::string certificate;  // the file; empty: none
  bool is_json = false;
};

Result<Checked> CheckOne(InputModule module, const CheckOptions& options,
                         std::string_view neighbour, Console& console) {
  const bool is_alone =
      std::ranges::count_if(module.files, [](const auto& file) { return file.has_value(); }) == 1;
  if (is_alone) AddNeighbours(module);
  FindModuleText(module);
  STOWPLAN_TRY(const LoadedModule loaded, Load(std::move(module), Program::kRead));
  console.Show(loaded.problems);
  return CheckModule({.name = loaded.name,
                      .report = loaded.report,
                      .program = loaded.program ? &*loaded.program : nullptr,
                      .neighbour = neighbour,
                      .sources = loaded.sources},
                     options.target, !options.certificate.empty(), console);
}

// The exit code. Nothing is written when an input could not be read, or nothing is certified.
int WriteCertificate(const CheckOptions& options, const std::string& sections, int code,
                     Console& console) {
  if (code == kBadUse || sections.empty()) {
    console.Note("note: no certificate is written\n");
    return std::max(code, kFinding);
  }
  const std::unique_ptr<Output> output = console.Open(options.certificate);
  if (output == nullptr) return kBadUse;
  output->Write(check::kCertificateHead);
  output->Write(sections);
  return console.Finish(*output, code);
}

int Check(const CheckOptions& options, Console& console) {
  Result<Inputs> inputs = FindInputs(options.inputs);
  if (!inputs) {
    console.Show(inputs.error());
    return kBadUse;
  }
  ShowLeftovers(*inputs, console);
  if (inputs->modules.empty()) {
    console.ShowError("there is no plan in " + options.inputs[0], kHowToPlan);
    return kBadUse;
  }
  int code = kFine;
  std::string certificate;
  std::string neighbour;
  std::string text;
  JsonWriter json(text);
  if (options.is_json) {
    json.BeginObject();
    json.Field("schema", "stowplan.check/1");
    json.BeginArray("modules");
  }
  for (InputModule& module : inputs->modules) {
    const Result<Checked> checked = CheckOne(std::move(module), options, neighbour, console);
    if (!checked) {
      console.Show(checked.error());
      code = kBadUse;
      continue;
    }
    if (!checked->verdict.is_fine()) code = std::max(code, kFinding);
    certificate += checked->certificate;
    if (!checked->target.empty()) neighbour = checked->target;
    if (!options.certificate.empty() && checked->certificate.empty())
      console.Note(fmt::format("note: {}: no certificate, since {}\n", checked->name,
                               checked->has_program ? "the plan is unsound" : checked->without));
    if (options.is_json) {
      AppendCheckJson(*checked, options.limit, json);
    } else {
      text += CheckText(*checked, options.limit);
    }
  }
  if (options.is_json) {
    json.End();
    json.End();
    text += '\n';
  }
  if (!options.certificate.empty()) code = WriteCertificate(options, certificate, code, console);
  if (options.certificate != "-") return console.Print(text, code);
  console.Note(text);
  return code;
}

int Run(const Arguments& arguments, Console& console) {
  const auto limit = ReadCount("limit", arguments, console);
  if (!limit) return kBadUse;
  if (arguments.option("certificate") == "-" && arguments.option("format") == "json") {
    console.ShowError("two things go to standard output", "give one of them a file");
    return kBadUse;
  }
  return Check({.inputs = arguments.positionals,
                .target = arguments.option("target"),
                .limit = *limit == 0 ? SIZE_MAX : *limit,
                .certificate = arguments.option("certificate"),
                .is_json = arguments.option("format") == "json"},
               console);
}

}  // namespace

CommandSpec CheckCommand() {
  return {
      .name = "check",
      .summary = "prove that a plan is sound, or show what collides",
      .details =
          "Executes the program on a symbolic memory that is laid out as the plan says:\n"
          "every read must find the value that the program means. Without a program, the\n"
          "report is compared with itself. INPUT is a module with its plan (a .hlo.pb, or\n"
          "a module's text beside XLA's reports), a report alone, or a dump directory.\n"
          "A module that has no plan is not checked: `stowplan assign` makes one, and\n"
          "checks it.\n"
          "A finding is `unsound` (a read gets wrong bytes) or `inconsistent` (the report\n"
          "contradicts itself or the program). docs/check.md lists the kinds and says what\n"
          "is proved. The exit code is 0 when nothing is found, 1 when something is, and 2\n"
          "when an input cannot be read.\n",
      .examples =
          "  stowplan check dump/                      all modules of a dump\n"
          "  stowplan check m.hlo.pb                   the plan inside of a module's file\n"
          "  stowplan check m.txt m-buffer-assignment.txt\n"
          "  stowplan check --format=json dump/        findings for programs\n"
          "  stowplan check --certificate=c.txt dump/  then: stowplan-recheck c.txt\n",
      .positional = "INPUT",
      .count = Positionals::kAny,
      .options =
          {
              {.name = "target",
               .value = "NAME",
               .help = "the machine; found from the module or from the sizes",
               .choices = TargetNames()},
              {.name = "format",
               .value = "FORMAT",
               .help = "text or json",
               .fallback = "text",
               .choices = {"text", "json"}},
              {.name = "limit",
               .value = "N",
               .help = "show at most N findings for each module, 0: all of them",
               .fallback = "20"},
              {.name = "certificate",
               .value = "FILE",
               .help = "write what was checked, for stowplan-recheck; `-` is standard output"},
          },
      .run = Run,
  };
}

}  // namespace stowplan::cli
