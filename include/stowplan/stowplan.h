// SPDX-License-Identifier: Apache-2.0
// Everything that a program needs to embed Stowplan. There are two entry points.
//
// A module in, a checked plan out (stowplan/session.h):
//
//     #include <stowplan/stowplan.h>
//
//     auto inputs = stowplan::Open({"after_optimizations.hlo.pb"});
//     auto planned = inputs ? stowplan::LoadOne(*inputs, {}) : std::unexpected(inputs.error());
//     if (!planned) std::cerr << stowplan::Render(planned.error());
//     std::cout << Name(planned->verdict.soundness) << '\n';
//
// Your own buffers in, offsets out (stowplan/pack.h), without any HLO:
//
//     stowplan::pack::Problem problem = ...;
//     auto answer = stowplan::pack::Solve(problem, {});
//
//     header                     what is in it
//     base/diagnostic.h          errors with a place; Result<T>
//     base/source.h, base/id.h   input bytes; typed row numbers
//     hlo/module.h               the program: tables of instructions, computations, shapes
//     hlo/module_builder.h       how to make one without a file
//     report/report.h            a plan as data: allocations, values, live ranges
//     plan.h                     a module with its plan, its origin and its verdict
//     session.h                  Open, Load, Plan, Check, and writing reports
//     page.h                     a plan as text for people and as an HTML page
//     pack.h                     dynamic storage allocation for plain buffers
//
// The library never prints, exits, or reads the environment or the clock, and no function throws.
// Functions may be called from several threads at once; results are immutable values. session.h
// says what its Inputs need. A C interface is in stowplan/stowplan_c.h; docs/embedding.md has
// examples.
#pragma once

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/id.h"
#include "stowplan/base/source.h"
#include "stowplan/check/finding.h"
#include "stowplan/hlo/dialect.h"
#include "stowplan/hlo/module.h"
#include "stowplan/hlo/module_builder.h"
#include "stowplan/pack.h"
#include "stowplan/page.h"
#include "stowplan/plan.h"
#include "stowplan/report/dialect.h"
#include "stowplan/report/report.h"
#include "stowplan/session.h"
