// SPDX-License-Identifier: Apache-2.0
#include "hlo/draft.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace stowplan::hlo {
namespace {

// What XLA allows only one caller for.
bool NeedsOwnCallees(Opcode opcode) {
  switch (opcode) {
    case Opcode::kFusion:
    case Opcode::kCall:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kAsyncStart:
      return true;
    default:
      return false;
  }
}

template <class T>
Range AppendTo(std::vector<T>& pool, const std::vector<T>& rows) {
  const Range range = {static_cast<uint32_t>(pool.size()), static_cast<uint32_t>(rows.size())};
  pool.insert(pool.end(), rows.begin(), rows.end());
  return range;
}

}  // namespace

Draft::Draft(const Module& module)
    : module_(module),
      shapes_(module.shapes),
      ints_(module.ints),
      rows_(module.instructions.size()),
      parts_(module.computations.size()) {
  for (size_t i = 0; i < rows_.size(); ++i) {
    const InstrId id(i);
    Row& row = rows_[i];
    row.head = module.instructions[id];
    row.original = id;
    const auto operands = module.operands_of(id);
    row.operands.assign(operands.begin(), operands.end());
    for (const Attribute& attribute : module.attributes_of(id)) {
      if (attribute.key != AttributeKey::kControlPredecessors) {
        row.attributes.push_back(attribute);
        continue;
      }
      const auto before = Module::Rows(module.instruction_pool, attribute.rows());
      row.waits_for.assign(before.begin(), before.end());
    }
  }
  for (size_t c = 0; c < parts_.size(); ++c) {
    const CompId id(c);
    const Computation& computation = module.computations[id];
    Part& part = parts_[c];
    part.original = id;
    part.root = computation.root;
    for (uint32_t k = 0; k < computation.count; ++k)
      part.rows.emplace_back(size_t{computation.first.index} + k);
    const auto order = module.schedule_of(id);
    part.order.assign(order.begin(), order.end());
    const auto parameters = module.parameters_of(id);
    part.parameters.assign(parameters.begin(), parameters.end());
  }
}

Range Draft::AddInts(const std::vector<int64_t>& numbers) { return AppendTo(ints_, numbers); }

InstrId Draft::AddCopyOf(InstrId id, CompId parent, std::vector<InstrId> operands) {
  Row copy = rows_[id.index];
  copy.head.parent = parent;
  copy.head.is_implicit = false;
  copy.operands = std::move(operands);
  copy.waits_for.clear();
  copy.is_new = true;
  rows_.push_back(std::move(copy));
  return InstrId(rows_.size() - 1);
}

CompId Draft::AddCopyOf(CompId id) {
  const CompId made(parts_.size());
  parts_.push_back(parts_[id.index]);
  parts_.back().is_new = true;
  std::map<InstrId, InstrId> map;
  for (const InstrId row : parts_[id.index].rows)
    map[row] = AddCopyOf(row, made, rows_[row.index].operands);
  const auto moved = [&](std::vector<InstrId>& ids) {
    for (InstrId& row : ids) row = map.at(row);
  };
  Part& part = parts_[made.index];
  for (const InstrId row : part.rows) {
    Row& copy = rows_[map.at(row).index];
    copy.waits_for = rows_[row.index].waits_for;
    moved(copy.waits_for);
    moved(copy.operands);
  }
  moved(part.rows);
  moved(part.order);
  moved(part.parameters);
  part.root = map.at(part.root);
  return made;
}

std::vector<CompId> Draft::CalledBy(InstrId id) const {
  const Row& row = rows_[id.index];
  std::vector<CompId> called;
  for (const CompId callee : module_.called_by(row.original)) {
    const auto other = row.callees.find(callee);
    called.push_back(other == row.callees.end() ? callee : other->second);
  }
  return called;
}

void Draft::Separate(InstrId id) {
  std::vector<InstrId> open = {id};
  while (!open.empty()) {
    const InstrId caller = open.back();
    open.pop_back();
    if (!NeedsOwnCallees(rows_[caller.index].head.opcode)) continue;
    for (const CompId callee : module_.called_by(rows_[caller.index].original)) {
      const auto present = rows_[caller.index].callees.find(callee);
      const CompId copy =
          AddCopyOf(present == rows_[caller.index].callees.end() ? callee : present->second);
      rows_[caller.index].callees[callee] = copy;
      const std::vector<InstrId>& rows = parts_[copy.index].rows;
      open.insert(open.end(), rows.begin(), rows.end());
    }
  }
}

void Draft::Replace(CompId computation, InstrId old, InstrId by) {
  for (Row& row : rows_) {
    if (row.head.parent == computation) std::ranges::replace(row.operands, old, by);
  }
  if (parts_[computation.index].root == old) parts_[computation.index].root = by;
}

std::vector<InstrId> Draft::NeededIn(CompId computation) const {
  std::vector<InstrId> needed = {parts_[computation.index].root};
  std::unordered_set<uint32_t> seen = {needed[0].index};
  for (size_t k = 0; k < needed.size(); ++k) {
    for (const InstrId operand : rows_[needed[k].index].operands) {
      if (seen.insert(operand.index).second) needed.push_back(operand);
    }
  }
  return needed;
}

void Draft::KeepOnly(CompId computation, const std::vector<InstrId>& kept) {
  const std::unordered_set<uint32_t> stay = [&] {
    std::unordered_set<uint32_t> ids;
    for (const InstrId id : kept) ids.insert(id.index);
    return ids;
  }();
  const auto drop = [&](std::vector<InstrId>& ids) {
    std::erase_if(ids, [&](InstrId id) { return !stay.contains(id.index); });
  };
  drop(parts_[computation.index].rows);
  drop(parts_[computation.index].order);
  drop(parts_[computation.index].parameters);
}

// Makes a module of a draft.
class DraftBuilder {
 public:
  explicit DraftBuilder(const Draft& draft)
      : draft_(draft),
        module_(draft.module_),
        ids_(draft.rows_.size()),
        states_(draft.rows_.size(), kNew) {}

  std::optional<Module> Build(Origins& origins) && {
    OrderParts();
    out_ = module_;
    out_.shapes = draft_.shapes_;
    out_.ints = draft_.ints_;
    out_.buffer_assignment = {};
    out_.computations = {};
    out_.instructions = {};
    out_.operands.clear();
    out_.attributes.clear();
    out_.instruction_pool.clear();
    out_.called.clear();
    out_.unknown_opcodes.clear();
    out_.proto_ids.clear();
    FindUsed();
    std::vector<std::vector<InstrId>> rows;
    for (const CompId part : parts_) {
      std::optional<std::vector<InstrId>> sorted = Sorted(part, draft_.part(part).rows);
      if (!sorted) return std::nullopt;
      for (const InstrId id : *sorted) ids_[id.index] = InstrId(count_++);
      rows.push_back(*std::move(sorted));
    }
    for (size_t k = 0; k < parts_.size(); ++k) {
      if (!Emit(parts_[k], CompId(k), rows[k], origins)) return std::nullopt;
    }
    out_.entry = places_.at(module_.entry);
    return std::move(out_);
  }

 private:
  static constexpr uint8_t kNew = 0;
  static constexpr uint8_t kOpen = 1;
  static constexpr uint8_t kDone = 2;

  // Callees before their callers, otherwise as they were found.
  void OrderParts() {
    struct Visit {
      CompId id;
      std::vector<CompId> next;
      size_t done = 0;
    };
    std::vector<Visit> stack = {{module_.entry, CalleesOf(module_.entry)}};
    std::unordered_set<uint32_t> seen = {module_.entry.index};
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.done == visit.next.size()) {
        places_[visit.id] = CompId(parts_.size());
        parts_.push_back(visit.id);
        stack.pop_back();
        continue;
      }
      const CompId next = visit.next[visit.done++];
      if (seen.insert(next.index).second) stack.push_back({next, CalleesOf(next)});
    }
  }
  [[nodiscard]] std::vector<CompId> CalleesOf(CompId id) {
    std::vector<CompId> callees;
    std::vector<InstrId> rows = draft_.part(id).rows;
    for (const InstrId row : rows) states_[row.index] = kDone;
    for (size_t k = 0; k < rows.size(); ++k) {
      for (const CompId callee : draft_.CalledBy(rows[k])) callees.push_back(callee);
      for (const InstrId operand : draft_.row(rows[k]).operands) {
        if (std::exchange(states_[operand.index], kDone) != kDone) rows.push_back(operand);
      }
    }
    for (const InstrId row : rows) states_[row.index] = kNew;
    return callees;
  }

  // The rows, each after what it reads and waits for; what is missing comes right before who needs
  // it. Nothing if there is a circle.
  [[nodiscard]] std::optional<std::vector<InstrId>> Sorted(CompId part,
                                                           const std::vector<InstrId>& wanted) {
    std::unordered_set<uint32_t> there;
    for (const InstrId id : draft_.part(part).rows) there.insert(id.index);
    std::vector<InstrId> sorted;
    std::vector<InstrId> stack;
    for (const InstrId id : wanted) {
      stack.assign(1, id);
      while (!stack.empty()) {
        const InstrId top = stack.back();
        if (states_[top.index] == kDone) {
          stack.pop_back();
          continue;
        }
        // What is open waits for all that lies above it.
        states_[top.index] = kOpen;
        bool is_ready = true;
        const auto need = [&](InstrId other) {
          if (states_[other.index] == kDone) return true;
          if (states_[other.index] == kOpen) return false;
          stack.push_back(other);
          is_ready = false;
          return true;
        };
        const Draft::Row& row = draft_.row(top);
        for (const InstrId operand : row.operands) {
          if (!need(operand)) return std::nullopt;
        }
        for (const InstrId before : row.waits_for) {
          // What is gone need not be waited for.
          const bool is_gone = !draft_.row(before).is_new && !there.contains(before.index);
          if (!is_gone && !need(before)) return std::nullopt;
        }
        if (!is_ready) continue;
        states_[top.index] = kDone;
        sorted.push_back(top);
        stack.pop_back();
      }
    }
    for (const InstrId id : sorted) states_[id.index] = kNew;
    return sorted;
  }

  void FindUsed() {
    for (size_t i = 0; i < module_.instructions.size(); ++i)
      names_.emplace(module_.name(InstrId(i)));
    for (size_t c = 0; c < module_.computations.size(); ++c)
      names_.emplace(module_.name(CompId(c)));
    last_in_.assign(module_.computations.size(), 0);
    for (size_t i = 0; i < module_.proto_ids.size(); ++i) {
      const uint32_t parent = module_.instructions[InstrId(i)].parent.index;
      last_in_[parent] = std::max(last_in_[parent], module_.proto_ids[i]);
      last_id_ = std::max(last_id_, module_.proto_ids[i]);
    }
    for (const Computation& row : module_.computations.rows())
      last_computation_ = std::max(last_computation_, row.proto_id);
  }
  Text NewName(std::string_view old) {
    const std::string stem = std::string(old) + ".remat";
    int64_t& number = numbers_[stem];
    std::string name = stem;
    while (names_.contains(name)) name = stem + "." + std::to_string(++number);
    names_.insert(name);
    const size_t split = module_.source ? module_.source->size() : 0;
    const Text text{static_cast<uint32_t>(split + out_.made_texts.size()),
                    static_cast<uint32_t>(name.size())};
    out_.made_texts += name;
    return text;
  }
  // In newer protos, ids have the number of the computation in their upper half.
  int64_t NewId(CompId part, int64_t computation) {
    constexpr int64_t kHalf = int64_t{1} << 32;
    if (last_id_ < kHalf) return ++last_id_;
    if (!draft_.part(part).is_new) return ++last_in_[part.index];
    return computation * kHalf + ++new_in_[part];
  }

  bool Emit(CompId part, CompId place, const std::vector<InstrId>& rows, Origins& origins) {
    const Draft::Part& from = draft_.part(part);
    Computation computation = module_.computations[from.original];
    if (from.is_new) {
      computation.name = NewName(module_.name(from.original));
      if (computation.proto_id >= 0) computation.proto_id = ++last_computation_;
    }
    computation.first = out_.instructions.next_id();
    computation.count = static_cast<uint32_t>(rows.size());
    computation.root = ids_[from.root.index];
    computation.parameters = AppendTo(out_.instruction_pool, Mapped(from.parameters));
    computation.schedule = {};
    if (!from.order.empty()) {
      const std::optional<std::vector<InstrId>> order = Sorted(part, from.order);
      if (!order || order->size() != rows.size()) return false;
      computation.schedule = AppendTo(out_.instruction_pool, Mapped(*order));
    }
    out_.computations.Add(computation);
    origins.computations.push_back(from.original);
    std::unordered_set<uint32_t> there;
    for (const InstrId id : rows) there.insert(id.index);
    for (const InstrId id : rows) EmitRow(id, part, place, computation.proto_id, there, origins);
    return true;
  }
  [[nodiscard]] std::vector<InstrId> Mapped(const std::vector<InstrId>& old) const {
    std::vector<InstrId> ids;
    ids.reserve(old.size());
    for (const InstrId id : old) ids.push_back(ids_[id.index]);
    return ids;
  }

  void EmitRow(InstrId id, CompId part, CompId place, int64_t computation,
               const std::unordered_set<uint32_t>& there, Origins& origins) {
    const Draft::Row& from = draft_.row(id);
    Instruction row = from.head;
    row.parent = place;
    if (from.is_new) row.name = NewName(module_.name(from.original));
    row.operands = AppendTo(out_.operands, Mapped(from.operands));
    std::vector<CompId> called;
    for (const CompId callee : draft_.CalledBy(id)) called.push_back(places_.at(callee));
    row.called = AppendTo(out_.called, called);
    row.attributes = AppendTo(out_.attributes, AttributesOf(from, there));
    const auto unknown = std::ranges::lower_bound(module_.unknown_opcodes, from.original, {},
                                                  [](const auto& entry) { return entry.first; });
    if (unknown != module_.unknown_opcodes.end() && unknown->first == from.original)
      out_.unknown_opcodes.emplace_back(ids_[id.index], unknown->second);
    out_.instructions.Add(row);
    origins.instructions.push_back(from.original);
    if (!module_.proto_ids.empty())
      out_.proto_ids.push_back(from.is_new ? NewId(part, computation)
                                           : module_.proto_ids[from.original.index]);
  }
  std::vector<Attribute> AttributesOf(const Draft::Row& from,
                                      const std::unordered_set<uint32_t>& there) {
    std::vector<Attribute> attributes;
    const auto called = [&](CompId callee) {
      const auto other = from.callees.find(callee);
      return places_.at(other == from.callees.end() ? callee : other->second);
    };
    for (const Attribute& attribute : from.attributes) {
      if (KindOf(attribute.key) == ValueKind::kComputation) {
        const CompId callee = called(CompId(static_cast<size_t>(attribute.number())));
        attributes.push_back(Attribute::OfNumber(attribute.key, callee.index));
      } else if (KindOf(attribute.key) == ValueKind::kComputations) {
        std::vector<CompId> ids;
        for (const CompId callee : Module::Rows(module_.computation_pool, attribute.rows()))
          ids.push_back(called(callee));
        attributes.push_back(
            Attribute::OfRows(attribute.key, AppendTo(out_.computation_pool, ids)));
      } else {
        attributes.push_back(attribute);
      }
    }
    std::vector<InstrId> before;
    for (const InstrId id : from.waits_for) {
      if (there.contains(id.index)) before.push_back(ids_[id.index]);
    }
    if (before.empty()) return attributes;
    const Attribute waits = Attribute::OfRows(AttributeKey::kControlPredecessors,
                                              AppendTo(out_.instruction_pool, before));
    const auto place = std::ranges::find_if(attributes, [&](const Attribute& other) {
      return PrintRank(from.head.opcode, other.key) > PrintRank(from.head.opcode, waits.key);
    });
    attributes.insert(place, waits);
    return attributes;
  }

  const Draft& draft_;
  const Module& module_;
  Module out_;
  std::vector<CompId> parts_;        // of the draft, in the order of the module
  std::map<CompId, CompId> places_;  // the other way round
  std::vector<InstrId> ids_;         // by row of the draft
  std::vector<uint8_t> states_;      // the same, all kNew between calls
  size_t count_ = 0;
  std::unordered_set<std::string> names_;
  std::map<std::string, int64_t> numbers_;
  std::vector<int64_t> last_in_;
  std::map<CompId, int64_t> new_in_;
  int64_t last_id_ = 0;
  int64_t last_computation_ = 0;
};

std::optional<Module> Draft::Build(Origins& origins) const {
  return DraftBuilder(*this).Build(origins);
}

}  // namespace stowplan::hlo
