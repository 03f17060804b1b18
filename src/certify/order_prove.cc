// SPDX-License-Identifier: Apache-2.0
// The nodes that come before the witness are a set: with each node, it has all that this one
// depends on. Flow starts at nodes that are in every such set, and ends at nodes that are in none.
// It leaves the set, and can only do so through lives that have begun and are still needed. So as
// much as flows is in use.
#include <algorithm>
#include <unordered_set>

#include "certify/certificate.h"
#include "certify/order_section.h"

namespace stowplan::certify {

Load PeakOf(const Section& s, const std::vector<size_t>& order) {
  std::vector<std::vector<size_t>> touched(s.inner.size());
  std::vector<size_t> left;  // by life: touches to come
  Load now;
  const auto add = [&](const Life& life, int64_t sign) {
    (life.is_capped ? now.capped : now.bytes) += sign * life.size;
  };
  for (size_t i = 0; i < s.lives.size(); ++i) {
    left.push_back(s.lives[i].touches.size());
    for (const size_t node : s.lives[i].touches) touched[node].push_back(i);
    if (s.lives[i].begin < 0) add(s.lives[i], 1);
  }
  if (order.size() != s.inner.size()) Deny(s.name + ": the order does not have every node once");
  std::vector<bool> is_done(s.inner.size());
  Load peak;
  for (const size_t node : order) {
    if (is_done[node]) Deny(s.name + ": the order does not have every node once");
    for (const size_t b : s.before[node]) {
      if (!is_done[b])
        Deny(s.name + ": node " + std::to_string(node) + " comes before " + std::to_string(b) +
             ", which it depends on");
    }
    is_done[node] = true;
    for (const size_t i : touched[node]) {
      if (s.lives[i].begin == static_cast<int64_t>(node)) add(s.lives[i], 1);
    }
    Load here = now;
    std::vector<size_t> taken;
    const Overwrite* done = nullptr;
    auto next = std::ranges::lower_bound(s.overwrites, node, {}, &Overwrite::node);
    for (; next != s.overwrites.end() && next->node == node; ++next) {
      const Life& operand = s.lives[next->operand];
      if ((done != nullptr && done->output == next->output) || operand.lasts ||
          left[next->operand] != 1 || std::ranges::count(taken, next->operand) > 0)
        continue;
      done = &*next;
      taken.push_back(next->operand);
      (operand.is_capped ? here.capped : here.bytes) -=
          std::min(operand.size, s.lives[next->output].size);
    }
    peak.bytes = std::max(peak.bytes, here.bytes + s.inner[node]);
    peak.capped = std::max(peak.capped, here.capped);
    for (const size_t i : touched[node]) {
      if (--left[i] == 0 && !s.lives[i].lasts) add(s.lives[i], -1);
    }
  }
  return peak;
}

namespace {

class FlowChecker {
 public:
  FlowChecker(const Section& s, size_t witness)
      : s_(s),
        witness_(witness),
        must_(Reach(s.before)),
        cannot_(Reach(s.after)),
        balance_(s.inner.size(), 0) {
    cannot_[witness] = true;
  }

  // The least load of the witness, as far as the flow proves it.
  int64_t Run() {
    int64_t least = s_.least[witness_];
    for (const Life& life : s_.lives) {
      if (life.begin == static_cast<int64_t>(witness_) && !life.is_capped)
        least = AddUp(least, life.size);
    }
    for (const Flow& flow : s_.flows) {
      const Life& life = s_.lives[flow.from];
      if (life.begin == static_cast<int64_t>(witness_) || life.is_capped)
        Deny(s_.name + ": flow through a life that is not another's");
      PushThrough(flow.from, flow, false);
    }
    CheckCapacities([&](size_t life) { return s_.lives[life].size; });
    least -= Overwritten();
    for (const Flow& flow : s_.backs) {
      if (!s_.edges.contains({static_cast<size_t>(flow.to), flow.from}))
        Deny(s_.name + ": flow where there is no edge");
      Push(static_cast<int64_t>(flow.from), flow.to, flow.bytes);
    }
    // What leaves the nodes that must come before, less what returns to them.
    int64_t value = from_start_;
    for (size_t i = 0; i < balance_.size(); ++i) {
      if (must_[i]) {
        value = AddUp(value, -balance_[i]);
      } else if (!cannot_[i] && balance_[i] != 0) {
        Deny(s_.name + ": what flows into node " + std::to_string(i) + " does not flow out");
      }
    }
    return AddUp(least, value);
  }

 private:
  [[nodiscard]] std::vector<bool> Reach(const std::vector<std::vector<size_t>>& next) const {
    std::vector<bool> is_reached(next.size());
    std::vector<size_t> stack = {witness_};
    while (!stack.empty()) {
      const size_t from = stack.back();
      stack.pop_back();
      for (const size_t to : next[from]) {
        if (is_reached[to]) continue;
        is_reached[to] = true;
        stack.push_back(to);
      }
    }
    return is_reached;
  }

  void Push(int64_t from, int64_t to, int64_t bytes) {
    int64_t& source = from < 0 ? from_start_ : balance_[static_cast<size_t>(from)];
    source = AddUp(source, from < 0 ? bytes : -bytes);
    if (to >= 0)
      balance_[static_cast<size_t>(to)] = AddUp(balance_[static_cast<size_t>(to)], bytes);
  }

  // From where the life begins to where it is needed.
  void PushThrough(size_t life_row, const Flow& flow, bool is_spared) {
    const Life& life = s_.lives[life_row];
    const bool is_needed =
        flow.to < 0 ? life.lasts
                    : std::ranges::binary_search(life.touches, static_cast<size_t>(flow.to)) &&
                          !(is_spared && flow.to == static_cast<int64_t>(witness_));
    if (!is_needed) Deny(s_.name + ": flow to where its life is not needed");
    Push(life.begin, flow.to, flow.bytes);
    used_.resize(s_.lives.size(), 0);
    used_[flow.from] = AddUp(used_[flow.from], flow.bytes);
  }

  template <typename Capacity>
  void CheckCapacities(const Capacity& capacity) {
    for (size_t i = 0; i < used_.size(); ++i) {
      if (used_[i] > capacity(i))
        Deny(s_.name + ": more flows through life " + std::to_string(i) + " than its size");
    }
    used_.assign(s_.lives.size(), 0);
  }

  // What outputs of the witness written over operands may save. With one operand to choose from,
  // it is only saved if nobody else needs that one, and until then flow may pass.
  int64_t Overwritten() {
    std::vector<int64_t> saved(s_.lives.size(), 0);  // by output
    std::vector<size_t> choices(s_.lives.size(), 0);
    std::vector<size_t> operands(s_.lives.size(), 0);
    for (const Overwrite& overwrite : s_.overwrites) {
      const Life& operand = s_.lives[overwrite.operand];
      if (overwrite.node != witness_ || operand.is_capped) continue;
      ++choices[overwrite.output];
      operands[overwrite.output] = overwrite.operand;
      saved[overwrite.output] = std::max(saved[overwrite.output],
                                         std::min(operand.size, s_.lives[overwrite.output].size));
    }
    for (const Flow& flow : s_.spared) {
      if (choices[flow.from] != 1) Deny(s_.name + ": an output with not one operand is spared");
      PushThrough(operands[flow.from], flow, true);
    }
    CheckCapacities([&](size_t output) { return saved[output]; });
    int64_t sum = 0;
    for (const int64_t bytes : saved) sum = AddUp(sum, bytes);
    return sum;
  }

  const Section& s_;
  size_t witness_;
  std::vector<bool> must_, cannot_;  // by node: come before the witness
  std::vector<int64_t> balance_;     // by node: what flows in, less what flows out
  int64_t from_start_ = 0;
  std::vector<int64_t> used_;  // by life, or by output
};

// All orders, by the sets of nodes that can come first: none gets through below the bound.
class SetSearch {
 public:
  SetSearch(const Section& s, int64_t nodes) : s_(s), nodes_(nodes) {}

  void Run() {
    const size_t count = s_.inner.size();
    if (count > 64) Deny(s_.name + ": there are too many nodes to search");
    const uint64_t all = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    if (s_.least != s_.inner) Deny(s_.name + ": what is called may need less in another order");
    std::unordered_set<uint64_t> seen = {0};
    std::vector<uint64_t> stack = {0};
    while (!stack.empty()) {
      const uint64_t done = stack.back();
      stack.pop_back();
      if (done == all) Deny(s_.name + ": there is an order below the bound");
      for (size_t i = 0; i < count; ++i) {
        const uint64_t next = done | (uint64_t{1} << i);
        if (next == done || seen.contains(next)) continue;
        if (!std::ranges::all_of(s_.before[i], [&](size_t b) { return Has(done, b); })) continue;
        if (--nodes_ < 0) Deny(s_.name + ": the bound was not re-proved within the limit of nodes");
        const Load load = LoadOf(done, i);
        if (load.bytes >= *s_.bound || load.capped > *s_.limit) continue;
        seen.insert(next);
        stack.push_back(next);
      }
    }
  }

 private:
  static bool Has(uint64_t set, size_t node) { return (set >> node & 1) != 0; }

  // While `node` runs after the nodes of `done`.
  [[nodiscard]] Load LoadOf(uint64_t done, size_t node) const {
    Load load = {.bytes = s_.inner[node]};
    std::vector<size_t> left(s_.lives.size());
    for (size_t i = 0; i < s_.lives.size(); ++i) {
      const Life& life = s_.lives[i];
      left[i] = static_cast<size_t>(
          std::ranges::count_if(life.touches, [&](size_t t) { return !Has(done, t); }));
      const bool has_begun = life.begin < 0 || life.begin == static_cast<int64_t>(node) ||
                             Has(done, static_cast<size_t>(life.begin));
      if (has_begun && (left[i] > 0 || life.lasts || life.touches.empty()))
        (life.is_capped ? load.capped : load.bytes) += life.size;
    }
    std::vector<size_t> taken;
    const Overwrite* last = nullptr;
    for (const Overwrite& overwrite : s_.overwrites) {
      const Life& operand = s_.lives[overwrite.operand];
      if (overwrite.node != node || (last != nullptr && last->output == overwrite.output) ||
          operand.lasts || left[overwrite.operand] != 1 ||
          std::ranges::count(taken, overwrite.operand) > 0)
        continue;
      last = &overwrite;
      taken.push_back(overwrite.operand);
      (operand.is_capped ? load.capped : load.bytes) -=
          std::min(operand.size, s_.lives[overwrite.output].size);
    }
    return load;
  }

  const Section& s_;
  int64_t nodes_;
};

}  // namespace

std::string CheckOrderBound(const Section& s, int64_t nodes) {
  if (*s.bound == 0) return "nothing is claimed";
  if (s.is_searched) {
    SetSearch(s, nodes).Run();
    return "all orders searched again";
  }
  if (!s.witness) Refuse(s.name + ": nothing proves the bound");
  const auto witness = static_cast<size_t>(*s.witness);
  const int64_t least = FlowChecker(s, witness).Run();
  if (*s.bound > least) Deny(s.name + ": the flow proves no more than " + std::to_string(least));
  return "a flow at node " + std::to_string(witness);
}

}  // namespace stowplan::certify
