// SPDX-License-Identifier: Apache-2.0
// Why a peak changed: the terms of a diff, grouped so that one edit is one cause.
//
// Values whose sizes changed by the same change of shape are one cause, wherever they are: "8 ->
// 16" for a larger batch, "bf16 -> f32" for a different type. Everything else is grouped by where
// it comes from: the source line, the argument of the function that a parameter is a part of, the
// op_name. Each cause says how its bytes split into terms; all causes add up to the change of the
// peak.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diff/diff.h"
#include "explain/picture.h"

namespace stowplan::diff {

enum class Group : uint8_t { kCause, kSource, kOpName, kKind, kTerm, kValue };
inline constexpr size_t kGroups = 6;
[[nodiscard]] std::string_view Name(Group group);
[[nodiscard]] std::optional<Group> FindGroup(std::string_view name);

// A place that a cause is at.
struct CausePart {
  std::string place;
  int64_t bytes = 0;
  int64_t values = 0;
  uint32_t largest = 0;  // of SpaceDiff::changes, the one with the most bytes
};

struct Cause {
  // "8 -> 16", "bf16 -> f32", "model.py:12", "model.py:12 (was model.py:10)", "argument params"
  std::string name;
  bool is_resize = false;  // the name is a change of shape
  bool is_moved = false;   // the peak moved: always the last
  int64_t bytes = 0;
  int64_t values = 0;  // pairs, and values without a partner
  Terms terms{};
  std::vector<CausePart> parts;   // by falling |bytes|
  std::vector<uint32_t> changes;  // of SpaceDiff::changes, by falling |bytes|
  // The kind of all its values, before and after; absent if there are several.
  std::optional<explain::Kind> kind_a;
  std::optional<explain::Kind> kind_b;

  // The term with the most bytes.
  [[nodiscard]] Term main_term() const;
};

// By descending |bytes|. The pictures must be those that the diff was made from.
[[nodiscard]] std::vector<Cause> CausesOf(const SpaceDiff& space, const Match& match,
                                          const explain::Picture& a, const explain::Picture& b,
                                          Group group = Group::kCause);
// The same for each memory space, by Diff::spaces.
[[nodiscard]] std::vector<std::vector<Cause>> AllCausesOf(const Diff& diff,
                                                          const explain::Picture& a,
                                                          const explain::Picture& b,
                                                          Group group = Group::kCause);

}  // namespace stowplan::diff
