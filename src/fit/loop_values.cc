// SPDX-License-Identifier: Apache-2.0
#include "fit/loop_values.h"

#include <algorithm>
#include <cmath>

#include "fit/loop_draft.h"
#include "order/flow.h"
#include "target/size.h"

namespace stowplan::fit {
namespace {

using hlo::AttributeKey;
using hlo::CompId;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using Kind = LoopValue::Kind;

constexpr uint32_t kNoVertex = 0xffffffffU;
// What all values cost together, in units of the network.
constexpr double kWholeLoop = 1e11;

// Whether the instruction is its operand under another name, to the byte.
bool IsSameBytes(const Module& module, InstrId id) {
  const Opcode opcode = module.instructions[id].opcode;
  if (opcode == Opcode::kBitcast) return true;
  return opcode == Opcode::kCopy &&
         module.instructions[id].shape == module.instructions[module.operands_of(id)[0]].shape;
}

// Which parameters of the computation the instruction needs.
std::vector<int64_t> ParametersFor(const Module& module, InstrId id) {
  std::vector<InstrId> open = {id};
  const CompId parent = module.instructions[id].parent;
  const uint32_t first = module.computations[parent].first.index;
  std::vector<uint8_t> seen(module.computations[parent].count, 0);
  seen[id.index - first] = 1;
  std::vector<int64_t> numbers;
  while (!open.empty()) {
    const InstrId top = open.back();
    open.pop_back();
    if (module.instructions[top].opcode == Opcode::kParameter)
      numbers.push_back(module.NumberOr(top, AttributeKey::kParameterNumber, 0));
    for (const InstrId operand : module.operands_of(top)) {
      if (seen[operand.index - first] != 0) continue;
      seen[operand.index - first] = 1;
      open.push_back(operand);
    }
  }
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

LoopValues::LoopValues(const Module& module, const LoopPair& pair, const Target& target,
                       std::span<const uint8_t> pure, std::span<const double> costs)
    : module_(module),
      pair_(pair),
      pure_(pure),
      is_unchanged_(FindUnchanged(module, pair.forward)) {
  FindNames();
  FindCounters();
  const hlo::Computation& body = module.computations[module.called_by(pair.forward)[0]];
  for (uint32_t k = 0; k < body.count; ++k) {
    const InstrId id(size_t{first_} + k);
    values_.push_back(names_[k] == k ? Describe(id, costs) : LoopValue{.id = id});
  }
  FindSlices(costs);
  FindNewBytes(target);
}

void LoopValues::FindNames() {
  const hlo::Computation& body = module_.computations[module_.called_by(pair_.forward)[0]];
  first_ = body.first.index;
  names_.resize(body.count);
  for (uint32_t k = 0; k < body.count; ++k) {
    InstrId id(size_t{first_} + k);
    while (IsSameBytes(module_, id)) id = module_.operands_of(id)[0];
    names_[k] = id.index - first_;
  }
}

// A number of the backward loop that is the same in corresponding trips.
void LoopValues::FindCounters() {
  const TripValues forward(module_, pair_.forward);
  const TripValues backward(module_, pair_.backward);
  const InstrId root = module_.computations[module_.called_by(pair_.forward)[0]].root;
  const InstrId other = module_.computations[module_.called_by(pair_.backward)[0]].root;
  const auto type_of = [&](InstrId id) { return module_.instructions[id].shape; };
  for (int64_t k = 0; k < std::ssize(module_.operands_of(root)); ++k) {
    if (!forward.IsCounter(k)) continue;
    std::vector<int64_t> wanted;
    wanted.reserve(pair_.trips.size());
    for (const int64_t trip : pair_.trips)
      wanted.push_back(forward.CounterOf(k)[static_cast<size_t>(trip)]);
    const hlo::ShapeId type = type_of(module_.operands_of(root)[static_cast<size_t>(k)]);
    for (int64_t m = 0; m < std::ssize(module_.operands_of(other)); ++m) {
      if (!backward.IsCounter(m) || backward.CounterOf(m) != wanted ||
          type_of(module_.operands_of(other)[static_cast<size_t>(m)]) != type)
        continue;
      counters_[k] = {.element = m};
      break;
    }
    for (uint32_t s = 0; s < pair_.stacks.size() && !counters_.contains(k); ++s) {
      const Stack& stack = pair_.stacks[s];
      for (uint32_t q = 0; q < stack.slices.size(); ++q) {
        const Inner& slice = stack.slices[q];
        const InstrId start = module_.operands_of(slice.id)[1 + stack.dimension];
        const Scope scope = {ReadBy(module_, slice), nullptr};
        const bool is_usable = slice.fusion.is_none() || IsPlainFusion(module_, slice.fusion);
        if (!is_usable || type_of(start) != type ||
            backward.Find(start, slice.fusion.is_none() ? nullptr : &scope) != wanted)
          continue;
        counters_[k] = {.element = -1, .stack = s, .slice = q};
        break;
      }
    }
  }
}

LoopValue LoopValues::Describe(InstrId id, std::span<const double> costs) const {
  LoopValue value = {.id = id};
  const Opcode opcode = module_.instructions[id].opcode;
  const std::span<const InstrId> operands = module_.operands_of(id);
  const InstrId parameter = module_.parameters_of(module_.called_by(pair_.forward)[0])[0];
  if (opcode == Opcode::kConstant) {
    value.kind = Kind::kConstant;
    return value;
  }
  if (opcode == Opcode::kGetTupleElement && operands[0] == parameter) {
    value.element = module_.NumberOr(id, AttributeKey::kIndex, -1);
    const bool is_array = hlo::IsArray(module_.shapes[module_.instructions[id].shape].type);
    if (is_array && is_unchanged_[static_cast<size_t>(value.element)] != 0) {
      value.kind = Kind::kUnchanged;
    } else if (SourceOf(value.element) != nullptr) {
      value.kind = Kind::kCounter;
    }
    return value;
  }
  InstrId reader = id;
  InstrId does = id;
  if (opcode == Opcode::kAsyncDone) {
    reader = operands[0];
    does = module_.called_by(reader).size() == 1
               ? OnlyInstruction(module_, module_.called_by(reader)[0])
               : InstrId();
    if (does.is_none() || module_.instructions[does].opcode != Opcode::kFusion) return value;
  }
  if (!IsPure(does)) return value;
  value.kind = Kind::kComputed;
  for (const InstrId operand : module_.operands_of(reader))
    value.inputs.push_back(ValueOf(operand));
  value.cost = (costs[id.index] + (reader == id ? 0 : costs[reader.index])) *
               static_cast<double>(pair_.trips.size());
  return value;
}

void LoopValues::FindSlices(std::span<const double> costs) {
  for (uint32_t s = 0; s < pair_.stacks.size(); ++s) {
    const Inner& update = pair_.stacks[s].update;
    InstrId id = module_.operands_of(update.id)[1];
    bitcasts_.emplace_back();
    const auto note = [&](InstrId name) {
      if (module_.instructions[name].opcode == Opcode::kBitcast) bitcasts_.back() = name;
    };
    const InstrId reader = ReadBy(module_, update);
    if (!update.fusion.is_none()) {
      for (; IsSameBytes(module_, id); id = module_.operands_of(id)[0]) note(id);
      if (module_.instructions[id].opcode == Opcode::kParameter) {
        const int64_t number = module_.NumberOr(id, AttributeKey::kParameterNumber, 0);
        id = module_.operands_of(reader)[static_cast<size_t>(number)];
      } else {
        LoopValue value = {.id = update.id, .is_slice = true};
        for (const int64_t number : ParametersFor(module_, module_.operands_of(update.id)[1]))
          value.inputs.push_back(ValueOf(module_.operands_of(reader)[static_cast<size_t>(number)]));
        if (IsPure(update.fusion) && IsPlainFusion(module_, update.fusion))
          value.kind = Kind::kComputed;
        value.cost =
            (costs[update.call.index] + (reader == update.call ? 0 : costs[reader.index])) *
            static_cast<double>(pair_.trips.size());
        value.stacks = {s};
        stack_values_.push_back(static_cast<uint32_t>(values_.size()));
        values_.push_back(std::move(value));
        continue;
      }
    }
    for (InstrId name = id; IsSameBytes(module_, name); name = module_.operands_of(name)[0])
      note(name);
    stack_values_.push_back(ValueOf(id));
    values_[ValueOf(id)].stacks.push_back(s);
  }
}

// What is carried from trip to trip, or computed.
void LoopValues::FindNewBytes(const Target& target) {
  hlo::ShapeTable shapes = module_.shapes;
  std::map<hlo::ElementType, std::optional<StackPattern>> patterns;
  for (LoopValue& value : values_) {
    const bool is_carried = value.kind == Kind::kOther && value.element >= 0;
    if (value.is_slice || !value.stacks.empty() || (value.kind != Kind::kComputed && !is_carried))
      continue;
    const hlo::ShapeId shape = module_.instructions[value.id].shape;
    const hlo::ElementType type = module_.shapes[shape].type;
    if (!hlo::IsArray(type) || module_.shapes.dims(shape).empty()) continue;
    const auto [pattern, is_new] = patterns.try_emplace(type);
    if (is_new) pattern->second = FindPattern(module_, pair_, type);
    if (!pattern->second) continue;
    const hlo::ShapeId whole = StackedShape(shapes, shape, pattern->second->trips);
    if (whole.is_none()) continue;
    value.new_bytes = ByteSize(shapes, whole, target).value_or(0);
  }
}

namespace {

class SavedChooser {
 public:
  SavedChooser(const LoopValues& values, std::span<const int64_t> sizes, double price)
      : values_(values.values()), all_(values), sizes_(sizes), price_(price) {}

  SavedStacks Run() {
    FindPossible();
    double whole = 0;
    for (const LoopValue& value : values_) whole += value.cost;
    scale_ = kWholeLoop / std::max(whole, 1e-300);
    needed_.assign(values_.size(), kNoVertex);
    computed_.assign(values_.size(), kNoVertex);
    for (uint32_t s = 0; s < sizes_.size(); ++s) Need(all_.ValueOf(s), order::Network::kSource);
    for (size_t k = 0; k < open_.size(); ++k) Spread(open_[k]);
    network_.FindLeastCut();
    return Collect(network_.SourceSide(false));
  }

 private:
  [[nodiscard]] bool IsFree(uint32_t v) const {
    return values_[v].kind != Kind::kComputed && values_[v].kind != Kind::kOther;
  }
  // What it takes to hand the value on; 0 if that is not possible.
  [[nodiscard]] int64_t StackBytes(uint32_t v) const {
    const LoopValue& value = values_[v];
    return value.stacks.empty() ? value.new_bytes : std::max<int64_t>(sizes_[value.stacks[0]], 1);
  }
  // What can be had at all; values come after their inputs, but for those of slices, which nothing
  // reads.
  void FindPossible() {
    can_compute_.assign(values_.size(), 0);
    // Rows of a body are not always in the order of their dependences.
    std::vector<uint32_t> stack;
    std::vector<uint8_t> states(values_.size(), 0);
    for (uint32_t v = 0; v < values_.size(); ++v) {
      stack.push_back(v);
      while (!stack.empty()) {
        const uint32_t top = stack.back();
        if (states[top] == 2) {
          stack.pop_back();
          continue;
        }
        const bool is_first = states[top] == 0;
        states[top] = 1;
        if (is_first) {
          for (const uint32_t input : values_[top].inputs) {
            if (states[input] == 0) stack.push_back(input);
          }
          if (stack.back() != top) continue;
        }
        states[top] = 2;
        stack.pop_back();
        can_compute_[top] = static_cast<uint8_t>(
            IsFree(top) || (values_[top].kind == Kind::kComputed &&
                            std::ranges::all_of(values_[top].inputs, [&](uint32_t input) {
                              return can_compute_[input] != 0 || StackBytes(input) > 0;
                            })));
      }
    }
  }
  [[nodiscard]] int64_t Capacity(double cost) const {
    return std::max<int64_t>(std::llround(std::min(cost * scale_, 1e15)), 1);
  }
  // One vertex for the need of a value and one for computing it; between them, what it costs to
  // keep it.
  void Need(uint32_t v, uint32_t from) {
    if (IsFree(v)) return;
    if (needed_[v] == kNoVertex) {
      needed_[v] = network_.AddVertex();
      open_.push_back(v);
    }
    network_.AddEdge(from, needed_[v], order::Network::kUnlimited);
  }
  void Spread(uint32_t v) {
    const LoopValue& value = values_[v];
    uint32_t to = order::Network::kSink;
    if (can_compute_[v] != 0) {
      computed_[v] = to = network_.AddVertex();
      network_.AddEdge(to, order::Network::kSink, Capacity(value.cost));
      for (const uint32_t input : value.inputs) Need(input, to);
    }
    const int64_t bytes = StackBytes(v);
    network_.AddEdge(
        needed_[v], to,
        bytes == 0 ? order::Network::kUnlimited : Capacity(price_ * static_cast<double>(bytes)));
  }
  [[nodiscard]] SavedStacks Collect(std::span<const uint8_t> side) const {
    SavedStacks saved = {.is_kept = std::vector<uint8_t>(sizes_.size(), 0)};
    for (const uint32_t v : open_) {
      if (side[needed_[v]] == 0) continue;
      if (computed_[v] != kNoVertex && side[computed_[v]] != 0) {
        saved.cost += values_[v].cost;
      } else if (!values_[v].stacks.empty()) {
        saved.is_kept[values_[v].stacks[0]] = 1;
      } else {
        saved.added.push_back(v);
        saved.bytes -= values_[v].new_bytes;
      }
    }
    std::ranges::sort(saved.added);
    for (uint32_t s = 0; s < sizes_.size(); ++s) {
      if (saved.is_kept[s] == 0) saved.bytes += sizes_[s];
    }
    return saved;
  }

  const std::span<const LoopValue> values_;
  const LoopValues& all_;
  const std::span<const int64_t> sizes_;
  const double price_;
  double scale_ = 1;
  std::vector<uint8_t> can_compute_;  // by value, as the next two
  std::vector<uint32_t> needed_;
  std::vector<uint32_t> computed_;
  std::vector<uint32_t> open_;  // values that are in the network
  order::Network network_;
};

}  // namespace

SavedStacks ChooseSaved(const LoopValues& values, std::span<const int64_t> sizes, double price) {
  return SavedChooser(values, sizes, price).Run();
}

}  // namespace stowplan::fit
