// SPDX-License-Identifier: Apache-2.0
#include "advise/edit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "advise/donate.h"
#include "hlo/rewriter.h"

namespace stowplan::advise {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Module;

std::optional<InstrId> Find(const Module& module, const std::string& computation,
                            const std::string& name) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    if (module.name(CompId(c)) != computation) continue;
    const hlo::Computation& row = module.computations[CompId(c)];
    for (uint32_t k = 0; k < row.count; ++k) {
      const InstrId id(size_t{row.first.index} + k);
      if (module.name(id) == name) return id;
    }
  }
  return std::nullopt;
}

// The schedule of its computation with `id` moved right before, or right after, `anchor`.
std::vector<InstrId> OrderMoved(const Module& module, InstrId id, InstrId anchor, bool is_behind) {
  std::vector<InstrId> order;
  for (const InstrId other : module.schedule_of(module.instructions[id].parent)) {
    if (other == id) continue;
    if (other == anchor && !is_behind) order.push_back(id);
    order.push_back(other);
    if (other == anchor && is_behind) order.push_back(id);
  }
  return order;
}

Result<Module> ApplyOne(const Module& module, const Edit& edit) {
  const std::optional<InstrId> id = Find(module, edit.computation, edit.instruction);
  if (!id) return Fail({}, "there is no " + edit.instruction + " in " + edit.computation);
  const hlo::Instruction& row = module.instructions[*id];
  hlo::Rewriter rewriter(module);
  if (edit.kind == EditKind::kDropCopy) {
    if (row.opcode != hlo::Opcode::kCopy) return Fail({}, edit.instruction + " is not a copy");
    rewriter.Replace(*id, module.operands_of(*id)[0]);
    rewriter.Remove(*id);
    return rewriter.Build();
  }
  const std::optional<InstrId> anchor = Find(module, edit.computation, edit.anchor);
  if (!anchor) return Fail({}, "there is no " + edit.anchor + " in " + edit.computation);
  rewriter.SetSchedule(row.parent,
                       OrderMoved(module, *id, *anchor, edit.kind == EditKind::kMoveEarlier));
  return rewriter.Build();
}

// All recomputations at once: what reads a value after the anchor reads its clone, other clones
// included.
Result<Module> Rematerialized(const Module& module, std::span<const Edit> edits) {
  hlo::Rewriter rewriter(module);
  std::map<InstrId, std::vector<InstrId>> at;  // by anchor: what is computed again before it
  std::map<hlo::CompId, bool> touched;
  for (const Edit& edit : edits) {
    const std::optional<InstrId> id = Find(module, edit.computation, edit.instruction);
    const std::optional<InstrId> anchor = Find(module, edit.computation, edit.anchor);
    if (!id || !anchor)
      return Fail(
          {}, "there is no " + (id ? edit.anchor : edit.instruction) + " in " + edit.computation);
    at[*anchor].push_back(*id);
    touched[module.instructions[*id].parent] = true;
  }
  for (const auto& [computation, is_touched] : touched) {
    std::map<InstrId, InstrId> clones;  // so far
    std::map<InstrId, int64_t> places;
    std::vector<InstrId> order;
    for (const InstrId other : module.schedule_of(computation)) {
      places[other] = static_cast<int64_t>(places.size());
      if (const auto wanted = at.find(other); wanted != at.end()) {
        std::ranges::sort(wanted->second, {}, [&](InstrId id) { return places[id]; });
        for (const InstrId id : wanted->second) {
          std::vector<InstrId> operands;
          for (const InstrId operand : module.operands_of(id))
            operands.push_back(clones.contains(operand) ? clones[operand] : operand);
          clones[id] = rewriter.AddClone(id, operands, id);
          order.push_back(clones[id]);
        }
      }
      order.push_back(other);
      const std::span<const InstrId> operands = module.operands_of(other);
      for (size_t k = 0; k < operands.size(); ++k) {
        if (const auto clone = clones.find(operands[k]); clone != clones.end())
          rewriter.ReplaceOperand(other, k, clone->second);
      }
    }
    rewriter.SetSchedule(computation, std::move(order));
  }
  return rewriter.Build();
}

}  // namespace

std::string_view Name(EditKind kind) {
  switch (kind) {
    case EditKind::kDonate:
      return "donate";
    case EditKind::kDropCopy:
      return "drop-copy";
    case EditKind::kMoveLater:
      return "move-later";
    case EditKind::kMoveEarlier:
      return "move-earlier";
    case EditKind::kRematerialize:
      return "rematerialize";
    case EditKind::kPack:
      return "pack";
    case EditKind::kFit:
      return "fit";
  }
  return {};
}

Result<Module> Apply(const Module& module, std::span<const Edit> edits, const Setting& setting) {
  std::vector<int64_t> parameters;
  for (const Edit& edit : edits)
    parameters.insert(parameters.end(), edit.parameters.begin(), edit.parameters.end());
  std::optional<Module> changed;
  if (!parameters.empty()) {
    STOWPLAN_TRY(Donated donated, Donate(module, parameters, setting));
    changed = std::move(donated.module);
  }
  for (size_t i = 0; i < edits.size();) {
    size_t next = i + 1;
    const EditKind kind = edits[i].kind;
    if (kind == EditKind::kRematerialize) {
      while (next < edits.size() && edits[next].kind == kind) ++next;
      STOWPLAN_TRY(changed,
                   Rematerialized(changed ? *changed : module, edits.subspan(i, next - i)));
    } else if (kind != EditKind::kDonate && kind != EditKind::kPack && kind != EditKind::kFit) {
      STOWPLAN_TRY(changed, ApplyOne(changed ? *changed : module, edits[i]));
    }
    i = next;
  }
  return changed ? *std::move(changed) : module;
}

}  // namespace stowplan::advise
