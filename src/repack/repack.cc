// SPDX-License-Identifier: Apache-2.0
#include "repack/repack.h"

#include <algorithm>
#include <expected>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "executable/executable.h"
#include "executable/field_reader.h"
#include "executable/numbers.h"
#include "executable/thunk_check.h"
#include "explain/own_line.h"
#include "fit/apply.h"
#include "fit/search.h"
#include "order/solve.h"
#include "repack/changed.h"
#include "repack/frozen.h"
#include "repack/layout.h"
#include "repack/slots.h"
#include "repack/units.h"
#include "report/summary.h"
#include "session/make_plan.h"
#include "session/names.h"
#include "session/write_module.h"
#include "stowplan/session.h"

namespace stowplan::repack {
namespace {

using executable::Executable;

// What Stowplan knows about the executable's program.
struct Known {
  PlannedModule given;  // with the executable's own plan
  PlannedModule made;   // the same plan, made by XLA's rules
};

std::string FirstMessage(const Diagnostics& errors) {
  for (const Diagnostic& error : errors) {
    if (error.severity == Severity::kError) return error.message;
  }
  return "no reason is given";
}

PlanOptions OptionsFor(const Executable& executable, const RepackOptions& options) {
  return {.target = std::string(Name(executable.platform())), .release = options.release};
}

// The plan by the rules of one release, if that is the executable's.
std::expected<Known, std::string> UnderstandAs(const Executable& executable,
                                               const PlannedModule& given,
                                               const PlanOptions& options) {
  Result<PlannedModule> made = Plan(given, options);
  if (!made) return std::unexpected(FirstMessage(made.error()));
  if (!made->analysis || !made->report->live_ranges)
    return std::unexpected("the live ranges of its values are not known");
  if (const auto other = FindOtherPlace(*made->report, executable.assignment)) {
    return std::unexpected(fmt::format("its plan is not the one that XLA's rules lead to ({}): {}",
                                       made->release, *other));
  }
  return Known{given, *std::move(made)};
}

std::expected<Known, std::string> Understand(const Executable& executable, PlanOptions& options) {
  const Result<Inputs> inputs =
      OpenBytes(executable.source->name(), executable::HloProtoOf(executable));
  if (!inputs) return std::unexpected(FirstMessage(inputs.error()));
  const Result<PlannedModule> given = LoadOne(*inputs, options);
  if (!given) return std::unexpected(FirstMessage(given.error()));
  if (!given->module) return std::unexpected("its module cannot be read");
  std::expected<Known, std::string> known = UnderstandAs(executable, *given, options);
  if (known || !options.release.empty()) return known;
  // Nothing in an executable names the release, and not every program shows it. The right one is
  // the one whose rules lead to the plan.
  std::vector<std::string_view> releases = ReleaseNames();
  std::ranges::reverse(releases);
  for (const std::string_view release : releases) {
    if (!release.starts_with("jaxlib-")) continue;
    PlanOptions other = options;
    other.release = release;
    std::expected<Known, std::string> again = UnderstandAs(executable, *given, other);
    if (!again) continue;
    options = other;
    return again;
  }
  return known;
}

int64_t Temporaries(const executable::Assignment& assignment) {
  int64_t sum = 0;
  for (const executable::Allocation& allocation : assignment.allocations) {
    if (allocation.is_temporary()) sum = SaturatingAdd(sum, allocation.size);
  }
  return sum;
}

// A new plan, as bytes.
struct Attempt {
  std::string bytes;
  Layout layout;
  int64_t temporaries = 0;
  int64_t moved_thunks = 0;
  int64_t copied_thunks = 0;
  double cost = 0;
  std::vector<FitRepeat> repeats;
};

// The executable's assignment with the places of a layout, and with the values of copies.
executable::Assignment AssignmentOf(const Executable& executable, const Changed& changed,
                                    const Units& units, const Layout& layout) {
  executable::Assignment out = executable.assignment;
  for (const HeapLayout& heap : layout.heaps)
    out.allocations[static_cast<size_t>(heap.allocation)].size = heap.bytes;
  const ValueFlow& flow = changed.analysis->flow;
  int64_t next = static_cast<int64_t>(flow.values.size());
  if (!out.places.empty()) next = std::max(next, out.places.rbegin()->first + 1);
  for (uint32_t i = 0; i < units.values.size(); ++i) {
    const UnitValue& value = units.values[i];
    if (value.unit == kNoUnit) continue;
    if (!value.is_copy) {
      out.places[value.origin] = layout.values[i];
      continue;
    }
    const hlo::InstrId id = flow.instruction(ValueId(i));
    out.places[next] = layout.values[i];
    out.added.push_back({.buffer = next++,
                         .copied = value.origin,
                         .instruction = changed.module->proto_ids[id.index],
                         .name = std::string(changed.module->name(id))});
  }
  return out;
}

// What all attempts start from.
struct Setup {
  const Executable& executable;
  const Known& known;
  const SlotSources& sources;
};

// Lays the changed program out and writes it. `module`: the changed module's bytes, if it changed.
std::expected<Attempt, std::string> Write(const Setup& setup, const Changed& changed,
                                          std::optional<std::string> module) {
  std::expected<Units, std::string> units =
      FindUnits(setup.executable, setup.known.made, setup.sources, changed);
  if (!units) return std::unexpected(std::move(units).error());
  std::expected<Layout, std::string> layout = FindLayout(setup.executable, changed, *units);
  if (!layout) return std::unexpected(std::move(layout).error());
  Attempt attempt{.layout = *std::move(layout),
                  .moved_thunks = changed.moved_thunks,
                  .copied_thunks = changed.copied_thunks};
  executable::Program program = changed.program;
  for (size_t i = 0; i < program.slots.size(); ++i)
    program.slots[i].slice = attempt.layout.slots[i];
  executable::Changes changes;
  changes.assignment = AssignmentOf(setup.executable, changed, *units, attempt.layout);
  attempt.temporaries = Temporaries(*changes.assignment);
  changes.program = &program;
  changes.module = std::move(module);
  Result<std::string> bytes = executable::WriteExecutable(setup.executable, changes);
  if (!bytes) return std::unexpected(FirstMessage(bytes.error()));
  attempt.bytes = *std::move(bytes);
  return attempt;
}

// HloModuleProto of a module with copies, or in another order.
std::expected<std::string, std::string> ModuleBytes(const hlo::Module& original,
                                                    const hlo::Module& module,
                                                    const hlo::Origins& origins) {
  ProtoOrigins ids;
  for (const hlo::InstrId id : origins.instructions)
    ids.instructions.push_back(original.proto_ids[id.index]);
  for (const hlo::CompId id : origins.computations)
    ids.computations.push_back(original.computations[id].proto_id);
  Result<std::string> proto = WriteModule(module, ids);
  if (!proto) return std::unexpected(FirstMessage(proto.error()));
  return std::string(executable::FindBytes(*proto, executable::kHloModule).value_or(""));
}

// Decodes the new bytes and checks everything about them; empty if they are right.
std::string FindMistake(const Executable& original, const std::vector<bool>& reads,
                        const std::string& bytes, const PlanOptions& options) {
  const Result<Executable> rewritten =
      executable::ReadExecutable(Source::FromBytes(original.source->name(), bytes));
  if (!rewritten) return FirstMessage(rewritten.error());
  const std::vector<std::string> findings = executable::CompareThunks(original, *rewritten, reads);
  if (!findings.empty()) return findings[0];
  const Result<Inputs> inputs =
      OpenBytes(original.source->name(), executable::HloProtoOf(*rewritten));
  if (!inputs) return FirstMessage(inputs.error());
  const Result<PlannedModule> planned = LoadOne(*inputs, options);
  if (!planned) return FirstMessage(planned.error());
  const Result<PlannedModule> checked = Check(*planned, options);
  if (!checked) return FirstMessage(checked.error());
  if (checked->verdict.soundness != Soundness::kSound) {
    return fmt::format("the checker calls the new plan {}", Name(checked->verdict.soundness));
  }
  return {};
}

// Within a budget the cheaper one is better, otherwise the lower one.
bool IsBetter(const Attempt& attempt, const Repacked& out) {
  const bool fits =
      out.budget && SaturatingAdd(out.fixed_bytes, attempt.temporaries) <= *out.budget;
  if (fits && out.budget && out.fits()) {
    return attempt.cost != out.cost ? attempt.cost < out.cost
                                    : attempt.temporaries < out.bytes_after;
  }
  return attempt.temporaries < out.bytes_after;
}

// Takes the attempt if it is better than what there is, and right. The reason if it is not right.
struct Consideration {
  const Executable& original;
  const std::vector<bool>& reads;
  const PlanOptions& options;
};
std::string Consider(std::expected<Attempt, std::string> attempt,
                     const Consideration& consideration, Repacked& out) {
  if (!attempt) return attempt.error();
  if (!IsBetter(*attempt, out)) return {};
  std::string mistake = FindMistake(consideration.original, consideration.reads, attempt->bytes,
                                    consideration.options);
  if (!mistake.empty()) return mistake;
  out.bytes = std::move(attempt->bytes);
  out.bytes_after = attempt->temporaries;
  out.moved_values = attempt->layout.moved_values;
  out.moved_thunks = attempt->moved_thunks;
  out.copied_thunks = attempt->copied_thunks;
  out.cost = attempt->cost;
  out.repeats = std::move(attempt->repeats);
  out.bound = 0;
  for (const HeapLayout& heap : attempt->layout.heaps)
    out.bound = SaturatingAdd(out.bound, heap.bound);
  return {};
}

// The program in the best order that a search over all computations finds, if there is one. That
// search does not know what thunks share.
std::expected<Attempt, std::string> InBestOrder(const Setup& setup,
                                                const PlanOptions& plan_options) {
  PlanOptions options = plan_options;
  options.scheduler = "best";
  options.allow_unsound = true;
  options.allow_unchecked = true;
  const Result<PlannedModule> ordered = Plan(setup.known.given, options);
  if (!ordered) return std::unexpected(FirstMessage(ordered.error()));
  const hlo::Module& original = *setup.known.made.module;
  if (!ordered->analysis || ordered->module->instructions.size() != original.instructions.size())
    return std::unexpected("the order cannot be used");
  // What was compiled into one kernel runs in the order that it had.
  auto module = std::make_shared<hlo::Module>(*ordered->module);
  bool is_restored = false;
  for (const hlo::CompId id : FindCompiled(setup.executable, original)) {
    const std::span<const hlo::InstrId> given = original.schedule_of(id);
    const Range& rows = module->computations[id].schedule;
    if (std::ranges::equal(given, module->schedule_of(id)) || given.size() != rows.count) continue;
    std::ranges::copy(given, module->instruction_pool.begin() + rows.begin);
    is_restored = true;
  }
  std::shared_ptr<const Analysis> analysis = ordered->analysis;
  if (is_restored) {
    const Result<Prepared> prepared = Prepare(setup.known.given, plan_options);
    if (!prepared) return std::unexpected(FirstMessage(prepared.error()));
    Result<Analysis> again = Analyze(*module, prepared->setting.rules.analysis);
    if (!again) return std::unexpected(FirstMessage(again.error()));
    analysis = std::make_shared<const Analysis>(*std::move(again));
  }
  std::vector<hlo::InstrId> origins;
  origins.reserve(module->instructions.size());
  for (size_t i = 0; i < module->instructions.size(); ++i) origins.emplace_back(i);
  const Result<std::string> proto = WriteModule(*module);
  if (!proto) return std::unexpected(FirstMessage(proto.error()));
  const std::expected<Changed, std::string> changed = Change(
      setup.executable, original, std::move(module), std::move(analysis), std::move(origins));
  if (!changed) return std::unexpected(changed.error());
  return Write(setup, *changed,
               std::string(executable::FindBytes(*proto, executable::kHloModule).value_or("")));
}

// The entry computation as a sequence says.
std::expected<Attempt, std::string> AsSequence(const Setup& setup, const Frozen& frozen,
                                               const AnalysisOptions& options,
                                               const fit::Sequence& sequence) {
  const hlo::Module& original = *setup.known.made.module;
  fit::Applied applied = fit::Apply(original, frozen.graph, sequence);
  std::expected<std::string, std::string> bytes =
      ModuleBytes(original, applied.module, applied.origins);
  if (!bytes) return std::unexpected(bytes.error());
  const auto module = std::make_shared<const hlo::Module>(std::move(applied.module));
  Result<Analysis> analysis = Analyze(*module, options);
  if (!analysis) return std::unexpected(FirstMessage(analysis.error()));
  const std::expected<Changed, std::string> changed =
      Change(setup.executable, original, module,
             std::make_shared<const Analysis>(*std::move(analysis)), applied.origins.instructions);
  if (!changed) return std::unexpected(changed.error());
  return Write(setup, *changed, *std::move(bytes));
}

class Searcher {
 public:
  Searcher(const Setup& setup, const Changed& same, const RepackOptions& options,
           const Consideration& consider, Repacked& out)
      : setup_(setup), same_(same), options_(options), consider_(consider), out_(out) {}

  void Run() {
    if (options_.reorders) Order(Consider(InBestOrder(setup_, consider_.options), consider_, out_));
    const Result<Prepared> prepared = Prepare(setup_.known.given, consider_.options);
    if (!prepared) return Order(FirstMessage(prepared.error()));
    analysis_options_ = prepared->setting.rules.analysis;
    const std::expected<Units, std::string> units =
        FindUnits(setup_.executable, setup_.known.made, setup_.sources, same_);
    if (!units) return Order(units.error());
    std::vector<Frozen> frozen;
    for (const Guests guests : {Guests::kStay, Guests::kMove}) {
      std::expected<Frozen, std::string> found =
          FindFrozen(setup_.executable, setup_.known.made, prepared->setting.rules, *units, guests);
      if (!found) return Order(found.error());
      frozen.push_back(*std::move(found));
      if (!options_.reorders) continue;
      const order::Answer answer = order::Solve(
          frozen.back().problem, {.should_stop = options_.should_stop, .needs_bound = false});
      Order(Consider(AsSequence(setup_, frozen.back(), analysis_options_, answer.order), consider_,
                     out_));
    }
    if (!order_refusal_.empty() && out_.moved_thunks == 0)
      out_.refusals.push_back("another order: " + order_refusal_);
    if (options_.budget || options_.max_cost) Recompute(frozen);
  }

 private:
  // A way to run the program, as the search expects it to be.
  struct Way {
    const Frozen* frozen = nullptr;
    const fit::Point* point = nullptr;
    double cost = 0;    // as a part of the program's
    int64_t bytes = 0;  // of temporaries
  };

  // Orders are refused only if none is used.
  void Order(std::string why) {
    if (order_refusal_.empty()) order_refusal_ = std::move(why);
  }

  void Recompute(const std::vector<Frozen>& frozen) {
    if (out_.budget && out_.fits()) return;
    const int64_t base = out_.bytes_after;
    for (const Frozen& each : frozen) {
      const double whole = fit::WholeCost(each.task);
      if (whole <= 0) return;
      const fit::Curve curve =
          fit::Search(each.task, {.most_cost = options_.max_cost.value_or(1) * whole,
                                  .should_stop = options_.should_stop});
      // What a plan has besides the load: what cannot be packed.
      const int64_t besides = base - curve[0].peak;
      std::vector<Way> ways;
      for (size_t k = 1; k < curve.size(); ++k)
        ways.push_back({&each, &curve[k], curve[k].cost / whole, curve[k].peak + besides});
      if (out_.budget) {
        FindCheapest(ways);
      } else {
        FindLowest(ways);
      }
    }
    if (!recompute_refusal_.empty() && out_.copied_thunks == 0)
      out_.refusals.push_back("computing values again: " + recompute_refusal_);
  }

  // The lowest way that works. Plans need what is expected, or more: values that stayed in memory
  // of results may not find a place there. So a way that expects more can end up lower, but none
  // that expects more than the lowest plan so far.
  void FindLowest(const std::vector<Way>& ways) {
    constexpr int kTries = 24;
    constexpr int64_t kAlike = 32;  // what differs by less than such a part is tried once
    int64_t last = 0;
    int tries = 0;
    for (auto way = ways.rbegin(); way != ways.rend() && tries < kTries; ++way) {
      if (way->bytes >= out_.bytes_after) break;
      if (tries > 0 && way->bytes - last < last / kAlike) continue;
      last = way->bytes;
      ++tries;
      Try(*way);
    }
  }

  // The cheapest way that fits into the budget; the lowest one if none does.
  void FindCheapest(const std::vector<Way>& ways) {
    const int64_t wanted = *out_.budget - out_.fixed_bytes;
    int64_t aim = wanted;
    constexpr int kTries = 8;
    auto next = ways.begin();
    for (int k = 0; k < kTries; ++k) {
      next = std::find_if(next, ways.end(), [&](const Way& way) { return way.bytes <= aim; });
      if (next == ways.end()) break;
      const std::optional<int64_t> bytes = Try(*next++);
      if (!bytes) continue;
      if (*bytes <= wanted) return;
      // As much lower as the plan is too high.
      aim -= *bytes - wanted;
    }
    if (!out_.fits()) FindLowest(ways);
  }

  // The bytes of temporaries that it has; nothing if it was refused.
  std::optional<int64_t> Try(const Way& way) {
    std::expected<Attempt, std::string> attempt =
        AsSequence(setup_, *way.frozen, analysis_options_, way.frozen->Expand(way.point->sequence));
    const int64_t bytes = attempt ? attempt->temporaries : 0;
    if (attempt) {
      attempt->cost = way.cost;
      attempt->repeats = RepeatsOf(*way.frozen, way.point->sequence);
    }
    std::string mistake = Consider(std::move(attempt), consider_, out_);
    if (mistake.empty()) return bytes;
    if (recompute_refusal_.empty()) recompute_refusal_ = std::move(mistake);
    return std::nullopt;
  }

  [[nodiscard]] std::vector<FitRepeat> RepeatsOf(const Frozen& frozen,
                                                 const fit::Sequence& sequence) const {
    const double whole = fit::WholeCost(frozen.task);
    std::vector<FitRepeat> repeats;
    std::vector<uint8_t> is_done(frozen.task.size(), 0);
    std::map<fit::Node, size_t> rows;
    for (const fit::Node group : sequence) {
      if (std::exchange(is_done[group], 1) == 0) continue;
      const auto [row, is_new] = rows.emplace(group, repeats.size());
      if (is_new) repeats.push_back(RepeatOf(frozen, group));
      ++repeats[row->second].times;
      repeats[row->second].cost += frozen.task.costs[group] / whole;
    }
    return repeats;
  }
  [[nodiscard]] FitRepeat RepeatOf(const Frozen& frozen, fit::Node group) const {
    const hlo::Module& module = *setup_.known.made.module;
    const hlo::InstrId id = frozen.graph.instructions[frozen.groups[group].back()];
    FitRepeat repeat = {.instruction = std::string(module.name(id))};
    if (const hlo::Metadata* metadata = report::MetadataOf(module, id)) {
      repeat.source = explain::LineText(explain::OwnLineOf(module, *metadata, {}));
      repeat.op_name = module.view(metadata->op_name);
    }
    for (const uint32_t life : frozen.task.makes[group])
      repeat.bytes += frozen.task.problem.lives[life].size;
    return repeat;
  }

  const Setup& setup_;
  const Changed& same_;
  const RepackOptions& options_;
  const Consideration& consider_;
  Repacked& out_;
  AnalysisOptions analysis_options_;
  std::string order_refusal_;
  std::string recompute_refusal_;
};

}  // namespace

Result<Repacked> Repack(std::shared_ptr<const Source> source, const RepackOptions& options) {
  STOWPLAN_TRY(const Executable original, executable::ReadExecutable(std::move(source)));
  Repacked out;
  out.module = original.module_name;
  out.bytes_before = out.bytes_after = Temporaries(original.assignment);
  for (const executable::Allocation& allocation : original.assignment.allocations) {
    if (!allocation.is_temporary() && !allocation.is_thread_local && allocation.color == 0)
      out.fixed_bytes = SaturatingAdd(out.fixed_bytes, allocation.size);
  }
  out.budget = options.budget;
  out.refusals = executable::FindObstacles(original);
  if (!out.refusals.empty()) return out;
  PlanOptions plan_options = OptionsFor(original, options);
  const std::expected<Known, std::string> known = Understand(original, plan_options);
  if (!known) {
    out.refusals.push_back(known.error());
    return out;
  }
  const std::expected<SlotSources, std::string> sources = FindSources(original, known->made);
  if (!sources) {
    out.refusals.push_back(sources.error());
    return out;
  }
  const std::vector<bool> reads = SlotResolver(known->made).FindReads(original.program);
  const Setup setup = {original, *known, *sources};
  const Consideration consider = {original, reads, plan_options};
  const Changed same = Unchanged(original, known->made.module, known->made.analysis);
  if (std::string mistake = Consider(Write(setup, same, std::nullopt), consider, out);
      !mistake.empty()) {
    out.refusals.push_back("other places: " + mistake);
  }
  const bool recomputes = options.budget.has_value() || options.max_cost.has_value();
  if (!options.reorders && !recomputes) return out;
  Searcher(setup, same, options, consider, out).Run();
  return out;
}

}  // namespace stowplan::repack
