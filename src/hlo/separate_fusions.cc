// SPDX-License-Identifier: Apache-2.0
#include "hlo/separate_fusions.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>

namespace stowplan::hlo {
namespace {

// A computation of the new module.
struct CopiedPart {
  CompId original;
  bool is_copy = false;
  std::map<InstrId, size_t> callees;  // by instruction of the original: the part it calls instead
  std::vector<size_t> copies;         // that it needs, nested first
};

class Separator {
 public:
  explicit Separator(const Module& module)
      : module_(module), is_taken_(module.computations.size(), 0) {}

  Module Run(Origins& origins) && {
    for (size_t c = 0; c < module_.computations.size(); ++c) AddPart(CompId(c));
    Order();
    Module out = Empty();
    std::vector<CompId> places(parts_.size());
    for (size_t k = 0; k < order_.size(); ++k) places[order_[k]] = CompId(k);
    std::vector<CompId> whole(module_.computations.size());
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (!parts_[p].is_copy) whole[parts_[p].original.index] = places[p];
    }
    FindUsedNames();
    for (const size_t p : order_) Emit(parts_[p], places, whole, out, origins);
    out.entry = whole[module_.entry.index];
    return out;
  }

 private:
  // A part for the computation, and copies of what its fusions call, if others do so already. Goes
  // down with a list in place of recursion.
  void AddPart(CompId id) {
    const size_t top = parts_.size();
    parts_.push_back({.original = id});
    std::vector<size_t> open = {top};
    while (!open.empty()) {
      const size_t p = open.back();
      open.pop_back();
      const Computation row = module_.computations[parts_[p].original];
      for (uint32_t k = 0; k < row.count; ++k) {
        const InstrId instruction(size_t{row.first.index} + k);
        if (module_.instructions[instruction].opcode != Opcode::kFusion) continue;
        const std::span<const CompId> called = module_.called_by(instruction);
        if (called.size() != 1) continue;
        if (!parts_[p].is_copy && is_taken_[called[0].index] == 0) {
          is_taken_[called[0].index] = 1;
          continue;
        }
        parts_[p].callees[instruction] = parts_.size();
        parts_[top].copies.push_back(parts_.size());
        open.push_back(parts_.size());
        parts_.push_back({.original = called[0], .is_copy = true});
      }
    }
  }

  // Callees precede their callers: what was found last is nested most deeply.
  void Order() {
    for (size_t p = 0; p < parts_.size(); ++p) {
      if (parts_[p].is_copy) continue;
      order_.insert(order_.end(), parts_[p].copies.rbegin(), parts_[p].copies.rend());
      order_.push_back(p);
    }
  }

  [[nodiscard]] Module Empty() const {
    Module out = module_;
    out.computations = {};
    out.instructions = {};
    out.operands.clear();
    out.attributes.clear();
    out.instruction_pool.clear();
    out.called.clear();
    out.unknown_opcodes.clear();
    out.proto_ids.clear();
    return out;
  }

  void FindUsedNames() {
    if (order_.size() == module_.computations.size()) return;
    for (size_t i = 0; i < module_.instructions.size(); ++i)
      names_.emplace(module_.name(InstrId(i)));
    for (size_t c = 0; c < module_.computations.size(); ++c)
      names_.emplace(module_.name(CompId(c)));
    for (const int64_t id : module_.proto_ids) last_id_ = std::max(last_id_, id);
    for (const Computation& row : module_.computations.rows())
      last_computation_ = std::max(last_computation_, row.proto_id);
  }
  Text NewName(std::string_view old, Module& out) {
    std::string name = std::string(old) + ".remat";
    int64_t& number = numbers_[name];
    while (names_.contains(number == 0 ? name : name + "." + std::to_string(number))) ++number;
    if (number != 0) name += "." + std::to_string(number);
    names_.insert(name);
    const size_t split = module_.source ? module_.source->size() : 0;
    const Text text{static_cast<uint32_t>(split + out.made_texts.size()),
                    static_cast<uint32_t>(name.size())};
    out.made_texts += name;
    return text;
  }

  void Emit(const CopiedPart& part, std::span<const CompId> places, std::span<const CompId> whole,
            Module& out, Origins& origins) {
    const Computation& old = module_.computations[part.original];
    const auto first = static_cast<uint32_t>(out.instructions.size());
    const CompId id(out.computations.size());
    const auto map = [&](InstrId instruction) {
      return InstrId(size_t{first} + (instruction.index - old.first.index));
    };
    const auto append = [&](std::vector<InstrId>& pool, std::span<const InstrId> rows) {
      const Range range = {static_cast<uint32_t>(pool.size()), static_cast<uint32_t>(rows.size())};
      for (const InstrId row : rows) pool.push_back(map(row));
      return range;
    };
    Computation row = old;
    row.first = InstrId(size_t{first});
    row.root = map(old.root);
    row.parameters = append(out.instruction_pool, module_.parameters_of(part.original));
    row.schedule = append(out.instruction_pool, module_.schedule_of(part.original));
    if (part.is_copy) {
      row.name = NewName(module_.view(old.name), out);
      if (old.proto_id >= 0) row.proto_id = ++last_computation_;
    }
    out.computations.Add(row);
    origins.computations.push_back(part.original);
    for (uint32_t k = 0; k < old.count; ++k) {
      const InstrId from(size_t{old.first.index} + k);
      Instruction instruction = module_.instructions[from];
      instruction.parent = id;
      instruction.operands = append(out.operands, module_.operands_of(from));
      const auto callee = part.callees.find(from);
      const auto called = [&](CompId other) {
        return callee != part.callees.end() ? places[callee->second] : whole[other.index];
      };
      instruction.called.begin = static_cast<uint32_t>(out.called.size());
      for (const CompId other : module_.called_by(from)) out.called.push_back(called(other));
      instruction.attributes.begin = static_cast<uint32_t>(out.attributes.size());
      for (const Attribute& attribute : module_.attributes_of(from))
        out.attributes.push_back(Mapped(attribute, map, called, out));
      if (part.is_copy) instruction.name = NewName(module_.name(from), out);
      // By ascending id.
      const auto unknown = std::ranges::lower_bound(module_.unknown_opcodes, from, {},
                                                    [](const auto& entry) { return entry.first; });
      if (unknown != module_.unknown_opcodes.end() && unknown->first == from)
        out.unknown_opcodes.emplace_back(map(from), unknown->second);
      out.instructions.Add(instruction);
      origins.instructions.push_back(from);
      if (!module_.proto_ids.empty())
        out.proto_ids.push_back(part.is_copy ? NewId(from, row.proto_id)
                                             : module_.proto_ids[from.index]);
    }
  }
  // Newer protos have the computation's number in the upper half of an instruction's.
  int64_t NewId(InstrId from, int64_t computation) {
    const int64_t old = module_.proto_ids[from.index];
    constexpr int64_t kHalf = int64_t{1} << 32;
    return old >= kHalf && computation >= 0 && computation < (kHalf >> 1)
               ? computation * kHalf + old % kHalf
               : ++last_id_;
  }

  template <class Map, class Called>
  Attribute Mapped(const Attribute& attribute, const Map& map, const Called& called,
                   Module& out) const {
    switch (KindOf(attribute.key)) {
      case ValueKind::kComputation: {
        const CompId id = called(CompId(static_cast<size_t>(attribute.number())));
        return Attribute::OfNumber(attribute.key, id.index);
      }
      case ValueKind::kComputations: {
        std::vector<CompId> ids;
        for (const CompId id : Module::Rows(module_.computation_pool, attribute.rows()))
          ids.push_back(called(id));
        const Range range = {static_cast<uint32_t>(out.computation_pool.size()),
                             static_cast<uint32_t>(ids.size())};
        out.computation_pool.insert(out.computation_pool.end(), ids.begin(), ids.end());
        return Attribute::OfRows(attribute.key, range);
      }
      case ValueKind::kInstructions: {
        const auto rows = Module::Rows(module_.instruction_pool, attribute.rows());
        const Range range = {static_cast<uint32_t>(out.instruction_pool.size()),
                             static_cast<uint32_t>(rows.size())};
        for (const InstrId row : rows) out.instruction_pool.push_back(map(row));
        return Attribute::OfRows(attribute.key, range);
      }
      default:
        return attribute;
    }
  }

  const Module& module_;
  std::vector<CopiedPart> parts_;
  std::vector<size_t> order_;
  std::vector<uint8_t> is_taken_;  // by computation: a fusion calls it
  std::unordered_set<std::string> names_;
  std::map<std::string, int64_t> numbers_;
  int64_t last_id_ = 0;
  int64_t last_computation_ = 0;
};

}  // namespace

Module SeparateFusions(const Module& module, Origins& origins) {
  return Separator(module).Run(origins);
}

}  // namespace stowplan::hlo
