// SPDX-License-Identifier: Apache-2.0
// Builds a module that differs from a given one in a few places: instructions are added, removed or
// replaced, or the order of execution or the header changes.
//
//     Rewriter rewriter(module);
//     const InstrId copy = rewriter.AddCopy(parameter);   // after its operand
//     rewriter.Replace(parameter, copy);                  // for all its readers
//     Module changed = std::move(rewriter).Build();
//
// Ids are those of the given module; new instructions get the ids after them. The built module has
// its own ids.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

class Rewriter {
 public:
  explicit Rewriter(const Module& module) : module_(module), header_(module.header) {}

  Header& header() { return header_; }

  // New instructions come after `anchor`; Replace does not affect their operands.
  InstrId AddCopy(InstrId operand, InstrId anchor);
  InstrId AddElement(InstrId tuple, int64_t index, InstrId anchor);
  InstrId AddTuple(std::span<const InstrId> elements, ShapeId shape, InstrId anchor);
  // The same instruction with a new name and new operands. Called computations are shared.
  InstrId AddClone(InstrId original, std::span<const InstrId> operands, InstrId anchor);

  // All instructions of the given module that read `old`, and the root if it is `old`, use `by`.
  void Replace(InstrId old, InstrId by) { replaced_[old] = by; }
  void ReplaceOperand(InstrId user, size_t operand, InstrId by);
  void SetRoot(CompId computation, InstrId root) { roots_[computation] = root; }
  // Nothing may read it after the replacements. It loses its control edges, too.
  void Remove(InstrId id) { is_removed_[id] = true; }
  void AddControlPredecessor(InstrId id, InstrId before) {
    added_predecessors_[id].push_back(before);
  }
  // Without it, new instructions run after their anchors, and removed ones are dropped.
  void SetSchedule(CompId computation, std::vector<InstrId> order) {
    schedules_[computation] = std::move(order);
  }

  // `ids`, if given, maps old ids to new ones; none for what is removed. `origins`: by new row, the
  // old one, also of clones; none for what is new otherwise.
  [[nodiscard]] Module Build(std::vector<InstrId>* ids = nullptr,
                             std::vector<InstrId>* origins = nullptr) const;

 private:
  struct New {
    Instruction head;
    std::string name;
    std::vector<InstrId> operands;
    std::vector<Attribute> attributes;
    InstrId anchor;
    InstrId original;  // of a clone
  };
  // The order of the new module.
  struct Layout {
    std::vector<InstrId> rows;                 // ids as they are here
    std::vector<InstrId> map;                  // to new ones; none for what is removed
    std::vector<std::vector<InstrId>> behind;  // by old row: new ones that it anchors
  };
  InstrId Add(New row, std::string_view stem);
  [[nodiscard]] std::vector<std::string> NewNames() const;
  [[nodiscard]] Layout FindLayout() const;
  [[nodiscard]] std::vector<InstrId> OperandsOf(InstrId id, const Layout& layout) const;
  [[nodiscard]] std::vector<Attribute> AttributesOf(InstrId id, const Layout& layout,
                                                    Module& out) const;
  void BuildRows(const Layout& layout, Module& out) const;
  [[nodiscard]] std::vector<InstrId> ScheduleOf(CompId id, const Layout& layout) const;
  [[nodiscard]] bool IsRemoved(InstrId id) const { return is_removed_.contains(id); }
  [[nodiscard]] InstrId Resolve(InstrId id) const;
  [[nodiscard]] ShapeId ShapeOf(InstrId id) const;
  [[nodiscard]] bool IsNew(InstrId id) const { return id.index >= module_.instructions.size(); }
  [[nodiscard]] const New& NewOf(InstrId id) const {
    return news_[id.index - module_.instructions.size()];
  }

  const Module& module_;
  Header header_;
  std::vector<New> news_;
  std::map<InstrId, InstrId> replaced_;
  std::map<InstrId, bool> is_removed_;
  std::map<std::pair<InstrId, size_t>, InstrId> operands_;
  std::map<CompId, InstrId> roots_;
  std::map<CompId, std::vector<InstrId>> schedules_;
  std::map<InstrId, std::vector<InstrId>> added_predecessors_;
};

}  // namespace stowplan::hlo
