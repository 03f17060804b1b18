// SPDX-License-Identifier: Apache-2.0
#include "hlo/equal.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "hlo/equal_comparison.h"

namespace stowplan::hlo {
namespace {

// Compares computations pair by pair. Those that a text leaves out (the wrapper of an async
// operation in its short form) have no name to be found by; they become a pair when the
// instructions that call them are compared.
class ComputationMatcher {
 public:
  explicit ComputationMatcher(Comparison& comparison)
      : c_(comparison), is_taken_(c_.b.computations.size()) {}

  void Run() {
    MatchByName();
    while (next_ < pairs_.size() && !c_.is_full()) {
      const auto [x, y] = pairs_[next_++];
      Compare(x, y);
    }
    ReportUnmatched();
  }

 private:
  void Pair(CompId x, CompId y) {
    c_.comp_twin[x.index] = y;
    is_taken_[y.index] = true;
    pairs_.emplace_back(x, y);
  }

  void MatchByName() {
    std::unordered_map<std::string_view, CompId> by_name;
    for (size_t i = 0; i < c_.b.computations.size(); ++i) {
      if (!c_.b.computations[CompId(i)].is_implicit)
        by_name.emplace(c_.b.name(CompId(i)), CompId(i));
    }
    for (size_t i = 0; i < c_.a.computations.size(); ++i) {
      if (c_.a.computations[CompId(i)].is_implicit) continue;
      const auto found = by_name.find(c_.a.name(CompId(i)));
      if (found != by_name.end() && !is_taken_[found->second.index]) Pair(CompId(i), found->second);
    }
    if (!c_.comp_twin.empty() && c_.comp_twin[c_.a.entry.index] != c_.b.entry) {
      c_.Report("the entry computations differ: `" + std::string(c_.a.name(c_.a.entry)) +
                "` and `" + std::string(c_.b.name(c_.b.entry)) + "`");
    }
  }

  // Whether the instruction may be missing in the other module: the get-tuple-element after
  // `%x#1`.
  bool MayBeHidden(const Module& m, InstrId id) const {
    return c_.options.look_through_tuples && m.instructions[id].opcode == Opcode::kGetTupleElement;
  }

  void MatchInstructions(CompId x, CompId y) {
    const Computation& p = c_.a.computations[x];
    const Computation& q = c_.b.computations[y];
    if (p.is_implicit || q.is_implicit) {
      // Made by a reader: parameters and one operation.
      const std::span<const InstrId> from = c_.a.parameters_of(x);
      const std::span<const InstrId> to = c_.b.parameters_of(y);
      for (size_t i = 0; i < std::min(from.size(), to.size()); ++i)
        c_.instr_twin[from[i].index] = to[i];
      c_.instr_twin[p.root.index] = q.root;
      if (p.count != q.count)
        c_.Report("the wrapped computations of `" + std::string(c_.a.name(x)) + "` differ");
      return;
    }
    std::unordered_map<std::string_view, InstrId> by_name;
    by_name.reserve(q.count);
    for (uint32_t i = q.first.index; i < q.first.index + q.count; ++i)
      by_name.emplace(c_.b.name(InstrId(i)), InstrId(i));
    uint32_t matched = 0;
    for (uint32_t i = p.first.index; i < p.first.index + p.count; ++i) {
      const auto found = by_name.find(c_.a.name(InstrId(i)));
      // A name that a reader made up is no match for one that is written.
      const bool is_match =
          found != by_name.end() &&
          c_.a.instructions[InstrId(i)].is_implicit == c_.b.instructions[found->second].is_implicit;
      if (is_match) {
        c_.instr_twin[i] = found->second;
        by_name.erase(found);
        ++matched;
      } else if (!MayBeHidden(c_.a, InstrId(i))) {
        c_.ReportAt(InstrId(i), "only the first has it");
      }
    }
    if (matched == q.count) return;
    for (uint32_t i = q.first.index; i < q.first.index + q.count; ++i) {
      if (by_name.contains(c_.b.name(InstrId(i))) && !MayBeHidden(c_.b, InstrId(i))) {
        c_.Report("`" + std::string(c_.b.name(InstrId(i))) + "` in `" + std::string(c_.b.name(y)) +
                  "`: only the second has it");
      }
    }
  }

  void Compare(CompId x, CompId y) {
    const Computation& p = c_.a.computations[x];
    const Computation& q = c_.b.computations[y];
    MatchInstructions(x, y);
    for (uint32_t i = p.first.index; i < p.first.index + p.count && !c_.is_full(); ++i) {
      if (!c_.instr_twin[i].is_none()) CompareInstructions(InstrId(i), c_.instr_twin[i]);
    }
    const std::string name = "computation `" + std::string(c_.a.name(x)) + "`: ";
    if (!c_.Same(p.root, q.root)) c_.Report(name + "roots differ");
    if (!c_.Same(p.execution_thread, q.execution_thread))
      c_.Report(name + "execution threads differ");
    if (!p.is_implicit && !q.is_implicit && p.is_scheduled() && q.is_scheduled())
      CompareSchedules(x, y, name);
  }

  std::vector<InstrId> ScheduleOf(const Module& m, CompId id) const {
    std::vector<InstrId> order;
    for (const InstrId i : m.schedule_of(id)) {
      if (!MayBeHidden(m, i)) order.push_back(i);
    }
    return order;
  }

  void CompareSchedules(CompId x, CompId y, const std::string& name) {
    const std::vector<InstrId> from = ScheduleOf(c_.a, x);
    const std::vector<InstrId> to = ScheduleOf(c_.b, y);
    const auto same = [&](InstrId i, InstrId j) { return c_.instr_twin[i.index] == j; };
    const auto [i, j] = std::ranges::mismatch(from, to, same);
    if (i == from.end() && j == to.end()) return;
    c_.Report(name + "schedules part at position " + std::to_string(i - from.begin()) + ": " +
              (i == from.end() ? "the end" : std::string(c_.a.name(*i))) + " and " +
              (j == to.end() ? "the end" : std::string(c_.b.name(*j))));
  }

  void CompareInstructions(InstrId x, InstrId y) {
    if (c_.a.opcode_name(x) != c_.b.opcode_name(y)) {
      c_.ReportAt(x, "opcodes differ: " + std::string(c_.a.opcode_name(x)) + " and " +
                         std::string(c_.b.opcode_name(y)));
      return;
    }
    const ShapeId s = c_.a.instructions[x].shape;
    const ShapeId t = c_.b.instructions[y].shape;
    if (!c_.Same(s, t)) {
      c_.ReportAt(
          x, "shapes differ: " + ToString(c_.a.shapes, s) + " and " + ToString(c_.b.shapes, t));
    }
    const auto same = [&](InstrId i, InstrId j) { return c_.Same(i, j); };
    if (!std::ranges::equal(c_.a.operands_of(x), c_.b.operands_of(y), same))
      c_.ReportAt(x, "operands differ");
    CompareCalls(x, y);
    CompareAttributes(c_, x, y);
    CompareMetadata(c_, x, y);
  }

  void CompareCalls(InstrId x, InstrId y) {
    const std::span<const CompId> from = c_.a.called_by(x);
    const std::span<const CompId> to = c_.b.called_by(y);
    // Newer texts write what is called at the beginning of an async operation only.
    const Opcode opcode = c_.a.instructions[x].opcode;
    const bool is_async_end = opcode == Opcode::kAsyncUpdate || opcode == Opcode::kAsyncDone;
    if (is_async_end && (from.empty() || to.empty())) return;
    if (from.size() != to.size()) {
      c_.ReportAt(x, "it calls " + std::to_string(from.size()) + " and " +
                         std::to_string(to.size()) + " computations");
      return;
    }
    for (size_t i = 0; i < from.size(); ++i) {
      const bool has_name =
          !c_.a.computations[from[i]].is_implicit && !c_.b.computations[to[i]].is_implicit;
      if (!has_name && c_.comp_twin[from[i].index].is_none() && !is_taken_[to[i].index])
        Pair(from[i], to[i]);
      if (c_.comp_twin[from[i].index] != to[i]) {
        c_.ReportAt(x, "it calls `" + std::string(c_.a.name(from[i])) + "` and `" +
                           std::string(c_.b.name(to[i])) + "`");
      }
    }
  }

  void ReportUnmatched() {
    for (size_t i = 0; i < c_.comp_twin.size(); ++i) {
      if (c_.comp_twin[i].is_none()) {
        c_.Report("computation `" + std::string(c_.a.name(CompId(i))) + "`: only the first has it");
      }
    }
    for (size_t i = 0; i < is_taken_.size(); ++i) {
      if (!is_taken_[i])
        c_.Report("computation `" + std::string(c_.b.name(CompId(i))) +
                  "`: only the second has it");
    }
  }

  Comparison& c_;
  std::vector<bool> is_taken_;  // by computation of b
  std::vector<std::pair<CompId, CompId>> pairs_;
  size_t next_ = 0;
};

}  // namespace

EqualOptions ComparableFacts(const Module& a, const Module& b) {
  EqualOptions options;
  options.settings = a.format == b.format;
  for (const Module* m : {&a, &b}) {
    if (m->format != Format::kText) continue;
    options.entry_layout = options.entry_layout && m->header.entry_layout.has_value();
    options.stack_frames = options.stack_frames && m->dialect.stack_frames;
    options.metadata_ends = options.metadata_ends && m->dialect.metadata_ends;
    options.look_through_tuples = options.look_through_tuples || m->dialect.compact_tuples;
  }
  return options;
}

std::vector<std::string> Differences(const Module& a, const Module& b,
                                     const EqualOptions& options) {
  Comparison comparison(a, b, options);
  CompareHeaders(comparison);
  if (options.stack_frames) CompareStackFrames(comparison);
  ComputationMatcher(comparison).Run();
  return std::move(comparison.differences);
}

std::vector<std::string> Differences(const Module& a, const Module& b) {
  return Differences(a, b, ComparableFacts(a, b));
}

}  // namespace stowplan::hlo
