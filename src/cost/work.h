// SPDX-License-Identifier: Apache-2.0
// What it takes to execute an instruction: bytes moved, arithmetic, launches.
//
// These are facts about the program; machine.h turns them into time. An instruction that calls
// others does their work, and a loop that of all its trips.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "stowplan/hlo/module.h"
#include "stowplan/target/target.h"

namespace stowplan::cost {

// Products of matrices, by the bits of what is multiplied: machines are faster at narrow types.
inline constexpr int kProductBits[] = {64, 32, 16, 8};
using Products = std::array<double, std::size(kProductBits)>;

// Sums over long loops do not fit in 64 bits.
struct Work {
  double bytes = 0;        // read and written; of arrays that are sliced or updated, that part
  double whole_bytes = 0;  // as if each operand were read and each result written as a whole
  double flops = 0;        // operations on elements; two for each multiplication in a dot product
  // Of these: in products of matrices that may be rounded as the machine likes best.
  Products products = {};
  double launches = 0;  // kernels

  Work& operator+=(const Work& other) {
    bytes += other.bytes;
    whole_bytes += other.whole_bytes;
    flops += other.flops;
    for (size_t k = 0; k < products.size(); ++k) products[k] += other.products[k];
    launches += other.launches;
    return *this;
  }
  friend Work operator*(Work work, double factor) {
    work.bytes *= factor;
    work.whole_bytes *= factor;
    work.flops *= factor;
    for (double& product : work.products) product *= factor;
    work.launches *= factor;
    return work;
  }
};

// By instruction. Inside of fusions and reducers: only flops, as nothing there goes to memory.
[[nodiscard]] std::vector<Work> FindWork(const hlo::Module& module, const Target& target);

// By instruction. One that calls others costs what each of their kernels does by itself: where one
// waits for memory, the arithmetic of the next is not done meanwhile.
[[nodiscard]] std::vector<double> FindCosts(const hlo::Module& module, const Target& target,
                                            const std::function<double(const Work&)>& kernel_cost);

}  // namespace stowplan::cost
