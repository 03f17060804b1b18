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

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/id.h"
#include "stowplan/base/source.h"
#include "stowplan/check/finding.h"
#include "stowplan/hlo/dialect.h"
#include "stowplan/hlo/module.h"
#include "stowplan/hlo/module_builder.h"
#include "stowplan/pack.h"
#include "stowplan/read.h"
#include "stowplan/report/dialect.h"
#include "stowplan/report/report.h"
