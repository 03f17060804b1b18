// SPDX-License-Identifier: Apache-2.0
// Plans that are made, looked at and compared: advise, assign, check, diff.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/json_writer.h"
#include "cli/advice.h"
#include "cli/assign_plan.h"
#include "cli/best_text.h"
#include "cli/check_view.h"
#include "cli/diff_view.h"
#include "cli/suggest.h"
#include "python/bind.h"
#include "python/failure.h"
#include "python/lock.h"
#include "python/text.h"
#include "python/watch.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

std::string FileOf(const Plan& plan) {
  const hlo::Module* const program = plan.program();
  if (program == nullptr || !program->source || IsPlaceholder(program->source->name()))
    return plan.input().name;
  return program->source->name();
}

// (JSON, page, whether Ctrl-C ended it)
std::tuple<Text, Text, bool> Advise(Plan& plan, std::optional<int64_t> space, size_t limit,
                                    std::optional<double> time_limit) {
  Watch watch(time_limit);
  std::string json;
  std::string page;
  {
    const Unlocked unlocked;
    plan.CheckSpace(space);
    Collector collector;
    const cli::AdviceOptions options = {.input = plan.input().name,
                                        .target = plan.options().target,
                                        .version = plan.options().version,
                                        .space = space,
                                        .should_stop = watch.should_stop(),
                                        .limit = limit,
                                        .has_refused = true,
                                        .parameter_names = plan.options().parameter_names,
                                        .speech = cli::Speech::kPython};
    const advise::AdviceReport report =
        collector.Need(cli::MakeAdvice(plan.input(), options, collector));
    json = cli::AdviceJson(report, plan.input());
    page = cli::AdvicePage(report, plan.input(), options);
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
// (the plan, heaps, their table, whether it is sound, whether Ctrl-C ended the search, how it
// stands to the memory limit)
using Assigned = std::tuple<std::shared_ptr<Plan>, std::vector<HeapRow>, Text, bool, bool,
                            std::optional<FitRow>>;
Assigned Assign(Plan& plan, bool is_best, std::optional<int64_t> memory_limit, bool allow_unsound,
                std::optional<double> time_limit, const std::string& preset) {
  Watch watch(time_limit);
  std::shared_ptr<Plan> made;
  std::vector<HeapRow> heaps;
  std::string table;
  bool is_sound = true;
  std::optional<FitRow> fit;
  {
    const Unlocked unlocked;
    if (plan.program() == nullptr)
      Refuse("a plan is made of the program itself, and there are only reports",
             "give the module (.txt or .hlo.pb)");
    std::string target = plan.options().target;
    if (target.empty() && plan.picture().target) target = plan.picture().target->name;
    const cli::AssignRequest request = {.plan = {.file = FileOf(plan),
                                                 .target = target,
                                                 .version = plan.options().version,
                                                 .preset = preset},
                                        .is_best = is_best,
                                        .best = {.memory_limit = memory_limit,
                                                 .should_stop = watch.should_stop(),
                                                 .searches_on = time_limit.has_value()},
                                        .allows_unsound = allow_unsound};
    Collector collector;
    cli::PreparedModule prepared =
        collector.Need(cli::Prepare(*plan.program(), request, collector));
    cli::AssignedPlan assigned = collector.Need(cli::MakePlan(prepared, request, collector));
    for (const BestHeap& heap : assigned.plan.heaps)
      heaps.emplace_back(heap.color, heap.xla_bytes, heap.bytes, heap.bound, heap.floor,
                         heap.bound_time, cli::Proof(heap));
    if (is_best) table = cli::HeapTable(assigned.plan.heaps);
    if (memory_limit) {
      const cli::MemoryFit found = cli::FitOf(assigned.plan, *memory_limit);
      fit = {found.bytes, found.floor, cli::Sentence(found)};
    }
    is_sound = assigned.is_sound;
    cli::PlanInput input;
    input.name = plan.input().name;
    input.report = std::move(assigned.report);
    input.target = prepared.setting.rules.target;
    input.program = std::move(prepared.module);
    input.analysis = std::move(prepared.analysis);
    input.is_ours = true;
    made = Plan::Adopt(std::move(input), plan.options(), collector.notes());
  }
  watch.Finish();
  return {std::move(made), std::move(heaps),       table,
          is_sound,        watch.is_interrupted(), std::move(fit)};
}

// The files that XLA would write, (name, text) each.
std::vector<std::tuple<Text, Text>> Files(const Plan& plan) {
  const Unlocked unlocked;
  std::vector<std::tuple<Text, Text>> files;
  for (cli::ReportFile& file : cli::FilesOf(plan.report(), FileOf(plan)))
    files.emplace_back(std::move(file.name), std::move(file.text));
  return files;
}

// (JSON, text)
std::tuple<Text, Text> Check(const Plan& plan, size_t limit) {
  const Unlocked unlocked;
  const Collector collector;
  const std::string target = !plan.options().target.empty() ? plan.options().target
                             : plan.input().target          ? std::string(plan.input().target->name)
                                                            : std::string();
  const cli::Checked checked = Need(cli::CheckModule({.name = plan.input().name,
                                                      .report = plan.report(),
                                                      .program = plan.program(),
                                                      .sources = plan.input().sources},
                                                     target, false, collector));
  std::string out;
  JsonWriter json(out);
  cli::AppendCheckJson(checked, SIZE_MAX, json);
  return {out, cli::CheckText(checked, limit == 0 ? SIZE_MAX : limit)};
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
      list += (list.empty() ? "there is " : ", ") + std::string(names.back());
    }
    const std::string hint = cli::DidYouMean(by, names);
    Refuse("changes cannot be put together by `" + by + "`", hint.empty() ? list : hint);
  }
  const explain::Picture& picture_a = a.picture();
  const explain::Picture& picture_b = b.picture();
  diff::Diff diff = Need(diff::DiffOf(picture_a, picture_b));
  cli::DiffView view =
      cli::MakeDiffView(b.input().name, picture_a, picture_b, std::move(diff), *group, limit);
  view.speech = cli::Speech::kPython;
  std::string out;
  JsonWriter json(out);
  cli::WriteDiffJson(view, json);
  return {out, cli::DiffPage(view), cli::DiffMarkdown(view)};
}

}  // namespace

void BindWork(nb::module_& module, PlanClass& plan) {
  plan.def("advise", Advise, "space"_a.none() = nb::none(), "limit"_a = 8,
           "time_limit"_a.none() = nb::none(), "What would save memory.")
      .def("assign", Assign, "is_best"_a = false, "memory_limit"_a.none() = nb::none(),
           "allow_unsound"_a = false, "time_limit"_a.none() = nb::none(), "preset"_a = "",
           "The program planned again.")
      .def("files", Files, "The files that XLA would write.")
      .def("check", Check, "limit"_a = 20, "Whether the plan is sound.");
  module.def("diff", Diff, "a"_a, "b"_a, "by"_a = "cause", "limit"_a = 8,
             "What changed between two plans.");
}

}  // namespace stowplan::python
