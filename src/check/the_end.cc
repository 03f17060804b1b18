// SPDX-License-Identifier: Apache-2.0
// What must hold when the program has ended; what runs inside instructions.
#include <algorithm>
#include <tuple>
#include <vector>

#include "check/executor.h"

namespace stowplan::check {

void Executor::Finish() {
  const InstrId root = module_.computations[module_.entry].root;
  const uint32_t top = trees_.top(root);
  struct Output {
    Bytes bytes;
    uint32_t row;
  };
  std::vector<Output> outputs;
  for (uint32_t part = 0; part < trees_.count(shape(root)); ++part) {
    const Cell at = cells_[top + part];
    Read(top + part, {.instruction = root, .need = Reader::Need::kOutput});
    if (at.place == kNoPlaceId || SizeAt(top + part) == 0 || IsTable(top + part)) continue;
    const Bytes bytes = plan_.BytesAt(at.place, top + part);
    if (!plan_.report.allocations[report::AllocationId(bytes.allocation)].is_maybe_live_out)
      witness_.AddFlag(bytes, top + part, "holds part of the result, but is not marked live out");
    outputs.push_back({bytes, top + part});
  }
  std::ranges::sort(outputs, {}, [](const Output& output) {
    return std::tuple(output.bytes.allocation, output.bytes.begin, output.row);
  });
  for (size_t k = 1; k < outputs.size(); ++k) {
    const Output& first = outputs[k - 1];
    const Output& second = outputs[k];
    if (first.bytes.allocation == second.bytes.allocation &&
        first.bytes.begin == second.bytes.begin)
      witness_.AddSharedOutput(second.bytes, first.row, second.row);
  }
  CheckDonations(root);
  std::ranges::sort(donated_);
  for (const InstrId parameter : module_.parameters_of(module_.entry)) {
    for (uint32_t part = 0; part < trees_.count(shape(parameter)); ++part) {
      const uint32_t row = trees_.top(parameter) + part;
      const PlaceId place = cells_[row].place;
      if (place != kNoPlaceId && SizeAt(row) != 0) {
        const Bytes bytes = plan_.BytesAt(place, row);
        if (!plan_.report.allocations[report::AllocationId(bytes.allocation)].parameter)
          witness_.AddFlag(bytes, row, "holds a parameter, but is not marked so");
      }
      if (!std::ranges::binary_search(donated_, row))
        Read(row, {.instruction = parameter, .need = Reader::Need::kParameter});
    }
  }
  for (const InstrId id : loaded_) {
    for (uint32_t part = 0; part < trees_.count(shape(id)); ++part)
      Read(trees_.top(id) + part, {.instruction = id, .need = Reader::Need::kConstant});
  }
}

void Executor::CheckDonations(InstrId root) {
  const std::span<const InstrId> parameters = module_.parameters_of(module_.entry);
  for (const hlo::InputOutputAlias& alias : module_.header.aliases) {
    if (alias.parameter < 0 || static_cast<size_t>(alias.parameter) >= parameters.size()) continue;
    const InstrId parameter = parameters[static_cast<size_t>(alias.parameter)];
    const auto in = trees_.Find(module_, shape(parameter), alias.parameter_index);
    const auto out = trees_.Find(module_, shape(root), alias.output_index);
    if (!in || !out) continue;
    donated_.push_back(trees_.top(parameter) + *in);
    const PlaceId from = cell(parameter, *in).place;
    const PlaceId to = cell(root, *out).place;
    const bool is_nowhere =
        from == kNoPlaceId || to == kNoPlaceId || SizeAt(trees_.top(root) + *out) == 0;
    const uint32_t input = trees_.top(parameter) + *in;
    Note(EventKind::kDonate, {input, is_nowhere ? input : trees_.top(root) + *out});
    if (is_nowhere) continue;
    if (plan_.places.rows[from] != plan_.places.rows[to])
      witness_.AddMovedOutput(plan_.BytesAt(to, trees_.top(root) + *out), trees_.top(root) + *out,
                              trees_.top(parameter) + *in);
  }
}

std::vector<CompId> Executor::FindInner() {
  std::set<CompId> inner;
  if (module_.computations.size() == 1) return {};
  for (size_t i = 0; i < module_.instructions.size(); ++i) {
    const InstrId id(i);
    switch (opcode(id)) {
      case Opcode::kWhile:
      case Opcode::kConditional:
      case Opcode::kCall:
      case Opcode::kFusion:
      case Opcode::kAsyncStart:
      case Opcode::kAsyncUpdate:
      case Opcode::kAsyncDone:
        break;
      default:
        for (const CompId callee : module_.called_by(id)) inner.insert(callee);
        break;
    }
  }
  return {inner.begin(), inner.end()};
}

}  // namespace stowplan::check
