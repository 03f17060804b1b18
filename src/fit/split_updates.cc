// SPDX-License-Identifier: Apache-2.0
#include "fit/split_updates.h"

#include <algorithm>
#include <set>
#include <vector>

#include "fit/loop_draft.h"
#include "fit/shrink_fusions.h"
#include "hlo/draft.h"

namespace stowplan::fit {
namespace {

using hlo::AttributeKey;
using hlo::CompId;
using hlo::Draft;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

class Splitter {
 public:
  explicit Splitter(const Module& module)
      : module_(module), draft_(module), users_(module.instructions.size(), 0) {
    for (const InstrId operand : module.operands) ++users_[operand.index];
  }

  std::optional<SplitModule> Run() && {
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      if (module_.instructions[InstrId(i)].opcode != Opcode::kWhile) continue;
      for (const CompId body : module_.called_by(InstrId(i)).first(1)) SplitIn(body);
    }
    if (!is_changed_) return std::nullopt;
    SplitModule split;
    std::optional<Module> built = draft_.Build(split.origins);
    if (!built) return std::nullopt;
    split.module = *std::move(built);
    return split;
  }

 private:
  void SplitIn(CompId body) {
    const InstrId root = module_.computations[body].root;
    if (module_.instructions[root].opcode != Opcode::kTuple || !bodies_.insert(body).second) return;
    std::set<InstrId> gone;
    for (const InstrId element : module_.operands_of(root)) {
      if (const InstrId update = UpdateOf(element); !update.is_none()) {
        Split(body, element, update);
        gone.insert(element);
      }
    }
    if (gone.empty()) return;
    is_changed_ = true;
    DropFusions(body, gone);
    std::vector<InstrId> kept = draft_.part(body).rows;
    std::erase_if(kept, [&](InstrId id) { return gone.contains(id); });
    draft_.KeepOnly(body, kept);
    ShrinkFusions(module_, body, draft_);
  }

  // What the fusion of which this is an element does to make it; none if that is not an update, or
  // if there is nothing to take apart.
  [[nodiscard]] InstrId UpdateOf(InstrId element) const {
    if (module_.instructions[element].opcode != Opcode::kGetTupleElement ||
        users_[element.index] != 1)
      return {};
    const InstrId fusion = module_.operands_of(element)[0];
    if (module_.instructions[fusion].opcode != Opcode::kFusion || !IsPlainFusion(module_, fusion) ||
        module_.FindAttribute(fusion, AttributeKey::kOutputToOperandAliasing) != nullptr ||
        module_.FindAttribute(fusion, AttributeKey::kControlPredecessors) != nullptr)
      return {};
    const InstrId root = module_.computations[module_.called_by(fusion)[0]].root;
    const int64_t index = module_.NumberOr(element, AttributeKey::kIndex, -1);
    if (module_.instructions[root].opcode != Opcode::kTuple || index < 0 ||
        index >= std::ssize(module_.operands_of(root)))
      return {};
    const InstrId update = module_.operands_of(root)[static_cast<size_t>(index)];
    const bool is_update = module_.instructions[update].opcode == Opcode::kDynamicUpdateSlice &&
                           users_[update.index] == 1;
    return is_update ? update : InstrId();
  }

  // A fusion of the same computation that yields only the update, right before the given one, which
  // may write over what is read.
  void Split(CompId body, InstrId element, InstrId update) {
    const InstrId fusion = module_.operands_of(element)[0];
    const auto operands = module_.operands_of(fusion);
    const FusionCopy copy = CopyFusion(draft_, fusion, body, {operands.begin(), operands.end()});
    SetRoot(draft_, copy, copy.Inside(update));
    Prune(draft_, copy.row, copy.part);
    draft_.Replace(body, element, copy.row);
    for (std::vector<InstrId>* rows : {&draft_.part(body).rows, &draft_.part(body).order}) {
      const auto place = std::ranges::find(*rows, fusion);
      if (place != rows->end()) rows->insert(place, copy.row);
    }
  }

  // Adds fusions that have no other readers.
  void DropFusions(CompId body, std::set<InstrId>& gone) const {
    std::set<InstrId> read;
    for (const InstrId id : draft_.part(body).rows) {
      if (gone.contains(id)) continue;
      for (const InstrId operand : draft_.row(id).operands) read.insert(operand);
    }
    const std::set<InstrId> elements = gone;
    for (const InstrId element : elements) {
      const InstrId fusion = module_.operands_of(element)[0];
      if (!read.contains(fusion)) gone.insert(fusion);
    }
  }

  const Module& module_;
  Draft draft_;
  std::vector<uint32_t> users_;  // by instruction
  std::set<CompId> bodies_;      // that are done
  bool is_changed_ = false;
};

}  // namespace

std::optional<SplitModule> SplitUpdates(const Module& module) { return Splitter(module).Run(); }

}  // namespace stowplan::fit
