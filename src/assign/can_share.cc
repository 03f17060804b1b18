// SPDX-License-Identifier: Apache-2.0
#include "assign/can_share.h"

#include <algorithm>

#include "assign/elementwise.h"

namespace stowplan {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

namespace {

bool IsOnlyOperand(const Module& module, InstrId user, InstrId operand, size_t k) {
  const std::span<const InstrId> operands = module.operands_of(user);
  return k < operands.size() && operands[k] == operand &&
         std::ranges::count(operands, operand) == 1;
}

}  // namespace

size_t FirstOperand(const Module& module, const Orders& orders, InstrId user, InstrId operand) {
  const std::span<const InstrId> operands = module.operands_of(user);
  const std::span<const Orders::Read> reads = orders.reads_of(operand);
  if (operands.size() <= reads.size())
    return static_cast<size_t>(std::ranges::find(operands, operand) - operands.begin());
  size_t first = operands.size();
  for (const Orders::Read& read : reads) {
    if (read.user == user) first = std::min(first, size_t{read.operand});
  }
  return first;
}

bool ShareRules::CanShareAsOperand(ValueId user, ValueId operand) {
  const ValueFlow& flow = analysis_.flow;
  const PositionId output = flow.values[user].position;
  const InstrId instruction = flow.positions.instruction(output);
  if (module_.instructions[instruction].opcode == Opcode::kCopy) return false;
  const size_t operands = module_.operands_of(instruction).size();
  const auto can_share = [&](PositionId input) {
    const InstrId read = flow.positions.instruction(input);
    return FirstOperand(module_, analysis_.orders, instruction, read) < operands &&
           CanShare(input, output);
  };
  if (reads_last_position_) return can_share(LastPosition(operand));
  return std::ranges::any_of(flow.positions_of(operand), can_share);
}

// Where the value is seen last; what reads it there does not count.
PositionId ShareRules::LastPosition(ValueId id) const {
  const std::span<const PositionId> all = analysis_.flow.positions_of(id);
  PositionId last = all[0];
  int64_t end = SeenUntil(last);
  const Schedule::Async async =
      analysis_.schedule.asyncs[module_.instructions[analysis_.flow.instruction(id)].parent.index];
  if (!async.done.is_none()) end = std::max(end, analysis_.schedule.time(async.done));
  for (const PositionId position : all.subspan(1)) {
    const int64_t time = SeenUntil(position);
    if (time <= end) continue;
    end = time;
    last = position;
  }
  return last;
}

int64_t ShareRules::SeenUntil(PositionId id) const {
  const InstrId instruction = analysis_.flow.positions.instruction(id);
  const hlo::CompId computation = module_.instructions[instruction].parent;
  return module_.computations[computation].root == instruction
             ? analysis_.schedule.spans[computation.index].end
             : analysis_.schedule.time(instruction);
}

bool ShareRules::IsInPlace(PositionId input, PositionId output) const {
  const ValueFlow& flow = analysis_.flow;
  const InstrId user = flow.positions.instruction(output);
  for (const InPlacePair& pair : analysis_.pairs.of(user)) {
    if (pair.output != flow.positions.offset(output)) continue;
    for (const ValueId value : flow.at(input)) {
      const bool is_used = std::ranges::any_of(flow.uses_of(value), [&](const Use& use) {
        return use.user == user && use.operand == pair.operand &&
               flow.positions.offset(use.position) == pair.input;
      });
      if (is_used) return true;
    }
  }
  return false;
}

// Whether two arrays lie in memory alike: elements of one width, the same tiles, and from the
// innermost to the outermost dimension the same sizes. Outside the tiles, those of size 1 do not
// count.
bool ShareRules::LieAlike(hlo::ShapeId a, hlo::ShapeId b) const {
  const hlo::Shape& x = module_.shapes[a];
  const hlo::Shape& y = module_.shapes[b];
  const int bits = hlo::BitWidth(x.type);
  if (bits == 0 || bits != hlo::BitWidth(y.type)) return false;
  if (x.layout.is_none() || y.layout.is_none()) return false;
  const hlo::Layout& first = module_.shapes.layout(x.layout);
  const hlo::Layout& second = module_.shapes.layout(y.layout);
  if (first.tiles != second.tiles) return false;
  const auto sizes = [&](hlo::ShapeId id, const hlo::Layout& layout) {
    std::vector<int64_t> found;
    const std::span<const int64_t> dims = module_.shapes.dims(id);
    const size_t tiled = layout.tiles.empty() ? 0 : layout.tiles[0].size();
    for (size_t k = 0; k < layout.minor_to_major.size(); ++k) {
      const int64_t size = dims[static_cast<size_t>(layout.minor_to_major[k])];
      if (size != 1 || k < tiled) found.push_back(size);
    }
    return found;
  };
  return sizes(a, first) == sizes(b, second);
}

bool ShareRules::CanShare(PositionId input, PositionId output) {
  const Positions& positions = analysis_.flow.positions;
  const InstrId operand = positions.instruction(input);
  const InstrId user = positions.instruction(output);
  const Opcode opcode = module_.instructions[user].opcode;
  if (module_.instructions[operand].opcode == Opcode::kConstant) return false;
  if (planner_ == Planner::kOurs && !IsReadOnce(input, user)) return false;
  const bool is_same_shape = positions.shape(input) == positions.shape(output);
  if (is_same_shape && IsInPlace(input, output)) return true;
  if (sharing_ == Sharing::kGpu) {
    if (const std::optional<bool> answer = GpuHint(operand, output)) return *answer;
  }
  if (sharing_ == Sharing::kTpu) {
    const bool lies_alike =
        opcode == Opcode::kFusion
            ? (is_same_shape || LieAlike(positions.shape(input), positions.shape(output))) &&
                  FusionKeepsPlaces(operand, user)
            : is_same_shape;
    if (const std::optional<bool> answer = TpuHint(operand, output)) return *answer && lies_alike;
    if (opcode == Opcode::kFusion) return lies_alike && FusionCanShare(operand, output);
  }
  if (!is_same_shape) return false;
  const std::span<const InstrId> operands = module_.operands_of(user);
  switch (opcode) {
    case Opcode::kFusion:
      return FusionCanShare(operand, output);
    case Opcode::kWhile:
    case Opcode::kConditional:
      return true;
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kScatter:
    case Opcode::kSetDimensionSize:
      return IsOnlyOperand(module_, user, operand, 0);
    case Opcode::kTriangularSolve:
      return IsOnlyOperand(module_, user, operand, 1);
    case Opcode::kSort: {
      if (analysis_.orders.users_of(operand).size() != 1) return false;
      if (operands.size() == 1) return true;
      const size_t k = FirstOperand(module_, analysis_.orders, user, operand);
      return IsOnlyOperand(module_, user, operand, k) &&
             output == positions.Child(positions.top(user), k);
    }
    case Opcode::kCall:
      return CallCanShare(input, user);
    default:
      return IsElementwiseOn(module_, analysis_.orders, user,
                             FirstOperand(module_, analysis_.orders, user, operand));
  }
}

bool ShareRules::CallCanShare(PositionId input, InstrId call) const {
  const ValueFlow& flow = analysis_.flow;
  std::vector<Use> uses;
  for (const ValueId value : flow.at(input)) {
    const std::span<const Use> more = flow.uses_of(value);
    uses.insert(uses.end(), more.begin(), more.end());
    if (uses.size() > 2) return false;
  }
  if (uses.size() != 2 || module_.called_by(call).empty()) return false;
  const InstrId root = module_.computations[module_.called_by(call)[0]].root;
  const bool is_first = uses[0].user == call;
  const Use& outer = uses[is_first ? 0 : 1];
  const Use& inner = uses[is_first ? 1 : 0];
  return outer.user == call && inner.user == root &&
         IsElementwiseOn(module_, analysis_.orders, root, inner.operand);
}

bool ShareRules::FusionCanShare(InstrId operand, PositionId output) {
  const InstrId fusion = analysis_.flow.positions.instruction(output);
  if (module_.called_by(fusion).empty()) return false;
  const std::span<const InstrId> parameters = module_.parameters_of(module_.called_by(fusion)[0]);
  const size_t k = FirstOperand(module_, analysis_.orders, fusion, operand);
  if (k >= parameters.size()) return false;
  const hlo::Attribute* kind_attribute = module_.FindAttribute(fusion, AttributeKey::kKind);
  const std::string_view kind =
      kind_attribute == nullptr ? std::string_view() : module_.view(kind_attribute->text());
  if (kind == "kLoop" || kind == "kInput" || (kind == "kOutput" && sharing_ == Sharing::kTpu))
    return LoopFusionCanShare(parameters[k]);
  const InstrId root = module_.computations[module_.called_by(fusion)[0]].root;
  if (kind == "kOutput" && module_.instructions[root].opcode == Opcode::kAdd)
    return OutputFusionCanShare(fusion, parameters[k]);
  return IsElementwiseOn(module_, analysis_.orders, fusion, k);
}

// Whether all that is made of the parameter, on every way through the fusion, is elementwise.
bool ShareRules::LoopFusionCanShare(InstrId fused_parameter) {
  uint8_t& answer = loop_answers_[fused_parameter.index];
  if (answer != 0) return answer == 2;
  const hlo::Computation& body = module_.computations[module_.instructions[fused_parameter].parent];
  std::vector<uint8_t> is_seen(body.count, 0);
  std::vector<InstrId> stack = {fused_parameter};
  answer = 1;
  while (!stack.empty()) {
    const InstrId id = stack.back();
    stack.pop_back();
    for (const Orders::Read& read : analysis_.orders.reads_of(id)) {
      const Opcode opcode = module_.instructions[read.user].opcode;
      if (opcode != Opcode::kTuple && (opcode != Opcode::kBitcast || sharing_ != Sharing::kTpu) &&
          !IsElementwiseOn(module_, analysis_.orders, read.user, read.operand))
        return false;
      if (std::exchange(is_seen[read.user.index - body.first.index], 1) == 0)
        stack.push_back(read.user);
    }
  }
  answer = 2;
  return true;
}

// Whether the instruction reads the operand's value nowhere else.
bool ShareRules::IsReadOnce(PositionId input, InstrId user) const {
  const ValueFlow& flow = analysis_.flow;
  return std::ranges::all_of(flow.at(input), [&](ValueId value) {
    return std::ranges::count(flow.uses_of(value), user, &Use::user) == 1;
  });
}

bool ShareRules::FusionKeepsPlaces(InstrId operand, InstrId fusion) {
  if (module_.called_by(fusion).empty()) return false;
  const std::span<const InstrId> parameters = module_.parameters_of(module_.called_by(fusion)[0]);
  const size_t k = FirstOperand(module_, analysis_.orders, fusion, operand);
  if (k >= parameters.size()) return false;
  uint8_t& answer = place_answers_[parameters[k].index];
  if (answer == 0) answer = KeepsPlaces(parameters[k]) ? 2 : 1;
  return answer == 2;
}

// Whether what the fusion makes of element i of the parameter, on every way through it, lies where
// element i lies in the parameter. Bitcasts count the same bytes in other dimensions; everything
// else counts in the same dimensions, and must have them in the same order. Inside a fusion no
// tiles exist but those that a bitcast counts by, so tiles matter there and at both ends.
bool ShareRules::KeepsPlaces(InstrId fused_parameter) const {
  using Tiles = std::vector<std::vector<int64_t>>;
  static const Tiles kUntiled;
  const auto shape_of = [&](InstrId id) { return module_.instructions[id].shape; };
  const auto tiles_of = [&](InstrId id) -> const Tiles& {
    const hlo::LayoutId layout = module_.shapes[shape_of(id)].layout;
    return layout.is_none() ? kUntiled : module_.shapes.layout(layout).tiles;
  };
  const auto bits_of = [&](InstrId id) { return hlo::BitWidth(module_.shapes[shape_of(id)].type); };
  const hlo::Computation& body = module_.computations[module_.instructions[fused_parameter].parent];
  // By instruction: the tiles in which the parameter's elements lie, in its dimensions.
  std::vector<const Tiles*> tiles(body.count, nullptr);
  const auto in_tiles = [&](InstrId id) -> const Tiles*& {
    return tiles[id.index - body.first.index];
  };
  // What has another width takes other bytes, so it is never written over the parameter.
  const auto can_end = [&](InstrId id) {
    return bits_of(id) != bits_of(fused_parameter) || *in_tiles(id) == tiles_of(id);
  };
  std::vector<InstrId> stack = {fused_parameter};
  in_tiles(fused_parameter) = &tiles_of(fused_parameter);
  while (!stack.empty()) {
    const InstrId id = stack.back();
    stack.pop_back();
    if (id == body.root && !can_end(id)) return false;
    for (const Orders::Read& read : analysis_.orders.reads_of(id)) {
      const Tiles* next = in_tiles(id);
      switch (module_.instructions[read.user].opcode) {
        case Opcode::kTuple:
          if (!can_end(id)) return false;
          continue;
        case Opcode::kReduce:
          continue;  // who accepts these knows why
        case Opcode::kDynamicSlice:
          if (read.operand == 0) return false;
          continue;  // an index says where to read; nothing that it is made into is written
        case Opcode::kBitcast:
          if (*next != tiles_of(id) || bits_of(id) != bits_of(read.user)) return false;
          next = &tiles_of(read.user);
          break;
        default:
          if (!KeepsOrderOf(module_, analysis_.orders, read.user, read.operand)) return false;
      }
      const Tiles*& known = in_tiles(read.user);
      if (known != nullptr) {
        if (*known != *next) return false;
        continue;
      }
      known = next;
      stack.push_back(read.user);
    }
  }
  return true;
}

// dot(a, b) + c may be written over c.
bool ShareRules::OutputFusionCanShare(InstrId fusion, InstrId fused_parameter) const {
  const InstrId root = module_.computations[module_.called_by(fusion)[0]].root;
  const std::span<const InstrId> operands = module_.operands_of(root);
  const auto is_product = [&](InstrId id) {
    const Opcode opcode = module_.instructions[id].opcode;
    return opcode == Opcode::kConvolution || opcode == Opcode::kDot;
  };
  const auto product = std::ranges::find_if(operands, is_product);
  if (product == operands.end()) return false;
  const size_t other = product == operands.begin() ? 1 : 0;
  const std::span<const Orders::Read> reads = analysis_.orders.reads_of(fused_parameter);
  return reads.size() == 1 && reads[0].user == root && reads[0].operand == other;
}

std::optional<bool> ShareRules::TpuHint(InstrId operand, PositionId output) const {
  const Positions& positions = analysis_.flow.positions;
  const InstrId user = positions.instruction(output);
  // Copies of the program's scalars to another memory space stay as they are.
  if (module_.instructions[operand].opcode == Opcode::kCopy) {
    const InstrId source = module_.operands_of(operand)[0];
    const auto space = [&](InstrId id) {
      const hlo::LayoutId layout = module_.shapes[module_.instructions[id].shape].layout;
      return layout.is_none() ? int64_t{0} : module_.shapes.layout(layout).memory_space;
    };
    if (module_.instructions[source].opcode == Opcode::kParameter &&
        space(source) != space(operand))
      return false;
  }
  switch (module_.instructions[user].opcode) {
    case Opcode::kAllReduce: {
      const std::span<const InstrId> operands = module_.operands_of(user);
      if (operands.size() == 1) return true;
      const size_t k = FirstOperand(module_, analysis_.orders, user, operand);
      return !positions.is_top(output) && output == positions.Child(positions.top(user), k);
    }
    case Opcode::kFusion: {
      if (module_.called_by(user).empty()) return std::nullopt;
      const hlo::CompId body = module_.called_by(user)[0];
      const size_t k = FirstOperand(module_, analysis_.orders, user, operand);
      if (k >= module_.parameters_of(body).size()) return false;
      if (planner_ == Planner::kXla && IsOnlyIndex(module_.parameters_of(body)[k])) return true;
      const InstrId root = module_.computations[body].root;
      const std::span<const InstrId> elements = module_.operands_of(root);
      if (module_.instructions[root].opcode != Opcode::kTuple || positions.is_top(output) ||
          std::ranges::none_of(elements, [&](InstrId id) {
            return module_.instructions[id].opcode == Opcode::kReduce;
          }))
        return std::nullopt;
      // The element of the root's tuple that is this output. Nested tuples do not occur.
      std::vector<int64_t> index;
      positions.AppendIndex(module_.shapes, module_.instructions[user].shape,
                            positions.offset(output), index);
      return ReduceFusionCanShare(user, module_.parameters_of(body)[k],
                                  elements[static_cast<size_t>(index[0])]);
    }
    default:
      return std::nullopt;
  }
}

// Whether the fusion reads the parameter only to learn where slices begin. libtpu writes scalars
// over such a parameter.
bool ShareRules::IsOnlyIndex(InstrId fused_parameter) const {
  const std::span<const Orders::Read> reads = analysis_.orders.reads_of(fused_parameter);
  return !reads.empty() && std::ranges::all_of(reads, [&](const Orders::Read& read) {
    return module_.instructions[read.user].opcode == Opcode::kDynamicSlice && read.operand != 0;
  });
}

// Fusions with several outputs, some of them reductions.
bool ShareRules::ReduceFusionCanShare(InstrId fusion, InstrId fused_parameter,
                                      InstrId element) const {
  if (module_.instructions[element].opcode == Opcode::kReduce) return false;
  const hlo::Computation& body = module_.computations[module_.called_by(fusion)[0]];
  std::vector<uint8_t> is_seen(body.count, 0);
  std::vector<InstrId> stack = {fused_parameter};
  while (!stack.empty()) {
    const InstrId id = stack.back();
    stack.pop_back();
    for (const Orders::Read& read : analysis_.orders.reads_of(id)) {
      const Opcode opcode = module_.instructions[read.user].opcode;
      if (opcode == Opcode::kReduce) {
        const std::span<const InstrId> users = analysis_.orders.users_of(read.user);
        if (users.size() == 1 && users[0] == body.root) continue;
        return false;
      }
      if (opcode != Opcode::kTuple && opcode != Opcode::kBitcast &&
          !IsElementwiseOn(module_, analysis_.orders, read.user, read.operand))
        return false;
      if (std::exchange(is_seen[read.user.index - body.first.index], 1) == 0)
        stack.push_back(read.user);
    }
  }
  return true;
}

}  // namespace stowplan
