// SPDX-License-Identifier: Apache-2.0
// Programs that need less memory, for a little more work.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "advise/fit_donate.h"
#include "base/suggest.h"
#include "page/fit_page.h"
#include "python/bind.h"
#include "python/failure.h"
#include "python/lock.h"
#include "python/text.h"
#include "python/watch.h"
#include "session/fit_uses.h"
#include "session/fit_write.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

// An answer; its pages and the changed module are made when they are asked for.
struct FitAnswer {
  Fitted fitted;
  FitOptions options;
  LoadOptions load;
  bool is_interrupted = false;
};

void CheckUses(const std::string& uses, FitOptions& options) {
  const std::optional<std::string> unknown = ReadUses(uses, options);
  if (!unknown) return;
  const std::vector<std::string_view> words = {"pack", "order", "recompute", "donate"};
  const std::string hint = DidYouMean(*unknown, words);
  Refuse("use has `" + *unknown + "`",
         hint.empty() ? "expected some of " + std::string(kUses) : hint);
}

void CheckMachine(const std::string& machine) {
  const std::vector<std::string_view> names = FitMachines();
  if (machine.empty() || std::ranges::find(names, machine) != names.end()) return;
  std::string list = "there are ";
  for (const std::string_view name : names)
    list += std::string(name == names[0] ? "" : ", ") + std::string(name);
  Refuse("there is no machine `" + machine + "`", list);
}

std::shared_ptr<FitAnswer> FitPlan(const Plan& plan, std::optional<int64_t> budget, double max_cost,
                                   const std::string& uses, bool is_plain,
                                   const std::string& machine, double bandwidth, double flops,
                                   std::optional<double> time_limit) {
  Watch watch(time_limit);
  auto answer = std::make_shared<FitAnswer>();
  {
    const Unlocked unlocked;
    FitOptions options;
    CheckUses(uses, options);
    CheckMachine(machine);
    options.plan = plan.options().plan;
    options.plan.should_stop = watch.should_stop();
    options.budget = budget;
    options.max_cost = max_cost;
    options.model = is_plain ? CostModel::kPlain : CostModel::kMachine;
    options.machine = machine;
    options.bytes_per_second = bandwidth;
    options.flops_per_second = flops;
    answer->fitted =
        Need(advise::FitWithDonations(plan.planned(), options, plan.options().parameter_names));
    // The watch ends here.
    options.plan.should_stop = {};
    answer->options = std::move(options);
    answer->load = plan.options();
  }
  watch.Finish();
  answer->is_interrupted = watch.is_interrupted();
  return answer;
}

Text JsonOfFit(const FitAnswer& answer) {
  const Unlocked unlocked;
  return page::FitJson(answer.fitted, answer.options);
}

Text PageOfFit(const FitAnswer& answer) {
  const Unlocked unlocked;
  return page::FitPage(answer.fitted, answer.options);
}

Text HtmlOfFit(const FitAnswer& answer) {
  const Unlocked unlocked;
  return page::FitHtml(answer.fitted, answer.options);
}

std::shared_ptr<Plan> PlanOfFit(const FitAnswer& answer) {
  const Unlocked unlocked;
  return Plan::Adopt(answer.fitted.planned, answer.load);
}

nb::bytes ModuleOfFit(const FitAnswer& answer) {
  std::string bytes;
  {
    const Unlocked unlocked;
    bytes = Need(WriteFitted(answer.fitted));
  }
  return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace

void BindFit(nb::module_& module, PlanClass& plan) {
  nb::class_<FitAnswer>(module, "Fit", "A program that needs less memory.")
      .def_prop_ro("interrupted", [](const FitAnswer& answer) { return answer.is_interrupted; })
      .def("json", JsonOfFit, "All facts, as the command line writes them.")
      .def("page", PageOfFit, "The page of the command line.")
      .def("html", HtmlOfFit, "The chart.")
      .def("plan", PlanOfFit, "The plan of the changed program.")
      .def("module", ModuleOfFit, "The changed program.");
  plan.def("fit", FitPlan, "budget"_a.none() = nb::none(), "max_cost"_a = 1.0,
           "uses"_a = std::string(kDefaultUses), "is_plain"_a = false, "machine"_a = "",
           "bandwidth"_a = 0.0, "flops"_a = 0.0, "time_limit"_a.none() = nb::none(),
           "The program with less memory, for a little more work.");
}

}  // namespace stowplan::python
