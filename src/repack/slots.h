// SPDX-License-Identifier: Apache-2.0
// What the plan says about an executable's slots.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "executable/executable.h"
#include "stowplan/plan.h"

namespace stowplan::repack {

// Whether Stowplan's plan is that of the executable, to the byte; otherwise a sentence that says
// where they differ first.
[[nodiscard]] std::optional<std::string> FindOtherPlace(const report::Report& report,
                                                        const executable::Assignment& assignment);

class SlotResolver {
 public:
  explicit SlotResolver(const PlannedModule& planned);

  // For each slot, whether the thunk may depend on what it held before. Where the thunk does not
  // say, it does if a value that its instruction reads lies there and has no other slot, or if
  // another thunk of the same instruction wrote there; of a thunk without an instruction the worst
  // is assumed.
  [[nodiscard]] std::vector<bool> FindReads(const executable::Program& program) const;

 private:
  void FindMadeInside(const hlo::Module& module);
  [[nodiscard]] bool IsMadeInside(const executable::Thunk& thunk,
                                  const executable::Slice& slice) const;

  const report::Report& report_;
  std::unordered_map<std::string_view, std::vector<uint32_t>> read_;  // by instruction
  std::unordered_set<std::string_view> tuples_;                       // instructions
  // By call: values that the called computation makes, and those that it calls.
  std::unordered_map<std::string_view, std::vector<uint32_t>> made_inside_;
};

}  // namespace stowplan::repack
