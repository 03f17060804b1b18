// SPDX-License-Identifier: Apache-2.0
// Units: values that must keep their distances.
//
// Values of one buffer lie together (a loop's, those that are updated in place), and so do values
// that share memory inside one thunk, because kernels are compiled for the sharing they saw.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "executable/executable.h"
#include "repack/changed.h"
#include "stowplan/plan.h"

namespace stowplan::repack {

inline constexpr uint32_t kNoUnit = 0xffffffffU;

struct Instants {
  int64_t start = 0;
  int64_t end = 0;  // exclusive
};

struct Unit {
  int64_t allocation = 0;
  bool is_fixed = false;  // lies outside the heaps
  // Lies outside the heaps, in memory of arguments or results while nobody needs that, and may also
  // lie in a heap. What is fixed and no guest stays where it is.
  bool is_guest = false;
  // Where it lies in the executable. What is made of copies alone lies nowhere; then this is where
  // the originals do.
  int64_t begin = 0;
  int64_t end = 0;
  std::vector<Instants> alive;  // apart, ascending
};

// A value of the changed module that has a place.
struct UnitValue {
  uint32_t unit = kNoUnit;  // none: it has no place
  int64_t offset = 0;       // where it lies if its unit begins at Unit::begin
  int64_t size = 0;
  int64_t origin = 0;  // the number of the executable's buffer that it is, or is a copy of
  bool is_copy = false;
};

[[nodiscard]] bool AreAliveTogether(const Unit& a, const Unit& b);

// Where something of an allocation's memory space may go: the allocation itself if it is a heap, or
// the largest heap of that space. Nothing if there is none.
[[nodiscard]] std::optional<int64_t> HeapFor(const executable::Assignment& assignment,
                                             int64_t allocation);

struct Units {
  std::vector<Unit> units;
  std::vector<UnitValue> values;        // by value of the changed module
  std::vector<uint32_t> slot_values;    // by slot: a value that it holds; kNoUnit: none
  std::vector<int64_t> slot_distances;  // by slot: from the begin of that value
};

// `original` has the executable's module, and its plan made by XLA's rules. Fails with a sentence
// if values cannot keep their distances.
[[nodiscard]] std::expected<Units, std::string> FindUnits(const executable::Executable& executable,
                                                          const PlannedModule& original,
                                                          const SlotSources& sources,
                                                          const Changed& changed);

}  // namespace stowplan::repack
