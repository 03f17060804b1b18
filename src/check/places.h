// SPDX-License-Identifier: Apache-2.0
// Where a report puts the parts of a program's instructions. Of all that it says of a value, the
// checker believes two things: which part it is born at, and its place.
#pragma once

#include <cstdint>
#include <vector>

#include "check/names.h"
#include "check/trees.h"
#include "stowplan/check/finding.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::check {

using PlaceId = uint32_t;
inline constexpr PlaceId kNoPlaceId = 0;

struct Place {
  uint32_t allocation = UINT32_MAX;  // row of the report
  int64_t offset = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

struct Places {
  std::vector<Place> rows;      // by PlaceId; the first stands for "nowhere"
  std::vector<PlaceId> by_row;  // by row of Trees
  [[nodiscard]] bool is_known(uint32_t row) const { return by_row[row] != kNoPlaceId; }
};

// `sizes` are the bytes of each part, `sequence` the instructions as the report lists them. Adds
// what is wrong with the places themselves.
Places FindPlaces(const hlo::Module& module, Names& names,
                  const std::vector<hlo::InstrId>& sequence, const Trees& trees,
                  const report::Report& report, const std::vector<int64_t>& sizes,
                  Findings& findings);

// "fusion.3", "{1}"
ValueName NameOf(const hlo::Module& module, const Trees& trees, uint32_t row);

}  // namespace stowplan::check
