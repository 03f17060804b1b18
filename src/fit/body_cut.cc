// SPDX-License-Identifier: Apache-2.0
#include "fit/body_cut.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "fit/choose.h"

namespace stowplan::fit {
namespace {

constexpr double kBodyPriceStep = 1.4;
constexpr double kLowestBodyPrice = 1e-3;
constexpr double kHighestBodyPrice = 100;

// The body, then a pause, then one operation that reads what is needed: the other loop. What is in
// memory during the pause is what is handed on.
Operations WithReader(const Operations& body, std::span<const uint32_t> needed) {
  Operations both = body;
  Operation results;
  for (uint32_t value = 0; value < both.is_result.size(); ++value) {
    if (both.is_result[value] != 0) results.reads.push_back(value);
    both.is_result[value] = 0;
  }
  results.can_repeat = false;
  both.operations.push_back(std::move(results));
  both.operations.push_back({.can_repeat = false});
  Operation reader;
  reader.can_repeat = false;
  reader.reads.assign(needed.begin(), needed.end());
  std::ranges::sort(reader.reads);
  reader.reads.erase(std::ranges::unique(reader.reads).begin(), reader.reads.end());
  both.operations.push_back(std::move(reader));
  return both;
}

}  // namespace

std::vector<std::vector<uint32_t>> CutBody(const Operations& body,
                                           std::span<const uint32_t> needed) {
  const Operations both = WithReader(body, needed);
  const Task task = TaskOf(both, Singles(both));
  const Sequence sequence = GivenSequence(task);
  Trace trace;
  FindTrace(task, sequence, trace);
  Chooser chooser(task);
  int64_t bytes = 1;
  for (const uint32_t value : needed) bytes += body.sizes[value];
  const double even = std::max(WholeCost(task), 1e-300) / static_cast<double>(bytes);
  const auto pause = static_cast<uint32_t>(body.operations.size() + 1);
  const std::vector<uint8_t> is_banned(task.size(), 0);
  std::vector<std::vector<uint32_t>> cuts;
  for (double price = kLowestBodyPrice * even; price <= kHighestBodyPrice * even;
       price *= kBodyPriceStep) {
    std::vector<uint32_t> repeated;
    for (const Group& group : chooser.Choose(sequence, trace, pause, price, is_banned))
      repeated.insert(repeated.end(), group.places.begin(), group.places.end());
    std::ranges::sort(repeated);
    if (!repeated.empty() && (cuts.empty() || cuts.back() != repeated))
      cuts.push_back(std::move(repeated));
  }
  return cuts;
}

}  // namespace stowplan::fit
