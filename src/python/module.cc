// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>

#include "python/bind.h"
#include "python/failure.h"
#include "python/text.h"
#include "stowplan/version.h"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  using namespace stowplan::python;
  module.doc() = "Stowplan's C++ core. Use the names of the package `stowplan`.";
  module.def("version", [] { return Text(stowplan::kVersion); });
  // The extension never prints: plans that are alive when Python ends are no mistake.
  nb::set_leak_warnings(false);
  RegisterFailures();
  PlanClass plan(module, "Plan", "A plan that was loaded or made.");
  BindLoad(module, plan);
  BindModules(module);
  BindFacts(plan);
  BindAnswers(plan);
  BindPages(plan);
  BindWork(module, plan);
  BindFit(module, plan);
  BindPack(module);
  BindOom(module);
  BindOperations(module);
  BindRepack(module);
}
