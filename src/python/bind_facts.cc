// SPDX-License-Identifier: Apache-2.0
// Values and allocations: one by one as tuples, all together as arrays.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/bind.h"
#include "python/lock.h"
#include "python/text.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

using Array = nb::ndarray<nb::numpy, const int64_t, nb::ndim<1>>;

const ValueColumns& Columns(Plan& plan) {
  const Unlocked unlocked;
  return plan.columns();
}

// A view of a column; the plan lives as long as it.
template <std::vector<int64_t> ValueColumns::* column>
Array Column(nb::handle self) {
  const std::vector<int64_t>& rows = Columns(nb::cast<Plan&>(self)).*column;
  return Array(rows.data(), {rows.size()}, self);
}

size_t RowOf(int64_t row, size_t count) {
  if (row < 0 || static_cast<uint64_t>(row) >= count) throw nb::index_error("no such row");
  return static_cast<size_t>(row);
}

// As stowplan.tables.Value takes them, after its row.
using ValueRow = std::tuple<Text,                    // name
                            Text,                    // instruction
                            Text,                    // shape
                            Text,                    // kind
                            int64_t,                 // size
                            int64_t,                 // padding
                            int64_t,                 // XLA's number of the allocation; -1: none
                            int64_t,                 // offset
                            int64_t,                 // memory space
                            std::optional<int64_t>,  // start
                            std::optional<int64_t>,  // end
                            Text,                    // op_name
                            Text,                    // source line
                            Text>;                   // the parameter that it lies in

ValueRow ValueOf(Plan& plan, int64_t row) {
  const report::Report& report = plan.report();
  const report::ValueId id(RowOf(row, report.values.size()));
  const Unlocked unlocked;
  const explain::Picture& picture = plan.picture();
  const report::Value& value = report.values[id];
  const explain::ValueFact& fact = picture.fact(id);
  const bool is_placed = !value.allocation.is_none();
  const auto when = [&](int64_t time) {
    return value.has_range ? std::optional(time) : std::nullopt;
  };
  return {explain::ValueName(report, id),
          value.instruction,
          value.shape,
          explain::Word(fact.kind),
          value.size,
          fact.padding,
          is_placed ? report.allocations[value.allocation].number : -1,
          is_placed ? value.offset : -1,
          is_placed ? report.allocations[value.allocation].color : value.color,
          when(value.start),
          when(value.end),
          fact.op_name,
          explain::SourceText(picture, picture.own_line(fact.frame)),
          is_placed ? picture.parameter_paths[value.allocation.index] : std::string()};
}

// As stowplan.tables.LiveRange takes them.
std::tuple<int64_t, Text, int64_t, int64_t, int64_t> RangeOf(Plan& plan, int64_t row) {
  const ValueColumns& columns = Columns(plan);
  const size_t at = RowOf(row, columns.range_rows.size());
  const report::ValueId id(static_cast<size_t>(columns.range_rows[at]));
  return {id.index, explain::ValueName(plan.report(), id), columns.range_starts[at],
          columns.range_ends[at], plan.report().values[id].size};
}

// As stowplan.tables.Allocation takes them, after its row.
using AllocationRow = std::tuple<int64_t,                 // XLA's number
                                 int64_t,                 // size
                                 int64_t,                 // memory space
                                 Text,                    // kind
                                 std::optional<int64_t>,  // number of the parameter
                                 Text,                    // its path
                                 bool,                    // constant
                                 bool,                    // thread-local
                                 bool,                    // maybe-live-out
                                 std::optional<int64_t>,  // the most of it that is live
                                 std::vector<int64_t>>;   // rows of its values

AllocationRow AllocationOf(Plan& plan, int64_t row) {
  const report::Report& report = plan.report();
  const report::AllocationId id(RowOf(row, report.allocations.size()));
  const Unlocked unlocked;
  const report::Allocation& allocation = report.allocations[id];
  std::vector<int64_t> values;
  values.reserve(allocation.values.size());
  for (const report::ValueId value : allocation.values) values.push_back(value.index);
  return {allocation.number,
          allocation.size,
          allocation.color,
          report::Name(report::KindOf(allocation)),
          allocation.parameter,
          plan.picture().parameter_paths[id.index],
          allocation.is_constant,
          allocation.is_thread_local,
          allocation.is_maybe_live_out,
          plan.has_peak() ? std::optional(plan.summary().peak->allocations[id.index].bytes)
                          : std::nullopt,
          std::move(values)};
}

std::vector<int64_t> FindValues(Plan& plan, const std::string& name) {
  std::vector<int64_t> rows;
  for (const report::ValueId id : explain::FindValues(plan.report(), name))
    rows.push_back(id.index);
  return rows;
}

}  // namespace

void BindFacts(PlanClass& plan) {
  plan.def_prop_ro("value_count", [](const Plan& self) { return self.report().values.size(); })
      .def_prop_ro("allocation_count",
                   [](const Plan& self) { return self.report().allocations.size(); })
      .def("value", ValueOf, "row"_a)
      .def("allocation", AllocationOf, "row"_a)
      .def("find_values", FindValues, "name"_a)
      .def_prop_ro("allocations", Column<&ValueColumns::allocations>)
      .def_prop_ro("offsets", Column<&ValueColumns::offsets>)
      .def_prop_ro("sizes", Column<&ValueColumns::sizes>)
      .def_prop_ro("colors", Column<&ValueColumns::colors>)
      .def_prop_ro("starts", Column<&ValueColumns::starts>)
      .def_prop_ro("ends", Column<&ValueColumns::ends>)
      .def_prop_ro("range_count", [](Plan& self) { return Columns(self).range_rows.size(); })
      .def("range", RangeOf, "row"_a)
      .def_prop_ro("range_rows", Column<&ValueColumns::range_rows>)
      .def_prop_ro("range_starts", Column<&ValueColumns::range_starts>)
      .def_prop_ro("range_ends", Column<&ValueColumns::range_ends>);
}

}  // namespace stowplan::python
