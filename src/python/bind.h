// SPDX-License-Identifier: Apache-2.0
// The parts of the extension `stowplan._core`, a file each. Its functions give numbers, texts,
// tuples and JSON; the package in python/stowplan makes objects with names of them.
#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include "python/plan.h"

namespace stowplan::python {

using PlanClass = nanobind::class_<Plan>;

void BindLoad(nanobind::module_& module, PlanClass& plan);  // from inputs to plans
void BindModules(nanobind::module_& module);                // of dump directories
void BindFacts(PlanClass& plan);                            // values and allocations
void BindAnswers(PlanClass& plan);                          // what fills the memory, and why
void BindPages(PlanClass& plan);                            // the pages of the command line
void BindWork(nanobind::module_& module, PlanClass& plan);  // advise, assign, check, diff
void BindFit(nanobind::module_& module, PlanClass& plan);   // less memory for more work
void BindPack(nanobind::module_& module);                   // the packer
void BindOom(nanobind::module_& module);                    // logs of programs out of memory
void BindOperations(nanobind::module_& module);             // programs that are not compiled yet
void BindRepack(nanobind::module_& module);                 // serialized executables

}  // namespace stowplan::python
