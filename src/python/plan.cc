// SPDX-License-Identifier: Apache-2.0
#include "python/plan.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "cli/names.h"
#include "cli/report_text.h"
#include "cli/suggest.h"
#include "python/failure.h"
#include "report/from_assignment.h"
#include "stowplan/base/source.h"

namespace stowplan::python {
namespace {

cli::PlanInputOptions InputOptions(const LoadOptions& options) {
  return {
      .inputs = {}, .module = options.module, .target = options.target, .version = options.version};
}

// The nearest name, and all of them.
std::string HintFor(std::string name, const std::vector<std::string_view>& names) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string hint = cli::DidYouMean(name, names);
  hint += hint.empty() ? "there is " : " there is ";
  for (const std::string_view one : names) {
    if (one != names.front()) hint += ", ";
    hint += one;
  }
  return hint;
}

}  // namespace

void CheckNames(const LoadOptions& options) {
  if (!options.target.empty() && !FindTarget(options.target))
    Refuse("there is no target `" + options.target + "`",
           HintFor(options.target, cli::TargetNames()));
  if (!options.version.empty() && !report::FindReportStyle(options.version))
    Refuse("there is no XLA `" + options.version + "`",
           HintFor(options.version, cli::VersionNames()));
}

Plan::Plan(cli::PlanInput input, LoadOptions options, std::vector<std::string> notes)
    : input_(std::move(input)), options_(std::move(options)), notes_(std::move(notes)) {
  // A picture says what is wrong with a report that has no assignment, or values outside of it.
  if (!input_.report.has_assignment) (void)picture();
  summary_ = Need(report::Summarize(input_.report));
}

std::shared_ptr<Plan> Plan::Adopt(cli::PlanInput input, LoadOptions options,
                                  std::vector<std::string> notes) {
  return std::shared_ptr<Plan>(new Plan(std::move(input), std::move(options), std::move(notes)));
}

std::shared_ptr<Plan> Plan::Load(const std::vector<std::string>& paths, LoadOptions options) {
  CheckNames(options);
  if (paths.empty()) Refuse("there is nothing to load", "give a file or a dump directory");
  // Standard input belongs to the program that has loaded us.
  if (std::ranges::find(paths, "-") != paths.end()) Refuse("there is no file `-`");
  Collector collector;
  cli::PlanInputOptions input_options = InputOptions(options);
  input_options.inputs = paths;
  cli::PlanInput input = collector.Need(cli::FindPlan(input_options, collector));
  return Adopt(std::move(input), std::move(options), collector.notes());
}

std::shared_ptr<Plan> Plan::LoadBytes(std::string_view bytes, std::string name,
                                      LoadOptions options) {
  CheckNames(options);
  if (bytes.empty()) throw Failure(Fail(std::move(name), "there are no bytes").error());
  Collector collector(options.caller);
  std::shared_ptr<const Source> source = Need(UnpackSource(std::move(name), bytes));
  cli::InputModule module = Need(cli::InputOf(std::move(source)));
  cli::PlanInput input =
      collector.Need(cli::LoadPlan(std::move(module), InputOptions(options), collector));
  if (IsPlaceholder(input.name)) {
    const std::string_view own =
        input.program ? input.program->view(input.program->header.name) : input.report.name;
    if (!own.empty()) input.name = own;
  }
  return Adopt(std::move(input), std::move(options), collector.notes());
}

report::Backend Plan::backend() const {
  // As PageOptionsFor of the command line has it.
  if (!options_.target.empty()) return report::BackendOfTarget(options_.target);
  if (input_.target) return report::BackendOfTarget(input_.target->name);
  return report::GuessBackend(input_.report);
}

const explain::Picture& Plan::picture() {
  const std::scoped_lock lock(mutex_);
  if (!picture_)
    picture_ = Need(
        explain::MakePicture(input_.report, program(), input_.target, options_.parameter_names));
  return *picture_;
}

const explain::Curves& Plan::curves() {
  NeedPeak();
  return picture().curves;
}

const Analysis* Plan::analysis() {
  const std::scoped_lock lock(mutex_);
  if (!std::exchange(is_analyzed_, true)) cli::AnalyzeProgram(InputOptions(options_), input_);
  return input_.analysis ? &*input_.analysis : nullptr;
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
    Refuse("when values are alive is not known, so this cannot be told",
           "give the module or its -live-range.txt as well");
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
  const explain::Curves& all = curves();
  const explain::Curve* curve = &all.all;
  if (space) {
    const auto found = std::ranges::find(all.spaces, space, &explain::Curve::space);
    if (found != all.spaces.end()) curve = &*found;
  }
  const int64_t at = time.value_or(curve->peak.time);
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
