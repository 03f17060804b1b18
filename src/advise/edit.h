// SPDX-License-Identifier: Apache-2.0
// A change to a program that may save memory. Edits name instructions, so that one still means the
// same after another one.
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
  kDropCopy,       // who read the copy reads what it copied
  kMoveLater,      // a definition runs right before `anchor`
  kMoveEarlier,    // a use runs right behind `anchor`
  kRematerialize,  // computed once more before `anchor`, for it and all that come behind
  kPack,           // policy best: the program stays, the places change
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

// The changed program; kPack changes nothing. All donations are made first and at once, since JAX
// pairs them all at once. Fails when an edit names what is not there, or would run something before
// what it needs.
[[nodiscard]] Result<hlo::Module> Apply(const hlo::Module& module, std::span<const Edit> edits,
                                        const Setting& setting);

}  // namespace stowplan::advise
