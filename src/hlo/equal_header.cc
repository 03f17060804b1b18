// SPDX-License-Identifier: Apache-2.0
// Headers and stack frames of two modules.
#include <algorithm>
#include <string>

#include "base/json_equal.h"
#include "hlo/equal_comparison.h"

namespace stowplan::hlo {
namespace {

// As XLA prints them, so that the order in which a file lists them does not matter.
template <class T, class Key>
std::vector<T> Sorted(std::vector<T> rows, Key key) {
  std::ranges::sort(rows, {}, key);
  return rows;
}

// Texts of 2020 did not say the kind.
bool SameAlias(const InputOutputAlias& x, const InputOutputAlias& y) {
  const bool is_said = x.kind != AliasKind::kUnsaid && y.kind != AliasKind::kUnsaid;
  return x.output_index == y.output_index && x.parameter == y.parameter &&
         x.parameter_index == y.parameter_index && (!is_said || x.kind == y.kind);
}

void CompareEntryLayouts(Comparison& c) {
  const auto& x = c.a.header.entry_layout;
  const auto& y = c.b.header.entry_layout;
  if (x.has_value() != y.has_value()) c.Report("only one has an entry_computation_layout");
  if (!x || !y) return;
  const auto same = [&](ShapeId p, ShapeId q) { return c.Same(p, q); };
  if (!std::ranges::equal(x->parameters, y->parameters, same))
    c.Report("entry_computation_layout: parameters differ");
  if (!c.Same(x->result, y->result)) c.Report("entry_computation_layout: results differ");
}

}  // namespace

void CompareHeaders(Comparison& c) {
  const Header& x = c.a.header;
  const Header& y = c.b.header;
  const auto check = [&](bool is_same, const char* what) {
    if (!is_same) c.Report(std::string(what) + " differs");
  };
  check(c.Same(x.name, y.name), "the module's name");
  check(x.is_scheduled == y.is_scheduled, "is_scheduled");
  const auto by_output = [](const InputOutputAlias& alias) { return alias.output_index; };
  check(std::ranges::equal(Sorted(x.aliases, by_output), Sorted(y.aliases, by_output), SameAlias),
        "input_output_alias");
  const auto by_parameter = [](const BufferDonor& donor) {
    return std::pair(donor.parameter, donor.parameter_index);
  };
  check(Sorted(x.donors, by_parameter) == Sorted(y.donors, by_parameter), "buffer_donor");
  if (c.options.entry_layout) CompareEntryLayouts(c);
  const auto same_json = [&](Text p, Text q) { return SameJson(c.a.view(p), c.b.view(q)); };
  check(std::ranges::equal(Module::Rows(c.a.texts, x.frontend_attributes),
                           Module::Rows(c.b.texts, y.frontend_attributes), same_json),
        "frontend_attributes");
  if (!c.options.settings) return;
  check(x.alias_passthrough_params == y.alias_passthrough_params, "alias_passthrough_params");
  check(x.propagate_to_parameters == y.propagate_to_parameters,
        "allow_spmd_sharding_propagation_to_parameters");
  check(x.propagate_to_output == y.propagate_to_output,
        "allow_spmd_sharding_propagation_to_output");
  check(x.replica_count == y.replica_count, "replica_count");
  check(x.num_partitions == y.num_partitions, "num_partitions");
  const auto same_text = [&](Text p, Text q) { return c.Same(p, q); };
  check(std::ranges::equal(x.unknown, y.unknown, same_text), "the unknown part of the header");
}

void CompareStackFrames(Comparison& c) {
  const StackFrames& x = c.a.stack_frames;
  const StackFrames& y = c.b.stack_frames;
  const auto same_text = [&](Text p, Text q) { return c.Same(p, q); };
  if (!std::ranges::equal(x.files, y.files, same_text)) c.Report("FileNames differ");
  if (!std::ranges::equal(x.functions, y.functions, same_text)) c.Report("FunctionNames differ");
  if (x.locations != y.locations) c.Report("FileLocations differ");
  if (x.frames != y.frames) c.Report("StackFrames differ");
}

}  // namespace stowplan::hlo
