// SPDX-License-Identifier: Apache-2.0
// stowplan gate: checks that a program stays within its budget, and within what it used before.
#include "gate/gate.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "diff/diff.h"
#include "explain/moment.h"
#include "gate/lock.h"
#include "page/gate_view.h"
#include "page/pictured.h"
#include "page/text.h"
#include "report/peak.h"
#include "session/pairs.h"
#include "stowplan/base/source.h"

namespace stowplan::cli {
namespace {

using page::PicturedPlan;

struct GateOptions {
  std::string base;  // empty: none
  std::string input;
  PlanOptions plan;
  std::vector<gate::Budget> budgets;
  gate::Growth growth;
  std::string lock;
  // "peak" or "footprint"; empty: the footprint against a budget, and the peak otherwise. What must
  // be free is the footprint; what changes with the program is seen best at the peak.
  std::string figure;
  bool is_update = false;
  size_t limit = 3;
  std::string format;
};

// What a module takes in each memory space, and in all of them together. If that is not known,
// shows an error and returns nothing.
std::optional<std::vector<gate::Figure>> FiguresOf(const std::string& name,
                                                   const explain::Picture& picture,
                                                   std::string_view figure, Console& console) {
  std::vector<gate::Figure> figures;
  const std::string module = page::Printable(name);
  if (figure == "peak") {
    if (!report::HasPeak(*picture.report)) {
      console.ShowError(fmt::format("{}: the peak is not known without live ranges", module),
                        "also give the module or its -live-range.txt, or use --of=footprint");
      return std::nullopt;
    }
    const explain::Curves& curves = picture.curves;
    for (const explain::Curve& curve : curves.spaces)
      figures.push_back({.module = module, .space = curve.space, .bytes = curve.peak.bytes});
    figures.push_back({.module = module, .space = std::nullopt, .bytes = curves.all.peak.bytes});
    return figures;
  }
  std::map<int64_t, int64_t> spaces;
  int64_t all = 0;  // MakePicture has seen that the sum fits
  for (const report::Allocation& allocation : picture.report->allocations.rows()) {
    spaces[allocation.color] += allocation.size;
    all += allocation.size;
  }
  for (const auto& [space, bytes] : spaces)
    figures.push_back({.module = module, .space = space, .bytes = bytes});
  figures.push_back({.module = module, .space = std::nullopt, .bytes = all});
  return figures;
}

class Gate {
 public:
  Gate(const GateOptions& options, Console& console) : options_(options), console_(console) {}

  int Run() {
    if (options_.base.empty() ? !CheckInput() : !CheckPairs()) return kBadUse;
    if (!options_.lock.empty() && !CheckLock()) return kBadUse;
    const int code = view_.breaches() == 0 ? kFine : kFinding;
    const auto page = options_.format == "markdown" ? page::GateMarkdown
                      : options_.format == "junit"  ? page::GateJunit
                      : options_.format == "json"   ? page::GateJson
                                                    : page::GatePage;
    return console_.Print(page(view_), code);
  }

 private:
  [[nodiscard]] std::string FigureOf(gate::Rule rule) const {
    if (!options_.figure.empty()) return options_.figure;
    return rule == gate::Rule::kBudget ? "footprint" : "peak";
  }

  void Add(gate::Verdict verdict, report::Backend backend) {
    page::GateRow row;
    row.figure = FigureOf(verdict.rule);
    row.space = verdict.space ? page::SpaceText(backend, *verdict.space) : "all memory spaces";
    row.verdict = std::move(verdict);
    view_.rows.push_back(std::move(row));
  }

  // Checks the budgets of one module, and keeps its figures for the lock file.
  bool CheckModule(const std::string& name, const explain::Picture& picture,
                   std::vector<gate::Figure>& figures) {
    backend_ = picture.backend;
    if (!options_.budgets.empty()) {
      const auto measured = FiguresOf(name, picture, FigureOf(gate::Rule::kBudget), console_);
      if (!measured) return false;
      for (gate::Verdict& verdict : gate::CheckBudgets(*measured, options_.budgets))
        Add(std::move(verdict), picture.backend);
    }
    if (options_.base.empty() && options_.lock.empty()) return true;
    std::optional<std::vector<gate::Figure>> found =
        FiguresOf(name, picture, FigureOf(gate::Rule::kGrowth), console_);
    if (!found) return false;
    figures = *std::move(found);
    all_.insert(all_.end(), figures.begin(), figures.end());
    return true;
  }

  // Shows the errors and returns null if it cannot be read.
  std::unique_ptr<PicturedPlan> LoadSide(const InputModule& module) {
    std::optional<std::unique_ptr<PicturedPlan>> side =
        console_.Take(page::LoadPicture(module, options_.plan));
    if (!side) return nullptr;
    console_.Show((*side)->planned.notes);
    return *std::move(side);
  }

  bool CheckInput() {
    const std::optional<Inputs> inputs = console_.Take(Open({options_.input}));
    if (!inputs) return false;
    const std::optional<std::vector<NamedModule>> modules =
        console_.Take(NamedModules(*inputs, options_.plan));
    if (!modules) return false;
    for (const NamedModule& module : *modules) {
      const std::unique_ptr<PicturedPlan> plan = LoadSide(module.module);
      std::vector<gate::Figure> figures;
      if (plan == nullptr ||
          !CheckModule(ShownName(module.name, modules->size() == 1, plan->planned), plan->picture,
                       figures))
        return false;
    }
    return true;
  }

  bool CheckPairs() {
    const std::optional<InputPair> inputs = console_.Take(OpenBoth(options_.base, options_.input));
    if (!inputs) return false;
    const std::optional<std::vector<ModulePair>> pairs =
        console_.Take(PairModules(inputs->a, inputs->b, options_.plan));
    if (!pairs) return false;
    for (const ModulePair& pair : *pairs) {
      std::unique_ptr<PicturedPlan> base;
      std::unique_ptr<PicturedPlan> plan;
      if (pair.a) {
        base = LoadSide(*pair.a);
        if (base == nullptr) return false;
      }
      if (pair.b) {
        plan = LoadSide(*pair.b);
        if (plan == nullptr) return false;
      }
      const std::string name =
          ShownName(pair.name, pairs->size() == 1, (plan != nullptr ? plan : base)->planned);
      std::vector<gate::Figure> was;
      std::vector<gate::Figure> figures;
      if (base != nullptr) {
        auto found = FiguresOf(name, base->picture, FigureOf(gate::Rule::kGrowth), console_);
        if (!found) return false;
        was = *std::move(found);
      }
      if (plan != nullptr && !CheckModule(name, plan->picture, figures)) return false;
      if (!CheckGrowthOf(was, figures, base.get(), plan.get())) return false;
    }
    return true;
  }

  bool CheckGrowthOf(const std::vector<gate::Figure>& was, const std::vector<gate::Figure>& figures,
                     const PicturedPlan* base, const PicturedPlan* plan) {
    const report::Backend backend = (plan != nullptr ? plan : base)->picture.backend;
    std::optional<diff::Diff> diff;
    std::vector<std::vector<diff::Cause>> causes;  // by its spaces
    for (gate::Verdict& verdict :
         gate::CheckGrowth(was, figures, options_.growth, gate::Rule::kGrowth)) {
      Add(std::move(verdict), backend);
      page::GateRow& row = view_.rows.back();
      if (row.verdict.outcome != gate::Outcome::kBreach) continue;
      if (!diff) {
        Result<diff::Diff> made = diff::DiffOf(base->picture, plan->picture);
        if (!made) {
          console_.Show(made.error());
          return false;
        }
        diff = *std::move(made);
        causes = diff::AllCausesOf(*diff, base->picture, plan->picture);
      }
      const auto space =
          std::ranges::lower_bound(diff->spaces, row.verdict.space, {}, &diff::SpaceDiff::space);
      if (space == diff->spaces.end() || space->space != row.verdict.space || !diff->has_peak)
        continue;
      row.causes = causes[static_cast<size_t>(space - diff->spaces.begin())];
      if (options_.limit != 0 && row.causes.size() > options_.limit)
        row.causes.resize(options_.limit);
    }
    return true;
  }

  bool CheckLock() {
    if (options_.is_update) {
      const std::unique_ptr<Output> output = console_.Open(options_.lock);
      if (output == nullptr) return false;
      output->Write(gate::WriteLock(all_, FigureOf(gate::Rule::kLock)));
      view_.lock = options_.lock;
      return console_.Finish(*output, kFine) == kFine;
    }
    const Result<std::shared_ptr<const Source>> source = ReadSource(options_.lock);
    if (!source) {
      Diagnostics errors = source.error();
      if (!errors.empty() && errors[0].hint.empty())
        errors[0].hint = "`--update` writes the lock file";
      console_.Show(errors);
      return false;
    }
    const Result<std::vector<gate::Figure>> locked =
        gate::ReadLock(options_.lock, (*source)->bytes(), FigureOf(gate::Rule::kLock));
    if (!locked) {
      console_.Show(locked.error());
      return false;
    }
    for (gate::Verdict& verdict :
         gate::CheckGrowth(*locked, all_, options_.growth, gate::Rule::kLock)) {
      // With --module, the other modules are not checked.
      if (verdict.outcome == gate::Outcome::kGone && !options_.plan.module.empty()) continue;
      Add(std::move(verdict), backend_);
    }
    return true;
  }

  const GateOptions& options_;
  Console& console_;
  page::GateView view_;
  std::vector<gate::Figure> all_;  // of all modules
  report::Backend backend_ = report::Backend::kUnknown;
};

// "14GiB", "1:128MiB", "all:16GiB"
std::optional<gate::Budget> ParseBudget(std::string_view text) {
  gate::Budget budget;
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    const std::string_view space = text.substr(0, colon);
    text.remove_prefix(colon + 1);
    if (space == "all") {
      budget.of = gate::Budget::Of::kAll;
    } else {
      budget.of = gate::Budget::Of::kOne;
      const auto [end, error] =
          std::from_chars(space.data(), space.data() + space.size(), budget.space);
      if (error != std::errc() || end != space.data() + space.size()) return std::nullopt;
    }
  }
  const std::optional<int64_t> bytes = page::ParseBytes(text);
  if (!bytes) return std::nullopt;
  budget.bytes = *bytes;
  return budget;
}

std::optional<gate::Amount> ReadAmount(std::string_view option, const Arguments& arguments,
                                       Console& console) {
  const std::string& text = arguments.option(option);
  if (text.empty()) return gate::Amount{};
  if (const std::optional<gate::Amount> percent = gate::ParsePercent(text)) return percent;
  if (const std::optional<int64_t> bytes = page::ParseBytes(text))
    return gate::Amount{.bytes = *bytes, .millionths = 0};
  console.ShowError("--" + std::string(option) + " needs bytes or percent, not `" + text + "`",
                    "such as 64MiB or 1%");
  return std::nullopt;
}

int RunGate(const Arguments& arguments, Console& console) {
  GateOptions options;
  const bool has_base = arguments.positionals.size() == 2;
  if (has_base) options.base = arguments.positionals[0];
  options.input = arguments.positionals.back();
  options.plan = PlanOptionsOf(arguments, console);
  options.lock = arguments.option("lock");
  options.is_update = arguments.flag("update");
  options.figure = arguments.option("of");
  options.format = arguments.option("format");
  std::string_view budgets = arguments.option("budget");
  while (!budgets.empty()) {
    const std::string_view text = budgets.substr(0, budgets.find('\n'));
    budgets.remove_prefix(std::min(budgets.size(), text.size() + 1));
    const std::optional<gate::Budget> budget = ParseBudget(text);
    if (!budget) {
      console.ShowError("--budget needs a size, not `" + std::string(text) + "`",
                        "such as 14GiB, or 1:128MiB for memory space 1, or all:16GiB");
      return kBadUse;
    }
    options.budgets.push_back(*budget);
  }
  const std::optional<gate::Amount> most = ReadAmount("max-growth", arguments, console);
  const std::optional<gate::Amount> tolerance = ReadAmount("tolerance", arguments, console);
  const std::optional<size_t> limit = ReadCount("top", arguments, console);
  if (!most || !tolerance || !limit) return kBadUse;
  options.growth = {.most = *most, .tolerance = *tolerance};
  options.limit = *limit;
  if (options.budgets.empty() && !has_base && options.lock.empty()) {
    console.ShowError("there is nothing to check against",
                      "give --budget=SIZE, a BASE to compare with, or --lock=FILE");
    return kBadUse;
  }
  if (!has_base && options.lock.empty() &&
      (!arguments.option("max-growth").empty() || !arguments.option("tolerance").empty())) {
    console.ShowError("--max-growth and --tolerance need something to compare with",
                      "give a BASE before the input, or --lock=FILE");
    return kBadUse;
  }
  if (options.is_update && (options.lock.empty() || has_base || !options.plan.module.empty())) {
    console.ShowError(
        "--update writes what all modules of one input take to --lock=FILE",
        options.lock.empty() ? "give --lock=FILE" : "leave out the base and --module");
    return kBadUse;
  }
  return Gate(options, console).Run();
}

}  // namespace

CommandSpec GateCommand() {
  return {
      .name = "gate",
      .summary = "fail if a program takes more memory than allowed, for CI",
      .details =
          "Checks what each module takes in each memory space: against a budget, a base,\n"
          "or a lock file kept in version control. With a base, a breach also shows its\n"
          "largest causes, as `stowplan diff` does.\n"
          "\n"
          "  --budget      no more than this must be free for the program: its footprint\n"
          "  BASE          no more than BASE takes, plus --max-growth\n"
          "  --lock=FILE   no more than FILE says, plus --max-growth; --update writes FILE\n"
          "\n"
          "Compilers do not always produce the same plan, so changes up to --tolerance are\n"
          "treated as noise. Budgets ignore the tolerance. A module missing from the lock\n"
          "file is a breach; a module missing from the base is not. See docs/diff.md.\n"
          "\n"
          "The exit code is 0 if all checks pass, 1 if one fails, and 2 if an input cannot\n"
          "be read.\n",
      .examples =
          "  stowplan gate dump/ --budget=14GiB\n"
          "  stowplan gate main_dump/ pr_dump/ --max-growth=1% --tolerance=1MiB\n"
          "  stowplan gate dump/ --lock=memory.lock --update   accept the new figures\n"
          "  stowplan gate dump/ --lock=memory.lock            in CI\n"
          "  stowplan gate dump/ --budget=14GiB --format=junit > memory.xml\n",
      .positional = "[BASE] INPUT",
      .count = Positionals::kOneOrTwo,
      .options = WithPlanOptions({
          {.name = "budget",
           .value = "SIZE",
           .help = "the limit for each memory space; 1:SIZE for space 1 only, all:SIZE for the "
                   "total; may be repeated",
           .is_list = true},
          {.name = "max-growth",
           .value = "AMOUNT",
           .help = "allowed growth, in bytes or percent (default: 0)"},
          {.name = "tolerance",
           .value = "AMOUNT",
           .help = "changes to ignore as noise, in bytes or percent (default: 0)"},
          {.name = "lock", .value = "FILE", .help = "a file that says what each module may take"},
          {.name = "update", .help = "write the lock file"},
          {.name = "of",
           .value = "FIGURE",
           .help = "the figure to check, by default the footprint against --budget and the peak "
                   "otherwise",
           .choices = {"peak", "footprint"}},
          {.name = "top",
           .value = "N",
           .help = "show at most N causes per breach; 0 shows all",
           .fallback = "3"},
          {.name = "format",
           .value = "KIND",
           .help = "output format",
           .fallback = "text",
           .choices = {"text", "markdown", "junit", "json"}},
      }),
      .run = RunGate,
  };
}

}  // namespace stowplan::cli
