// SPDX-License-Identifier: Apache-2.0
#include "page/best_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

std::string_view StatusOf(const BestHeap& heap) {
  return heap.is_optimal() ? "optimal" : "feasible";
}

std::string StatusOf(const MemoryFit& fit) {
  if (fit.fits()) return "fits";
  return fit.floor > fit.limit ? "infeasible" : "undecided";
}

}  // namespace

std::string Proof(const BestHeap& heap) {
  const std::string reason =
      heap.bound_time ? fmt::format("the bound is needed at instant {}", *heap.bound_time)
                      : "all plans below the bound have been searched";
  if (heap.is_optimal()) return "optimal for what lies in it: " + reason;
  if (heap.bound == 0) return "feasible";
  return fmt::format(
      "at most {:.3f} % above the optimum: {}",
      100.0 * static_cast<double>(heap.bytes - heap.bound) / static_cast<double>(heap.bound),
      reason);
}

std::string HeapTable(std::span<const BestHeap> heaps) {
  if (heaps.empty()) return "the program has no temporaries\n";
  using Align = TextTable::Align;
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.Add({"space", "XLA", "Stowplan", "bound", "proof"});
  for (const BestHeap& heap : heaps) {
    table.Add({std::to_string(heap.color), HumanAndExactBytes(heap.xla_bytes),
               HumanAndExactBytes(heap.bytes), HumanAndExactBytes(heap.bound), Proof(heap)});
  }
  std::string out;
  table.Append(out);
  return out;
}

MemoryFit FitOf(const PlannedModule& planned, int64_t limit) {
  MemoryFit fit = {.limit = limit, .bytes = 0, .floor = 0};
  for (const report::Allocation& allocation : planned.report->allocations.rows()) {
    if (allocation.color == 0) fit.bytes = SaturatingAdd(fit.bytes, allocation.size);
  }
  fit.floor = fit.bytes;
  for (const BestHeap& heap : planned.heaps) {
    if (heap.color == 0) fit.floor -= heap.bytes - heap.floor;
  }
  return fit;
}

std::string Sentence(const MemoryFit& fit) {
  const std::string limit = HumanAndExactBytes(fit.limit);
  const std::string bytes = HumanAndExactBytes(fit.bytes);
  if (fit.fits()) return fmt::format("memory space 0 fits {}: it takes {}\n", limit, bytes);
  if (fit.floor > fit.limit) {
    return fmt::format(
        "memory space 0 does not fit {}: this plan takes {}, and every plan takes at least "
        "{}\n",
        limit, bytes, HumanAndExactBytes(fit.floor));
  }
  return fmt::format(
      "memory space 0 does not fit {}: this plan takes {}; whether another plan fits is "
      "not decided\n",
      limit, bytes);
}

void WriteBest(const PlannedModule& planned, const std::optional<MemoryFit>& fit,
               JsonWriter& json) {
  json.BeginObject("best");
  json.BeginArray("heaps");
  for (const BestHeap& heap : planned.heaps) {
    json.BeginObject();
    json.Field("color", heap.color);
    json.Field("xla_bytes", heap.xla_bytes);
    json.Field("bytes", heap.bytes);
    json.Field("bound", heap.bound);
    if (heap.bound_time) json.Field("bound_time", *heap.bound_time);
    json.Field("floor", heap.floor);
    json.Field("status", StatusOf(heap));
    json.Field("proof", std::string_view(Proof(heap)));
    json.Field("guests", heap.guests);
    json.Field("xla_guests", heap.xla_guests);
    json.End();
  }
  json.End();
  if (fit) {
    json.BeginObject("memory_limit");
    json.Field("limit", fit->limit);
    json.Field("bytes", fit->bytes);
    json.Field("floor", fit->floor);
    json.Field("status", std::string_view(StatusOf(*fit)));
    json.End();
  }
  json.End();
}

}  // namespace stowplan::page
