// SPDX-License-Identifier: Apache-2.0
#include "fit/loop_points.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "cost/machine.h"
#include "cost/work.h"
#include "fit/find_task.h"
#include "fit/loop_pairs.h"
#include "fit/loop_values.h"
#include "fit/save_fewer.h"
#include "fit/split_updates.h"
#include "hlo/verify.h"
#include "target/size.h"

namespace stowplan::fit {
namespace {

using hlo::InstrId;
using hlo::Module;

// What a byte costs, in parts of what all recomputation costs for each byte of all stacks. Few
// programs have more than five different choices.
constexpr double kPrices[] = {0.01, 0.1, 0.3, 1, 3, 10, 1000};

int64_t BytesOf(const Module& module, const Target& target, InstrId id) {
  const ByteCount bytes = ByteSize(module.shapes, module.instructions[id].shape, target);
  return bytes.value_or(0);
}

// All that a choice needs to know about a module.
struct LoopFacts {
  explicit LoopFacts(const Module& given, const Target& on)
      : module(given), target(on), pairs(FindLoopPairs(given)) {
    if (pairs.empty()) return;
    pure = FindPure(given);
    const cost::Machine machine = cost::MachineOf(on);
    for (const cost::Work& work : cost::FindWork(given, on))
      costs.push_back(cost::SecondsOf(work, machine));
  }
  [[nodiscard]] std::vector<int64_t> SizesOf(const LoopPair& pair) const {
    std::vector<int64_t> sizes;
    sizes.reserve(pair.stacks.size());
    for (const Stack& stack : pair.stacks)
      sizes.push_back(BytesOf(module, target, stack.update.id));
    return sizes;
  }

  const Module& module;
  const Target& target;
  std::vector<LoopPair> pairs;
  std::vector<uint8_t> pure;
  std::vector<double> costs;  // seconds, by instruction
};

SavedStacks ChooseAt(const LoopFacts& facts, const LoopPair& pair, const LoopValues& values,
                     double part) {
  const std::vector<int64_t> sizes = facts.SizesOf(pair);
  double bytes = 0;
  for (const int64_t size : sizes) bytes += static_cast<double>(size);
  double seconds = 0;
  for (const LoopValue& value : values.values()) seconds += value.cost;
  return ChooseSaved(values, sizes, part * seconds / std::max(bytes, 1.0));
}

LoopValues ValuesOf(const LoopFacts& facts, const LoopPair& pair) {
  return {facts.module, pair, facts.target, facts.pure, facts.costs};
}

// With updates of their own, if there are others.
SplitModule SplitOrGiven(const Module& module) {
  if (std::optional<SplitModule> split = SplitUpdates(module);
      split && hlo::Verify(split->module).empty())
    return *std::move(split);
  SplitModule given = {module, {}};
  for (size_t i = 0; i < module.instructions.size(); ++i)
    given.origins.instructions.emplace_back(i);
  for (size_t c = 0; c < module.computations.size(); ++c)
    given.origins.computations.emplace_back(c);
  return given;
}

// Changes one pair after the other; each has rows of its own in the changed module.
class PointMaker {
 public:
  PointMaker(const SplitModule& split, const Target& target, double part, const ModuleTest& accepts)
      : target_(target), part_(part), accepts_(accepts) {
    point_.module = std::make_shared<const Module>(split.module);
    point_.origins = split.origins;
  }

  // Nothing if no pair could be changed.
  std::optional<LoopPoint> Run() && {
    bool is_changed = false;
    while (const std::optional<bool> changed = ChangeNext()) is_changed = is_changed || *changed;
    return is_changed ? std::optional(std::move(point_)) : std::nullopt;
  }

 private:
  // Nothing if all pairs are done.
  std::optional<bool> ChangeNext() {
    const std::shared_ptr<const Module> module = point_.module;  // which `facts` refers to
    const LoopFacts facts(*module, target_);
    for (const LoopPair& pair : facts.pairs) {
      std::string name(facts.module.name(pair.forward));
      name += ' ';
      name += facts.module.name(pair.backward);
      if (!done_.insert(std::move(name)).second) continue;
      return Change(facts, pair);
    }
    return std::nullopt;
  }
  // The stacks that `id` fills and that are not kept.
  [[nodiscard]] static int64_t StackedBy(const LoopFacts& facts, const LoopPair& pair,
                                         const SavedStacks& saved, InstrId id) {
    const std::vector<int64_t> sizes = facts.SizesOf(pair);
    int64_t bytes = 0;
    for (size_t i = 0; i < pair.stacks.size(); ++i) {
      const Inner& update = pair.stacks[i].update;
      InstrId maker = update.call;
      if (update.fusion.is_none()) {
        maker = facts.module.operands_of(update.id)[1];
        const auto is_name = [&] {
          const hlo::Opcode opcode = facts.module.instructions[maker].opcode;
          return opcode == hlo::Opcode::kBitcast || opcode == hlo::Opcode::kReshape ||
                 opcode == hlo::Opcode::kGetTupleElement;
        };
        while (is_name()) maker = facts.module.operands_of(maker)[0];
      }
      if (maker == id && saved.is_kept[i] == 0) bytes += sizes[i];
    }
    return bytes;
  }

  bool Change(const LoopFacts& facts, const LoopPair& pair) {
    const LoopValues values = ValuesOf(facts, pair);
    const SavedStacks saved = ChooseAt(facts, pair, values, part_);
    if (saved.bytes <= 0) return false;
    std::optional<SavedFewer> fewer = SaveFewer(facts.module, pair, values, saved);
    if (!fewer || !hlo::Verify(fewer->module).empty()) return false;
    auto changed = std::make_shared<const Module>(std::move(fewer->module));
    if (accepts_ && !accepts_(changed)) return false;
    for (const InstrId id : fewer->repetitions) {
      int64_t bytes = BytesOf(facts.module, target_, id);
      for (const Stack& stack : pair.stacks) {
        if (stack.update.call == id)
          bytes = BytesOf(facts.module, target_, facts.module.operands_of(stack.update.id)[1]);
      }
      point_.again.push_back({point_.origins.instructions[id.index], std::ssize(pair.trips), bytes,
                              StackedBy(facts, pair, saved, id)});
    }
    for (InstrId& id : fewer->origins.instructions) id = point_.origins.instructions[id.index];
    for (hlo::CompId& id : fewer->origins.computations) id = point_.origins.computations[id.index];
    point_.origins = std::move(fewer->origins);
    point_.module = std::move(changed);
    return true;
  }

  const Target& target_;
  const double part_;
  const ModuleTest& accepts_;
  LoopPoint point_;
  std::set<std::string> done_;  // names of loops
};

}  // namespace

std::vector<LoopPoint> FindLoopPoints(const Module& module, const Target& target,
                                      const ModuleTest& accepts) {
  std::vector<LoopPoint> points;
  const SplitModule split = SplitOrGiven(module);
  const LoopFacts facts(split.module, target);
  std::vector<std::vector<SavedStacks>> choices;
  for (const double part : kPrices) {
    std::vector<SavedStacks> choice;
    choice.reserve(facts.pairs.size());
    for (const LoopPair& pair : facts.pairs)
      choice.push_back(ChooseAt(facts, pair, ValuesOf(facts, pair), part));
    if (facts.pairs.empty() || std::ranges::find(choices, choice) != choices.end()) continue;
    choices.push_back(std::move(choice));
    if (std::optional<LoopPoint> point = PointMaker(split, target, part, accepts).Run())
      points.push_back(*std::move(point));
  }
  return points;
}

LoopSlack FindLoopSlack(const Module& module) {
  LoopSlack slack;
  slack.may_go.assign(module.instructions.size(), 0);
  std::set<std::pair<InstrId, int64_t>> skipped;  // operands of tuples
  std::set<hlo::CompId> parents;
  const SplitModule split = SplitOrGiven(module);
  for (const LoopPair& pair : FindLoopPairs(split.module)) {
    const InstrId forward = split.origins.instructions[pair.forward.index];
    const InstrId backward = split.origins.instructions[pair.backward.index];
    parents.insert(module.instructions[forward].parent);
    for (const InstrId loop : {forward, backward}) {
      slack.loops.push_back(loop);
      for (const Stack& stack : pair.stacks) {
        const int64_t element = loop == forward ? stack.written : stack.read;
        slack.stacks.emplace_back(loop, element);
        skipped.emplace(module.operands_of(loop)[0], element);
      }
    }
  }
  const auto mark = [&](hlo::CompId computation, bool skips, uint8_t value) {
    std::vector<InstrId> open = {module.computations[computation].root};
    std::set<InstrId> seen = {open[0]};
    while (!open.empty()) {
      const InstrId id = open.back();
      open.pop_back();
      slack.may_go[id.index] = value;
      const std::span<const InstrId> operands = module.operands_of(id);
      for (size_t k = 0; k < operands.size(); ++k) {
        if (skips && skipped.contains({id, static_cast<int64_t>(k)})) continue;
        if (seen.insert(operands[k]).second) open.push_back(operands[k]);
      }
    }
  };
  for (const hlo::CompId parent : parents) {
    mark(parent, false, 1);
    mark(parent, true, 0);
  }
  return slack;
}

}  // namespace stowplan::fit
