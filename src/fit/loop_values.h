// SPDX-License-Identifier: Apache-2.0
// What a trip of a forward loop computes, as far as the backward loop may have to compute it again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "fit/loop_pairs.h"
#include "stowplan/hlo/module.h"
#include "stowplan/target/target.h"

namespace stowplan::fit {

// Values with the same bytes are one: bitcasts, copies in the same layout, and slices of stacks
// that are nothing but such.
struct LoopValue {
  enum class Kind : uint8_t {
    kComputed,
    kConstant,
    kUnchanged,  // an element that the loop hands on
    kCounter,    // an element that is known for each trip
    kOther,      // may not be computed again, or is carried from trip to trip
  };
  Kind kind = Kind::kOther;
  hlo::InstrId id;  // in the forward body; the update, for a slice that only a fusion computes
  std::vector<uint32_t> inputs;  // values
  std::vector<uint32_t> stacks;  // of the pair, that have it
  int64_t element = -1;          // kUnchanged, kCounter
  int64_t new_bytes = 0;         // of a stack, if it has none and could have; 0: it could not
  double cost = 0;               // of computing it in all trips of the backward loop
  bool is_slice = false;         // only a part of a fusion's computation
};

// Where the backward loop has a number that is a counter of the forward loop.
struct CounterSource {
  int64_t element = -1;  // of the backward loop; or
  uint32_t stack = 0;    // the start of this slice of this stack
  uint32_t slice = 0;
};

class LoopValues {
 public:
  // `pure` and `costs`: by instruction of the module; they must stay.
  LoopValues(const hlo::Module& module, const LoopPair& pair, const Target& target,
             std::span<const uint8_t> pure, std::span<const double> costs);

  [[nodiscard]] std::span<const LoopValue> values() const { return values_; }
  // By stack: its value.
  [[nodiscard]] uint32_t ValueOf(uint32_t stack) const { return stack_values_[stack]; }
  // Of an instruction of the forward body.
  [[nodiscard]] uint32_t ValueOf(hlo::InstrId id) const { return names_[id.index - first_]; }
  // Where a counter of the forward loop is found; nothing if nowhere.
  [[nodiscard]] const CounterSource* SourceOf(int64_t element) const {
    const auto found = counters_.find(element);
    return found == counters_.end() ? nullptr : &found->second;
  }
  // Of any instruction of the module.
  [[nodiscard]] bool IsPure(hlo::InstrId id) const { return pure_[id.index] != 0; }
  // A bitcast among the names of a slice; none if it has no other shape than its value.
  [[nodiscard]] hlo::InstrId BitcastOf(uint32_t stack) const { return bitcasts_[stack]; }

 private:
  void FindNames();
  void FindCounters();
  void FindSlices(std::span<const double> costs);
  void FindNewBytes(const Target& target);
  [[nodiscard]] LoopValue Describe(hlo::InstrId id, std::span<const double> costs) const;

  const hlo::Module& module_;
  const LoopPair& pair_;
  const std::span<const uint8_t> pure_;
  const std::vector<uint8_t> is_unchanged_;  // by element of the forward loop
  uint32_t first_ = 0;
  std::vector<uint32_t> names_;  // by instruction of the forward body
  std::vector<LoopValue> values_;
  std::vector<uint32_t> stack_values_;
  std::vector<hlo::InstrId> bitcasts_;
  std::map<int64_t, CounterSource> counters_;
};

// Which stacks stay.
struct SavedStacks {
  std::vector<uint8_t> is_kept;  // by stack
  std::vector<uint32_t> added;   // values that get one
  int64_t bytes = 0;             // that are no longer stacked
  double cost = 0;               // of what is computed again
  friend bool operator==(const SavedStacks& a, const SavedStacks& b) {
    return a.is_kept == b.is_kept && a.added == b.added;
  }
};
// The cheapest choice if a byte in a stack costs `price`. All values are decided together, by a
// least cut. `sizes`: of the stacks, in bytes.
SavedStacks ChooseSaved(const LoopValues& values, std::span<const int64_t> sizes, double price);

}  // namespace stowplan::fit
