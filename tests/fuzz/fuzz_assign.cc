// SPDX-License-Identifier: Apache-2.0
// Any text that is a well-formed program gets a plan by every back end's rules, or an error; and
// every plan passes the check for overlaps and can be written as a report.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "assign/assignment.h"
#include "best/best.h"
#include "check/check.h"
#include "laws.h"
#include "live/dump.h"
#include "report/from_assignment.h"
#include "report/write.h"
#include "schedule/make_schedule.h"
#include "text/parse.h"

namespace {

using namespace stowplan;

// Plans larger than this say nothing new, and take long to print.
constexpr size_t kMaxPositions = 20000;

void CheckPlan(const hlo::Module& module, const Rules& rules, std::string_view version) {
  const Result<Analysis> analysis = Analyze(module, rules.analysis);
  if (!analysis) {
    fuzz::CheckErrors(analysis.error());
    return;
  }
  // Where computations are called in one way only, schedules that were made are fine, too.
  if (const Diagnostics complaints = hlo::Verify(module); !complaints.empty())
    fuzz::Fail("a schedule that is not well-formed", hlo::ToString(module), Render(complaints));
  if (analysis->flow.positions.size() > kMaxPositions) return;
  for (const std::string_view stage : AnalysisStages()) (void)DumpStage(module, *analysis, stage);
  const Result<Assignment> plan = Assign(module, *analysis, rules, std::nullopt);
  if (!plan) {
    fuzz::CheckErrors(plan.error());
    return;
  }
  if (const Diagnostics overlaps = FindOverlaps(module, *analysis, *plan); !overlaps.empty())
    fuzz::Fail("a plan with overlaps", hlo::ToString(module), Render(overlaps));
  // The other policy, without much of a search.
  const Result<BestPlan> best =
      AssignBest(module, *analysis, rules, std::nullopt, {.should_stop = [] { return true; }});
  if (!best) fuzz::Fail("no best plan", hlo::ToString(module), Render(best.error()));
  if (const Diagnostics overlaps = FindOverlaps(module, *analysis, best->assignment);
      !overlaps.empty())
    fuzz::Fail("a best plan with overlaps", hlo::ToString(module), Render(overlaps));
  for (const BestHeap& heap : best->heaps) {
    if (heap.bytes > heap.xla_bytes || heap.bound > heap.bytes || heap.floor > heap.bytes)
      fuzz::Fail("a best plan that is not", hlo::ToString(module), std::to_string(heap.bytes));
  }
  const report::ReportStyle style = *report::FindReportStyle(version);
  const report::Report report = report::ReportOf(module, *analysis, *plan, style);
  (void)report::WriteAssignment(report, style.dialect);
  (void)check::CheckPlan(module, report, rules.target);
  (void)check::CheckReport(report);
  (void)report::WriteValueList(report, style.dialect);
  (void)report::WriteLiveRanges(report, style.dialect);
  (void)report::WriteUsage(report, style.dialect);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const Result<hlo::Module> module = ParseText(Source::FromBytes("input", input));
  if (!module || !hlo::Verify(*module).empty()) return 0;
  const bool is_scheduled = IsScheduled(*module);
  for (const std::string_view name : {"cpu", "gpu", "tpu-v5e"}) {
    const Target target = *FindTarget(name);
    const Rules rules = RulesOf(target);
    const std::string_view version = name == "cpu" ? "jaxlib-0.10.2" : "jaxlib-0.11.2";
    if (is_scheduled) CheckPlan(*module, rules, version);
    // Each back end with another way to order what has no order, or has one already.
    const Scheduler scheduler = name == "cpu"   ? Scheduler::kPostOrder
                                : name == "gpu" ? Scheduler::kDepthFirst
                                                : Scheduler::kList;
    const hlo::Module scheduled = WithSchedule(*module, scheduler, target);
    CheckPlan(scheduled, rules, version);
  }
  return 0;
}
