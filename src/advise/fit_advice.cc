// SPDX-License-Identifier: Apache-2.0
#include "advise/fit_advice.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/stable_sort.h"
#include "session/fit.h"
#include "session/fit_lines.h"

namespace stowplan::advise {
namespace {

// How much more work is worth proposing.
constexpr double kMostCost = 0.1;
// How many instructions all sequences that the search looks at may have together. A program of a
// thousand instructions is searched to the end.
constexpr double kMostEffort = 2e7;

// "`exp` of tfm.py:17 in layers 3 to 12"
std::string NameOf(const FitLine& line) {
  std::string words = "`" + line.operations + "`";
  if (!line.source.empty()) words += " of " + line.source;
  if (!line.parts.empty()) words += " in " + line.parts;
  return words;
}

// Where to put jax.checkpoint: the functions whose values free the most. Those that free little are
// left out: around the whole network, jax.checkpoint would compute everything again.
std::string FunctionsOf(const std::vector<FitLine>& lines) {
  constexpr size_t kMostFunctions = 3;
  constexpr int64_t kLeastShare = 10;  // percent of what all lines free
  std::vector<std::pair<std::string, int64_t>> freed;
  int64_t whole = 0;
  for (const FitLine& line : lines) {
    whole += line.freed;
    if (line.function.empty() || line.function.starts_with('<')) continue;
    const auto found =
        std::ranges::find(freed, line.function, &std::pair<std::string, int64_t>::first);
    if (found == freed.end()) {
      freed.emplace_back(line.function, line.freed);
    } else {
      found->second += line.freed;
    }
  }
  StableSort(freed, std::greater(), &std::pair<std::string, int64_t>::second);
  std::vector<std::string> functions;
  for (const auto& [function, bytes] : freed) {
    if (bytes == 0 || bytes < whole / 100 * kLeastShare || functions.size() == kMostFunctions)
      break;
    functions.push_back(function);
  }
  std::string out;
  for (size_t i = 0; i < functions.size(); ++i)
    out += (i == 0 ? "" : i + 1 == functions.size() ? " and " : ", ") + functions[i];
  return out;
}

// If most is freed in loops: the line of the loop whose stacks free the most.
std::string LoopOf(const std::vector<FitLine>& lines) {
  int64_t whole = 0;
  int64_t in_loops = 0;
  const FitLine* most = nullptr;
  for (const FitLine& line : lines) {
    whole += line.freed;
    if (!line.is_in_loop) continue;
    in_loops += line.freed;
    if (most == nullptr || line.freed > most->freed) most = &line;
  }
  return most != nullptr && in_loops > whole / 2 ? most->source : std::string();
}

}  // namespace

std::function<std::optional<Recomputed>(const hlo::Module&)> Recomputer(
    const PlannedModule& planned, const PlanOptions& plan_options,
    std::function<bool()> should_stop) {
  return [planned, plan_options, should_stop = std::move(should_stop)](
             const hlo::Module& module) -> std::optional<Recomputed> {
    // XLA's places in fast memory belong to XLA's program.
    PlannedModule program = {.name = planned.name,
                             .module = std::make_shared<const hlo::Module>(module),
                             .report = nullptr,
                             .origin = Origin::kGiven,
                             .verdict = {},
                             .target = planned.target,
                             .release = planned.release};
    FitOptions options;
    options.plan = plan_options;
    options.max_cost = kMostCost;
    options.uses_order = false;
    double effort = 0;
    const auto size = static_cast<double>(module.schedule_of(module.entry).size());
    options.on_point = [&effort, size](double, int64_t) { effort += size; };
    options.plan.should_stop = [&effort, &should_stop] {
      return effort > kMostEffort || (should_stop && should_stop());
    };
    const Result<Fitted> fitted = Fit(program, options);
    if (!fitted || fitted->facts.repeats.empty()) return std::nullopt;
    return Recomputed{.module = *fitted->planned.module,
                      .lines = LinesOf(fitted->facts.repeats),
                      .cost = fitted->facts.cost};
  };
}

void DescribeRecomputed(const Recomputed& recomputed, const Setting& setting, Advice& advice) {
  const std::vector<FitLine>& lines = recomputed.lines;
  advice.what = "compute again instead of keeping: " + NameOf(lines[0]);
  if (lines.size() > 1)
    advice.what += " and " + CountOf(static_cast<int64_t>(lines.size()) - 1, "more line");
  constexpr double kNothing = 0.0005;
  advice.what += recomputed.cost < kNothing
                     ? ", for no more work"
                     : fmt::format(", for {:.1f} % more work", 100 * recomputed.cost);
  const std::string loop = LoopOf(lines);
  const std::string functions = FunctionsOf(lines);
  advice.how = !loop.empty()       ? "jax.checkpoint around the body of the loop at " + loop
               : functions.empty() ? "jax.checkpoint around what computes these lines"
                                   : "jax.checkpoint around " + functions;
  if (!loop.empty())
    advice.notes.emplace_back(
        "Stacks that the forward loop no longer writes and the backward loop no longer reads save "
        "work, too, so the whole can be less than its parts.");
  for (const FitLine& line : lines) {
    advice.notes.push_back(fmt::format("recompute {}: frees {}, {:+.1f} % of the work",
                                       NameOf(line), HumanBytes(line.freed), 100 * line.cost));
  }
  if (setting.rules.target.name == "cpu" && loop.empty())
    advice.notes.emplace_back(
        "XLA for CPUs often merges what jax.checkpoint computes again with the first computation: "
        "compile and compare.");
}

}  // namespace stowplan::advise
