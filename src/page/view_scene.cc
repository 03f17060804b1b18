// SPDX-License-Identifier: Apache-2.0
#include "page/view_scene.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "explain/source_root.h"
#include "page/best_text.h"
#include "page/order_page.h"
#include "page/text.h"
#include "schedule/make_schedule.h"
#include "session/best_order.h"
#include "session/load.h"
#include "session/note.h"

namespace stowplan::page {
namespace {

Result<explain::Picture> Draw(const PlannedModule& planned, const OwnCode& own) {
  return explain::MakePicture(*planned.report, planned.module.get(), planned.target, {.own = own});
}

bool HasNewOrder(const ShownInput& input) {
  return input.best && input.best->order &&
         input.best->order->bytes < input.best->order->given_bytes;
}

// What is lower because of the order, and what because of packing.
std::string OrderWords(const ShownInput& input) {
  if (!input.best || !input.best->order) return {};
  const OrderFacts& order = *input.best->order;
  if (!HasNewOrder(input)) return "Both plans have the same order: " + OrderSentence(order) + ".";
  int64_t taken = 0;  // by plan A in the main memory
  for (const report::Allocation& allocation : input.planned.report->allocations.rows()) {
    if (allocation.color == 0) taken = SaturatingAdd(taken, allocation.size);
  }
  const int64_t packed = taken - order.given_bytes;
  return fmt::format(
      "Of the main memory, B's order of instructions saves {}, and its packing {}. The most in use "
      "at once falls from {} to {}; in any order it is at least {}.",
      HumanAndExactBytes(order.given_bytes - order.bytes),
      HumanAndExactBytes(std::max<int64_t>(packed, 0)), HumanAndExactBytes(order.given_load),
      HumanAndExactBytes(order.load), HumanAndExactBytes(order.bound));
}

view::Shown ShownOf(const ShownInput& input, bool is_best) {
  view::Shown shown = {.picture = is_best ? &input.best_picture : &input.picture,
                       .analysis = (is_best ? *input.best : input.planned).analysis.get(),
                       .name = input.planned.name,
                       .plan = is_best && HasNewOrder(input)
                                   ? "Stowplan's plan, policy best, in a better order"
                               : is_best                 ? "Stowplan's plan, policy best"
                               : input.planned.is_made() ? "Stowplan's plan, by XLA's rules"
                                                         : "XLA's plan, from its report",
                       .bounds = {}};
  if (!input.best) return shown;
  // The floor holds for any plan in this order; the heap's bound only for values in the heap.
  const bool is_given = !is_best && HasNewOrder(input);
  for (const BestHeap& heap : is_given ? input.given_heaps : input.best->heaps)
    shown.bounds.push_back(
        {.color = heap.color, .bytes = heap.floor, .proof = is_best ? Proof(heap) : ""});
  return shown;
}

// The files named by stack frames, if they lie below the root.
void AddSources(const std::string& root, const explain::Picture& picture, view::Scene& scene) {
  std::set<std::string_view> files;
  for (const explain::Frame& frame : picture.frames.rows()) files.insert(frame.file);
  for (const std::string_view file : files) {
    const bool is_there = std::ranges::any_of(
        scene.sources, [&](const view::SourceFile& source) { return source.file == file; });
    if (is_there) continue;
    if (std::optional<std::string> text = explain::ReadBelow(root, file))
      scene.sources.push_back({.file = std::string(file), .text = *std::move(text)});
  }
}

// A plan for an order of our own cannot be compared with XLA's plan for its order.
bool NeedsSchedule(const PlannedModule& planned) {
  return planned.module && !IsScheduled(*planned.module);
}

Result<PlannedModule> FailUnscheduled(const PlannedModule& planned) {
  return Fail("stowplan",
              "the program of `" + Printable(planned.name) +
                  "` has no schedule, so it cannot be planned again",
              "the module of the last stage, after_optimizations, has one");
}

Result<PlannedModule> PlanBest(const PlanOptions& best_options, const ViewOptions& options,
                               ShownInput& shown) {
  if (!options.is_against_best || options.keeps_order) return Plan(shown.planned, best_options);
  STOWPLAN_TRY(BestOrder found, FindBestOrder({}, shown.planned, best_options, false));
  shown.given_heaps = std::move(found.given_heaps);
  return std::move(found.planned);
}

}  // namespace

Result<std::unique_ptr<ShownInput>> MakeShown(PlannedModule planned, const ViewOptions& options) {
  auto shown = std::make_unique<ShownInput>();
  shown->planned = Analyzed(std::move(planned), options.plan);
  shown->problems = shown->planned.notes;
  STOWPLAN_TRY(shown->picture, Draw(shown->planned, options.plan.own));
  if (!options.needs_best()) return shown;
  PlanOptions best_options = options.plan;
  best_options.policy = Policy::kBest;
  best_options.memory_limit = options.budget;
  Result<PlannedModule> best = NeedsSchedule(shown->planned)
                                   ? FailUnscheduled(shown->planned)
                                   : PlanBest(best_options, options, *shown);
  Result<explain::Picture> picture = best ? Draw(*best, options.plan.own)
                                          : Result<explain::Picture>(std::unexpected(best.error()));
  if (!picture) {
    Append(std::move(picture).error(), shown->problems);
    return shown;
  }
  Append(best->notes, shown->problems);
  shown->best = *std::move(best);
  shown->best_picture = *std::move(picture);
  return shown;
}

void AddTo(view::Scene& scene, const ShownInput& input, const ViewOptions& options) {
  if (!options.is_best) scene.modules.push_back(ShownOf(input, false));
  if (input.best) scene.modules.push_back(ShownOf(input, true));
  if (options.is_against_best) scene.order = OrderWords(input);
  if (!options.plan.own.source_root.empty())
    AddSources(options.plan.own.source_root, input.picture, scene);
}

}  // namespace stowplan::page
