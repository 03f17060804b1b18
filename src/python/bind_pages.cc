// SPDX-License-Identifier: Apache-2.0
// The pages of the command line, its JSON, and the viewer.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "page/explain_view.h"
#include "page/report_formats.h"
#include "page/report_json.h"
#include "page/report_page.h"
#include "python/bind.h"
#include "python/explain.h"
#include "python/failure.h"
#include "python/lock.h"
#include "python/text.h"
#include "report/reconcile.h"
#include "report/write.h"
#include "session/load.h"
#include "view/view.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

page::PageOptions PageOptionsOf(const Plan& plan) {
  std::string target = plan.options().plan.target;
  // A plan of ours has no file that shows it.
  if (target.empty() && plan.planned().is_made() && plan.planned().target)
    target = plan.planned().target->name;
  page::PageOptions options = page::PageOptionsFor(plan.name(), plan.report(), target);
  options.speech = Speech::kPython;
  options.own = plan.options().plan.own;
  return options;
}

Text ReportPage(const Plan& plan, size_t limit) {
  const Unlocked unlocked;
  page::PageOptions options = PageOptionsOf(plan);
  options.limit = limit == 0 ? SIZE_MAX : limit;
  return page::ReportPage(plan.report(), plan.summary(), plan.program(), options);
}

// CPUs' figures do without.
std::optional<Temporaries> TemporariesOf(const Plan& plan, report::Backend backend) {
  if (plan.program() == nullptr || backend == report::Backend::kCpu) return std::nullopt;
  return FindTemporaries(plan.planned(), plan.options().plan);
}

// (where it is printed, the figure, computed, as the files say it, how it follows)
using FigureRow = std::tuple<Text, Text, std::optional<int64_t>, std::optional<int64_t>, Text>;
// The figures, and the page that shows them: together, since a plan is made for each question.
std::tuple<std::vector<FigureRow>, Text> ReconcileFigures(const Plan& plan) {
  const Unlocked unlocked;
  const page::PageOptions options = PageOptionsOf(plan);
  const std::optional<Temporaries> temporaries = TemporariesOf(plan, options.backend);
  std::vector<FigureRow> rows;
  for (const report::ReconcileGroup& group :
       Reconcile(plan.report(), plan.summary(), options.backend, temporaries)) {
    for (const report::ReconcileRow& row : group.rows) {
      if (row.role == report::ReconcileRow::Role::kFigure)
        rows.emplace_back(group.title, row.figure, row.computed, row.said, row.how);
    }
  }
  return {std::move(rows),
          page::ReconcilePage(plan.report(), plan.summary(), temporaries, options)};
}

Text ExplainPage(Plan& plan, std::optional<int64_t> time, std::optional<int64_t> space,
                 size_t limit) {
  const Unlocked unlocked;
  page::ExplainView view = ViewOf(plan, time, space ? space : LargestSpace(plan), limit);
  view.order = GlanceAtOrder(plan.planned(), plan.options().plan);
  return page::ExplainPage(view);
}

Text Json(const Plan& plan) {
  const Unlocked unlocked;
  return page::ReportJson(plan.report(), plan.summary(), PageOptionsOf(plan).backend,
                          plan.planned().is_made());
}

// XLA's own report, all in one text.
Text XlaText(const Plan& plan) {
  const Unlocked unlocked;
  return report::WriteCombined(plan.report(), plan.report().dialect);
}

// The viewer's page, of one plan or of two beside each other.
Text Html(Plan& plan, Plan* other, std::optional<int64_t> budget) {
  const Unlocked unlocked;
  view::Scene scene = {.title = plan.name(), .modules = {}, .budget = budget, .sources = {}};
  for (Plan* const shown : {&plan, other}) {
    if (shown == nullptr) continue;
    scene.modules.push_back({.picture = &shown->picture(),
                             .analysis = shown->analysis(),
                             .name = shown->name(),
                             .plan = shown->planned().is_made() ? "Stowplan's plan, by XLA's rules"
                                                                : "XLA's plan, from its report",
                             .bounds = {}});
  }
  const std::string bundle = Need(view::WriteBundle(scene));
  return Need(view::WritePage(bundle));
}

}  // namespace

void BindPages(PlanClass& plan) {
  plan.def("page", ReportPage, "limit"_a = 10, "The page of `stowplan report`.")
      .def("reconcile", ReconcileFigures,
           "The figures, and the page of `stowplan report --reconcile`.")
      .def("explain_page", ExplainPage, "time"_a.none() = nb::none(), "space"_a.none() = nb::none(),
           "limit"_a = 8, "The page of `stowplan explain`.")
      .def("json", Json, "As `stowplan report --format=json`.")
      .def("xla_text", XlaText, "As XLA writes it.")
      .def("html", Html, "other"_a.none() = nb::none(), "budget"_a.none() = nb::none(),
           "The viewer, as `stowplan view` writes it.");
}

}  // namespace stowplan::python
