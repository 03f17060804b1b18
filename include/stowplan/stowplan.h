// SPDX-License-Identifier: Apache-2.0
// Everything a program that embeds Stowplan needs.
//
//     #include <stowplan/stowplan.h>
//
//     auto module = stowplan::ReadModule("after_optimizations.txt");
//     if (!module) std::cerr << stowplan::Render(module.error());
//     for (const auto& instruction : module->instructions.rows())
//       std::cout << module->view(instruction.name) << '\n';
//
// The stages, in the order of the data:
//
//     ReadSource                      bytes to a Source: unpacked, with a name for messages
//     ParseText, ParseProto           a Source to an hlo::Module; ReadModule is all of it
//     PrintModule                     a module to HLO text, in any era's dialect
//     Verify, Differences             what is wrong with a module, what differs between two
//     ByteSize, ComputeStats          a module's bytes, as a Target has them
//
//     WithSchedule                    a module with an order of execution, if it has none
//     WithTransferFlags               a module with the sync flags of host transfers, for TPUs
//     FindOrders, FindCallGraph, Flatten, FindValues, FindBuffers, FindLiveRanges
//                                     what is computed where, who shares a place, who lives when;
//                                     Analyze is all of it
//     Assign                          allocations and offsets, by the Rules of a back end of XLA
//     AssignBest                      the same with less memory, and a proof of how little is
//     possible FindOverlaps                    values of a plan that lie over each other while
//     alive report::ReportOf                a plan as a report::Report report::ReplanReport a
//     report's plan made again, without the program
//
//     check::CheckPlan                whether a plan is sound, by executing the program on it
//     check::CheckReport              the same from a report alone, as far as it tells
//
//     explain::Complete               live ranges and uses of a report without, from the program
//     explain::MakePicture            a report with what each value is, in the user's words
//     explain::MomentAt               what is live when
//     explain::PartitionOf            what fills a moment, by source line, op_name, kind, ...
//     explain::FootprintAt            where the rest of the memory is
//     explain::WhyAlive, SharesOf     what holds a value; what values own as time goes by
//     view::WriteBundle, WritePage    the same as one HTML file that draws it
//     view::IndexRowOf, WriteIndexBundle    many modules, each with a page
//     exporting::Write                a moment for pprof, Perfetto, speedscope, flame graphs, ...
//
//     diff::DiffOf                    what changed between two pictures, in terms that add up
//     diff::CausesOf                  the same by cause
//     gate::CheckGrowth, CheckBudgets rules for what modules take
//
//     advise::Donate, Apply           the program after an edit; donation as JAX and XLA do it
//     advise::Advise                  edits that save memory, each planned again and checked
//
//     oom::ReadLog                    what a log says about memory that ran out
//     oom::Explain, JoinPlan          why, and what helps; the log beside the program's plan
//
//     pack::ReadTable                 buffers with sizes and times, from CSV
//     pack::Solve                     their offsets, a bound, and what that proves
//     pack::CheckPlan                 whether offsets are a plan; shares nothing with the solvers
//
//     report::ReadReport              XLA's memory report files to a report::Report
//     report::CompareFigures          figures in a file that differ from their computation
//     report::FindContradictions      facts in a file that cannot all be true
//     report::ComputeTruePeak         the most bytes that are live at once, by memory space
//     report::Summarize               where the memory goes: spaces, kinds, peaks
//     report::WriteAssignment, ...    a report to XLA's text, in any release's dialect
//     report::FindModules             the modules of a dump directory, from its list of files
//
// The library never prints, exits, or reads the environment; no function throws.
#pragma once

#include "stowplan/advise/advice.h"
#include "stowplan/advise/donate.h"
#include "stowplan/advise/edit.h"
#include "stowplan/assign/assignment.h"
#include "stowplan/assign/rules.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/base/id.h"
#include "stowplan/base/source.h"
#include "stowplan/best/best.h"
#include "stowplan/buffers/buffer_set.h"
#include "stowplan/buffers/in_place.h"
#include "stowplan/check/check.h"
#include "stowplan/check/finding.h"
#include "stowplan/diff/cause.h"
#include "stowplan/diff/diff.h"
#include "stowplan/explain/complete.h"
#include "stowplan/explain/footprint.h"
#include "stowplan/explain/moment.h"
#include "stowplan/explain/padding.h"
#include "stowplan/explain/partition.h"
#include "stowplan/explain/picture.h"
#include "stowplan/explain/shares.h"
#include "stowplan/explain/why.h"
#include "stowplan/explain/xla_peak.h"
#include "stowplan/export/export.h"
#include "stowplan/gate/gate.h"
#include "stowplan/gate/lock.h"
#include "stowplan/hlo/dialect.h"
#include "stowplan/hlo/equal.h"
#include "stowplan/hlo/module.h"
#include "stowplan/hlo/module_builder.h"
#include "stowplan/hlo/print.h"
#include "stowplan/hlo/size.h"
#include "stowplan/hlo/verify.h"
#include "stowplan/live/analysis.h"
#include "stowplan/live/dump.h"
#include "stowplan/live/live_ranges.h"
#include "stowplan/oom/explain.h"
#include "stowplan/oom/join.h"
#include "stowplan/oom/oom.h"
#include "stowplan/pack/certificate.h"
#include "stowplan/pack/check.h"
#include "stowplan/pack/csv.h"
#include "stowplan/pack/names.h"
#include "stowplan/pack/problem.h"
#include "stowplan/pack/solve.h"
#include "stowplan/pack/svg.h"
#include "stowplan/proto/parse.h"
#include "stowplan/read.h"
#include "stowplan/report/check.h"
#include "stowplan/report/derive.h"
#include "stowplan/report/dialect.h"
#include "stowplan/report/dump_directory.h"
#include "stowplan/report/from_assignment.h"
#include "stowplan/report/peak.h"
#include "stowplan/report/read.h"
#include "stowplan/report/replan.h"
#include "stowplan/report/report.h"
#include "stowplan/report/summary.h"
#include "stowplan/report/write.h"
#include "stowplan/schedule/call_graph.h"
#include "stowplan/schedule/make_schedule.h"
#include "stowplan/schedule/orders.h"
#include "stowplan/schedule/schedule.h"
#include "stowplan/target/guess.h"
#include "stowplan/target/size.h"
#include "stowplan/target/stats.h"
#include "stowplan/target/transfer_flags.h"
#include "stowplan/text/parse.h"
#include "stowplan/values/positions.h"
#include "stowplan/values/value_flow.h"
#include "stowplan/view/view.h"
