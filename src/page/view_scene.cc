// SPDX-License-Identifier: Apache-2.0
#include "page/view_scene.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "page/best_text.h"
#include "page/source_root.h"
#include "page/text.h"
#include "schedule/make_schedule.h"
#include "session/load.h"
#include "session/note.h"

namespace stowplan::page {
namespace {

Result<explain::Picture> Draw(const PlannedModule& planned) {
  return explain::MakePicture(*planned.report, planned.module.get(), planned.target);
}

view::Shown ShownOf(const ShownInput& input, bool is_best) {
  view::Shown shown = {.picture = is_best ? &input.best_picture : &input.picture,
                       .analysis = input.planned.analysis.get(),
                       .name = input.planned.name,
                       .plan = is_best                   ? "Stowplan's plan, policy best"
                               : input.planned.is_made() ? "Stowplan's plan, by XLA's rules"
                                                         : "XLA's plan, from its report",
                       .bounds = {}};
  if (!input.best) return shown;
  // The floor holds for any plan; the heap's own bound only for what lies in it.
  for (const BestHeap& heap : input.best->heaps)
    shown.bounds.push_back(
        {.color = heap.color, .bytes = heap.floor, .proof = is_best ? Proof(heap) : ""});
  return shown;
}

// The files that frames name, as far as they lie below the root.
void AddSources(const std::string& root, const explain::Picture& picture, view::Scene& scene) {
  std::set<std::string_view> files;
  for (const explain::Frame& frame : picture.frames.rows()) files.insert(frame.file);
  for (const std::string_view file : files) {
    const bool is_there = std::ranges::any_of(
        scene.sources, [&](const view::SourceFile& source) { return source.file == file; });
    if (is_there) continue;
    if (std::optional<std::string> text = ReadBelow(root, file))
      scene.sources.push_back({.file = std::string(file), .text = *std::move(text)});
  }
}

// An order of our own would be compared with XLA's plan for its order.
bool NeedsSchedule(const PlannedModule& planned) {
  return planned.module && !IsScheduled(*planned.module);
}

Result<PlannedModule> FailUnscheduled(const PlannedModule& planned) {
  return Fail("stowplan",
              "the program of `" + Printable(planned.name) +
                  "` has no schedule, so it cannot be planned again",
              "the module of the last stage, after_optimizations, has one");
}

}  // namespace

Result<std::unique_ptr<ShownInput>> MakeShown(PlannedModule planned, const ViewOptions& options) {
  auto shown = std::make_unique<ShownInput>();
  shown->planned = Analyzed(std::move(planned), options.plan);
  shown->problems = shown->planned.notes;
  STOWPLAN_TRY(shown->picture, Draw(shown->planned));
  if (!options.needs_best()) return shown;
  PlanOptions best_options = options.plan;
  best_options.policy = Policy::kBest;
  best_options.memory_limit = options.budget;
  Result<PlannedModule> best = NeedsSchedule(shown->planned) ? FailUnscheduled(shown->planned)
                                                             : Plan(shown->planned, best_options);
  Result<explain::Picture> picture =
      best ? Draw(*best) : Result<explain::Picture>(std::unexpected(best.error()));
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
  if (!options.source_root.empty()) AddSources(options.source_root, input.picture, scene);
}

}  // namespace stowplan::page
