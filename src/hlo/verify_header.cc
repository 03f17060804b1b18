// SPDX-License-Identifier: Apache-2.0
// What the module's header says about the entry computation.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hlo/size.h"
#include "hlo/verify_complaints.h"

namespace stowplan::hlo {
namespace {

using ParameterPart = std::pair<int64_t, ShapeIndex>;

std::string PartText(const ParameterPart& part) {
  return "parameter " + std::to_string(part.first) + " " + IndexText(part.second);
}

void VerifyEntryLayout(Verifier& v) {
  const Module& m = v.module;
  if (!m.header.entry_layout) return;
  const EntryLayout& layout = *m.header.entry_layout;
  const std::span<const InstrId> parameters = m.parameters_of(m.entry);
  if (layout.parameters.size() != parameters.size()) {
    v.complaints.AtHeader(
        "entry_computation_layout has " + std::to_string(layout.parameters.size()) +
        " parameters, the entry computation has " + std::to_string(parameters.size()));
  } else {
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (v.IsCompatible(layout.parameters[i], v.shape(parameters[i]))) continue;
      v.complaints.AtHeader(
          "entry_computation_layout and parameter " + std::to_string(i) +
          " differ: " + v.DescribeDifference(layout.parameters[i], v.shape(parameters[i])));
    }
  }
  const ShapeId root = v.shape(m.computations[m.entry].root);
  if (!v.IsCompatible(layout.result, root)) {
    v.complaints.AtHeader("entry_computation_layout and the result differ: " +
                          v.DescribeDifference(layout.result, root));
  }
}

// The shapes that the compiler promised for parameters and result: the entry layout where there is
// one, since it has the layouts that decide about sizes.
struct EntryShapes {
  std::vector<ShapeId> parameters;
  ShapeId result;
};

EntryShapes ShapesOfEntry(const Verifier& v) {
  const Module& m = v.module;
  EntryShapes shapes;
  for (const InstrId id : m.parameters_of(m.entry)) shapes.parameters.push_back(v.shape(id));
  shapes.result = v.shape(m.computations[m.entry].root);
  if (m.header.entry_layout &&
      m.header.entry_layout->parameters.size() == shapes.parameters.size()) {
    shapes.parameters = m.header.entry_layout->parameters;
    shapes.result = m.header.entry_layout->result;
  }
  return shapes;
}

// The shape of a part of a parameter; complains when it does not exist.
std::optional<ShapeId> FindParameterPart(Verifier& v, const EntryShapes& entry,
                                         const ParameterPart& part, const char* attribute) {
  if (part.first < 0 || part.first >= std::ssize(entry.parameters)) {
    v.complaints.AtHeader(std::string(attribute) + ": there is no parameter " +
                          std::to_string(part.first));
    return std::nullopt;
  }
  const auto shape = v.FindPart(entry.parameters[static_cast<size_t>(part.first)], part.second);
  if (!shape)
    v.complaints.AtHeader(std::string(attribute) + ": there is no part " + PartText(part));
  return shape;
}

// One buffer must hold both. Shapes may differ as long as sizes agree: plain ones, or on a TPU
// those with padding (bf16[256]{0:T(256)} and f32[]{:T(128)}). The module does not say what it was
// compiled for.
bool FitsSameBuffer(const Verifier& v, ShapeId a, ShapeId b) {
  const ShapeTable& shapes = v.module.shapes;
  return v.IsCompatible(a, b) || PlainByteSize(shapes, a) == PlainByteSize(shapes, b) ||
         PaddedByteSize(shapes, a) == PaddedByteSize(shapes, b);
}

void ComplainTwice(Verifier& v, std::vector<ParameterPart> parts, const char* message) {
  std::ranges::sort(parts);
  const auto twice = std::ranges::adjacent_find(parts);
  if (twice != parts.end()) v.complaints.AtHeader(message + PartText(*twice));
}

void VerifyAliases(Verifier& v, const EntryShapes& entry) {
  std::vector<ParameterPart> parameters;
  std::vector<ShapeIndex> outputs;
  for (const InputOutputAlias& alias : v.module.header.aliases) {
    const ParameterPart part(alias.parameter, alias.parameter_index);
    parameters.push_back(part);
    outputs.push_back(alias.output_index);
    const auto source = FindParameterPart(v, entry, part, "input_output_alias");
    const auto output = v.FindPart(entry.result, alias.output_index);
    if (!output) {
      v.complaints.AtHeader("input_output_alias: there is no output " +
                            IndexText(alias.output_index));
    } else if (source && !FitsSameBuffer(v, *source, *output)) {
      v.complaints.AtHeader("input_output_alias: " + PartText(part) + " and output " +
                            IndexText(alias.output_index) +
                            " differ in size: " + v.DescribeDifference(*source, *output));
    }
  }
  ComplainTwice(v, std::move(parameters), "input_output_alias gives away twice ");
  std::ranges::sort(outputs);
  const auto twice = std::ranges::adjacent_find(outputs);
  if (twice != outputs.end())
    v.complaints.AtHeader("input_output_alias names output " + IndexText(*twice) + " twice");
}

void VerifyDonors(Verifier& v, const EntryShapes& entry) {
  std::vector<ParameterPart> parts;
  for (const BufferDonor& donor : v.module.header.donors) {
    parts.emplace_back(donor.parameter, donor.parameter_index);
    FindParameterPart(v, entry, parts.back(), "buffer_donor");
  }
  for (const InputOutputAlias& alias : v.module.header.aliases) {
    parts.emplace_back(alias.parameter, alias.parameter_index);
  }
  if (!v.module.header.donors.empty()) {
    ComplainTwice(v, std::move(parts), "buffer_donor and input_output_alias give away twice ");
  }
}

}  // namespace

void VerifyHeader(Verifier& v) {
  VerifyEntryLayout(v);
  const EntryShapes entry = ShapesOfEntry(v);
  VerifyAliases(v, entry);
  VerifyDonors(v, entry);
}

}  // namespace stowplan::hlo
