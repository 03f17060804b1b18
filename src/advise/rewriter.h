// SPDX-License-Identifier: Apache-2.0
// Builds a module that differs from a given one in a few places: instructions are added, removed or
// replaced, or the order of execution or the header changes.
//
//     Rewriter rewriter(module);
//     const InstrId copy = rewriter.AddCopy(parameter);   // after its operand
//     rewriter.Replace(parameter, copy);                  // for all its readers
//     hlo::Module changed = std::move(rewriter).Build();
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

namespace stowplan::advise {

class Rewriter {
 public:
  explicit Rewriter(const hlo::Module& module) : module_(module), header_(module.header) {}

  hlo::Header& header() { return header_; }

  // New instructions come after `anchor`; Replace does not affect their operands.
  hlo::InstrId AddCopy(hlo::InstrId operand, hlo::InstrId anchor);
  hlo::InstrId AddElement(hlo::InstrId tuple, int64_t index, hlo::InstrId anchor);
  hlo::InstrId AddTuple(std::span<const hlo::InstrId> elements, hlo::ShapeId shape,
                        hlo::InstrId anchor);
  // The same instruction with a new name and new operands. Called computations are shared.
  hlo::InstrId AddClone(hlo::InstrId original, std::span<const hlo::InstrId> operands,
                        hlo::InstrId anchor);

  // All instructions of the given module that read `old`, and the root if it is `old`, use `by`.
  void Replace(hlo::InstrId old, hlo::InstrId by) { replaced_[old] = by; }
  void ReplaceOperand(hlo::InstrId user, size_t operand, hlo::InstrId by);
  void SetRoot(hlo::CompId computation, hlo::InstrId root) { roots_[computation] = root; }
  // Nothing may read it after the replacements. It loses its control edges, too.
  void Remove(hlo::InstrId id) { is_removed_[id] = true; }
  void AddControlPredecessor(hlo::InstrId id, hlo::InstrId before) {
    added_predecessors_[id].push_back(before);
  }
  // Without it, new instructions run after their anchors, and removed ones are dropped.
  void SetSchedule(hlo::CompId computation, std::vector<hlo::InstrId> order) {
    schedules_[computation] = std::move(order);
  }

  // `ids`, if given, maps old ids to new ones; none for what is removed.
  [[nodiscard]] hlo::Module Build(std::vector<hlo::InstrId>* ids = nullptr) const;

 private:
  struct New {
    hlo::Instruction head;
    std::string name;
    std::vector<hlo::InstrId> operands;
    std::vector<hlo::Attribute> attributes;
    hlo::InstrId anchor;
  };
  // The order of the new module.
  struct Layout {
    std::vector<hlo::InstrId> rows;                 // ids as they are here
    std::vector<hlo::InstrId> map;                  // to new ones; none for what is removed
    std::vector<std::vector<hlo::InstrId>> behind;  // by old row: new ones that it anchors
  };
  hlo::InstrId Add(New row, std::string_view stem);
  [[nodiscard]] std::vector<std::string> NewNames() const;
  [[nodiscard]] Layout FindLayout() const;
  [[nodiscard]] std::vector<hlo::InstrId> OperandsOf(hlo::InstrId id, const Layout& layout) const;
  [[nodiscard]] std::vector<hlo::Attribute> AttributesOf(hlo::InstrId id, const Layout& layout,
                                                         hlo::Module& out) const;
  void BuildRows(const Layout& layout, hlo::Module& out) const;
  [[nodiscard]] std::vector<hlo::InstrId> ScheduleOf(hlo::CompId id, const Layout& layout) const;
  [[nodiscard]] bool IsRemoved(hlo::InstrId id) const { return is_removed_.contains(id); }
  [[nodiscard]] hlo::InstrId Resolve(hlo::InstrId id) const;
  [[nodiscard]] hlo::ShapeId ShapeOf(hlo::InstrId id) const;
  [[nodiscard]] bool IsNew(hlo::InstrId id) const {
    return id.index >= module_.instructions.size();
  }
  [[nodiscard]] const New& NewOf(hlo::InstrId id) const {
    return news_[id.index - module_.instructions.size()];
  }

  const hlo::Module& module_;
  hlo::Header header_;
  std::vector<New> news_;
  std::map<hlo::InstrId, hlo::InstrId> replaced_;
  std::map<hlo::InstrId, bool> is_removed_;
  std::map<std::pair<hlo::InstrId, size_t>, hlo::InstrId> operands_;
  std::map<hlo::CompId, hlo::InstrId> roots_;
  std::map<hlo::CompId, std::vector<hlo::InstrId>> schedules_;
  std::map<hlo::InstrId, std::vector<hlo::InstrId>> added_predecessors_;
};

}  // namespace stowplan::advise
