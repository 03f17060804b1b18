// SPDX-License-Identifier: Apache-2.0
#include "python/plan.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "base/suggest.h"
#include "python/failure.h"
#include "session/load.h"
#include "session/names.h"
#include "session/setting.h"

namespace stowplan::python {
namespace {

// The nearest name, and all of them.
std::string HintFor(std::string name, const std::vector<std::string_view>& names) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string hint = DidYouMean(name, names);
  hint += hint.empty() ? "the choices are " : " the choices are ";
  for (const std::string_view one : names) {
    if (one != names.front()) hint += ", ";
    hint += one;
  }
  return hint;
}

}  // namespace

LoadOptions OptionsOf(std::string module, std::string target, std::string xla_version,
                      std::string caller) {
  LoadOptions options;
  options.plan.module = std::move(module);
  options.plan.target = std::move(target);
  options.plan.release = std::move(xla_version);
  options.plan.speech = Speech::kPython;
  options.plan.caller = std::move(caller);
  return options;
}

void CheckNames(const LoadOptions& options) {
  const PlanOptions& plan = options.plan;
  if (!CheckTarget(plan.target))
    Refuse("there is no target `" + plan.target + "`", HintFor(plan.target, TargetNames()));
  if (!CheckRelease(plan.release))
    Refuse("there is no XLA `" + plan.release + "`", HintFor(plan.release, ReleaseNames()));
}

Plan::Plan(PlannedModule planned, LoadOptions options)
    : planned_(std::move(planned)), options_(std::move(options)) {
  // A picture says what is wrong with a report that has no assignment, or values outside it.
  if (!report().has_assignment) (void)picture();
  summary_ = Need(report::Summarize(report()));
}

std::shared_ptr<Plan> Plan::Adopt(PlannedModule planned, LoadOptions options) {
  return std::shared_ptr<Plan>(new Plan(std::move(planned), std::move(options)));
}

std::shared_ptr<Plan> Plan::Load(const std::vector<std::string>& paths, LoadOptions options) {
  CheckNames(options);
  if (paths.empty()) Refuse("there is nothing to load", "give a file or a dump directory");
  // Standard input belongs to the program that has loaded us.
  if (std::ranges::find(paths, "-") != paths.end()) Refuse("there is no file `-`");
  PlannedModule planned = Need(LoadOne(Need(Open(paths)), options.plan));
  return Adopt(std::move(planned), std::move(options));
}

std::shared_ptr<Plan> Plan::LoadBytes(std::string_view bytes, std::string name,
                                      LoadOptions options) {
  CheckNames(options);
  if (bytes.empty()) throw Failure(Fail(std::move(name), "there are no bytes").error());
  PlannedModule planned = Need(LoadOne(Need(OpenBytes(std::move(name), bytes)), options.plan));
  if (IsPlaceholder(planned.name)) {
    const std::string_view own = planned.module ? planned.module->view(planned.module->header.name)
                                                : std::string_view(planned.report->name);
    if (!own.empty()) planned.name = own;
  }
  return Adopt(std::move(planned), std::move(options));
}

std::vector<std::string> Plan::notes() const { return TextsOf(planned_.notes); }

report::Backend Plan::backend() const {
  // As PageOptionsFor of the pages has it.
  if (!options_.plan.target.empty()) return report::BackendOfTarget(options_.plan.target);
  if (planned_.is_made() && planned_.target) return report::BackendOfTarget(planned_.target->name);
  return report::GuessBackend(report());
}

const explain::Picture& Plan::picture() {
  const std::scoped_lock lock(mutex_);
  if (!picture_)
    picture_ = Need(explain::MakePicture(
        report(), program(), planned_.target,
        {.own = options_.plan.own, .parameter_names = options_.parameter_names}));
  return *picture_;
}

const explain::Curves& Plan::curves() {
  NeedPeak();
  return picture().curves;
}

const Analysis* Plan::analysis() {
  const std::scoped_lock lock(mutex_);
  if (!analyzed_) analyzed_ = Analyzed(planned_, options_.plan);
  return analyzed_->analysis.get();
}

const ValueColumns& Plan::columns() {
  const std::scoped_lock lock(mutex_);
  if (columns_) return *columns_;
  columns_.emplace();
  const size_t count = report().values.size();
  for (std::vector<int64_t>* const column :
       {&columns_->allocations, &columns_->offsets, &columns_->sizes, &columns_->colors,
        &columns_->starts, &columns_->ends})
    column->reserve(count);
  for (const report::Value& value : report().values.rows()) {
    const bool is_placed = !value.allocation.is_none();
    columns_->allocations.push_back(is_placed ? int64_t{value.allocation.index} : -1);
    columns_->offsets.push_back(is_placed ? value.offset : -1);
    columns_->sizes.push_back(value.size);
    columns_->colors.push_back(is_placed ? report().allocations[value.allocation].color
                                         : value.color);
    columns_->starts.push_back(value.has_range ? value.start : -1);
    columns_->ends.push_back(value.has_range ? value.end : -1);
    if (!value.has_range) continue;
    columns_->range_rows.push_back(std::ssize(columns_->ends) - 1);
    columns_->range_starts.push_back(value.start);
    columns_->range_ends.push_back(value.end);
  }
  return *columns_;
}

void Plan::NeedPeak() const {
  if (!has_peak())
    Refuse("the live ranges are not known, so this is not known either",
           "also give the module or its -live-range.txt");
}

void Plan::CheckSpace(std::optional<int64_t> space) const {
  if (!space) return;
  if (std::ranges::find(summary_.spaces, *space, &report::SpaceTotal::color) ==
      summary_.spaces.end())
    Refuse(fmt::format("there is no memory space {}", *space));
}

explain::Moment Plan::MomentAt(std::optional<int64_t> time, std::optional<int64_t> space) {
  NeedPeak();
  CheckSpace(space);
  const int64_t at = time.value_or(curves().of(space).peak.time);
  if (at < 0 || at > report().live_ranges->end)
    Refuse(fmt::format("there is no moment {}", at),
           fmt::format("the program runs from 0 to {}", report().live_ranges->end));
  return explain::MomentAt(picture(), at, space);
}

std::string_view Plan::InstructionAt(int64_t time) const {
  if (!report().live_ranges || time < 0) return {};
  const std::vector<std::string_view>& sequence = report().live_ranges->sequence;
  return static_cast<size_t>(time) < sequence.size() ? sequence[static_cast<size_t>(time)]
                                                     : std::string_view();
}

}  // namespace stowplan::python
