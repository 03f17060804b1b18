// SPDX-License-Identifier: Apache-2.0
// Serialized executables with a lower plan.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "page/inspect_page.h"
#include "page/repack_page.h"
#include "python/bind.h"
#include "python/failure.h"
#include "python/lock.h"
#include "repack/repack.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

std::string_view View(const nb::bytes& data) { return {data.c_str(), data.size()}; }

// The report as JSON, and the new executable, empty if there is none.
std::pair<std::string, nb::bytes> RepackBytes(const std::string& name, const nb::bytes& data,
                                              bool keep_order, const std::string& release,
                                              std::optional<int64_t> budget,
                                              std::optional<double> max_cost) {
  repack::Repacked repacked;
  {
    const auto source = Source::FromBytes(name, View(data));
    const Unlocked unlocked;
    Result<repack::Repacked> answer = repack::Repack(
        source,
        {.reorders = !keep_order, .release = release, .budget = budget, .max_cost = max_cost});
    if (!answer) throw Failure(std::move(answer).error());
    repacked = *std::move(answer);
  }
  return {page::RepackJson(repacked), nb::bytes(repacked.bytes.data(), repacked.bytes.size())};
}

std::string InspectBytes(const std::string& name, const nb::bytes& data) {
  const auto source = Source::FromBytes(name, View(data));
  const Unlocked unlocked;
  const Result<executable::Executable> executable = executable::ReadExecutable(source);
  if (!executable) throw Failure(executable.error());
  return page::InspectJson(*executable);
}

}  // namespace

void BindRepack(nb::module_& module) {
  module.def("repack", RepackBytes, "name"_a, "data"_a, "keep_order"_a, "release"_a,
             "budget"_a.none(), "max_cost"_a.none(),
             "A serialized executable with a lower plan: a report in JSON, and the bytes.");
  module.def("inspect", InspectBytes, "name"_a, "data"_a,
             "What is inside a serialized executable, in JSON.");
}

}  // namespace stowplan::python
