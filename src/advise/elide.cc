// SPDX-License-Identifier: Apache-2.0
#include "advise/elide.h"

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>

#include "assign/can_share.h"

namespace stowplan::advise {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

// What a buffer holds between two writes, as seen from the entry computation.
struct Node {
  InstrId writer;
  std::vector<InstrId> readers;  // ascending
  std::vector<ValueId> values;
};
using Chain = std::list<Node>;

class Elider {
 public:
  Elider(const Module& module, const Analysis& analysis, const Rules& rules, KnownOrder known)
      : module_(module), analysis_(analysis), known_(known), shares_(module, analysis, rules) {}

  Elision Run(std::span<const InstrId> copies) {
    for (const InstrId copy : copies) AddCopy(copy);
    std::vector<InstrId> left(copies.begin(), copies.end());
    Elision result;
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      result.kept.clear();
      std::vector<InstrId> staying;
      for (const InstrId copy : left) {
        clash_ = {.copy = copy, .reader = {}, .writer = {}};
        if (TryElide(copy)) {
          result.removed.push_back(copy);
          has_changed = true;
        } else {
          staying.push_back(copy);
          result.kept.push_back(clash_);
        }
      }
      left = std::move(staying);
    }
    return result;
  }

 private:
  struct Ends {
    Chain::iterator source;
    Chain::iterator target;
  };

  // The instruction of the entry computation inside which this one runs.
  InstrId InEntry(InstrId id) const {
    while (module_.instructions[id].parent != module_.entry) {
      const std::span<const InstrId> callers =
          analysis_.calls.callers_of(module_.instructions[id].parent);
      if (callers.empty()) return {};
      id = callers[0];
    }
    return id;
  }

  [[nodiscard]] std::optional<ValueId> ValueOf(InstrId id) const {
    const std::span<const ValueId> values = analysis_.flow.at(analysis_.flow.positions.top(id));
    if (values.size() != 1) return std::nullopt;
    return values[0];
  }

  size_t ChainOf(ValueId value) {
    const BufferId buffer = analysis_.buffers.of(value);
    const auto [place, is_new] = chain_by_buffer_.try_emplace(buffer, chains_.size());
    if (!is_new) return place->second;
    Chain& chain = chains_.emplace_back();
    for (const ValueId id : analysis_.buffers.values_of(buffer)) {
      const InstrId writer = InEntry(analysis_.flow.instruction(id));
      if (writer.is_none()) continue;
      auto node = std::ranges::find(chain, writer, &Node::writer);
      if (node == chain.end()) node = chain.insert(chain.end(), {.writer = writer});
      node->values.push_back(id);
      for (const Use& use : analysis_.flow.uses_of(id)) {
        const InstrId reader = InEntry(use.user);
        if (reader.is_none() || reader == writer) continue;
        const auto at = std::ranges::lower_bound(node->readers, reader);
        if (at == node->readers.end() || *at != reader) node->readers.insert(at, reader);
      }
    }
    const auto time = [&](const Node& node) { return analysis_.schedule.time(node.writer); };
    chain.sort([&](const Node& a, const Node& b) { return time(a) < time(b); });
    return place->second;
  }

  Chain::iterator NodeOf(ValueId value, InstrId writer) {
    Chain& chain = chains_[ChainOf(value)];
    return std::ranges::find(chain, writer, &Node::writer);
  }

  void AddCopy(InstrId copy) {
    const InstrId operand = module_.operands_of(copy)[0];
    const std::optional<ValueId> source = ValueOf(operand);
    const std::optional<ValueId> target = ValueOf(copy);
    if (!source || !target ||
        module_.instructions[operand].shape != module_.instructions[copy].shape)
      return;
    const InstrId writer = InEntry(analysis_.flow.instruction(*source));
    if (writer.is_none()) return;
    ends_[copy] = {NodeOf(*source, writer), NodeOf(*target, copy)};
    home_[copy] = {ChainOf(*source), ChainOf(*target)};
  }

  // All that must have run before an instruction.
  const std::vector<bool>& AncestorsOf(InstrId id) {
    constexpr size_t kMaxBits = size_t{1} << 28U;
    const hlo::Computation& home = module_.computations[module_.instructions[id].parent];
    if (ancestors_.size() * home.count > kMaxBits) ancestors_.clear();
    const auto [place, is_new] = ancestors_.try_emplace(id);
    std::vector<bool>& is_before = place->second;
    if (!is_new) return is_before;
    is_before.assign(home.count, false);
    std::vector<InstrId> stack = {id};
    const auto visit = [&](InstrId other) {
      std::vector<bool>::reference seen = is_before[other.index - home.first.index];
      if (seen) return;
      seen = true;
      stack.push_back(other);
    };
    while (!stack.empty()) {
      const InstrId top = stack.back();
      stack.pop_back();
      for (const InstrId operand : module_.operands_of(top)) visit(operand);
      if (const hlo::Attribute* before =
              module_.FindAttribute(top, hlo::AttributeKey::kControlPredecessors)) {
        for (const InstrId other : Module::Rows(module_.instruction_pool, before->rows()))
          visit(other);
      }
    }
    return is_before;
  }
  // Both are in one computation.
  bool RunsBefore(InstrId a, InstrId b) {
    if (known_ == KnownOrder::kSchedule)
      return analysis_.schedule.time(a) < analysis_.schedule.time(b);
    return AncestorsOf(
        b)[a.index - module_.computations[module_.instructions[b].parent].first.index];
  }

  // The instructions from the entry computation down to this one, each inside the one before.
  [[nodiscard]] std::vector<InstrId> PathTo(InstrId id) const {
    std::vector<InstrId> path = {id};
    while (module_.instructions[id].parent != module_.entry) {
      id = analysis_.calls.callers_of(module_.instructions[id].parent)[0];
      path.push_back(id);
    }
    std::ranges::reverse(path);
    return path;
  }

  // Whether a use inside an instruction is over before a value is born inside it.
  bool IsOverBefore(const Use& use, ValueId born) {
    const InstrId writer = analysis_.flow.instruction(born);
    if (use.user == writer)
      return shares_.CanShare(use.position, analysis_.flow.values[born].position);
    const std::vector<InstrId> a = PathTo(use.user);
    const std::vector<InstrId> b = PathTo(writer);
    size_t k = 0;
    while (k < std::min(a.size(), b.size()) && a[k] == b[k]) ++k;
    // One runs inside the other: passed on, not yet read.
    if (k == a.size()) return true;
    if (k == b.size()) return false;
    if (module_.instructions[a[k]].parent == module_.instructions[b[k]].parent)
      return RunsBefore(a[k], b[k]);
    // Of two branches only one runs.
    return k > 0 && module_.instructions[a[k - 1]].opcode == Opcode::kConditional;
  }

  // Whether b may be written where its writer reads a.
  bool CanShare(const Node& a, const Node& b) {
    const Opcode opcode = module_.instructions[b.writer].opcode;
    if (opcode == Opcode::kCopy) return true;
    for (const ValueId value : a.values) {
      for (const Use& use : analysis_.flow.uses_of(value)) {
        if (InEntry(use.user) != b.writer) continue;
        // A sort shares with an operand that it alone reads; a copy that has gone still counts as a
        // reader of what it copied, until dead code is swept.
        if (opcode == Opcode::kSort &&
            is_gone_.contains(analysis_.flow.positions.instruction(use.position)))
          return false;
        for (const ValueId born : b.values) {
          const bool is_inside = analysis_.flow.instruction(born) != b.writer;
          // The result of a call or a loop is born when everything inside is over.
          if (!is_inside && use.user != b.writer) continue;
          if (!IsOverBefore(use, born)) return false;
        }
      }
    }
    return true;
  }

  bool EndsBefore(const Node& a, const Node& b) {
    if (a.readers.empty()) {
      if (module_.instructions[a.writer].opcode == Opcode::kParameter) return true;
      if (RunsBefore(a.writer, b.writer)) return true;
      clash_.reader = a.writer;
      clash_.writer = b.writer;
      return false;
    }
    for (const InstrId reader : a.readers) {
      if (reader == b.writer ? CanShare(a, b) : RunsBefore(reader, b.writer)) continue;
      clash_.reader = reader;
      clash_.writer = b.writer;
      return false;
    }
    return true;
  }
  // Everything up to `last`, itself included, in one chain before all from `first` on in another.
  bool AllBefore(Chain& a, Chain::iterator last, Chain::iterator first, const Chain& b) {
    for (; first != b.end(); ++first) {
      for (auto node = std::make_reverse_iterator(std::next(last)); node != a.rend(); ++node) {
        if (!EndsBefore(*node, *first)) return false;
      }
    }
    return true;
  }

  // Chains that were joined.
  size_t Find(size_t chain) const {
    for (auto next = joined_.find(chain); next != joined_.end(); next = joined_.find(chain))
      chain = next->second;
    return chain;
  }

  bool TryElide(InstrId copy) {
    const auto found = ends_.find(copy);
    if (found == ends_.end()) return false;
    const auto [source, target] = found->second;
    const size_t from = Find(home_[copy].first);
    const size_t to = Find(home_[copy].second);
    Chain& a = chains_[from];
    Chain& b = chains_[to];
    if (from == to) {
      if (std::next(source) != target) return false;
    } else if (target == b.begin()) {
      // {..., source, rest of b, rest of a}; what reads the copy reads the source then.
      if (!AllBefore(a, source, std::next(target), b)) return false;
      if (!AllBefore(b, std::prev(b.end()), std::next(source), a)) return false;
      a.splice(std::next(source), b);
      joined_[to] = from;
    } else if (std::next(source) == a.end()) {
      if (!AllBefore(b, std::prev(target), a.begin(), a)) return false;
      if (!AllBefore(a, source, std::next(target), b)) return false;
      b.splice(target, a);
      joined_[from] = to;
    } else {
      return false;
    }
    Forget(copy, source, target);
    return true;
  }

  // The copy is gone: whoever read it reads its source.
  void Forget(InstrId copy, Chain::iterator source, Chain::iterator target) {
    std::erase(source->readers, copy);
    for (const InstrId reader : target->readers) {
      const auto at = std::ranges::lower_bound(source->readers, reader);
      if (at == source->readers.end() || *at != reader) source->readers.insert(at, reader);
    }
    source->values.insert(source->values.end(), target->values.begin(), target->values.end());
    for (auto& [other, ends] : ends_) {
      if (ends.source == target) ends.source = source;
    }
    ends_.erase(copy);
    is_gone_.insert(copy);
    const size_t home = Find(home_[copy].first);
    chains_[home].erase(target);
  }

  const Module& module_;
  const Analysis& analysis_;
  KnownOrder known_;
  ShareRules shares_;
  std::deque<Chain> chains_;  // nodes and ends of lists stay where they are
  std::map<BufferId, size_t> chain_by_buffer_;
  std::map<size_t, size_t> joined_;
  std::map<InstrId, Ends> ends_;
  std::map<InstrId, std::pair<size_t, size_t>> home_;
  std::set<InstrId> is_gone_;
  std::map<InstrId, std::vector<bool>> ancestors_;
  Elision::Kept clash_;
};

}  // namespace

Elision ElideCopies(const Module& module, const Analysis& analysis, const Rules& rules,
                    KnownOrder known, std::span<const InstrId> copies) {
  return Elider(module, analysis, rules, known).Run(copies);
}

}  // namespace stowplan::advise
