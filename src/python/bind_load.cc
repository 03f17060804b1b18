// SPDX-License-Identifier: Apache-2.0
// From inputs to plans.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/human_bytes.h"
#include "page/text.h"
#include "python/bind.h"
#include "python/lock.h"
#include "python/text.h"
#include "session/names.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

std::shared_ptr<Plan> Load(const std::vector<std::string>& paths, const std::string& module,
                           const std::string& target, const std::string& xla_version,
                           const std::vector<std::string>& parameter_names, bool allow_unsound,
                           bool allow_unchecked, const std::string& source_root,
                           const std::vector<std::string>& own) {
  const Unlocked unlocked;
  LoadOptions options = OptionsOf(module, target, xla_version);
  options.plan.own = {.source_root = source_root, .patterns = own};
  options.plan.allow_unsound = allow_unsound;
  options.plan.allow_unchecked = allow_unchecked;
  options.parameter_names = parameter_names;
  return Plan::Load(paths, std::move(options));
}

std::shared_ptr<Plan> LoadBytes(const nb::bytes& data, const std::string& name,
                                const std::string& target, const std::string& xla_version,
                                const std::vector<std::string>& parameter_names,
                                const std::string& caller, bool allow_unsound, bool allow_unchecked,
                                const std::string& source_root,
                                const std::vector<std::string>& own) {
  // The caller holds the bytes, and nobody can change them.
  const std::string_view bytes(data.c_str(), data.size());
  const Unlocked unlocked;
  LoadOptions options = OptionsOf({}, target, xla_version, caller);
  options.plan.own = {.source_root = source_root, .patterns = own};
  options.plan.allow_unsound = allow_unsound;
  options.plan.allow_unchecked = allow_unchecked;
  options.parameter_names = parameter_names;
  return Plan::LoadBytes(bytes, name, std::move(options));
}

std::vector<Text> Texts(const auto& texts) { return {texts.begin(), texts.end()}; }

// Whose plan it is, in a sentence without its full stop.
std::string Whose(const Plan& plan) {
  if (plan.planned().origin == Origin::kBest) return "Stowplan's own, lower than XLA's";
  if (plan.planned().is_made()) return "Stowplan's own, by XLA's rules";
  return plan.planned().sources.empty() ? "XLA's own, from the module's file or executable"
                                        : "XLA's own, from its report";
}

std::optional<Text> TargetOf(Plan& plan) {
  const Unlocked unlocked;
  const std::optional<Target>& target = plan.picture().target;
  if (!target) return std::nullopt;
  return Text(target->name);
}

Text BackendOf(Plan& plan) {
  const Unlocked unlocked;
  const report::Backend backend = plan.picture().backend;
  return backend == report::Backend::kUnknown ? std::string_view() : report::Name(backend);
}

// (color, name, allocations, bytes, bytes of the peak, its time); the last two -1 when not known.
using SpaceRow = std::tuple<int64_t, Text, int64_t, int64_t, int64_t, int64_t>;
std::vector<SpaceRow> SpacesOf(const Plan& plan) {
  std::vector<SpaceRow> rows;
  for (const report::SpaceTotal& space : plan.summary().spaces) {
    const report::Peak peak = space.peak.value_or(report::Peak{.bytes = -1, .time = -1});
    rows.emplace_back(space.color, report::SpaceName(plan.backend(), space.color),
                      space.allocations, space.bytes, peak.bytes, peak.time);
  }
  return rows;
}

// (kind, allocations, bytes)
std::vector<std::tuple<Text, int64_t, int64_t>> KindsOf(const Plan& plan) {
  std::vector<std::tuple<Text, int64_t, int64_t>> rows;
  for (const report::KindTotal& kind : plan.summary().kinds)
    rows.emplace_back(report::Name(kind.kind), kind.allocations, kind.bytes);
  return rows;
}

// (bytes, time)
std::optional<std::tuple<int64_t, int64_t>> PeakOf(const Plan& plan) {
  if (!plan.has_peak()) return std::nullopt;
  const report::Peak& peak = plan.summary().peak->all;
  return std::tuple(peak.bytes, peak.time);
}

}  // namespace

void BindLoad(nb::module_& module, PlanClass& plan) {
  module.def("load", Load, "paths"_a, nb::kw_only(), "module"_a = "", "target"_a = "",
             "xla_version"_a = "", "parameter_names"_a = std::vector<std::string>(),
             "allow_unsound"_a = false, "allow_unchecked"_a = false, "source_root"_a = "",
             "own"_a = std::vector<std::string>(),
             "The plan in these files or this dump directory.");
  module.def("load_bytes", LoadBytes, "data"_a, "name"_a = "<bytes>", nb::kw_only(),
             "target"_a = "", "xla_version"_a = "",
             "parameter_names"_a = std::vector<std::string>(), "caller"_a = "the call",
             "allow_unsound"_a = false, "allow_unchecked"_a = false, "source_root"_a = "",
             "own"_a = std::vector<std::string>(),
             "The plan in these bytes: a module or a report, text or proto, compressed or not.");
  module.def("target_names", [] { return Texts(TargetNames()); });
  module.def("xla_versions", [] { return Texts(ReleaseNames()); });
  module.def(
      "parse_bytes", [](const Text& text) { return page::ParseBytes(text.bytes); }, "text"_a,
      "Bytes of 512K, 16GiB, 1.5G; None if it is not a size.");
  module.def(
      "human_bytes", [](int64_t bytes) { return HumanAndExactBytes(bytes); }, "bytes"_a,
      "1.50GiB (1610612736)");
  plan.def_prop_ro("name", [](const Plan& self) { return Text(self.name()); })
      .def_prop_ro("notes", [](const Plan& self) { return Texts(self.notes()); })
      .def_prop_ro("is_ours", [](const Plan& self) { return self.planned().is_made(); })
      .def_prop_ro("origin", [](const Plan& self) { return Text(Name(self.planned().origin)); })
      .def_prop_ro("verdict",
                   [](const Plan& self) { return Text(Name(self.planned().verdict.soundness)); })
      .def_prop_ro("whose", [](const Plan& self) { return Text(Whose(self)); })
      .def_prop_ro("has_program", [](const Plan& self) { return self.program() != nullptr; })
      .def_prop_ro("has_peak", [](const Plan& self) { return self.has_peak(); })
      .def_prop_ro("target", TargetOf)
      .def_prop_ro("backend", BackendOf)
      .def_prop_ro(
          "xla_version", [](const Plan& self) { return self.options().plan.release; },
          "As given; empty: not given.")
      .def_prop_ro("bytes", [](const Plan& self) { return self.summary().bytes; })
      .def_prop_ro("unknown",
                   [](Plan& self) {
                     const Unlocked unlocked;
                     return Texts(self.picture().unknown);
                   })
      .def_prop_ro("peak", PeakOf)
      .def_prop_ro("spaces", SpacesOf)
      .def_prop_ro("kinds", KindsOf)
      .def(
          "instruction_at",
          [](const Plan& self, int64_t time) { return Text(self.InstructionAt(time)); }, "time"_a);
}

}  // namespace stowplan::python
