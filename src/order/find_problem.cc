// SPDX-License-Identifier: Apache-2.0
#include "order/find_problem.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "assign/can_share.h"
#include "base/checked_math.h"
#include "best/unit.h"
#include "order/effects.h"

namespace stowplan::order {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

constexpr uint32_t kNoLife = 0xffffffffU;

// What hands values on without looking at them.
bool IsBlind(Opcode opcode) {
  switch (opcode) {
    case Opcode::kTuple:
    case Opcode::kOptBarrier:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kDomain:
      return true;
    default:
      return IsTransparent(opcode);
  }
}

using Counting = Surroundings::Counting;

// Whether a buffer's bytes are a part of the objective.
Counting CountingOf(const Surroundings& around, BufferId id, Objective objective) {
  const Analysis& analysis = around.analysis;
  const int64_t color = around.measured.buffer_colors[id.index];
  if (color != 0 && color != around.rules.preset_space) return Counting::kNot;
  bool is_given = false;
  const std::span<const ValueId> values = analysis.buffers.values_of(id);
  for (const ValueId value : values) {
    const hlo::Instruction& row = around.module.instructions[analysis.flow.instruction(value)];
    if (row.opcode == Opcode::kConstant ||
        around.module.shapes.is_tuple(analysis.flow.shape(value)))
      return Counting::kNot;
    is_given = is_given || (row.opcode == Opcode::kParameter && row.parent == around.module.entry);
  }
  const bool is_result = analysis.buffers.is_live_out[id.index] != 0;
  // Parameters that nobody overwrites are there all the time.
  const bool is_left_out =
      objective == Objective::kTemporaries ? is_given || is_result : is_given && values.size() == 1;
  if (is_left_out) return Counting::kNot;
  return color == 0 ? Counting::kCounts : Counting::kCapped;
}

// By time: all that counts, those that are written over others as one.
std::vector<int64_t> LoadsOf(const Surroundings& around) {
  std::vector<ValueId> values;
  for (size_t b = 0; b < around.countings.size(); ++b) {
    if (around.countings[b] != Counting::kCounts) continue;
    for (const ValueId value : around.analysis.buffers.values_of(BufferId(b))) {
      if (around.analysis.live.of(value).exists()) values.push_back(value);
    }
  }
  ShareRules share(around.module, around.analysis, around.rules);
  const Units units =
      FindUnits(around.module, around.analysis, values, around.measured.sizes, share);
  std::vector<int64_t> loads(static_cast<size_t>(around.analysis.schedule.end()) + 2, 0);
  const int64_t alignment = around.rules.AlignmentOf(0);
  for (const Unit& unit : units.units) {
    // MeasureBuffers saw to it that this fits.
    const int64_t size = *CheckedRoundUp(unit.size, alignment);
    for (const Segment& segment : unit.segments) {
      loads[static_cast<size_t>(segment.start)] += size;
      loads[std::min(static_cast<size_t>(segment.end), loads.size() - 1)] -= size;
    }
  }
  for (size_t t = 1; t < loads.size(); ++t) loads[t] += loads[t - 1];
  return loads;
}

class Finder {
 public:
  Finder(const Surroundings& around, const Graph& graph, std::span<const int64_t> slacks)
      : around_(around),
        graph_(graph),
        slacks_(slacks),
        share_(around.module, around.analysis, around.rules),
        owners_(around.module.computations.size(), kNoNode),
        life_of_value_(around.analysis.flow.values.size(), kNoLife) {
    parts_.inner.assign(graph.instructions.size(), 0);
    parts_.edges = graph.edges;
  }

  Problem Find(std::vector<ValueId>* values) && {
    FindOwners();
    for (size_t b = 0; b < around_.analysis.buffers.size(); ++b) AddBuffer(BufferId(b));
    for (Node i = 0; i < graph_.instructions.size() && !around_.is_frozen; ++i) AddOverwrites(i);
    FindInner();
    AllowForUnknown();
    if (values != nullptr) *values = std::move(values_);
    return MakeProblem(std::move(parts_));
  }

 private:
  [[nodiscard]] const hlo::Module& module() const { return around_.module; }
  [[nodiscard]] const Analysis& analysis() const { return around_.analysis; }

  // By computation: the node whose call leads to it.
  void FindOwners() {
    std::vector<std::pair<CompId, Node>> stack;
    const auto enter = [&](InstrId id, Node node) {
      for (const CompId callee : module().called_by(id)) {
        if (analysis().schedule.spans[callee.index].start == kNoTime ||
            owners_[callee.index] != kNoNode)
          continue;
        owners_[callee.index] = node;
        stack.emplace_back(callee, node);
      }
    };
    for (Node i = 0; i < graph_.instructions.size(); ++i) enter(graph_.instructions[i], i);
    while (!stack.empty()) {
      const auto [computation, node] = stack.back();
      stack.pop_back();
      for (const InstrId id : module().schedule_of(computation)) enter(id, node);
    }
  }
  // None for what lies outside the computation, and for what has no node.
  [[nodiscard]] Node NodeAt(InstrId id) const {
    const CompId parent = module().instructions[id].parent;
    return parent == graph_.computation ? graph_.NodeOf(id) : owners_[parent.index];
  }
  [[nodiscard]] bool IsInside(InstrId id) const {
    const CompId parent = module().instructions[id].parent;
    return parent == graph_.computation || owners_[parent.index] != kNoNode;
  }

  [[nodiscard]] std::vector<Node> TouchesOf(ValueId id) const {
    std::vector<Node> touches;
    const auto add = [&](InstrId instruction) {
      if (IsBlind(module().instructions[instruction].opcode) &&
          module().instructions[instruction].parent == graph_.computation)
        return;
      if (const Node node = NodeAt(instruction); node != kNoNode) touches.push_back(node);
    };
    for (const PositionId position : analysis().flow.positions_of(id))
      add(analysis().flow.positions.instruction(position));
    for (const Use& use : analysis().flow.uses_of(id)) add(use.user);
    std::ranges::sort(touches);
    const auto rest = std::ranges::unique(touches);
    touches.erase(rest.begin(), rest.end());
    return touches;
  }
  // Whether the value is a part of what the computation returns.
  [[nodiscard]] bool Lasts(ValueId id) const {
    if (graph_.computation == module().entry) return analysis().flow.is_live_out(id);
    const InstrId root = module().computations[graph_.computation].root;
    return std::ranges::any_of(analysis().flow.positions_of(id), [&](PositionId position) {
      return analysis().flow.positions.instruction(position) == root;
    });
  }

  void AddBuffer(BufferId id) {
    const bool counts = around_.countings[id.index] != Counting::kNot;
    // Who reads a value comes before who overwrites it, whether its bytes count or not.
    if (!counts && analysis().buffers.values_of(id).size() < 2) return;
    const bool is_capped = around_.countings[id.index] == Counting::kCapped;
    std::vector<ValueId> values;
    for (const ValueId value : analysis().buffers.values_of(id)) {
      if (analysis().live.of(value).exists()) values.push_back(value);
    }
    std::ranges::stable_sort(values, {}, [&](ValueId v) { return analysis().live.of(v).start; });
    const int64_t alignment = around_.rules.AlignmentOf(around_.measured.buffer_colors[id.index]);
    // MeasureBuffers saw to it that this fits.
    const int64_t size = counts ? *CheckedRoundUp(around_.measured.sizes[id.index], alignment) : 0;
    uint32_t previous = kNoLife;
    for (const ValueId value : values) {
      const uint32_t life = AddLife(value, size, is_capped);
      if (life == kNoLife) continue;
      if (previous != kNoLife) TakeOver(previous, life);
      previous = life;
    }
  }

  uint32_t AddLife(ValueId value, int64_t size, bool is_capped) {
    const InstrId definition = analysis().flow.instruction(value);
    std::vector<Node> touches = TouchesOf(value);
    const bool lasts = Lasts(value);
    const Node begin = NodeAt(definition);
    if (touches.empty() && begin == kNoNode && !(lasts && IsInside(definition))) return kNoLife;
    // What never leaves a callee is in its caller's inner bytes.
    const bool is_inner = begin != kNoNode && !lasts &&
                          module().instructions[definition].parent != graph_.computation &&
                          touches.size() == 1 && touches[0] == begin;
    if (is_inner) return kNoLife;
    const auto life = static_cast<uint32_t>(parts_.lives.size());
    parts_.lives.push_back({.size = size, .begin = begin, .lasts = lasts, .is_capped = is_capped});
    parts_.touches.push_back(std::move(touches));
    life_of_value_[value.index] = life;
    values_.push_back(value);
    return life;
  }

  // The next value of a buffer begins where all readers of the one before it are done, or in the
  // last of them.
  void TakeOver(uint32_t previous, uint32_t next) {
    const Node begin = parts_.lives[next].begin;
    if (begin == kNoNode) return;
    for (const Node touch : parts_.touches[previous]) {
      if (touch < begin) parts_.edges.emplace_back(touch, begin);
      if (touch == begin) parts_.overwrites.push_back({begin, next, previous});
    }
    const Node first = parts_.lives[previous].begin;
    if (first != kNoNode && first < begin) parts_.edges.emplace_back(first, begin);
  }

  // As XLA's heap simulation has it: an operand of its own buffer that ends here.
  void AddOverwrites(Node node) {
    const InstrId id = graph_.instructions[node];
    if (module().instructions[id].opcode == Opcode::kCopy) return;
    const ValueFlow& flow = analysis().flow;
    const std::span<const InstrId> operands = module().operands_of(id);
    const std::vector<ValueId> candidates = FindOverwritten(operands);
    constexpr size_t kMostPairs = 1 << 20;
    if (candidates.size() * flow.positions.count(id) > kMostPairs) return unknown_.push_back(node);
    for (uint32_t k = 0; k < flow.positions.count(id); ++k) {
      const PositionId output = flow.positions.At(id, k);
      for (const ValueId value : flow.at(output)) {
        if (flow.values[value].position != output || !IsAlone(value)) continue;
        for (const ValueId read : candidates) {
          if (!share_.CanShare(flow.values[read].position, output)) continue;
          parts_.overwrites.push_back(
              {node, life_of_value_[value.index], life_of_value_[read.index]});
        }
      }
    }
  }
  // Values of operands, defined by operands, alone in their buffers.
  [[nodiscard]] std::vector<ValueId> FindOverwritten(std::span<const InstrId> operands) const {
    const ValueFlow& flow = analysis().flow;
    std::vector<InstrId> sorted(operands.begin(), operands.end());
    std::ranges::sort(sorted, {}, &InstrId::index);
    std::vector<ValueId> found;
    for (const InstrId operand : operands) {
      for (const ValueId read : flow.at(flow.positions.top(operand))) {
        if (IsAlone(read) &&
            std::ranges::binary_search(sorted, flow.instruction(read).index, {}, &InstrId::index))
          found.push_back(read);
      }
    }
    return found;
  }
  [[nodiscard]] bool IsAlone(ValueId id) const {
    return life_of_value_[id.index] != kNoLife &&
           analysis().buffers.values_of(analysis().buffers.of(id)).size() == 1;
  }

  // Where nobody looked what could be overwritten, the bound counts no result.
  void AllowForUnknown() {
    if (unknown_.empty()) return;
    if (parts_.least_inner.empty()) parts_.least_inner = parts_.inner;
    for (const Life& life : parts_.lives) {
      if (life.begin != kNoNode && std::ranges::binary_search(unknown_, life.begin))
        parts_.least_inner[life.begin] -= life.size;
    }
  }

  // What callees add to what is alive at their caller.
  void FindInner() {
    const Schedule& schedule = analysis().schedule;
    if (std::ranges::none_of(owners_, [](Node owner) { return owner != kNoNode; })) return;
    std::vector<int64_t> slacks(graph_.instructions.size(), 0);
    for (size_t c = 0; c < owners_.size(); ++c) {
      if (owners_[c] == kNoNode) continue;
      const Schedule::Span span = schedule.spans[c];
      const int64_t outside =
          around_.loads[static_cast<size_t>(schedule.time(graph_.instructions[owners_[c]]))];
      int64_t& inner = parts_.inner[owners_[c]];
      for (int64_t t = span.start; t < span.end; ++t)
        inner = std::max(inner, around_.loads[static_cast<size_t>(t)] - outside);
      slacks[owners_[c]] = std::max(slacks[owners_[c]], slacks_[c]);
    }
    parts_.least_inner = parts_.inner;
    for (Node i = 0; i < slacks.size(); ++i)
      parts_.least_inner[i] = std::max<int64_t>(parts_.inner[i] - slacks[i], 0);
  }

  const Surroundings& around_;
  const Graph& graph_;
  const std::span<const int64_t> slacks_;
  ShareRules share_;
  std::vector<Node> owners_;             // by computation
  std::vector<uint32_t> life_of_value_;  // by value
  std::vector<ValueId> values_;          // by life
  std::vector<Node> unknown_;            // too large to look what they can overwrite; ascending
  ProblemParts parts_;
};

// Loads and cuts add sizes up, those of overwritten lives twice. This much they may be together.
constexpr int64_t kMostBytes = std::numeric_limits<int64_t>::max() / 8;

bool FitsTogether(const Surroundings& around) {
  int64_t sum = 0;
  for (size_t b = 0; b < around.countings.size(); ++b) {
    if (around.countings[b] == Counting::kNot) continue;
    const int64_t alignment = around.rules.AlignmentOf(around.measured.buffer_colors[b]);
    const int64_t size = *CheckedRoundUp(around.measured.sizes[b], alignment);
    // Each value of a buffer is a life.
    const auto values = static_cast<int64_t>(around.analysis.buffers.values_of(BufferId(b)).size());
    const std::optional<int64_t> bytes = CheckedMultiply(size, values);
    if (!bytes || *bytes > kMostBytes - sum) return false;
    sum += *bytes;
  }
  return true;
}

}  // namespace

Result<Surroundings> FindSurroundings(const hlo::Module& module, const Analysis& analysis,
                                      const Rules& rules, Objective objective) {
  STOWPLAN_TRY(BufferSizes measured, MeasureBuffers(module, analysis, rules));
  Surroundings around = {.module = module,
                         .analysis = analysis,
                         .rules = rules,
                         .measured = std::move(measured),
                         .countings = {},
                         .loads = {},
                         .effects = FindEffects(module)};
  for (size_t b = 0; b < analysis.buffers.size(); ++b)
    around.countings.push_back(CountingOf(around, BufferId(b), objective));
  if (!FitsTogether(around))
    return Fail("stowplan",
                "no order of the instructions is searched: the program's buffers together are too "
                "large to be added up");
  around.loads = LoadsOf(around);
  return around;
}

Problem FindProblem(const Surroundings& around, const Graph& graph, std::span<const int64_t> slacks,
                    std::vector<ValueId>* values) {
  return Finder(around, graph, slacks).Find(values);
}

}  // namespace stowplan::order
