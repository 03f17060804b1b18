// SPDX-License-Identifier: Apache-2.0
// A copy of a module that can be changed in any way: rows get other shapes, operands, callees;
// computations are copied and changed; what nothing needs any more is left out.
//
// Rows and computations have the ids of the given module; new ones get the ids after them. The
// built module has its own ids. (hlo/rewriter.h makes a few changes and keeps all shapes.)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hlo/separate_fusions.h"
#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

class Draft {
 public:
  struct Row {
    Instruction head;  // its ranges are not used
    std::vector<InstrId> operands;
    std::vector<Attribute> attributes;  // but for control predecessors
    std::vector<InstrId> waits_for;     // control predecessors
    std::map<CompId, CompId> callees;   // calls these instead
    InstrId original;                   // of the given module
    bool is_new = false;
  };
  struct Part {
    CompId original;
    std::vector<InstrId> rows;        // new rows that are not here come before who reads them first
    std::vector<InstrId> order;       // of execution; the same holds
    std::vector<InstrId> parameters;  // by number
    InstrId root;
    bool is_new = false;
  };

  explicit Draft(const Module& module);

  Row& row(InstrId id) { return rows_[id.index]; }
  [[nodiscard]] const Row& row(InstrId id) const { return rows_[id.index]; }
  Part& part(CompId id) { return parts_[id.index]; }
  [[nodiscard]] const Part& part(CompId id) const { return parts_[id.index]; }
  ShapeTable& shapes() { return shapes_; }
  // Rows for attributes that are lists of numbers.
  Range AddInts(const std::vector<int64_t>& numbers);
  [[nodiscard]] size_t size() const { return rows_.size(); }

  // A copy of a row of the draft with other operands, in a computation of the draft, without
  // control predecessors. What it calls is called by both; see Separate.
  InstrId AddCopyOf(InstrId id, CompId parent, std::vector<InstrId> operands);
  // A copy of a computation. What its rows call is called by both.
  CompId AddCopyOf(CompId id);
  // Gives the row copies of all that it calls and that only one row may call, nested ones too.
  void Separate(InstrId id);

  // The computations that a row calls, as it is now.
  [[nodiscard]] std::vector<CompId> CalledBy(InstrId id) const;
  // All rows of the computation that read `old`, and its root, use `by`.
  void Replace(CompId computation, InstrId old, InstrId by);
  // Which of the computation's rows its root needs, with parameters: what is there to stay.
  [[nodiscard]] std::vector<InstrId> NeededIn(CompId computation) const;

  // Rows of `computation` that are not needed by its root, nor by `kept` rows, are left out.
  void KeepOnly(CompId computation, const std::vector<InstrId>& kept);

  // Nothing if rows depend on each other in a circle. Computations that the entry does not call,
  // even through others, are left out.
  [[nodiscard]] std::optional<Module> Build(Origins& origins) const;

 private:
  friend class DraftBuilder;
  const Module& module_;
  ShapeTable shapes_;
  std::vector<int64_t> ints_;
  std::vector<Row> rows_;
  std::vector<Part> parts_;
};

}  // namespace stowplan::hlo
