// SPDX-License-Identifier: Apache-2.0
// Plans that are made, looked at and compared: advise, assign, order, check, diff.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/json_writer.h"
#include "base/suggest.h"
#include "page/advice_page.h"
#include "page/best_text.h"
#include "page/check_page.h"
#include "page/diff_view.h"
#include "page/order_page.h"
#include "python/bind.h"
#include "python/failure.h"
#include "python/lock.h"
#include "python/text.h"
#include "python/watch.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

// (JSON, page, whether Ctrl-C ended it)
std::tuple<Text, Text, bool> Advise(Plan& plan, std::optional<int64_t> space, size_t limit,
                                    std::optional<double> time_limit) {
  Watch watch(time_limit);
  std::string json;
  std::string page;
  {
    const Unlocked unlocked;
    plan.CheckSpace(space);
    advise::AdviseOptions options;
    options.space = space.value_or(0);
    options.parameter_names = plan.options().parameter_names;
    options.should_stop = watch.should_stop();
    const advise::AdviceReport report =
        Need(advise::AdvisePlanned(plan.planned(), plan.options().plan, std::move(options)));
    json = page::AdviceJson(report, plan.name());
    page = page::AdvicePage(report, plan.name(),
                            {.limit = limit, .has_refused = true, .speech = Speech::kPython});
  }
  watch.Finish();
  return {json, page, watch.is_interrupted()};
}

// As stowplan.plans.Heap takes them.
using HeapRow = std::tuple<int64_t,                 // memory space
                           int64_t,                 // bytes in XLA's plan
                           int64_t,                 // in this one
                           int64_t,                 // no plan of the same units is lower
                           int64_t,                 // no plan at all is lower
                           std::optional<int64_t>,  // when the bound is needed
                           Text>;                   // the proof in words

// Bytes of memory space 0 in the plan, and in every plan at least; a sentence.
using FitRow = std::tuple<int64_t, int64_t, Text>;
// (the plan, heaps, their table, whether Ctrl-C ended the search, how it stands to the memory
// limit)
using Assigned =
    std::tuple<std::shared_ptr<Plan>, std::vector<HeapRow>, Text, bool, std::optional<FitRow>>;
Assigned Assign(Plan& plan, bool is_best, std::optional<int64_t> memory_limit, bool allow_unsound,
                bool allow_unchecked, std::optional<double> time_limit, const std::string& preset) {
  Watch watch(time_limit);
  std::shared_ptr<Plan> made;
  std::vector<HeapRow> heaps;
  std::string table;
  std::optional<FitRow> fit;
  {
    const Unlocked unlocked;
    PlanOptions options = plan.options().plan;
    options.policy = is_best ? Policy::kBest : Policy::kXla;
    options.allow_unsound = allow_unsound;
    options.allow_unchecked = allow_unchecked;
    options.preset = preset;
    options.memory_limit = memory_limit;
    options.should_stop = watch.should_stop();
    options.searches_on = time_limit.has_value();
    PlannedModule planned = Need(stowplan::Plan(plan.planned(), options));
    for (const BestHeap& heap : planned.heaps)
      heaps.emplace_back(heap.color, heap.xla_bytes, heap.bytes, heap.bound, heap.floor,
                         heap.bound_time, page::Proof(heap));
    if (is_best) table = page::HeapTable(planned.heaps);
    if (memory_limit) {
      const page::MemoryFit found = page::FitOf(planned, *memory_limit);
      fit = {found.bytes, found.floor, page::Sentence(found)};
    }
    made = Plan::Adopt(std::move(planned), plan.options());
  }
  watch.Finish();
  return {std::move(made), std::move(heaps), table, watch.is_interrupted(), std::move(fit)};
}

// (JSON, page, whether Ctrl-C ended it)
std::tuple<Text, Text, bool> Order(Plan& plan, int64_t overlap_loss,
                                   std::optional<double> time_limit) {
  Watch watch(time_limit);
  std::string json;
  std::string page;
  {
    const Unlocked unlocked;
    PlanOptions options = plan.options().plan;
    options.policy = Policy::kBest;
    options.scheduler = "best";
    options.overlap_loss = overlap_loss;
    options.should_stop = watch.should_stop();
    const PlannedModule planned = Need(stowplan::Plan(plan.planned(), options));
    json = page::OrderJson(planned);
    page = page::OrderPage(planned);
  }
  watch.Finish();
  return {json, page, watch.is_interrupted()};
}

// The files that XLA would write, (name, text) each.
std::vector<std::tuple<Text, Text>> Files(const Plan& plan) {
  const Unlocked unlocked;
  std::vector<std::tuple<Text, Text>> files;
  for (ReportFile& file : ReportFilesOf(plan.planned()))
    files.emplace_back(std::move(file.name), std::move(file.text));
  return files;
}

// (JSON, text)
std::tuple<Text, Text> Check(const Plan& plan, size_t limit) {
  const Unlocked unlocked;
  const PlannedModule checked = Need(stowplan::Check(plan.planned(), plan.options().plan));
  std::string out;
  JsonWriter json(out);
  page::AppendCheckJson(checked, SIZE_MAX, json);
  return {out, page::CheckText(checked, limit == 0 ? SIZE_MAX : limit)};
}

// (JSON of the pair, page, Markdown)
std::tuple<Text, Text, Text> Diff(Plan& a, Plan& b, const std::string& by, size_t limit) {
  const Unlocked unlocked;
  const std::optional<diff::Group> group = diff::FindGroup(by);
  if (!group) {
    std::vector<std::string_view> names;
    std::string list;
    for (size_t i = 0; i < diff::kGroups; ++i) {
      names.push_back(diff::Name(static_cast<diff::Group>(i)));
      list += (list.empty() ? "the choices are " : ", ") + std::string(names.back());
    }
    const std::string hint = DidYouMean(by, names);
    Refuse("changes cannot be grouped by `" + by + "`", hint.empty() ? list : hint);
  }
  const explain::Picture& picture_a = a.picture();
  const explain::Picture& picture_b = b.picture();
  diff::Diff diff = Need(diff::DiffOf(picture_a, picture_b));
  page::DiffView view =
      page::MakeDiffView(b.name(), picture_a, picture_b, std::move(diff), *group, limit);
  view.speech = Speech::kPython;
  std::string out;
  JsonWriter json(out);
  page::WriteDiffJson(view, json);
  return {out, page::DiffPage(view), page::DiffMarkdown(view)};
}

}  // namespace

void BindWork(nb::module_& module, PlanClass& plan) {
  plan.def("advise", Advise, "space"_a.none() = nb::none(), "limit"_a = 8,
           "time_limit"_a.none() = nb::none(), "What would save memory.")
      .def("assign", Assign, "is_best"_a = false, "memory_limit"_a.none() = nb::none(),
           "allow_unsound"_a = false, "allow_unchecked"_a = false,
           "time_limit"_a.none() = nb::none(), "preset"_a = "", "The program planned again.")
      .def("order", Order, "overlap_loss"_a = 0, "time_limit"_a.none() = nb::none(),
           "The order of instructions that needs the least memory.")
      .def("files", Files, "The files that XLA would write.")
      .def("check", Check, "limit"_a = 20, "Whether the plan is sound.");
  module.def("diff", Diff, "a"_a, "b"_a, "by"_a = "cause", "limit"_a = 8,
             "What changed between two plans.");
}

}  // namespace stowplan::python
