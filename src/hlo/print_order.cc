// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/stable_sort.h"
#include "hlo/print.h"

namespace stowplan::hlo {
namespace {

// Depth first from the given roots, each computation after those that it calls. As in XLA, an
// instruction claims all its callees before the first of them is looked at: the condition of a
// while that the body's loops share comes after the body.
class DepthFirst {
 public:
  // `stays` says which computations are only visited as roots.
  explicit DepthFirst(const Module& module, bool (*stays)(const Module&, CompId))
      : m_(module), stays_(stays), is_claimed_(module.computations.size(), false) {
    order_.reserve(module.computations.size());
  }

  void Visit(CompId root) {
    if (is_claimed_[root.index]) return;
    is_claimed_[root.index] = true;
    stack_.push_back({.id = root, .instructions = m_.listed(root), .callees = {}});
    while (!stack_.empty()) {
      Open& open = stack_.back();
      if (!open.callees.empty()) {
        const CompId callee = open.callees.back();
        open.callees.pop_back();
        stack_.push_back({.id = callee, .instructions = m_.listed(callee), .callees = {}});
      } else if (open.next != open.instructions.size()) {
        Claim(open.instructions[open.next++], open.callees);
      } else {
        order_.push_back(open.id);
        stack_.pop_back();
      }
    }
  }
  std::vector<CompId> Take() { return std::move(order_); }

 private:
  struct Open {
    CompId id;
    std::vector<InstrId> instructions;
    std::vector<CompId> callees;  // claimed and still to be visited, the next one last
    size_t next = 0;              // the instruction whose callees are claimed next
  };
  void Claim(InstrId instr, std::vector<CompId>& callees) {
    for (const CompId callee : m_.called_by(instr)) {
      if (is_claimed_[callee.index] || stays_(m_, callee)) continue;
      is_claimed_[callee.index] = true;
      callees.push_back(callee);
    }
    std::ranges::reverse(callees);
  }

  const Module& m_;
  bool (*stays_)(const Module&, CompId);
  std::vector<bool> is_claimed_;
  std::vector<Open> stack_;
  std::vector<CompId> order_;
};

// Whether a computation was in the text that the module was read from. The others are those that
// the reader makes up for bodies and wrappers.
bool IsWritten(const Module& m, CompId id) {
  return m.source && m.computations[id].name.offset < m.source->size();
}

// Text keeps its computations where they are written, those made up before their callers.
std::vector<CompId> TextOrder(const Module& m, std::vector<CompId> list) {
  DepthFirst walk(m, IsWritten);
  // XLA prints some computations after their callers; the reader puts them in front. What is made
  // up stays after the same computation.
  std::vector<uint32_t> places(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    if (i != 0) places[i] = places[i - 1];
    if (IsWritten(m, list[i])) places[i] = m.computations[list[i]].name.offset;
  }
  StableSort(list, {}, [&](CompId id) { return places[id.index]; });
  for (const CompId id : list) walk.Visit(id);
  return walk.Take();
}

}  // namespace

std::vector<CompId> PrintOrder(const Module& m) {
  std::vector<CompId> list;
  list.reserve(m.computations.size());
  for (size_t i = 0; i < m.computations.size(); ++i) list.emplace_back(i);
  if (m.format == Format::kText) return TextOrder(m, std::move(list));
  DepthFirst walk(m, [](const Module&, CompId) { return false; });
  std::vector<bool> is_called(m.computations.size(), false);
  for (const CompId id : m.called) is_called[id.index] = true;
  StableSort(list, {}, [&](CompId id) { return m.computations[id].proto_id; });
  for (const CompId id : list) {
    if (!is_called[id.index]) walk.Visit(id);
  }
  // What only a cycle of calls reaches (a malformed module) still prints.
  for (const CompId id : list) walk.Visit(id);
  return walk.Take();
}

}  // namespace stowplan::hlo
