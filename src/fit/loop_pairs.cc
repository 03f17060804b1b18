// SPDX-License-Identifier: Apache-2.0
#include "fit/loop_pairs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace stowplan::fit {
namespace {

using hlo::AttributeKey;
using hlo::CompId;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

// Who reads what, in the whole module.
class Users {
 public:
  explicit Users(const Module& module) : begins_(module.instructions.size() + 1, 0) {
    for (const InstrId operand : module.operands) ++begins_[operand.index + 1];
    for (size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    users_.resize(begins_.back());
    std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (size_t i = 0; i < module.instructions.size(); ++i) {
      for (const InstrId operand : module.operands_of(InstrId(i)))
        users_[next[operand.index]++] = InstrId(i);
    }
  }
  [[nodiscard]] std::span<const InstrId> of(InstrId id) const {
    return std::span(users_).subspan(begins_[id.index], begins_[id.index + 1] - begins_[id.index]);
  }

 private:
  std::vector<uint32_t> begins_;
  std::vector<InstrId> users_;
};

Opcode OpcodeOf(const Module& module, InstrId id) { return module.instructions[id].opcode; }

bool IsElementOf(const Module& module, InstrId id, InstrId tuple, int64_t element) {
  return OpcodeOf(module, id) == Opcode::kGetTupleElement && module.operands_of(id)[0] == tuple &&
         module.NumberOr(id, AttributeKey::kIndex, -1) == element;
}

// The parts of a loop over a tuple, as XLA writes loops; nothing for others.
struct LoopParts {
  InstrId loop;
  CompId body;
  CompId condition;
  InstrId init;       // a tuple that nothing else reads
  InstrId parameter;  // of the body
  InstrId root;       // of the body: a tuple that nothing else reads

  static std::optional<LoopParts> Of(const Module& module, const Users& users, InstrId loop) {
    const std::span<const CompId> called = module.called_by(loop);
    if (called.size() != 2 || module.operands_of(loop).size() != 1) return std::nullopt;
    const std::span<const InstrId> parameters = module.parameters_of(called[0]);
    if (parameters.size() != 1 || module.parameters_of(called[1]).size() != 1) return std::nullopt;
    LoopParts parts = {loop,          called[0],
                       called[1],     module.operands_of(loop)[0],
                       parameters[0], module.computations[called[0]].root};
    const auto is_only_read = [&](InstrId tuple) {
      return std::ranges::all_of(users.of(tuple), [&](InstrId user) {
        return OpcodeOf(module, user) == Opcode::kGetTupleElement;
      });
    };
    const bool is_plain = OpcodeOf(module, parts.init) == Opcode::kTuple &&
                          users.of(parts.init).size() == 1 &&
                          OpcodeOf(module, parts.root) == Opcode::kTuple &&
                          users.of(parts.root).empty() && is_only_read(parts.parameter) &&
                          is_only_read(loop) && is_only_read(module.parameters_of(called[1])[0]) &&
                          module.computations[module.instructions[loop].parent].root != loop;
    return is_plain ? std::optional(parts) : std::nullopt;
  }
};

class PairFinder {
 public:
  explicit PairFinder(const Module& module)
      : module_(module), users_(module), callers_(module.computations.size(), 0) {
    for (const CompId callee : module.called) ++callers_[callee.index];
  }

  std::vector<LoopPair> Find() {
    std::vector<LoopPair> pairs;
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      if (OpcodeOf(module_, InstrId(i)) != Opcode::kWhile) continue;
      const auto forward = LoopParts::Of(module_, users_, InstrId(i));
      if (!forward || !IsCalledOnce(*forward)) continue;
      for (LoopPair& pair : PairsOf(*forward)) pairs.push_back(std::move(pair));
    }
    return pairs;
  }

 private:
  [[nodiscard]] bool IsCalledOnce(const LoopParts& parts) const {
    return callers_[parts.body.index] == 1 && callers_[parts.condition.index] == 1;
  }

  std::vector<LoopPair> PairsOf(const LoopParts& forward) {
    std::map<InstrId, std::vector<Stack>> by_backward;
    const size_t count = module_.operands_of(forward.root).size();
    if (module_.operands_of(forward.init).size() != count) return {};
    for (size_t k = 0; k < count; ++k) {
      Stack stack = {.written = static_cast<int64_t>(k)};
      if (!FindUpdate(forward, stack)) continue;
      const InstrId backward = FindBackward(forward.loop, stack);
      if (!backward.is_none()) by_backward[backward].push_back(stack);
    }
    std::vector<LoopPair> pairs;
    if (by_backward.empty()) return pairs;
    const TripValues values(module_, forward.loop);
    if (!values.trips()) return pairs;
    for (auto& [loop, stacks] : by_backward) {
      const auto backward = LoopParts::Of(module_, users_, loop);
      if (!backward || !IsCalledOnce(*backward)) continue;
      LoopPair pair = {.forward = forward.loop, .backward = loop, .trips = {}, .stacks = {}};
      const TripValues theirs(module_, loop);
      if (!theirs.trips()) continue;
      for (Stack& stack : stacks) {
        if (FindSlices(*backward, stack) && MatchTrips(values, theirs, stack, pair.trips))
          pair.stacks.push_back(std::move(stack));
      }
      if (!pair.stacks.empty()) pairs.push_back(std::move(pair));
    }
    return pairs;
  }

  // The fusion that a call in a body stands for: itself, or what an asynchronous operation does.
  [[nodiscard]] InstrId FusionOf(InstrId call) const {
    if (OpcodeOf(module_, call) == Opcode::kFusion) return call;
    if (OpcodeOf(module_, call) != Opcode::kAsyncDone) return {};
    const InstrId start = module_.operands_of(call)[0];
    if (OpcodeOf(module_, start) != Opcode::kAsyncStart || users_.of(start).size() != 1 ||
        module_.called_by(start).size() != 1)
      return {};
    const InstrId fusion = OnlyInstruction(module_, module_.called_by(start)[0]);
    return !fusion.is_none() && OpcodeOf(module_, fusion) == Opcode::kFusion ? fusion : InstrId();
  }
  [[nodiscard]] InstrId OperandOfCall(const Inner& inner, InstrId parameter) const {
    const int64_t number = module_.NumberOr(parameter, AttributeKey::kParameterNumber, -1);
    const auto operands = module_.operands_of(ReadBy(module_, inner));
    if (number < 0 || static_cast<size_t>(number) >= operands.size()) return {};
    return operands[static_cast<size_t>(number)];
  }

  // What makes the element is an update of its own, and nothing else in the loop touches it.
  bool FindUpdate(const LoopParts& forward, Stack& stack) const {
    const InstrId made = module_.operands_of(forward.root)[static_cast<size_t>(stack.written)];
    if (users_.of(made).size() != 1) return false;
    stack.update.call = made;
    stack.update.id = made;
    if (OpcodeOf(module_, made) != Opcode::kDynamicUpdateSlice) {
      stack.update.fusion = FusionOf(made);
      if (stack.update.fusion.is_none()) return false;
      stack.update.id = module_.computations[module_.called_by(stack.update.fusion)[0]].root;
    }
    if (OpcodeOf(module_, stack.update.id) != Opcode::kDynamicUpdateSlice) return false;
    InstrId array = module_.operands_of(stack.update.id)[0];
    if (!stack.update.fusion.is_none()) {
      if (OpcodeOf(module_, array) != Opcode::kParameter || users_.of(array).size() != 1)
        return false;
      array = OperandOfCall(stack.update, array);
    }
    if (array.is_none() || !IsElementOf(module_, array, forward.parameter, stack.written) ||
        users_.of(array).size() != 1)
      return false;
    return IsTheOnlyElement(forward, array, stack.written) && FindDimension(stack);
  }
  // The condition does not read it, and the body only once.
  [[nodiscard]] bool IsTheOnlyElement(const LoopParts& loop, InstrId element, int64_t k) const {
    const InstrId other = module_.parameters_of(loop.condition)[0];
    return std::ranges::none_of(
               users_.of(other),
               [&](InstrId user) { return IsElementOf(module_, user, other, k); }) &&
           std::ranges::none_of(users_.of(loop.parameter), [&](InstrId user) {
             return user != element && IsElementOf(module_, user, loop.parameter, k);
           });
  }
  // A slice is as large as the array but in one dimension, where it is 1.
  bool FindDimension(Stack& stack) const {
    const auto whole = DimsOf(module_.operands_of(stack.update.id)[0]);
    const auto slice = DimsOf(module_.operands_of(stack.update.id)[1]);
    if (whole.size() != slice.size()) return false;
    size_t found = 0;
    for (size_t d = 0; d < whole.size(); ++d) {
      if (whole[d] == slice[d]) continue;
      if (slice[d] != 1 || found != 0) return false;
      stack.dimension = d;
      ++found;
    }
    return found == 1;
  }
  [[nodiscard]] std::span<const int64_t> DimsOf(InstrId id) const {
    return module_.shapes.dims(module_.instructions[id].shape);
  }

  // The one loop that the array goes to after the forward loop; sets the element there. None if it
  // goes anywhere else, too.
  InstrId FindBackward(InstrId forward, Stack& stack) const {
    InstrId backward;
    std::vector<InstrId> open;
    for (const InstrId user : users_.of(forward)) {
      if (IsElementOf(module_, user, forward, stack.written)) open.push_back(user);
    }
    while (!open.empty()) {
      const InstrId id = open.back();
      open.pop_back();
      if (module_.computations[module_.instructions[id].parent].root == id) return {};
      for (const InstrId user : users_.of(id)) {
        const bool is_same = module_.instructions[user].shape == module_.instructions[id].shape;
        if (is_same && (OpcodeOf(module_, user) == Opcode::kCopy ||
                        OpcodeOf(module_, user) == Opcode::kBitcast)) {
          open.push_back(user);
          continue;
        }
        if (!backward.is_none() || OpcodeOf(module_, user) != Opcode::kTuple ||
            users_.of(user).size() != 1 || OpcodeOf(module_, users_.of(user)[0]) != Opcode::kWhile)
          return {};
        backward = users_.of(user)[0];
        const auto elements = module_.operands_of(user);
        if (std::ranges::count(elements, id) != 1) return {};
        stack.read = std::ranges::find(elements, id) - elements.begin();
      }
    }
    return backward;
  }

  // The backward loop hands the array on, reads slices of it, and nothing comes out of it.
  bool FindSlices(const LoopParts& backward, Stack& stack) const {
    const std::span<const InstrId> handed_on = module_.operands_of(backward.root);
    const auto k = static_cast<size_t>(stack.read);
    if (k >= handed_on.size() ||
        !IsElementOf(module_, handed_on[k], backward.parameter, stack.read))
      return false;
    for (const InstrId user : users_.of(backward.loop)) {
      if (IsElementOf(module_, user, backward.loop, stack.read) && !users_.of(user).empty())
        return false;
    }
    const InstrId other = module_.parameters_of(backward.condition)[0];
    for (const InstrId user : users_.of(other)) {
      if (IsElementOf(module_, user, other, stack.read)) return false;
    }
    for (const InstrId element : users_.of(backward.parameter)) {
      if (!IsElementOf(module_, element, backward.parameter, stack.read)) continue;
      for (const InstrId user : users_.of(element)) {
        if (user != backward.root && !AddSlices(user, element, stack)) return false;
      }
    }
    return std::ranges::all_of(stack.slices,
                               [&](const Inner& slice) { return IsSliceOf(slice, stack); });
  }
  bool AddSlices(InstrId user, InstrId array, Stack& stack) const {
    if (OpcodeOf(module_, user) == Opcode::kDynamicSlice) {
      if (module_.operands_of(user)[0] != array) return false;
      stack.slices.push_back({user, {}, user});
      return true;
    }
    InstrId call = user;
    if (OpcodeOf(module_, user) == Opcode::kAsyncStart) {
      if (users_.of(user).size() != 1) return false;
      call = users_.of(user)[0];
    }
    const InstrId fusion = FusionOf(call);
    if (fusion.is_none() ||
        module_.instructions[fusion].operands.count != module_.operands_of(user).size())
      return false;
    const auto operands = module_.operands_of(user);
    const auto parameters = module_.parameters_of(module_.called_by(fusion)[0]);
    for (size_t p = 0; p < operands.size(); ++p) {
      if (operands[p] != array) continue;
      if (p >= parameters.size() ||
          module_.computations[module_.called_by(fusion)[0]].root == parameters[p])
        return false;
      for (const InstrId reader : users_.of(parameters[p])) {
        if (OpcodeOf(module_, reader) != Opcode::kDynamicSlice ||
            module_.operands_of(reader)[0] != parameters[p])
          return false;
        stack.slices.push_back({call, fusion, reader});
      }
    }
    return true;
  }
  [[nodiscard]] bool IsSliceOf(const Inner& slice, const Stack& stack) const {
    const InstrId value = module_.operands_of(stack.update.id)[1];
    return module_.instructions[slice.id].shape == module_.instructions[value].shape;
  }

  // The starts of a slice or an update by trip: those of the stack's dimension. All others are 0.
  std::vector<int64_t> StartsOf(const TripValues& values, const Inner& inner, size_t first,
                                size_t dimension) const {
    const Scope outer = {ReadBy(module_, inner), nullptr};
    const Scope* scope = inner.fusion.is_none() ? nullptr : &outer;
    const std::span<const InstrId> operands = module_.operands_of(inner.id);
    const InstrId array = operands[0];
    const size_t rank = DimsOf(array).size();
    if (operands.size() != first + rank) return {};
    std::vector<int64_t> starts;
    for (size_t d = 0; d < rank; ++d) {
      std::vector<int64_t> found = values.Find(operands[first + d], scope);
      if (found.empty()) return {};
      if (d == dimension) {
        const int64_t size = DimsOf(array)[d];
        if (std::ranges::any_of(found, [&](int64_t s) { return s < 0 || s >= size; })) return {};
        starts = std::move(found);
      } else if (std::ranges::any_of(found, [](int64_t s) { return s != 0; })) {
        return {};
      }
    }
    return starts;
  }

  // Which trip has written what is read. All stacks of a pair agree on that.
  bool MatchTrips(const TripValues& writing, const TripValues& reading, const Stack& stack,
                  std::vector<int64_t>& trips) const {
    const std::vector<int64_t> written = StartsOf(writing, stack.update, 2, stack.dimension);
    std::map<int64_t, int64_t> writers;
    for (size_t i = 0; i < written.size(); ++i) {
      if (!writers.emplace(written[i], static_cast<int64_t>(i)).second) return false;
    }
    std::vector<int64_t> agreed = trips;
    for (const Inner& slice : stack.slices) {
      const std::vector<int64_t> read = StartsOf(reading, slice, 1, stack.dimension);
      if (std::ssize(read) != *reading.trips() || read.empty()) return false;
      std::vector<int64_t> found;
      for (const int64_t start : read) {
        const auto writer = writers.find(start);
        if (writer == writers.end()) return false;
        found.push_back(writer->second);
      }
      if (agreed.empty()) agreed = found;
      if (agreed != found) return false;
    }
    if (stack.slices.empty()) return false;
    trips = std::move(agreed);
    return true;
  }

  const Module& module_;
  const Users users_;
  std::vector<uint32_t> callers_;  // by computation
};

}  // namespace

InstrId ReadBy(const Module& module, const Inner& inner) {
  return module.instructions[inner.call].opcode == Opcode::kAsyncDone
             ? module.operands_of(inner.call)[0]
             : inner.call;
}

std::vector<uint8_t> FindUnchanged(const Module& module, InstrId loop) {
  const CompId body = module.called_by(loop)[0];
  const std::span<const InstrId> next = module.operands_of(module.computations[body].root);
  std::vector<uint8_t> is_unchanged(next.size(), 0);
  for (size_t k = 0; k < next.size(); ++k) {
    is_unchanged[k] = static_cast<uint8_t>(
        IsElementOf(module, next[k], module.parameters_of(body)[0], static_cast<int64_t>(k)));
  }
  return is_unchanged;
}

std::vector<LoopPair> FindLoopPairs(const Module& module) { return PairFinder(module).Find(); }

}  // namespace stowplan::fit
