// SPDX-License-Identifier: Apache-2.0
// Programs that are not compiled yet, as numbers: what to compute twice, for a compiler to try.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "fit/body_cut.h"
#include "fit/operations.h"
#include "fit/plans.h"
#include "python/bind.h"
#include "python/failure.h"
#include "python/lock.h"
#include "python/watch.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

using RowNumbers = std::vector<uint32_t>;
// Cost, inner bytes, flags, reads, makes.
using OperationRow = std::tuple<double, int64_t, uint32_t, RowNumbers, RowNumbers>;

enum Flag : uint32_t {
  kCanRepeat = 1,
  kIsAbsorbed = 2,
  kIsSpread = 4,
  kAbsorbs = 8,
  kIsOrdered = 16,
};

struct OperationGraph {
  fit::Operations program;
  fit::Clusters clusters;
  fit::Task task;
};
struct OperationPlans {
  std::shared_ptr<const OperationGraph> graph;
  std::vector<fit::Plan> plans;
  bool is_interrupted = false;
};

std::shared_ptr<OperationGraph> GraphOf(std::vector<int64_t> sizes, const RowNumbers& results,
                                        std::vector<OperationRow> rows) {
  auto graph = std::make_shared<OperationGraph>();
  const Unlocked unlocked;
  fit::Operations& program = graph->program;
  program.is_result.assign(sizes.size(), 0);
  for (const uint32_t value : results) {
    if (value >= sizes.size()) Refuse("a result is no value");
    program.is_result[value] = 1;
  }
  program.sizes = std::move(sizes);
  program.operations.reserve(rows.size());
  for (auto& [cost, inner, flags, reads, makes] : rows) {
    fit::Operation operation;
    operation.cost = cost;
    operation.inner = inner;
    operation.can_repeat = (flags & kCanRepeat) != 0;
    operation.is_absorbed = (flags & kIsAbsorbed) != 0;
    operation.is_spread = (flags & kIsSpread) != 0;
    operation.absorbs = (flags & kAbsorbs) != 0;
    operation.is_ordered = (flags & kIsOrdered) != 0;
    operation.reads = std::move(reads);
    operation.makes = std::move(makes);
    program.operations.push_back(std::move(operation));
  }
  if (const std::string mistake = fit::FindMistake(program); !mistake.empty()) Refuse(mistake);
  graph->clusters = fit::Cluster(program);
  graph->task = fit::TaskOf(program, graph->clusters);
  return graph;
}

int64_t GivenPeakOf(const OperationGraph& graph) {
  const Unlocked unlocked;
  return graph.task.size() == 0 ? 0 : fit::FindPeak(graph.task, fit::GivenSequence(graph.task));
}

std::shared_ptr<OperationPlans> PlansOf(std::shared_ptr<const OperationGraph> graph,
                                        double most_cost, std::optional<double> time_limit) {
  Watch watch(time_limit);
  auto plans = std::make_shared<OperationPlans>();
  {
    const Unlocked unlocked;
    fit::PlanOptions options;
    options.most_cost = most_cost * fit::WholeCost(graph->task);
    options.should_stop = watch.should_stop();
    plans->plans = fit::FindPlans(graph->task, options);
    plans->graph = std::move(graph);
  }
  watch.Finish();
  plans->is_interrupted = watch.is_interrupted();
  return plans;
}

std::vector<std::tuple<double, int64_t, uint32_t, double, bool, bool>> RowsOf(
    const OperationPlans& self) {
  const double whole = std::max(fit::WholeCost(self.graph->task), 1e-300);
  std::vector<std::tuple<double, int64_t, uint32_t, double, bool, bool>> rows;
  for (const fit::Plan& plan : self.plans)
    rows.emplace_back(plan.point.cost / whole, plan.point.peak, plan.set, plan.price, plan.is_mixed,
                      plan.is_on_front);
  return rows;
}

RowNumbers SequenceOf(const OperationPlans& self, size_t index) {
  if (index >= self.plans.size()) Refuse("there is no such plan");
  // Smaller values make no difference.
  const int64_t least = self.plans[0].point.peak / 500;
  return fit::Spell(self.graph->program, self.graph->clusters, self.plans[index].point.sequence,
                    least);
}

std::vector<RowNumbers> CutsOf(const OperationGraph& graph, const RowNumbers& needed) {
  const Unlocked unlocked;
  for (const uint32_t value : needed) {
    if (value >= graph.program.sizes.size()) Refuse("what is needed is no value");
  }
  return fit::CutBody(graph.program, needed);
}

}  // namespace

void BindOperations(nb::module_& module) {
  nb::class_<OperationPlans>(module, "OperationPlans", "Ways to run a program, for a compiler.")
      .def_prop_ro("interrupted", [](const OperationPlans& self) { return self.is_interrupted; })
      .def("rows", RowsOf, "Extra cost as a share, peak, set, price, is_mixed, is_on_front.")
      .def("sequence", SequenceOf, "index"_a, "The operations in their order, some repeated.");
  nb::class_<OperationGraph>(module, "OperationGraph", "A program that is not compiled yet.")
      .def("peak", GivenPeakOf, "The most bytes in use, in the order given.")
      .def("plans", PlansOf, "most_cost"_a, "time_limit"_a.none() = nb::none(),
           "Ways to run it in less memory.")
      .def("cuts", CutsOf, "needed"_a,
           "For rising prices: which operations to repeat, if the program is the body of a loop.");
  module.def("operation_graph", GraphOf, "sizes"_a, "results"_a, "rows"_a,
             "Values by size; operations as cost, inner bytes, flags, reads, makes.");
}

}  // namespace stowplan::python
