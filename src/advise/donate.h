// SPDX-License-Identifier: Apache-2.0
// The effect of donating parameters: which output takes which parameter, as JAX and XLA pair them,
// and which copies and which order of execution XLA then uses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advise/plan.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"

namespace stowplan::advise {

// A parameter of the entry computation and the part of the result that takes its memory.
struct DonatedPair {
  int64_t parameter = 0;
  int64_t output = -1;  // -1: the result is not a tuple
  friend bool operator==(const DonatedPair&, const DonatedPair&) = default;
};

enum class RefusalRule : uint8_t {
  kShape,   // no output has as many elements of the same type, in the same shape
  kTaken,   // such outputs are taken by other donated parameters
  kLayout,  // the matching output has a different layout
  kSpace,   // ... or is in a different memory space
  kTuple,   // the parameter is a tuple, which JAX never makes
};
// "shape"
[[nodiscard]] std::string_view Name(RefusalRule rule);

struct Refusal {
  int64_t parameter = 0;
  RefusalRule rule = RefusalRule::kShape;
  std::string reason;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

struct Pairing {
  std::vector<hlo::InputOutputAlias> aliases;  // all that the header then has
  std::vector<hlo::BufferDonor> donors;
  std::vector<DonatedPair> pairs;  // of the parameters that were asked for
  std::vector<Refusal> refused;    // of the parameters that were asked for
};

// JAX gives each output, in order, the first donated argument of its shape and type. What is left
// and has as many elements as a free output becomes a buffer donor, and XLA gives it an output of
// as many bytes. `parameters` are added to those that are donated already.
[[nodiscard]] Pairing PairDonations(const hlo::Module& module, std::span<const int64_t> parameters,
                                    const Target& target);

// A copy that XLA adds, because `reader` may need the parameter after `writer` has begun to
// overwrite it.
struct DonationClash {
  int64_t parameter = 0;
  bool is_of_output = false;  // the output is copied into the parameter, not the parameter away
  std::string reader;         // instructions of the entry computation; may be empty
  std::string writer;
  friend bool operator==(const DonationClash&, const DonationClash&) = default;
};

struct Donated {
  hlo::Module module;
  Pairing pairing;
  std::vector<DonationClash> clashes;
  int64_t copies_removed = 0;
  int64_t copies_added = 0;
  // Whether the order of execution is the one that XLA's CPU compiler chooses. Otherwise the old
  // order was kept.
  bool is_rescheduled = false;
};

// Fails if nothing can be donated, or if the changed program cannot be analysed.
[[nodiscard]] Result<Donated> Donate(const hlo::Module& module, std::span<const int64_t> parameters,
                                     const Setting& setting);

}  // namespace stowplan::advise
