// SPDX-License-Identifier: Apache-2.0
// Which of the plan's values the slots of an executable's thunks hold.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
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
  SlotResolver(const executable::Executable& executable, const PlannedModule& planned);

  // Rows of values that a slot of this thunk may hold: those that its instruction makes, hands on
  // or reads, if they lie there. If there are none, all values that lie there.
  [[nodiscard]] std::vector<uint32_t> Candidates(const executable::Thunk& thunk,
                                                 const executable::Slice& slice) const;

  // For each slot, whether the thunk may depend on what it held before. Where the thunk does not
  // say, it does if a value that its instruction reads lies there, or if another thunk of the same
  // instruction wrote there; of a thunk without an instruction the worst is assumed.
  [[nodiscard]] std::vector<bool> FindReads(const executable::Program& program) const;

 private:
  void AddTouched(std::string_view instruction, uint32_t value);

  const report::Report& report_;
  std::unordered_map<std::string_view, std::vector<uint32_t>> touched_;  // by instruction
  std::unordered_map<std::string_view, std::vector<uint32_t>> read_;
  std::vector<std::vector<uint32_t>> by_allocation_;
  std::unordered_map<std::string_view, std::vector<std::string_view>> roots_;
};

}  // namespace stowplan::repack
