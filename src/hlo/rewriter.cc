// SPDX-License-Identifier: Apache-2.0
#include "hlo/rewriter.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace stowplan::hlo {

namespace {

Text AddText(Module& module, std::string_view characters) {
  const size_t split = module.source ? module.source->size() : 0;
  const Text text{static_cast<uint32_t>(split + module.made_texts.size()),
                  static_cast<uint32_t>(characters.size())};
  module.made_texts += characters;
  return text;
}

template <class T>
Range Append(std::vector<T>& pool, const std::vector<T>& rows) {
  const Range range = {static_cast<uint32_t>(pool.size()), static_cast<uint32_t>(rows.size())};
  pool.insert(pool.end(), rows.begin(), rows.end());
  return range;
}

// Ids are different in the whole module. In newer protos, those of a computation have its own
// number in their upper half.
class NewProtoIds {
 public:
  explicit NewProtoIds(const Module& module) : last_in_(module.computations.size(), 0) {
    for (size_t i = 0; i < module.proto_ids.size(); ++i) {
      int64_t& last = last_in_[module.instructions[InstrId(i)].parent.index];
      last = std::max(last, module.proto_ids[i]);
      last_ = std::max(last_, module.proto_ids[i]);
    }
  }
  int64_t Next(CompId computation) {
    int64_t& last = last_in_[computation.index];
    return last >> 32 != 0 ? ++last : ++last_;
  }

 private:
  std::vector<int64_t> last_in_;  // by computation
  int64_t last_ = 0;
};

}  // namespace

InstrId Rewriter::Add(New row, std::string_view stem) {
  row.name = std::string(stem);
  row.head.parent =
      IsNew(row.anchor) ? NewOf(row.anchor).head.parent : module_.instructions[row.anchor].parent;
  row.head.is_implicit = false;
  news_.push_back(std::move(row));
  return InstrId(module_.instructions.size() + news_.size() - 1);
}

ShapeId Rewriter::ShapeOf(InstrId id) const {
  return IsNew(id) ? NewOf(id).head.shape : module_.instructions[id].shape;
}

InstrId Rewriter::AddCopy(InstrId operand, InstrId anchor) {
  New row;
  row.head.shape = ShapeOf(operand);
  row.head.opcode = Opcode::kCopy;
  row.head.metadata =
      IsNew(operand) ? NewOf(operand).head.metadata : module_.instructions[operand].metadata;
  row.operands = {operand};
  row.anchor = anchor;
  return Add(std::move(row), "copy");
}

InstrId Rewriter::AddElement(InstrId tuple, int64_t index, InstrId anchor) {
  New row;
  row.head.shape = module_.shapes.elements(ShapeOf(tuple))[static_cast<size_t>(index)];
  row.head.opcode = Opcode::kGetTupleElement;
  row.operands = {tuple};
  row.attributes = {Attribute::OfNumber(AttributeKey::kIndex, index)};
  row.anchor = anchor;
  return Add(std::move(row), "get-tuple-element");
}

InstrId Rewriter::AddTuple(std::span<const InstrId> elements, ShapeId shape, InstrId anchor) {
  New row;
  row.head.shape = shape;
  row.head.opcode = Opcode::kTuple;
  row.operands = {elements.begin(), elements.end()};
  row.anchor = anchor;
  return Add(std::move(row), "tuple");
}

InstrId Rewriter::AddClone(InstrId original, std::span<const InstrId> operands, InstrId anchor) {
  New row;
  row.head = module_.instructions[original];
  row.operands = {operands.begin(), operands.end()};
  for (const Attribute& attribute : module_.attributes_of(original)) {
    if (attribute.key != AttributeKey::kControlPredecessors) row.attributes.push_back(attribute);
  }
  row.original = original;
  row.anchor = anchor;
  return Add(std::move(row), std::string(module_.name(original)) + ".remat");
}

void Rewriter::ReplaceOperand(InstrId user, size_t operand, InstrId by) {
  operands_[{user, operand}] = by;
}

InstrId Rewriter::Resolve(InstrId id) const {
  // A chain of replacements is no longer than their number.
  for (size_t i = 0; i <= replaced_.size(); ++i) {
    const auto next = replaced_.find(id);
    if (next == replaced_.end()) break;
    id = next->second;
  }
  return id;
}

// Reports know instructions only by name, so names are unique in the whole module.
std::vector<std::string> Rewriter::NewNames() const {
  std::unordered_set<std::string_view> used;
  for (size_t i = 0; i < (news_.empty() ? 0 : module_.instructions.size()); ++i)
    used.insert(module_.name(InstrId(i)));
  std::vector<std::string> names(news_.size());
  std::map<std::string, int64_t> last_numbers;
  for (size_t i = 0; i < news_.size(); ++i) {
    names[i] = news_[i].name;
    int64_t& number = last_numbers[news_[i].name];
    while (used.contains(names[i])) names[i] = news_[i].name + "." + std::to_string(++number);
    used.insert(names[i]);
  }
  return names;
}

// The old order, with new instructions after their anchors.
Rewriter::Layout Rewriter::FindLayout() const {
  const size_t old_count = module_.instructions.size();
  Layout layout;
  layout.behind.resize(old_count);
  for (size_t i = 0; i < news_.size(); ++i) {
    InstrId anchor = news_[i].anchor;
    while (IsNew(anchor)) anchor = NewOf(anchor).anchor;
    layout.behind[anchor.index].emplace_back(old_count + i);
  }
  for (size_t i = 0; i < old_count; ++i) {
    if (!IsRemoved(InstrId(i))) layout.rows.emplace_back(i);
    for (const InstrId id : layout.behind[i]) {
      if (!IsRemoved(id)) layout.rows.push_back(id);
    }
  }
  layout.map.resize(old_count + news_.size());
  for (size_t i = 0; i < layout.rows.size(); ++i) layout.map[layout.rows[i].index] = InstrId(i);
  return layout;
}

std::vector<InstrId> Rewriter::OperandsOf(InstrId id, const Layout& layout) const {
  const bool is_new = IsNew(id);
  const std::span<const InstrId> operands =
      is_new ? std::span<const InstrId>(NewOf(id).operands) : module_.operands_of(id);
  std::vector<InstrId> read;
  read.reserve(operands.size());
  for (size_t k = 0; k < operands.size(); ++k) {
    const auto other = operands_.find({id, k});
    const InstrId operand = other != operands_.end() ? other->second
                            : is_new                 ? operands[k]
                                                     : Resolve(operands[k]);
    read.push_back(layout.map[operand.index]);
  }
  return read;
}

std::vector<Attribute> Rewriter::AttributesOf(InstrId id, const Layout& layout, Module& out) const {
  std::vector<Attribute> kept;
  std::vector<InstrId> predecessors;
  const auto add = [&](std::span<const InstrId> others) {
    for (const InstrId other : others) {
      if (!IsRemoved(other)) predecessors.push_back(layout.map[other.index]);
    }
  };
  for (const Attribute& attribute :
       IsNew(id) ? std::span<const Attribute>(NewOf(id).attributes) : module_.attributes_of(id)) {
    if (attribute.key == AttributeKey::kControlPredecessors) {
      add(Module::Rows(module_.instruction_pool, attribute.rows()));
    } else {
      kept.push_back(attribute);
    }
  }
  if (const auto added = added_predecessors_.find(id); added != added_predecessors_.end())
    add(added->second);
  if (predecessors.empty()) return kept;
  const Opcode opcode = IsNew(id) ? NewOf(id).head.opcode : module_.instructions[id].opcode;
  const Attribute attribute = Attribute::OfRows(AttributeKey::kControlPredecessors,
                                                Append(out.instruction_pool, predecessors));
  const auto place = std::ranges::find_if(kept, [&](const Attribute& a) {
    return PrintRank(opcode, a.key) > PrintRank(opcode, attribute.key);
  });
  kept.insert(place, attribute);
  return kept;
}

void Rewriter::BuildRows(const Layout& layout, Module& out) const {
  const std::vector<std::string> names = NewNames();
  NewProtoIds proto_ids(module_);
  for (const InstrId id : layout.rows) {
    const bool is_new = IsNew(id);
    Instruction row = is_new ? NewOf(id).head : module_.instructions[id];
    row.operands = Append(out.operands, OperandsOf(id, layout));
    row.attributes = Append(out.attributes, AttributesOf(id, layout, out));
    if (is_new) {
      row.name = AddText(out, names[id.index - module_.instructions.size()]);
      // Each call has rows of its own.
      const std::span<const CompId> callees = Module::Rows(module_.called, row.called);
      row.called = Append(out.called, std::vector<CompId>(callees.begin(), callees.end()));
    }
    out.instructions.Add(row);
    if (!module_.proto_ids.empty())
      out.proto_ids.push_back(is_new ? proto_ids.Next(row.parent) : module_.proto_ids[id.index]);
  }
  for (const auto& [id, name] : module_.unknown_opcodes) {
    if (!IsRemoved(id)) out.unknown_opcodes.emplace_back(layout.map[id.index], name);
  }
}

std::vector<InstrId> Rewriter::ScheduleOf(CompId id, const Layout& layout) const {
  std::vector<InstrId> order;
  const auto add = [&](std::span<const InstrId> others) {
    for (const InstrId other : others) {
      if (!IsRemoved(other)) order.push_back(layout.map[other.index]);
    }
  };
  if (const auto schedule = schedules_.find(id); schedule != schedules_.end()) {
    add(schedule->second);
    return order;
  }
  for (const InstrId i : module_.schedule_of(id)) {
    add({&i, 1});
    add(layout.behind[i.index]);
  }
  return order;
}

Module Rewriter::Build(std::vector<InstrId>* ids, std::vector<InstrId>* origins) const {
  Module out = module_;
  out.header = header_;
  out.buffer_assignment = {};
  out.instructions = {};
  out.operands.clear();
  out.attributes.clear();
  out.instruction_pool.clear();
  out.unknown_opcodes.clear();
  out.proto_ids.clear();
  Layout layout = FindLayout();
  BuildRows(layout, out);
  size_t next = 0;
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    const CompId id(c);
    Computation& computation = out.computations[id];
    computation.first = InstrId(next);
    while (next < layout.rows.size() && out.instructions[InstrId(next)].parent == id) ++next;
    computation.count = static_cast<uint32_t>(next) - computation.first.index;
    const auto root = roots_.find(id);
    const InstrId new_root =
        root != roots_.end() ? root->second : Resolve(module_.computations[id].root);
    computation.root = layout.map[new_root.index];
    std::vector<InstrId> parameters;
    for (const InstrId parameter : module_.parameters_of(id))
      parameters.push_back(layout.map[parameter.index]);
    computation.parameters = Append(out.instruction_pool, parameters);
    computation.schedule = Append(out.instruction_pool, ScheduleOf(id, layout));
  }
  if (origins != nullptr) {
    for (const InstrId id : layout.rows) origins->push_back(IsNew(id) ? NewOf(id).original : id);
  }
  if (ids != nullptr) *ids = std::move(layout.map);
  return out;
}

}  // namespace stowplan::hlo
