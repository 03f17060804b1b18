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
#include "cli/command.h"
#include "cli/console.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "page/check_page.h"
#include "session/check.h"
#include "session/choose_module.h"
#include "session/inputs.h"
#include "session/load.h"
#include "session/names.h"

namespace stowplan::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> inputs;
  PlanOptions plan;
  size_t limit = 20;
  std::string certificate;  // the file; empty: none
  bool is_json = false;
};

Result<Checked> CheckOne(const InputModule& module, const CheckOptions& options,
                         std::string_view neighbour) {
  InputFiles files = *module.files;
  AddNeighbours(files);
  FindModuleText(files);
  STOWPLAN_TRY(PlannedModule planned, LoadGiven(module, std::move(files), ReadProgram::kYes));
  return CheckPlanned(std::move(planned), options.plan,
                      {.neighbour = neighbour, .certifies = !options.certificate.empty()});
}

int CodeOf(const Verdict& verdict) {
  if (verdict.soundness == Soundness::kUnchecked) return kBadUse;
  return verdict.findings.empty() ? kFine : kFinding;
}

// Why a plan has no certificate.
std::string_view WithoutCertificate(const Verdict& verdict) {
  if (verdict.soundness == Soundness::kUnsound) return "the plan is unsound";
  return verdict.is_by_report ? "there is no program" : std::string_view(verdict.reason);
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
  const std::optional<Inputs> inputs = console.Take(Open(options.inputs));
  if (!inputs) return kBadUse;
  console.Show(LeftoverWarnings(inputs->leftovers), kMaxLeftovers);
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
    json.Field("schema", "stowplan.check/2");
    json.BeginArray("modules");
  }
  for (const InputModule& module : inputs->modules) {
    const Result<Checked> checked = CheckOne(module, options, neighbour);
    if (!checked) {
      console.Show(checked.error());
      code = kBadUse;
      continue;
    }
    const PlannedModule& planned = checked->planned;
    console.Show(planned.notes);
    code = std::max(code, CodeOf(planned.verdict));
    certificate += checked->certificate;
    if (planned.target) neighbour = planned.target->name;
    if (!options.certificate.empty() && checked->certificate.empty())
      console.Note(fmt::format("note: {}: no certificate, since {}\n", planned.name,
                               WithoutCertificate(planned.verdict)));
    if (options.is_json) {
      page::AppendCheckJson(planned, options.limit, json);
    } else {
      text += page::CheckText(planned, options.limit);
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
                .plan = PlanOptionsOf(arguments, console),
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
          "The verdict is `sound`, `unsound` (a read gets wrong bytes) or `unchecked`, with\n"
          "the reason. A sound plan can be inconsistent: its report contradicts itself or\n"
          "the program. docs/check.md lists the findings and says what is proved. The exit\n"
          "code is 0 when nothing is found, 1 when something is, and 2 when an input cannot\n"
          "be read or a plan not be checked.\n",
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
