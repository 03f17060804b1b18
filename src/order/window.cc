// SPDX-License-Identifier: Apache-2.0
#include "order/window.h"

#include <algorithm>
#include <utility>

#include "order/first_orders.h"

namespace stowplan::order {

StretchedOrder::StretchedOrder(const Problem& problem, Order order, Loads loads)
    : problem_(&problem),
      order_(std::move(order)),
      loads_(std::move(loads)),
      places_(PlacesIn(order_)),
      last_places_(problem.lives.size(), 0),
      numbers_(problem.lives.size(), kNoNode) {
  for (uint32_t k = 0; k < order_.size(); ++k) {
    for (const uint32_t life : problem.touched[order_[k]]) last_places_[life] = k;
  }
}

Problem StretchedOrder::ProblemOf(uint32_t first, uint32_t last) {
  ProblemParts parts;
  std::vector<uint32_t> lives;
  const auto is_inside = [&](Node node) { return places_[node] >= first && places_[node] < last; };
  for (uint32_t k = first; k < last; ++k) {
    const Node node = order_[k];
    parts.inner.push_back(problem_->inner[node]);
    parts.least_inner.push_back(problem_->least_inner[node]);
    for (const Node before : problem_->before[node]) {
      if (is_inside(before)) parts.edges.emplace_back(places_[before] - first, k - first);
    }
    for (const uint32_t i : problem_->touched[node]) {
      if (numbers_[i] == kNoNode) {
        numbers_[i] = static_cast<uint32_t>(lives.size());
        lives.push_back(i);
        Life life = problem_->lives[i];
        life.lasts = life.lasts || last_places_[i] >= last;
        life.begin =
            life.begin != kNoNode && is_inside(life.begin) ? places_[life.begin] - first : kNoNode;
        parts.lives.push_back(life);
        parts.touches.emplace_back();
      }
      parts.touches[numbers_[i]].push_back(k - first);
    }
    for (const Overwrite& overwrite : problem_->overwrites_at(node))
      parts.overwrites.push_back(
          {k - first, numbers_[overwrite.output], numbers_[overwrite.operand]});
  }
  // An overwrite may name a life that nothing here touches.
  std::erase_if(parts.overwrites, [](const Overwrite& overwrite) {
    return overwrite.output == kNoNode || overwrite.operand == kNoNode;
  });
  for (const uint32_t i : lives) numbers_[i] = kNoNode;
  // All that is in use throughout is one life more.
  parts.lives.push_back({.size = 0, .lasts = true});
  parts.touches.emplace_back();
  Problem part = MakeProblem(std::move(parts));
  const Loads inside = ComputeLoads(part, GivenOrder(part));
  part.lives.back().size = loads_.loads[first] - inside.loads[0];
  return part;
}

void StretchedOrder::Replace(uint32_t first, std::span<const Node> order,
                             std::span<const int64_t> loads) {
  const Order before(order_.begin() + first, order_.begin() + first + std::ssize(order));
  for (uint32_t k = 0; k < order.size(); ++k) {
    const Node node = before[order[k]];
    order_[first + k] = node;
    places_[node] = first + k;
    loads_.loads[first + k] = loads[k];
  }
  const uint32_t last = first + static_cast<uint32_t>(order.size());
  for (uint32_t k = first; k < last; ++k) {
    for (const uint32_t life : problem_->touched[order_[k]]) {
      if (last_places_[life] < last) last_places_[life] = k;
    }
  }
  FindPeak();
}

void StretchedOrder::FindPeak() {
  const auto peak = std::ranges::max_element(loads_.loads);
  loads_.peak = *peak;
  loads_.peak_place = static_cast<uint32_t>(peak - loads_.loads.begin());
  loads_.peak_count = static_cast<uint32_t>(std::ranges::count(loads_.loads, *peak));
}

}  // namespace stowplan::order
