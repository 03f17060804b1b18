// SPDX-License-Identifier: Apache-2.0
// What holds for every plan of every program. Nothing here is shared with the planner but the
// results of its stages.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "assign/assignment.h"
#include "assign/can_share.h"
#include "best/best.h"
#include "hlo/verify.h"
#include "report/check.h"
#include "report/derive.h"
#include "report/from_assignment.h"
#include "report/read.h"
#include "report/write.h"
#include "target/size.h"

namespace stowplan {

struct AnalyzedPlan {
  Analysis analysis;
  Assignment assignment;
};

inline Result<AnalyzedPlan> MakePlan(const hlo::Module& module, const Rules& rules) {
  STOWPLAN_TRY(Analysis analysis, Analyze(module, rules.analysis));
  STOWPLAN_TRY(Assignment assignment, Assign(module, analysis, rules, std::nullopt));
  return AnalyzedPlan{std::move(analysis), std::move(assignment)};
}

// Computations that the entry reaches by any call, with those that fusions call but not the fused
// ones themselves.
inline std::vector<bool> FindPlanned(const hlo::Module& module) {
  std::vector<bool> is_reached(module.computations.size());
  std::vector<bool> is_fused(module.computations.size());
  std::vector<hlo::CompId> pending = {module.entry};
  is_reached[module.entry.index] = true;
  while (!pending.empty()) {
    const hlo::Computation& computation = module.computations[pending.back()];
    pending.pop_back();
    for (uint32_t k = 0; k < computation.count; ++k) {
      const hlo::InstrId id(size_t{computation.first.index} + k);
      for (const hlo::CompId callee : module.called_by(id)) {
        if (module.instructions[id].opcode == hlo::Opcode::kFusion) is_fused[callee.index] = true;
        if (!is_reached[callee.index]) pending.push_back(callee);
        is_reached[callee.index] = true;
      }
    }
  }
  for (size_t c = 0; c < is_reached.size(); ++c) is_reached[c] = is_reached[c] && !is_fused[c];
  return is_reached;
}

inline void CheckPlaces(const hlo::Module& module, const AnalyzedPlan& plan, const Rules& rules) {
  const ValueFlow& flow = plan.analysis.flow;
  const Assignment& assignment = plan.assignment;
  const std::vector<bool> is_planned = FindPlanned(module);
  std::vector<int> listed(flow.values.size());
  for (size_t a = 0; a < assignment.allocations.size(); ++a) {
    const Allocation& allocation = assignment.allocations[AllocationId(a)];
    ASSERT_TRUE(std::ranges::is_sorted(allocation.values));
    for (const ValueId id : allocation.values) {
      ++listed[id.index];
      ASSERT_EQ(assignment.places[id.index].allocation, AllocationId(a));
      const int64_t color = assignment.colors[id.index];
      const bool fills_a_hole =
          color == 0 && allocation.is_temp() && allocation.color == rules.lending_space;
      ASSERT_TRUE(color == allocation.color || fills_a_hole);
    }
  }
  for (size_t v = 0; v < flow.values.size(); ++v) {
    const ValueId id(v);
    const Place& place = assignment.places[v];
    const hlo::CompId computation = module.instructions[flow.instruction(id)].parent;
    const bool is_placed = !flow.values[id].is_gone && is_planned[computation.index];
    ASSERT_EQ(listed[v], is_placed ? 1 : 0) << "value " << v;
    if (!is_placed) continue;
    const Allocation& allocation = assignment.allocations[place.allocation];
    ASSERT_GE(place.offset, 0);
    ASSERT_LE(place.size, allocation.size);
    ASSERT_LE(place.offset, allocation.size - place.size);
    ASSERT_EQ(place.offset % rules.AlignmentOf(allocation.color), 0) << "value " << v;
    ASSERT_LE(*ByteSize(module.shapes, flow.shape(id), rules.target), place.size);
  }
}

inline void CheckBuffers(const AnalyzedPlan& plan) {
  const BufferSet& buffers = plan.analysis.buffers;
  std::vector<bool> has_result(plan.assignment.allocations.size());
  for (size_t b = 0; b < buffers.size(); ++b) {
    const Place& first = plan.assignment.places[buffers.values_of(BufferId(b))[0].index];
    bool is_live_out = false;
    for (const ValueId id : buffers.values_of(BufferId(b))) {
      const Place& place = plan.assignment.places[id.index];
      ASSERT_EQ(place.allocation, first.allocation);
      ASSERT_EQ(place.offset, first.offset);
      ASSERT_EQ(place.size, first.size);
      is_live_out = is_live_out || plan.analysis.flow.is_live_out(id);
    }
    ASSERT_EQ(buffers.is_live_out[b] != 0, is_live_out);
    if (!is_live_out) continue;
    ASSERT_FALSE(first.allocation.is_none());
    ASSERT_TRUE(plan.assignment.allocations[first.allocation].is_maybe_live_out);
    has_result[first.allocation.index] = true;
  }
  for (size_t a = 0; a < has_result.size(); ++a)
    ASSERT_EQ(plan.assignment.allocations[AllocationId(a)].is_maybe_live_out, has_result[a]);
}

// Every pair of values: apart in bytes, apart in time, or one is written over the other that dies.
inline void CheckPairs(const hlo::Module& module, const AnalyzedPlan& plan, const Rules& rules) {
  // Older versions look at one position when a buffer moves, and at all of them in the heap.
  Rules every_position = rules;
  every_position.reads_last_position = false;
  ShareRules share(module, plan.analysis, every_position);
  for (const Allocation& allocation : plan.assignment.allocations.rows()) {
    for (size_t i = 0; i < allocation.values.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        ValueId a = allocation.values[k];
        ValueId b = allocation.values[i];
        const Place& x = plan.assignment.places[a.index];
        const Place& y = plan.assignment.places[b.index];
        if (x.offset >= y.offset + y.size || y.offset >= x.offset + x.size) continue;
        const LiveRange& p = plan.analysis.live.of(a);
        const LiveRange& q = plan.analysis.live.of(b);
        if (!p.exists() || !q.exists() || p.end < q.start || q.end < p.start) continue;
        const bool is_one_buffer = plan.analysis.buffers.of(a) == plan.analysis.buffers.of(b);
        const bool is_handed_on =
            (p.end == q.start && (is_one_buffer || share.CanShareAsOperand(b, a))) ||
            (q.end == p.start && (is_one_buffer || share.CanShareAsOperand(a, b)));
        ASSERT_TRUE(is_handed_on) << "values " << a.index << " ("
                                  << module.name(plan.analysis.flow.instruction(a)) << ") and "
                                  << b.index << " ("
                                  << module.name(plan.analysis.flow.instruction(b)) << ")";
      }
    }
  }
  ASSERT_EQ(Render(FindOverlaps(module, plan.analysis, plan.assignment)), "");
}

// The files that the plan is written as are consistent, and read back as they are.
inline void CheckReports(const hlo::Module& module, const AnalyzedPlan& plan,
                         std::string_view version) {
  const report::ReportStyle style = *report::FindReportStyle(version);
  const report::Report made = report::ReportOf(module, plan.analysis, plan.assignment, style);
  int64_t total = 0;
  for (const Allocation& allocation : plan.assignment.allocations.rows()) total += allocation.size;
  ASSERT_EQ(report::TotalBytes(made), total);
  std::vector<std::pair<report::FileKind, std::string>> files = {
      {report::FileKind::kAssignment, report::WriteAssignment(made, style.dialect)}};
  if (style.dialect.separate_files) {
    files.emplace_back(report::FileKind::kValueList, report::WriteValueList(made, style.dialect));
    files.emplace_back(report::FileKind::kLiveRanges, report::WriteLiveRanges(made, style.dialect));
  }
  if (style.dialect.usage != report::UsageReport::kNone)
    files.emplace_back(report::FileKind::kUsage, report::WriteUsage(made, style.dialect));
  std::vector<std::shared_ptr<const Source>> sources;
  for (const auto& [kind, text] : files) {
    sources.push_back(Source::FromBytes("file" + std::to_string(sources.size()), text));
    if (!text.empty()) {
      ASSERT_EQ(report::KindOf(*sources.back()), kind) << text;
    }
  }
  const Result<report::Report> read = report::ReadReport(sources);
  ASSERT_TRUE(read.has_value()) << Render(read.error());
  for (const std::shared_ptr<const Source>& source : sources) {
    ASSERT_EQ(Render(report::CompareFigures(*read, *source)), "") << source->bytes();
    ASSERT_EQ(Render(report::FindContradictions(*read, *source)), "") << source->bytes();
  }
  // The same in one text.
  const std::string combined = report::WriteCombined(*read, read->dialect);
  const std::shared_ptr<const Source> one = Source::FromBytes("combined", combined);
  const Result<report::Report> again = report::ReadReport({&one, 1});
  ASSERT_TRUE(again.has_value()) << Render(again.error());
  ASSERT_EQ(again->parts(), read->parts());
  ASSERT_EQ(Render(report::CompareFigures(*again, *one)), "") << combined;
  ASSERT_EQ(Render(report::FindContradictions(*again, *one)), "") << combined;
}

inline std::string AssignmentText(const hlo::Module& module, const AnalyzedPlan& plan) {
  const report::ReportStyle style = *report::FindReportStyle("jaxlib-0.11.2");
  return report::WriteAssignment(report::ReportOf(module, plan.analysis, plan.assignment, style),
                                 style.dialect);
}

inline void CheckPlan(const hlo::Module& module, const Rules& rules) {
  const Result<AnalyzedPlan> plan = MakePlan(module, rules);
  ASSERT_TRUE(plan.has_value()) << Render(plan.error());
  ASSERT_NO_FATAL_FAILURE(CheckPlaces(module, *plan, rules));
  ASSERT_NO_FATAL_FAILURE(CheckBuffers(*plan));
  ASSERT_NO_FATAL_FAILURE(CheckPairs(module, *plan, rules));
}

// Bytes by memory space, fixed and temporary ones together.
inline std::map<int64_t, int64_t> BytesBySpace(const Assignment& assignment) {
  std::map<int64_t, int64_t> bytes;
  for (const Allocation& allocation : assignment.allocations.rows())
    bytes[allocation.color] += allocation.size;
  return bytes;
}

// Who is written over lies exactly where the writer does.
inline void CheckHandovers(const AnalyzedPlan& plan) {
  for (const Allocation& allocation : plan.assignment.allocations.rows()) {
    for (size_t i = 0; i < allocation.values.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        const Place& x = plan.assignment.places[allocation.values[i].index];
        const Place& y = plan.assignment.places[allocation.values[k].index];
        if (x.offset == y.offset || x.offset >= y.offset + y.size || y.offset >= x.offset + x.size)
          continue;
        const LiveRange& p = plan.analysis.live.of(allocation.values[i]);
        const LiveRange& q = plan.analysis.live.of(allocation.values[k]);
        ASSERT_TRUE(!p.exists() || !q.exists() || p.end < q.start || q.end < p.start)
            << "values " << allocation.values[i].index << " and " << allocation.values[k].index;
      }
    }
  }
}

// Policy `best`: a sound plan, no larger than XLA's in any memory space.
inline void CheckBestPlan(const hlo::Module& module, const Rules& rules) {
  const Result<AnalyzedPlan> xla = MakePlan(module, rules);
  ASSERT_TRUE(xla.has_value()) << Render(xla.error());
  const Result<BestPlan> best = AssignBest(module, xla->analysis, rules, std::nullopt, {});
  ASSERT_TRUE(best.has_value()) << Render(best.error());
  const AnalyzedPlan plan = {xla->analysis, best->assignment};
  ASSERT_NO_FATAL_FAILURE(CheckPlaces(module, plan, rules));
  ASSERT_NO_FATAL_FAILURE(CheckBuffers(plan));
  ASSERT_NO_FATAL_FAILURE(CheckPairs(module, plan, rules));
  ASSERT_NO_FATAL_FAILURE(CheckHandovers(plan));
  std::map<int64_t, int64_t> theirs = BytesBySpace(xla->assignment);
  std::map<int64_t, int64_t> ours = BytesBySpace(best->assignment);
  for (const BestHeap& heap : best->heaps) {
    ASSERT_LE(heap.bound, heap.bytes);
    ASSERT_LE(heap.floor, heap.bytes);
    ASSERT_LE(heap.bytes, heap.xla_bytes);
    // Temporaries are all that differs.
    theirs[heap.color] -= heap.xla_bytes;
    ours[heap.color] -= heap.bytes;
  }
  std::erase_if(theirs, [](const auto& row) { return row.second == 0; });
  std::erase_if(ours, [](const auto& row) { return row.second == 0; });
  ASSERT_EQ(ours, theirs);
}

}  // namespace stowplan
