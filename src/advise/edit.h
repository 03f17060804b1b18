// SPDX-License-Identifier: Apache-2.0
// A change to a program that may save memory. Edits name instructions, so an edit keeps its meaning
// after other edits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advise/plan.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan::advise {

enum class EditKind : uint8_t {
  kDonate,         // parameters become parts of the result
  kDropCopy,       // readers of the copy read the original instead
  kMoveLater,      // a definition runs right before `anchor`
  kMoveEarlier,    // a use runs right after `anchor`
  kRematerialize,  // computed once more before `anchor`, for it and all later users
  kPack,           // policy best: the program stays, the places change
  kFit,            // many values computed again, as session/fit.h finds them
};
// "move-later"
[[nodiscard]] std::string_view Name(EditKind kind);

struct Edit {
  EditKind kind = EditKind::kDonate;
  std::vector<int64_t> parameters = {};  // kDonate: of the entry computation
  std::string computation = {};
  std::string instruction = {};
  std::string anchor = {};
  friend bool operator==(const Edit&, const Edit&) = default;
};

// The changed program; kPack changes nothing, and kFit is not made here. All donations are made
// first and together, because JAX pairs them together. Fails if an edit names something that does
// not exist, or would run an instruction before its operands.
[[nodiscard]] Result<hlo::Module> Apply(const hlo::Module& module, std::span<const Edit> edits,
                                        const Setting& setting);

}  // namespace stowplan::advise
