// SPDX-License-Identifier: Apache-2.0
// Logs of programs that ran out of memory.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "oom/oom.h"
#include "page/oom_dump.h"
#include "page/oom_view.h"
#include "python/bind.h"
#include "python/failure.h"
#include "python/lock.h"
#include "python/text.h"
#include "python/watch.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

struct Pages {
  std::string page;
  std::string json;
};

Pages PagesOf(std::string_view bytes, std::optional<size_t> incident, size_t limit,
              const std::vector<std::string>& dump, const LoadOptions& options, Watch& watch) {
  const Unlocked unlocked;
  CheckNames(options);
  const oom::Log log = oom::ReadLog(bytes);
  if (log.incidents.empty())
    Refuse("nothing in it says that memory ran out",
           log.remats.empty()
               ? "give the exception, or everything that the program wrote"
               : "rematerialization did not reach its goal, but no allocation failed");
  if (!incident) incident = oom::WorstIncident(log);
  if (*incident >= log.incidents.size())
    Refuse("there is no incident " + std::to_string(*incident),
           "there are " + std::to_string(log.incidents.size()) + ", counted from 0");
  page::OomView view{
      .log = log, .incident = *incident, .input = {}, .limit = limit, .speech = Speech::kPython};
  std::optional<page::OomDump> joined;
  if (!dump.empty()) {
    joined = Need(page::JoinDump(
        log.incidents[*incident],
        {.paths = dump, .plan = options.plan, .should_stop = watch.should_stop(), .limit = limit}));
    view.dump = &*joined;
  }
  return {page::OomPage(view), page::OomJson(view)};
}

// The page and the JSON of `stowplan explain-oom`, and whether Ctrl-C ended the search for advice;
// `incident` counts from 0, absent: the worst.
std::tuple<Text, Text, bool> ExplainOom(const nb::bytes& text, std::optional<size_t> incident,
                                        size_t limit, const std::vector<std::string>& dump,
                                        const std::string& module, const std::string& target,
                                        const std::string& version, double time_limit) {
  const std::string_view bytes(static_cast<const char*>(text.data()), text.size());
  Watch watch(time_limit);
  Pages pages = PagesOf(bytes, incident, limit, dump, OptionsOf(module, target, version), watch);
  watch.Finish();
  return {std::move(pages.page), std::move(pages.json), watch.is_interrupted()};
}

}  // namespace

void BindOom(nb::module_& module) {
  module.def("explain_oom", ExplainOom, "text"_a, "incident"_a.none() = nb::none(), "limit"_a = 8,
             "dump"_a = std::vector<std::string>(), "module"_a = "", "target"_a = "",
             "xla_version"_a = "", "time_limit"_a = 30.0,
             "The page and the JSON of `stowplan explain-oom`.");
}

}  // namespace stowplan::python
