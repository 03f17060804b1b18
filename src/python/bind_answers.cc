// SPDX-License-Identifier: Apache-2.0
// What fills the memory, and why.
#include <algorithm>
#include <memory>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/suggest.h"
#include "explain/partition.h"
#include "explain/why.h"
#include "python/bind.h"
#include "python/explain.h"
#include "python/failure.h"
#include "python/lock.h"
#include "python/text.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

using explain::By;

By ByNamed(const std::string& name) {
  if (const std::optional<By> by = explain::FindBy(name)) return *by;
  std::vector<std::string_view> names;
  std::string list;
  for (size_t i = 0; i < explain::kBys; ++i) {
    names.push_back(explain::Name(static_cast<By>(i)));
    list += (list.empty() ? "the choices are " : ", ") + std::string(names.back());
  }
  const std::string hint = DidYouMean(name, names);
  Refuse("memory cannot be split by `" + name + "`", hint.empty() ? list : hint);
}

// As stowplan.tables.Row takes them.
using PartitionRow = std::tuple<Text,      // name
                                int64_t,   // parent; -1: the root
                                int64_t,   // depth; 0: below the root
                                int64_t,   // own bytes
                                int64_t,   // with all below
                                int64_t,   // values
                                bool,      // it is not an answer: "(no source)"
                                int64_t>;  // row of the value; -1: none
std::tuple<int64_t, int64_t, std::vector<PartitionRow>> PartitionOf(Plan& plan,
                                                                    const std::string& by,
                                                                    std::optional<int64_t> time,
                                                                    std::optional<int64_t> space) {
  const Unlocked unlocked;
  const By question = ByNamed(by);
  const explain::Moment moment = plan.MomentAt(time, space);
  const explain::Partition partition = explain::PartitionOf(plan.picture(), moment, question);
  std::vector<PartitionRow> rows;
  for (size_t i = 1; i < partition.rows.size(); ++i) {
    const explain::Row& row = partition.rows[i];
    rows.emplace_back(row.name, int64_t{row.parent} - 1, int64_t{row.depth} - 1, row.own, row.total,
                      row.values, row.is_other,
                      row.value.is_none() ? -1 : int64_t{row.value.index});
  }
  return {moment.time, partition.total(), std::move(rows)};
}

Text PartitionPage(Plan& plan, const std::string& by, std::optional<int64_t> time,
                   std::optional<int64_t> space, size_t limit) {
  const Unlocked unlocked;
  const By question = ByNamed(by);
  return page::PartitionPage(ViewOf(plan, time, space, limit), question);
}

// (time, bytes, (row of the value, bytes, padding among them)...)
using ShareRow = std::tuple<int64_t, int64_t, int64_t>;
std::tuple<int64_t, int64_t, std::vector<ShareRow>> MomentOf(Plan& plan,
                                                             std::optional<int64_t> time,
                                                             std::optional<int64_t> space) {
  const Unlocked unlocked;
  const explain::Moment moment = plan.MomentAt(time, space);
  std::vector<ShareRow> shares;
  shares.reserve(moment.shares.size());
  for (const explain::Share& share : moment.shares)
    shares.emplace_back(share.value.index, share.bytes, share.padding);
  return {moment.time, moment.bytes, std::move(shares)};
}

// Steps as an array of pairs (time, bytes), whose memory is the plan's.
using StepArray = nb::ndarray<nb::numpy, const int64_t, nb::shape<-1, 2>>;
StepArray CurveOf(nb::handle self, std::optional<int64_t> space) {
  Plan& plan = nb::cast<Plan&>(self);
  const explain::Curve* curve = nullptr;
  {
    const Unlocked unlocked;
    plan.CheckSpace(space);
    curve = &plan.curves().of(space);
  }
  static_assert(sizeof(explain::Step) == 2 * sizeof(int64_t));
  static_assert(std::is_standard_layout_v<explain::Step>);
  return StepArray(curve->steps.data(), {curve->steps.size(), 2}, self);
}

std::vector<explain::Why> WhysOf(Plan& plan, const std::string& name) {
  const report::Report& report = plan.report();
  const explain::Picture& picture = plan.picture();
  const std::vector<report::ValueId> found = explain::FindValues(report, name);
  if (found.empty()) {
    std::vector<std::string> names;
    names.reserve(report.values.size());
    for (size_t i = 0; i < report.values.size(); ++i)
      names.push_back(explain::ValueName(report, report::ValueId(i)));
    Refuse("there is no value `" + name + "`", DidYouMean(name, {names.begin(), names.end()}));
  }
  std::vector<explain::Why> whys;
  const Analysis* const analysis = plan.analysis();
  for (const report::ValueId id : found) whys.push_back(explain::WhyAlive(picture, analysis, id));
  return whys;
}

// The pages of the values that a name means, and the JSON of `stowplan explain --value`.
std::tuple<Text, Text> WhyOf(Plan& plan, const std::string& name) {
  const Unlocked unlocked;
  const std::vector<explain::Why> whys = WhysOf(plan, name);
  const page::ExplainView view = plan.has_peak()
                                     ? ViewOf(plan, std::nullopt, LargestSpace(plan), 8)
                                     : page::ExplainView{.picture = plan.picture(),
                                                         .name = plan.name(),
                                                         .input = plan.name(),
                                                         .is_made = plan.planned().is_made(),
                                                         .space = {},
                                                         .moment = {}};
  std::string page;
  for (const explain::Why& why : whys) {
    if (!page.empty()) page += '\n';
    page += page::WhyPage(view, why);
  }
  return {page, page::ExplainJson(view, By::kKind, false, whys)};
}

}  // namespace

void BindAnswers(PlanClass& plan) {
  plan.def("partition", PartitionOf, "by"_a, "time"_a.none() = nb::none(),
           "space"_a.none() = nb::none())
      .def("partition_page", PartitionPage, "by"_a, "time"_a.none() = nb::none(),
           "space"_a.none() = nb::none(), "limit"_a = 30)
      .def("moment", MomentOf, "time"_a.none() = nb::none(), "space"_a.none() = nb::none())
      .def("curve", CurveOf, "space"_a.none() = nb::none())
      .def("why", WhyOf, "name"_a);
}

}  // namespace stowplan::python
