// SPDX-License-Identifier: Apache-2.0
#include "stowplan/page.h"

#include <algorithm>
#include <memory>

#include "explain/moment.h"
#include "page/explain_view.h"
#include "page/view_scene.h"
#include "report/summary.h"

namespace stowplan {

Result<std::string> ExplainText(const PlannedModule& planned) {
  STOWPLAN_TRY(const explain::Picture picture,
               explain::MakePicture(*planned.report, planned.module.get(), planned.target));
  STOWPLAN_TRY(const report::Summary summary, report::Summarize(*planned.report));
  if (!report::HasPeak(*planned.report))
    return Fail(planned.name, "the live ranges are not known, so there is no peak to explain",
                "also load the module or its -live-range.txt");
  page::ExplainView view{.picture = picture,
                         .name = planned.name,
                         .input = planned.name,
                         .is_made = planned.is_made(),
                         .space = {},
                         .moment = {},
                         .is_peak = true,
                         .limit = 8};
  const auto largest = std::ranges::max_element(summary.spaces, {}, &report::SpaceTotal::bytes);
  if (largest != summary.spaces.end()) view.space = largest->color;
  view.moment = explain::MomentAt(picture, view.curve().peak.time, view.space);
  view.order = GlanceAtOrder(planned, {});
  return page::ExplainPage(view);
}

Result<std::string> HtmlPage(const std::vector<PlannedModule>& plans) {
  if (plans.empty()) return Fail("stowplan", "there is no plan to show");
  view::Scene scene;
  scene.title = plans[0].name;
  std::vector<std::unique_ptr<page::ShownInput>> shown;
  for (const PlannedModule& planned : plans) {
    STOWPLAN_TRY(std::unique_ptr<page::ShownInput> input, page::MakeShown(planned, {}));
    page::AddTo(scene, *input, {});
    shown.push_back(std::move(input));
  }
  STOWPLAN_TRY(const std::string bundle, view::WriteBundle(scene));
  return view::WritePage(bundle);
}

}  // namespace stowplan
