// SPDX-License-Identifier: Apache-2.0
#include "report/from_proto.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "proto/id_map.h"
#include "report/assignment_message.h"

namespace stowplan::report {
namespace {

using hlo::InstrId;
using hlo::ShapeId;

class ProtoReporter {
 public:
  ProtoReporter(const hlo::Module& module, const BufferAssignmentMessage& message)
      : module_(module), message_(message) {}

  Result<Report> Make() && {
    report_.name = module_.view(module_.header.name);
    report_.has_assignment = true;
    if (module_.source) report_.sources.push_back(module_.source);
    has_tiles_ = HasTiles();
    AddInstructions();
    AddBuffers();
    output_ = FindOutput();
    for (const AllocationMessage& allocation : message_.allocations) AddAllocation(allocation);
    if (!errors_.empty()) return std::unexpected(std::move(errors_));
    return std::move(report_);
  }

 private:
  struct Place {
    InstrId instruction;
    ShapeId shape;
  };

  void Fail(const char* at, std::string message) {
    if (errors_.size() < kMaxErrors) {
      errors_.push_back(AtBufferAssignment(module_, at, std::move(message)));
    }
  }

  void AddInstructions() {
    for (size_t i = 0; i < module_.proto_ids.size(); ++i) {
      by_id_.Add(module_.proto_ids[i], static_cast<uint32_t>(i));
    }
    // Only old files refer to instructions by name.
    const bool has_names = std::ranges::any_of(
        message_.buffers, [](const LogicalBuffer& buffer) { return !buffer.defined_at.has_id; });
    for (size_t i = 0; has_names && i < module_.instructions.size(); ++i) {
      by_name_.emplace(module_.name(InstrId(i)), InstrId(i));
    }
  }

  std::optional<InstrId> FindInstruction(const BufferLocation& location) const {
    if (!location.has_id && !location.instruction_name.empty()) {
      const auto row = by_name_.find(location.instruction_name);
      return row == by_name_.end() ? std::nullopt : std::optional(row->second);
    }
    const uint32_t row = by_id_.Find(location.instruction_id);
    return row == proto::IdMap::kNone ? std::nullopt : std::optional(InstrId(row));
  }

  std::optional<ShapeId> Part(ShapeId shape, std::span<const int64_t> index) const {
    for (const int64_t n : index) {
      if (!module_.shapes.is_tuple(shape)) return std::nullopt;
      const std::span<const ShapeId> elements = module_.shapes.elements(shape);
      if (n < 0 || n >= static_cast<int64_t>(elements.size())) return std::nullopt;
      shape = elements[static_cast<size_t>(n)];
    }
    return shape;
  }

  // Where a location is in the program; nothing, and an error, when it is nowhere.
  std::optional<Place> FindPlace(const BufferLocation& location, const char* at) {
    const std::optional<InstrId> instruction = FindInstruction(location);
    if (!instruction) {
      Fail(at,
           location.has_id || location.instruction_name.empty()
               ? "there is no instruction with the id " + std::to_string(location.instruction_id)
               : "there is no instruction of this name");
      return std::nullopt;
    }
    const std::optional<ShapeId> shape =
        Part(module_.instructions[*instruction].shape, message_.numbers(location.index));
    if (!shape) {
      Fail(at, "the shape of " + std::string(module_.name(*instruction)) +
                   " has no part at this index");
      return std::nullopt;
    }
    return Place{*instruction, *shape};
  }

  // The same text in the report's keeping, unless it already is.
  std::string_view Keep(std::string_view text) {
    const Source* source = module_.source.get();
    if (source != nullptr && text.data() >= source->begin() && text.data() <= source->end()) {
      return text;
    }
    return *report_.made_texts.emplace_back(std::make_unique<std::string>(text));
  }

  std::string_view NameOf(InstrId id) {
    if (names_.empty()) names_.resize(module_.instructions.size());
    std::string_view& name = names_[id.index];
    if (name.data() == nullptr) name = Keep(module_.name(id));
    return name;
  }

  std::string_view TextOf(ShapeId shape, bool layouts) {
    std::vector<std::string_view>& texts = layouts ? shape_texts_ : plain_shape_texts_;
    if (texts.empty()) texts.resize(module_.shapes.size());
    std::string_view& text = texts[shape.index];
    if (text.data() == nullptr) {
      text = *report_.made_texts.emplace_back(std::make_unique<std::string>(
          hlo::ToString(module_.shapes, shape, {.layouts = layouts})));
    }
    return text;
  }

  // XLA shows the index of what is defined by a tuple's instruction.
  Index IndexOf(InstrId instruction, Range numbers) {
    Index index;
    index.numbers = {static_cast<uint32_t>(report_.ints.size()), numbers.count};
    const std::span<const int64_t> ints = message_.numbers(numbers);
    report_.ints.insert(report_.ints.end(), ints.begin(), ints.end());
    index.is_shown = module_.shapes.is_tuple(module_.instructions[instruction].shape);
    return index;
  }

  void AddBuffers() {
    for (const LogicalBuffer& buffer : message_.buffers) {
      const std::optional<Place> place = FindPlace(buffer.defined_at, buffer.at);
      if (!place) continue;
      if (buffer.size < 0) Fail(buffer.at, "the size of a buffer is negative");
      if (!values_.Add(buffer.id, static_cast<uint32_t>(report_.values.size()))) {
        Fail(buffer.at, "there are two buffers with the id " + std::to_string(buffer.id));
        continue;
      }
      Value value;
      value.number = buffer.id;
      value.instruction = NameOf(place->instruction);
      value.index = IndexOf(place->instruction, buffer.defined_at.index);
      value.color = buffer.color;
      value.size = buffer.size;
      value.shape = TextOf(place->shape, true);
      definitions_.emplace_back(place->instruction, report_.values.Add(value));
    }
  }

  // The value that is defined at this place, if one is.
  ValueId ValueAt(InstrId instruction, std::span<const int64_t> index) const {
    for (auto row = std::ranges::lower_bound(definitions_, std::pair(instruction, ValueId(0)));
         row != definitions_.end() && row->first == instruction; ++row) {
      if (std::ranges::equal(report_.numbers(report_.values[row->second].index), index)) {
        return row->second;
      }
    }
    return {};
  }

  // The value at the root of the entry computation; none when it cannot be told easily.
  ValueId FindOutput() {
    if (module_.entry.is_none()) return {};
    std::ranges::sort(definitions_);
    InstrId at = module_.computations[module_.entry].root;
    std::vector<int64_t> index;
    // A program does not hand on a value more often than it has instructions.
    for (size_t steps = 0; steps <= module_.instructions.size(); ++steps) {
      if (at.is_none()) return {};
      const ValueId value = ValueAt(at, index);
      if (!value.is_none()) return value;
      at = HandedOnFrom(at, index);
    }
    return {};
  }

  // Where an instruction has its part at `index` from, which becomes the index there; none when it
  // makes it, or chooses.
  InstrId HandedOnFrom(InstrId id, std::vector<int64_t>& index) const {
    const std::span<const InstrId> operands = module_.operands_of(id);
    switch (module_.instructions[id].opcode) {
      case hlo::Opcode::kAddDependency:
      case hlo::Opcode::kAsyncUpdate:
      case hlo::Opcode::kBitcast:
      case hlo::Opcode::kDomain:
      case hlo::Opcode::kOptBarrier:
      case hlo::Opcode::kWhile:  // XLA makes a value at the loop when the body changes it
        return operands.empty() ? InstrId() : operands[0];
      case hlo::Opcode::kGetTupleElement:
        index.insert(index.begin(), module_.NumberOr(id, hlo::AttributeKey::kIndex, 0));
        return operands.empty() ? InstrId() : operands[0];
      // What was started has its result in its tuple: (result, operand, context), and ((operands),
      // result, ...).
      case hlo::Opcode::kCopyDone:
        index.insert(index.begin(), 0);
        return operands.empty() ? InstrId() : operands[0];
      case hlo::Opcode::kAsyncDone:
        index.insert(index.begin(), 1);
        return operands.empty() ? InstrId() : operands[0];
      case hlo::Opcode::kAsyncStart: {
        const std::span<const hlo::CompId> called = module_.called_by(id);
        if (called.empty() || index.empty() || index[0] != 1) return {};
        index.erase(index.begin());
        return module_.computations[called[0]].root;
      }
      case hlo::Opcode::kTuple: {
        if (index.empty() || index[0] < 0 || index[0] >= static_cast<int64_t>(operands.size())) {
          return {};
        }
        const InstrId element = operands[static_cast<size_t>(index[0])];
        index.erase(index.begin());
        return element;
      }
      case hlo::Opcode::kCall: {
        const std::span<const hlo::CompId> called = module_.called_by(id);
        return called.empty() ? InstrId() : module_.computations[called[0]].root;
      }
      default:
        return {};
    }
  }

  void AddAllocation(const AllocationMessage& message) {
    Allocation allocation;
    allocation.number = message.index;
    allocation.size = message.size;
    allocation.color = message.color;
    allocation.is_constant = message.is_constant;
    allocation.is_thread_local = message.is_thread_local;
    allocation.is_maybe_live_out = message.is_maybe_live_out;
    if (message.size < 0) Fail(message.at, "the size of an allocation is negative");
    if (!allocations_.Add(message.index, 0)) {
      Fail(message.at, "there are two allocations with the index " + std::to_string(message.index));
    }
    if (message.is_entry_parameter) SetParameter(message, allocation);
    const AllocationId id = report_.allocations.next_id();
    for (const AssignedBuffer& assigned : message.assigned) {
      const uint32_t row = values_.Find(assigned.buffer);
      if (row == proto::IdMap::kNone) {
        Fail(assigned.at, "there is no buffer with the id " + std::to_string(assigned.buffer));
        continue;
      }
      Value& value = report_.values[ValueId(row)];
      if (!value.allocation.is_none()) {
        Fail(assigned.at, "buffer " + std::to_string(assigned.buffer) + " is assigned twice");
        continue;
      }
      int64_t end = 0;
      if (assigned.offset < 0 || assigned.size < 0 ||
          __builtin_add_overflow(assigned.offset, assigned.size, &end)) {
        Fail(assigned.at,
             "the place of buffer " + std::to_string(assigned.buffer) + " is not a range of bytes");
      }
      value.allocation = id;
      value.offset = assigned.offset;
      value.size = assigned.size;
      allocation.values.emplace_back(row);
      // Plain values in the collective memory of GPUs; the messages have no list of them.
      if (value.color == 0 && message.color == 1 && allocation.is_temp() && !has_tiles_)
        allocation.other_colors.emplace_back(row);
      if (ValueId(row) == output_) {
        const InstrId root = module_.computations[module_.entry].root;
        allocation.output_shape = TextOf(module_.instructions[root].shape, false);
      }
    }
    std::ranges::sort(allocation.other_colors, {},
                      [&](ValueId value) { return report_.values[value].number; });
    report_.allocations.Add(std::move(allocation));
  }

  // Layouts of TPUs have them.
  [[nodiscard]] bool HasTiles() const {
    for (size_t s = 0; s < module_.shapes.size(); ++s) {
      const hlo::LayoutId layout = module_.shapes[ShapeId(s)].layout;
      if (!layout.is_none() && !module_.shapes.layout(layout).tiles.empty()) return true;
    }
    return false;
  }

  void SetParameter(const AllocationMessage& message, Allocation& allocation) {
    const std::span<const InstrId> parameters =
        module_.entry.is_none() ? std::span<const InstrId>() : module_.parameters_of(module_.entry);
    allocation.parameter = message.parameter_number;
    if (message.parameter_number < 0 ||
        message.parameter_number >= static_cast<int64_t>(parameters.size())) {
      Fail(message.at,
           "the entry computation has no parameter " + std::to_string(message.parameter_number));
      return;
    }
    const InstrId parameter = parameters[static_cast<size_t>(message.parameter_number)];
    allocation.parameter_index = IndexOf(parameter, message.parameter_index);
    allocation.parameter_index.is_shown = true;
    const std::optional<ShapeId> shape =
        Part(module_.instructions[parameter].shape, message_.numbers(message.parameter_index));
    if (!shape) {
      Fail(message.at, "the shape of parameter " + std::to_string(message.parameter_number) +
                           " has no part at this index");
      return;
    }
    allocation.parameter_shape = TextOf(*shape, false);
  }

  const hlo::Module& module_;
  const BufferAssignmentMessage& message_;
  Report report_;
  bool has_tiles_ = false;
  Diagnostics errors_;
  proto::IdMap by_id_;
  std::unordered_map<std::string_view, InstrId> by_name_;
  proto::IdMap values_;       // by number
  proto::IdMap allocations_;  // those that there are, by number
  ValueId output_;            // the value at the entry computation's root
  std::vector<std::pair<InstrId, ValueId>> definitions_;
  std::vector<std::string_view> names_;  // by instruction
  std::vector<std::string_view> shape_texts_;
  std::vector<std::string_view> plain_shape_texts_;
};

}  // namespace

Result<Report> ReportFromModule(const hlo::Module& module) {
  STOWPLAN_TRY(const BufferAssignmentMessage message, ParseBufferAssignment(module));
  return ProtoReporter(module, message).Make();
}

Result<std::vector<SharedBuffer>> SharedBuffersFromModule(const hlo::Module& module) {
  STOWPLAN_TRY(const BufferAssignmentMessage message, ParseBufferAssignment(module));
  // An alias names the place where the other value is defined.
  using Key = std::pair<int64_t, std::vector<int64_t>>;
  std::map<Key, int64_t> definitions;
  const auto key = [&](const BufferLocation& location) {
    const std::span<const int64_t> index = message.numbers(location.index);
    return Key(location.instruction_id, {index.begin(), index.end()});
  };
  for (const LogicalBuffer& buffer : message.buffers) {
    definitions.emplace(key(buffer.defined_at), buffer.id);
  }
  std::vector<SharedBuffer> shared;
  for (const BufferAlias& alias : message.aliases) {
    const auto other = definitions.find(key(alias.location));
    if (other == definitions.end()) continue;  // a value without an allocation
    // Most are said twice, once from each side.
    shared.push_back(
        {std::min(alias.buffer, other->second), std::max(alias.buffer, other->second)});
  }
  for (const HeapTrace& trace : message.traces) {
    for (const HeapEvent& event : trace.events) {
      if (event.kind != HeapEventKind::kShareWith) continue;
      shared.push_back(
          {std::min(event.buffer, event.shares_with), std::max(event.buffer, event.shares_with)});
    }
  }
  const auto by_number = [](const SharedBuffer& x, const SharedBuffer& y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  };
  std::ranges::sort(shared, by_number);
  const auto rest = std::ranges::unique(shared);
  shared.erase(rest.begin(), rest.end());
  return shared;
}

}  // namespace stowplan::report
