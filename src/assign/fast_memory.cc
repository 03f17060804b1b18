// SPDX-License-Identifier: Apache-2.0
#include "assign/fast_memory.h"

#include <algorithm>
#include <unordered_map>

#include "base/checked_math.h"

namespace stowplan {
namespace {

using hlo::InstrId;

// The custom call by which TPU compilers say that slices are one array from now on.
bool IsWholeOfSlices(const hlo::Module& module, InstrId id) {
  if (module.instructions[id].opcode != hlo::Opcode::kCustomCall) return false;
  const hlo::Attribute* target = module.FindAttribute(id, hlo::AttributeKey::kCustomCallTarget);
  return target != nullptr && module.view(target->text()) == "ConcatBitcast";
}

// Where a slice begins in what it is cut from.
std::vector<int64_t> StartOf(const hlo::Module& module, InstrId slice) {
  const hlo::Attribute* rows = module.FindAttribute(slice, hlo::AttributeKey::kSlice);
  if (rows == nullptr) return {};
  const std::span<const int64_t> numbers = hlo::Module::Rows(module.ints, rows->rows());
  std::vector<int64_t> start;
  for (size_t k = 0; k < numbers.size(); k += 3) start.push_back(numbers[k]);
  return start;
}

}  // namespace

std::vector<ValueId> SlicesOf(const hlo::Module& module, const ValueFlow& flow, ValueId whole) {
  const InstrId id = flow.instruction(whole);
  if (!IsWholeOfSlices(module, id)) return {};
  std::vector<ValueId> slices;
  for (const InstrId operand : module.operands_of(id)) {
    const std::span<const ValueId> values = flow.at(flow.positions.top(operand));
    if (values.size() != 1) return {};
    slices.push_back(values[0]);
  }
  std::ranges::stable_sort(slices, {},
                           [&](ValueId slice) { return StartOf(module, flow.instruction(slice)); });
  return slices;
}

std::vector<SlicedGroup> JoinSlices(const hlo::Module& module, const Analysis& analysis,
                                    HeapInput& input) {
  std::unordered_map<uint32_t, uint32_t> group_of;  // of values that are alone in theirs
  for (uint32_t g = 0; g < input.groups.size(); ++g) {
    if (input.groups[g].values.size() == 1) group_of.emplace(input.groups[g].first.index, g);
  }
  std::vector<SlicedGroup> joined;
  // A whole is never a slice of another, nor a slice one of two wholes, or twice of one.
  std::vector<uint8_t> is_taken(input.groups.size(), 0);
  const auto join = [&](uint32_t whole, std::span<const ValueId> slices) {
    SlicedGroup sliced = {.whole = whole, .slices = {}};
    int64_t offset = 0;
    bool fits = is_taken[whole] == 0;
    is_taken[whole] = 1;
    for (const ValueId value : slices) {
      const auto slice = group_of.find(value.index);
      fits = fits && slice != group_of.end() && is_taken[slice->second] == 0;
      if (!fits) break;
      is_taken[slice->second] = 1;
      sliced.slices.push_back({slice->second, offset});
      offset = SaturatingAdd(offset, input.groups[slice->second].size);
    }
    if (!fits || offset > input.groups[whole].size) return;
    for (const SlicedGroup::Slice& slice : sliced.slices) {
      const std::vector<HeapInterval>& own = input.groups[slice.group].intervals;
      std::vector<HeapInterval>& all = input.groups[whole].intervals;
      all.insert(all.end(), own.begin(), own.end());
    }
    joined.push_back(std::move(sliced));
  };
  for (uint32_t g = 0; g < input.groups.size(); ++g) {
    for (const ValueId value : input.groups[g].values) {
      const std::vector<ValueId> slices = SlicesOf(module, analysis.flow, value);
      if (!slices.empty()) join(g, slices);
    }
  }
  return joined;
}

namespace {

class FastMemory {
 public:
  FastMemory(const hlo::Module& module, const Analysis& analysis, std::span<const ValueId> values)
      : module_(module), analysis_(analysis) {
    for (const ValueId value : values) {
      const std::vector<ValueId> slices = SlicesOf(module, analysis.flow, value);
      if (slices.empty()) continue;
      const int64_t end = EndOf(value);
      for (const ValueId slice : slices) {
        int64_t& late = late_ends_.try_emplace(slice.index, 0).first->second;
        late = std::max(late, end);
      }
    }
  }

  void Add(ValueId value, int64_t bytes) {
    const LiveRange& range = analysis_.live.of(value);
    if (!range.exists() || analysis_.flow.uses_of(value).empty() ||
        !SlicesOf(module_, analysis_.flow, value).empty())
      return;
    if (const InstrId last = LastUser(value);
        module_.instructions[last].opcode == hlo::Opcode::kConditional) {
      AddInBranches(value, last, bytes);
      return;
    }
    const auto late = late_ends_.find(value.index);
    AddPiece(value, range.start, late == late_ends_.end() ? EndOf(value) : late->second, bytes);
  }

  [[nodiscard]] int64_t Peak() && {
    // A value begins and ends once at a time, whatever its pieces.
    std::ranges::sort(events_);
    events_.erase(std::ranges::unique(events_).begin(), events_.end());
    int64_t now = 0;
    int64_t peak = 0;
    std::unordered_map<uint32_t, int64_t> pieces;  // by value: how many are there, or owed
    for (const Event& event : events_) {
      int64_t& count = pieces[event.value.index];
      if (event.is_end) {
        if (--count == 0) now -= event.bytes;
      } else if (++count == 1) {
        now = SaturatingAdd(now, event.bytes);
      }
      peak = std::max(peak, now);
    }
    return peak;
  }

 private:
  struct Event {
    int64_t time = 0;
    bool is_end = false;  // what begins at a time comes before what ends then
    ValueId value;
    int64_t bytes = 0;
    auto operator<=>(const Event&) const = default;
  };

  [[nodiscard]] InstrId LastUser(ValueId value) const {
    const auto time = [&](const Use& use) { return analysis_.schedule.time(use.user); };
    return std::ranges::max_element(analysis_.flow.uses_of(value), {}, time)->user;
  }

  // Not later than its last reader: a range may last on, to where the next value of its buffer
  // takes over.
  [[nodiscard]] int64_t EndOf(ValueId value) const {
    const int64_t end = analysis_.live.of(value).end;
    if (analysis_.flow.uses_of(value).empty()) return end;
    return std::min(end, analysis_.schedule.time(LastUser(value)));
  }

  // A piece may end before it begins: in a branch after the end of a range that was cut short.
  void AddPiece(ValueId value, int64_t start, int64_t end, int64_t bytes) {
    events_.push_back({start, false, value, bytes});
    events_.push_back({end, true, value, bytes});
  }

  // Up to the branches, then in each branch until that has read it.
  void AddInBranches(ValueId value, InstrId conditional, int64_t bytes) {
    const LiveRange& range = analysis_.live.of(value);
    std::unordered_map<uint32_t, InstrId> last_uses;  // by computation
    for (const Use& use : analysis_.flow.uses_of(value)) {
      InstrId& last = last_uses.try_emplace(module_.instructions[use.user].parent.index, use.user)
                          .first->second;
      if (analysis_.schedule.time(last) < analysis_.schedule.time(use.user)) last = use.user;
    }
    struct Split {
      int64_t start = 0;
      InstrId conditional;
    };
    std::vector<Split> splits = {{range.start, conditional}};
    while (!splits.empty()) {
      const Split split = splits.back();
      splits.pop_back();
      int64_t first_branch = analysis_.schedule.time(split.conditional);
      for (const hlo::CompId branch : module_.called_by(split.conditional)) {
        const Schedule::Span& span = analysis_.schedule.spans[branch.index];
        first_branch = std::min(first_branch, span.start);
        const auto last = last_uses.find(branch.index);
        if (last == last_uses.end()) continue;
        if (module_.instructions[last->second].opcode == hlo::Opcode::kConditional) {
          splits.push_back({span.start, last->second});
        } else {
          AddPiece(value, span.start, std::min(range.end, analysis_.schedule.time(last->second)),
                   bytes);
        }
        last_uses.erase(last);  // two branches may be one computation
      }
      AddPiece(value, split.start, first_branch - 1, bytes);
    }
  }

  const hlo::Module& module_;
  const Analysis& analysis_;
  std::unordered_map<uint32_t, int64_t> late_ends_;  // of slices: when their whole ends
  std::vector<Event> events_;
};

}  // namespace

int64_t FastMemoryPeak(const hlo::Module& module, const Analysis& analysis,
                       const Assignment& assignment, std::span<const ValueId> values) {
  FastMemory memory(module, analysis, values);
  for (const ValueId value : values) memory.Add(value, assignment.places[value.index].size);
  return std::move(memory).Peak();
}

}  // namespace stowplan
