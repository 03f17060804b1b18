// SPDX-License-Identifier: Apache-2.0
// stowplan check: whether plans are sound.
#include "stowplan/check/check.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/names.h"
#include "cli/number.h"
#include "cli/report_input.h"
#include "stowplan/hlo/verify.h"
#include "stowplan/report/replan.h"
#include "stowplan/target/guess.h"

namespace stowplan::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> inputs;
  std::string target;  // empty: found
  size_t limit = 20;
  std::string certificate;  // the file; empty: none
  bool is_json = false;
};

// What was found out about one module.
struct Checked {
  std::string name;
  bool has_program = false;  // it was executed
  std::string without;       // why not
  check::Verdict verdict;
  std::string certificate;  // a section, if it was wanted and the plan is sound
};

std::optional<Target> TargetFor(const LoadedModule& loaded, const CheckOptions& options) {
  if (!options.target.empty()) return FindTarget(options.target);
  const hlo::Module& module = *loaded.program;
  const TargetGuess guess =
      GuessTarget(module, module.source ? module.source->name() : std::string());
  if (guess.target) return guess.target;
  return report::FindReportTarget(loaded.report);
}

void AddContradictions(const LoadedModule& loaded, check::Verdict& verdict) {
  for (const Diagnostic& diagnostic : FindingsOf(loaded)) {
    check::Finding finding;
    finding.code = check::Code::kContradiction;
    finding.message = diagnostic.line == 0 ? diagnostic.message
                                           : fmt::format("{}:{}: {}", diagnostic.file,
                                                         diagnostic.line, diagnostic.message);
    verdict.findings.push_back(std::move(finding));
  }
}

Result<check::Certified> CheckOnly(const hlo::Module& module, const report::Report& report,
                                   const Target& target) {
  STOWPLAN_TRY(check::Verdict verdict, check::CheckPlan(module, report, target));
  return check::Certified{.verdict = std::move(verdict), .certificate = {}};
}

Result<Checked> CheckOne(InputModule module, const CheckOptions& options, Console& console) {
  const bool is_alone =
      std::ranges::count_if(module.files, [](const auto& file) { return file.has_value(); }) == 1;
  if (is_alone) AddNeighbours(module);
  STOWPLAN_TRY(const LoadedModule loaded, Load(std::move(module), Program::kRead));
  console.Show(loaded.problems);
  if (!loaded.report.has_assignment) return Fail(loaded.name, "the report has no assignment");
  Checked checked = {
      .name = loaded.name, .has_program = false, .without = {}, .verdict = {}, .certificate = {}};
  checked.verdict = check::CheckReport(loaded.report);
  AddContradictions(loaded, checked.verdict);
  if (!loaded.program) {
    checked.without = "there is no program";
    return checked;
  }
  if (Diagnostics complaints = hlo::VerifyProgram(*loaded.program); !complaints.empty())
    return std::unexpected(std::move(complaints));
  const std::optional<Target> target = TargetFor(loaded, options);
  if (!target) {
    return Fail(loaded.name, "it is not known for which machine this was compiled",
                "name the machine with --target");
  }
  Result<check::Certified> certified =
      options.certificate.empty() ? CheckOnly(*loaded.program, loaded.report, *target)
                                  : check::CertifyPlan(*loaded.program, loaded.report, *target);
  if (!certified) {
    checked.without = certified.error()[0].message;
    return checked;
  }
  checked.has_program = true;
  checked.certificate = std::move(certified->certificate);
  check::Verdict* const verdict = &certified->verdict;
  // What the report says about itself follows what the program says about it.
  const auto middle = std::ranges::find_if(verdict->findings, [](const check::Finding& finding) {
    return !check::IsUnsound(finding.code);
  });
  verdict->findings.insert(middle, checked.verdict.findings.begin(),
                           checked.verdict.findings.end());
  std::ranges::stable_sort(verdict->findings, [](const auto& a, const auto& b) {
    return check::IsUnsound(a.code) && !check::IsUnsound(b.code);
  });
  checked.verdict = std::move(*verdict);
  return checked;
}

std::string_view WordFor(const check::Verdict& verdict) {
  if (verdict.is_fine()) return "sound";
  return verdict.is_sound() ? "inconsistent" : "unsound";
}

std::string TextOf(const Checked& checked, size_t limit) {
  const check::Verdict& verdict = checked.verdict;
  std::string text = fmt::format("{}: {}", checked.name, WordFor(verdict));
  if (checked.has_program) {
    text += fmt::format(" ({} instructions, {} reads)\n", verdict.instructions, verdict.reads);
  } else {
    text += fmt::format(" by the report alone: {}\n", checked.without);
  }
  const size_t shown = std::min(limit, verdict.findings.size());
  for (size_t k = 0; k < shown; ++k) text += check::Describe(verdict.findings[k]);
  if (shown < verdict.findings.size())
    text += fmt::format("... and {} more\n", verdict.findings.size() - shown);
  return text;
}

void AppendJson(const Checked& checked, size_t limit, JsonWriter& json) {
  const check::Verdict& verdict = checked.verdict;
  json.BeginObject();
  json.Field("module", std::string_view(checked.name));
  json.Field("verdict", WordFor(verdict));
  json.Field("has_program", checked.has_program);
  if (!checked.without.empty()) json.Field("without_program", std::string_view(checked.without));
  json.Field("instructions", verdict.instructions);
  json.Field("reads", verdict.reads);
  json.Field("count", static_cast<int64_t>(verdict.findings.size()));
  json.BeginArray("findings");
  for (size_t k = 0; k < std::min(limit, verdict.findings.size()); ++k)
    check::WriteJson(verdict.findings[k], json);
  json.End();
  json.End();
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
  if (inputs->modules.empty()) {
    console.ShowError("there is no plan here",
                      "expected a -buffer-assignment.txt, or a .hlo.pb with an assignment in it");
    return kBadUse;
  }
  int code = kFine;
  std::string certificate;
  std::string text;
  JsonWriter json(text);
  if (options.is_json) {
    json.BeginObject();
    json.Field("schema", "stowplan.check/1");
    json.BeginArray("modules");
  }
  for (InputModule& module : inputs->modules) {
    const Result<Checked> checked = CheckOne(std::move(module), options, console);
    if (!checked) {
      console.Show(checked.error());
      code = kBadUse;
      continue;
    }
    if (!checked->verdict.is_fine()) code = std::max(code, kFinding);
    certificate += checked->certificate;
    if (!options.certificate.empty() && checked->certificate.empty())
      console.Note(fmt::format("note: {}: no certificate, since {}\n", checked->name,
                               checked->has_program ? "the plan is unsound" : checked->without));
    if (options.is_json) {
      AppendJson(*checked, options.limit, json);
    } else {
      text += TextOf(*checked, options.limit);
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
