// SPDX-License-Identifier: Apache-2.0
// Which value of one program corresponds to which value of another.
//
// Names of instructions say little, since every compiler makes its own. What survives of a value is
// where it comes from (op_name, source line), what it is (opcode, shape, index) and its place in
// the order. Keys are tried from strict to loose; in each round, values with equal keys are paired:
//
//     as many on both sides     in order
//     more on one side          so that the pairs lie closest, measured by how many values that
//                               are paired already come before
//
// Properties that only one of the programs knows (op_names, if the other is a report without its
// module) are ignored; names count only then. A copy is never paired with something that is not a
// copy; the same holds for parameters and constants. Nothing here depends on which program comes
// first, so Match(a, b) is Match(b, a) reversed.
#pragma once

#include <vector>

#include "explain/picture.h"
#include "stowplan/report/report.h"

namespace stowplan::diff {

// By report::ValueId of each side: the partner on the other side, or none. Values that have no
// place, or a thread-local one, are never paired.
struct Match {
  std::vector<report::ValueId> b_of_a;
  std::vector<report::ValueId> a_of_b;
};

// n log n in the values.
[[nodiscard]] Match MatchValues(const explain::Picture& a, const explain::Picture& b);

// Whether a value takes part.
[[nodiscard]] bool IsMatched(const report::Report& report, const report::Value& value);

// Whether a value is made by a copy instruction, or a fusion whose result is one.
[[nodiscard]] bool IsCopy(const explain::Picture& picture, report::ValueId id);

}  // namespace stowplan::diff
