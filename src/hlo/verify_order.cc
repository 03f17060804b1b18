// SPDX-License-Identifier: Apache-2.0
// Ids, names, parameters, order and the call graph: what does not need shapes.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "base/hash.h"
#include "hlo/verify_complaints.h"

namespace stowplan::hlo {
namespace {

constexpr uint32_t kNowhere = 0xffffffffU;
constexpr uint32_t kOutside = 0xfffffffeU;  // an edge that leaves the graph

// A set of names in which the number that first had a name can be found.
class NameSet {
 public:
  // Room for `count` names; what was there is gone.
  void Reset(size_t count) { slots_.assign(std::bit_ceil(count * 2 + 1), {0, kNowhere}); }

  // The number that has the name already, or kNowhere when it is new.
  uint32_t Add(std::string_view name, uint32_t number, auto name_of) {
    const uint64_t hash = HashBytes(name);
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    for (; slots_[slot].number != kNowhere; slot = (slot + 1) & mask) {
      if (slots_[slot].hash == hash && name_of(slots_[slot].number) == name)
        return slots_[slot].number;
    }
    slots_[slot] = {hash, number};
    return kNowhere;
  }

 private:
  struct Slot {
    uint64_t hash;
    uint32_t number;
  };
  std::vector<Slot> slots_;
};

std::span<const InstrId> ControlPredecessors(const Module& module, InstrId id) {
  const Attribute* attribute = module.FindAttribute(id, AttributeKey::kControlPredecessors);
  if (attribute == nullptr) return {};
  return Module::Rows(module.instruction_pool, attribute->rows());
}

// The first cycle found in a graph of `count` nodes: its nodes, each followed by the one it leads
// to; empty when there is none. `edge(node, k)` is where the k-th edge of a node leads, or kNowhere
// after the last.
template <class Edge>
std::vector<uint32_t> FindCycle(uint32_t count, Edge edge) {
  enum State : uint8_t { kNew, kOpen, kDone };
  struct Step {
    uint32_t node;
    uint32_t next_edge;
  };
  std::vector<uint8_t> state(count, kNew);
  std::vector<Step> stack;
  for (uint32_t start = 0; start < count; ++start) {
    if (state[start] != kNew) continue;
    stack.push_back({start, 0});
    state[start] = kOpen;
    while (!stack.empty()) {
      const uint32_t node = stack.back().node;
      const uint32_t to = edge(node, stack.back().next_edge++);
      if (to == kNowhere) {
        state[node] = kDone;
        stack.pop_back();
      } else if (to == kOutside) {
        continue;
      } else if (state[to] == kOpen) {
        std::vector<uint32_t> cycle;
        auto it = stack.begin();
        while (it->node != to) ++it;
        for (; it != stack.end(); ++it) cycle.push_back(it->node);
        return cycle;
      } else if (state[to] == kNew) {
        state[to] = kOpen;
        stack.push_back({to, 0});
      }
    }
  }
  return {};
}

// "a -> b -> a", long cycles cut in the middle.
template <class NameOf>
std::string DescribeCycle(const std::vector<uint32_t>& cycle, NameOf name_of) {
  constexpr size_t kShown = 6;
  std::string out;
  for (size_t i = 0; i < cycle.size(); ++i) {
    if (cycle.size() > kShown && i == kShown - 1) {
      out += "... -> ";
      i = cycle.size() - 1;
    }
    out += Quote(name_of(cycle[i])) + " -> ";
  }
  return out + Quote(name_of(cycle[0]));
}

bool VerifyInstructionIds(Verifier& v, InstrId id, CompId parent) {
  const Module& m = v.module;
  const Instruction& instruction = m.instructions[id];
  bool is_fine = true;
  const auto check = [&](bool holds, const char* message) {
    if (!holds) v.complaints.At(id, message);
    is_fine = is_fine && holds;
  };
  check(instruction.parent == parent, "it belongs to another computation");
  check(instruction.shape.index < m.shapes.size(), "it has no shape");
  check(std::ranges::all_of(m.operands_of(id),
                            [&](InstrId i) { return i.index < m.instructions.size(); }),
        "an operand does not exist");
  check(std::ranges::all_of(m.called_by(id),
                            [&](CompId i) { return i.index < m.computations.size(); }),
        "a computation that it calls does not exist");
  check(std::ranges::all_of(ControlPredecessors(m, id),
                            [&](InstrId i) { return i.index < m.instructions.size(); }),
        "a control predecessor does not exist");
  return is_fine;
}

// Positions in the order of execution, by row of the computation; kNowhere for what the schedule
// leaves out.
std::vector<uint32_t> VerifySchedule(Verifier& v, CompId comp) {
  const Module& m = v.module;
  const Computation& computation = m.computations[comp];
  std::vector<uint32_t> position(computation.count, kNowhere);
  uint32_t next = 0;
  for (const InstrId id : m.schedule_of(comp)) {
    if (id.index - computation.first.index >= computation.count) {
      v.complaints.At(comp, "its schedule holds an instruction of another computation");
      continue;
    }
    uint32_t& place = position[id.index - computation.first.index];
    if (place != kNowhere) v.complaints.At(id, "the schedule holds it more than once");
    if (place == kNowhere) place = next;
    ++next;
  }
  for (uint32_t i = 0; i < computation.count; ++i) {
    const InstrId id(computation.first.index + i);
    if (position[i] == kNowhere && !m.instructions[id].is_implicit) {
      v.complaints.At(id, "the schedule does not hold it");
    }
  }
  return position;
}

struct OrderCheck {
  Verifier& v;
  const Computation& computation;
  const std::vector<uint32_t>& position;  // by row
  bool is_scheduled;
  bool needs_search = false;  // rows are not in the order of use, so that there may be a cycle

  void Predecessor(InstrId user, InstrId id, const char* kind) {
    const uint32_t row = id.index - computation.first.index;
    if (row >= computation.count) {
      v.complaints.At(
          user, std::string(kind) + " " + Quote(v.module.name(id)) + " is of another computation");
      return;
    }
    const uint32_t own = user.index - computation.first.index;
    needs_search = needs_search || row >= own;
    if (!is_scheduled || position[row] == kNowhere || position[own] == kNowhere) return;
    if (position[row] >= position[own]) {
      v.complaints.At(user, "the schedule runs it before its " + std::string(kind) + " " +
                                Quote(v.module.name(id)));
    }
  }
};

void VerifyAcyclic(Verifier& v, CompId comp) {
  const Module& m = v.module;
  const Computation& computation = m.computations[comp];
  const auto edge = [&](uint32_t row, uint32_t k) {
    const InstrId id(computation.first.index + row);
    const std::span<const InstrId> operands = m.operands_of(id);
    const std::span<const InstrId> control = ControlPredecessors(m, id);
    if (k >= operands.size() + control.size()) return kNowhere;
    const InstrId to = k < operands.size() ? operands[k] : control[k - operands.size()];
    const uint32_t to_row = to.index - computation.first.index;
    return to_row < computation.count ? to_row : kOutside;
  };
  const std::vector<uint32_t> cycle = FindCycle(computation.count, edge);
  if (cycle.empty()) return;
  const auto name_of = [&](uint32_t row) { return m.name(InstrId(computation.first.index + row)); };
  v.complaints.At(InstrId(computation.first.index + cycle[0]),
                  "it depends on itself: " + DescribeCycle(cycle, name_of));
}

// Computations that run step by step as part of the entry: those that a scheduled module needs an
// order for.
std::vector<CompId> SequentialComputations(const Module& m) {
  std::vector<bool> is_found(m.computations.size());
  std::vector<CompId> found = {m.entry};
  is_found[m.entry.index] = true;
  for (size_t next = 0; next < found.size(); ++next) {
    const Computation& computation = m.computations[found[next]];
    for (uint32_t i = computation.first.index; i < computation.first.index + computation.count;
         ++i) {
      const Opcode opcode = m.instructions[InstrId(i)].opcode;
      if (opcode != Opcode::kWhile && opcode != Opcode::kConditional && opcode != Opcode::kCall)
        continue;
      for (const CompId callee : m.called_by(InstrId(i))) {
        if (!is_found[callee.index]) found.push_back(callee);
        is_found[callee.index] = true;
      }
    }
  }
  return found;
}

}  // namespace

bool VerifyIds(Verifier& v) {
  const Module& m = v.module;
  bool is_fine = true;
  if (m.entry.index >= m.computations.size()) {
    v.complaints.AtHeader("the module has no entry computation");
    is_fine = false;
  }
  for (size_t c = 0; c < m.computations.size(); ++c) {
    const Computation& computation = m.computations[CompId(c)];
    const uint64_t end = uint64_t{computation.first.index} + computation.count;
    if (computation.count == 0 || end > m.instructions.size()) {
      v.complaints.At(CompId(c), "it has no instructions");
      is_fine = false;
      continue;
    }
    if (computation.root.index < computation.first.index || computation.root.index >= end) {
      v.complaints.At(CompId(c), "its root is not one of its instructions");
      is_fine = false;
    }
    for (uint32_t i = computation.first.index; i < end; ++i) {
      is_fine = VerifyInstructionIds(v, InstrId(i), CompId(c)) && is_fine;
    }
  }
  return is_fine;
}

void VerifyNames(Verifier& v) {
  const Module& m = v.module;
  NameSet names;
  names.Reset(m.computations.size());
  for (uint32_t c = 0; c < m.computations.size(); ++c) {
    const auto name_of = [&](uint32_t i) { return m.name(CompId(i)); };
    if (names.Add(m.name(CompId(c)), c, name_of) != kNowhere) {
      v.complaints.At(CompId(c), "another computation has the same name");
    }
  }
  for (const Computation& computation : m.computations.rows()) {
    names.Reset(computation.count);
    const auto name_of = [&](uint32_t i) { return m.name(InstrId(i)); };
    for (uint32_t i = computation.first.index; i < computation.first.index + computation.count;
         ++i) {
      if (names.Add(m.name(InstrId(i)), i, name_of) != kNowhere) {
        v.complaints.At(InstrId(i), "another instruction of the computation has the same name");
      }
    }
  }
}

void VerifyParameters(Verifier& v) {
  const Module& m = v.module;
  for (size_t c = 0; c < m.computations.size(); ++c) {
    int64_t expected = 0;
    for (const InstrId id : m.parameters_of(CompId(c))) {
      const int64_t number = m.NumberOr(id, AttributeKey::kParameterNumber, -1);
      if (number < expected) {
        v.complaints.At(id, number < 0
                                ? "the parameter has no number"
                                : "another parameter has the number " + std::to_string(number));
        continue;
      }
      if (number > expected) {
        v.complaints.At(id, "it is parameter " + std::to_string(number) +
                                ", but there is no parameter " + std::to_string(expected));
      }
      expected = CheckedAdd(number, 1).value_or(number);
    }
  }
}

void VerifyOrder(Verifier& v) {
  const Module& m = v.module;
  for (size_t c = 0; c < m.computations.size(); ++c) {
    const Computation& computation = m.computations[CompId(c)];
    const bool is_scheduled = computation.is_scheduled();
    const std::vector<uint32_t> position =
        is_scheduled ? VerifySchedule(v, CompId(c)) : std::vector<uint32_t>();
    OrderCheck check{
        .v = v, .computation = computation, .position = position, .is_scheduled = is_scheduled};
    for (uint32_t i = computation.first.index; i < computation.first.index + computation.count;
         ++i) {
      for (const InstrId operand : m.operands_of(InstrId(i)))
        check.Predecessor(InstrId(i), operand, "operand");
      for (const InstrId before : ControlPredecessors(m, InstrId(i))) {
        check.Predecessor(InstrId(i), before, "control predecessor");
      }
    }
    if (check.needs_search) VerifyAcyclic(v, CompId(c));
  }
  if (!m.header.is_scheduled) return;
  for (const CompId id : SequentialComputations(m)) {
    if (!m.computations[id].is_scheduled())
      v.complaints.At(id, "the module is scheduled, but this has no schedule");
  }
}

void VerifyCallGraph(Verifier& v) {
  const Module& m = v.module;
  // All calls, by the computation they are made from.
  std::vector<uint32_t> begin;
  std::vector<CompId> calls;
  for (const Computation& computation : m.computations.rows()) {
    begin.push_back(static_cast<uint32_t>(calls.size()));
    for (uint32_t i = computation.first.index; i < computation.first.index + computation.count;
         ++i) {
      const std::span<const CompId> called = m.called_by(InstrId(i));
      calls.insert(calls.end(), called.begin(), called.end());
    }
  }
  begin.push_back(static_cast<uint32_t>(calls.size()));
  const auto edge = [&](uint32_t comp, uint32_t k) {
    return begin[comp] + k < begin[comp + 1] ? calls[begin[comp] + k].index : kNowhere;
  };
  const std::vector<uint32_t> cycle = FindCycle(static_cast<uint32_t>(m.computations.size()), edge);
  if (cycle.empty()) return;
  v.complaints.At(CompId(cycle[0]), "it calls itself: " + DescribeCycle(cycle, [&](uint32_t i) {
                                      return m.name(CompId(i));
                                    }));
}

}  // namespace stowplan::hlo
