// SPDX-License-Identifier: Apache-2.0
// stowplan check: checks whether plans are sound.
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

// Why there is no certificate for a plan.
std::string_view WithoutCertificate(const Verdict& verdict) {
  if (verdict.soundness == Soundness::kUnsound) return "the plan is unsound";
  return verdict.is_by_report ? "there is no program" : std::string_view(verdict.reason);
}

// Returns the exit code. Writes nothing if an input could not be read or nothing was certified.
int WriteCertificate(const CheckOptions& options, const std::string& sections, int code,
                     Console& console) {
  if (code == kBadUse || sections.empty()) {
    console.Note("note: no certificate was written\n");
    return std::max(code, kFinding);
  }
  const std::unique_ptr<Output> output = console.Open(options.certificate);
  if (output == nullptr) return kBadUse;
  output->Write(check::kCertificateHead);
  output->Write(sections);
  return console.Finish(*output, code);
}

int CheckInputs(const CheckOptions& options, Console& console) {
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
      console.Note(fmt::format("note: {}: no certificate, because {}\n", planned.name,
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

int RunCheck(const Arguments& arguments, Console& console) {
  const auto limit = ReadCount("limit", arguments, console);
  if (!limit) return kBadUse;
  if (arguments.option("certificate") == "-" && arguments.option("format") == "json") {
    console.ShowError("--certificate=- and --format=json both write to standard output",
                      "write one of them to a file");
    return kBadUse;
  }
  return CheckInputs({.inputs = arguments.positionals,
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
          "Executes the program on a symbolic memory laid out as the plan says: every read\n"
          "must find the value that the program means. Without a program, the report is\n"
          "checked against its own live ranges.\n"
          "\n"
          "INPUT is a module with its plan (a .hlo.pb, or a module's text beside XLA's\n"
          "reports), a report alone, or a dump directory. A module without a plan is not\n"
          "checked; `stowplan assign` makes a plan and checks it.\n"
          "\n"
          "The verdict is `sound`, `unsound` (a read gets the wrong bytes) or `unchecked`,\n"
          "with the reason. A sound plan can still be inconsistent: its report contradicts\n"
          "itself or the program. docs/check.md lists the findings and states what is\n"
          "proved. The exit code is 0 if there are no findings, 1 if there are, and 2 if an\n"
          "input cannot be read or a plan cannot be checked.\n",
      .examples =
          "  stowplan check dump/                      all modules of a dump\n"
          "  stowplan check m.hlo.pb                   the plan inside a module's file\n"
          "  stowplan check m.txt m-buffer-assignment.txt\n"
          "  stowplan check --format=json dump/        findings as JSON\n"
          "  stowplan check --certificate=c.txt dump/  then: stowplan-recheck c.txt\n",
      .positional = "INPUT",
      .count = Positionals::kAny,
      .options =
          {
              {.name = "target",
               .value = "NAME",
               .help = "the machine, by default detected from the module or the sizes",
               .choices = TargetNames()},
              {.name = "format",
               .value = "FORMAT",
               .help = "output format",
               .fallback = "text",
               .choices = {"text", "json"}},
              {.name = "limit",
               .value = "N",
               .help = "show at most N findings per module; 0 shows all",
               .fallback = "20"},
              {.name = "certificate",
               .value = "FILE",
               .help = "write a certificate for stowplan-recheck; `-` is standard output"},
          },
      .run = RunCheck,
  };
}

}  // namespace stowplan::cli
