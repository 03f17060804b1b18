// SPDX-License-Identifier: Apache-2.0
// The orders in which XLA walks a program. Its numbers depend on them, so they are found once and
// passed on.
//
// A proto holds them all: computations and instructions stand in post-order, and ids ascend in the
// order of XLA's lists. Text holds the lists only as far as it was printed from them. Still, the
// post-order of instructions follows from the program, and that of computations from the order in
// which they were made, much of which names reveal.
#pragma once

#include <span>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan {

// How a back end orders its list of computations, if there is no proto to say so.
enum class ComputationList : uint8_t {
  kById,                // as they were made
  kPostOrderThenAsync,  // copied once in post-order; async slices were split off after that
};

// The post-order of computations, if there is only a text.
enum class ComputationPostOrder : uint8_t {
  kAsPrinted,    // depth first
  kLowestFirst,  // since 2025: of those whose callees are done, always the one that was made first
};

struct Orders {
  // Computations as XLA's module lists them.
  std::vector<hlo::CompId> computations;
  // The same in post-order: what is in them is numbered in this order.
  std::vector<hlo::CompId> numbered;
  // A computation's rows [first, first + count) hold its instructions in the order.
  std::vector<hlo::InstrId> listed;
  std::vector<hlo::InstrId> post_order;
  // Who reads each instruction, by row: users in the order of the schedule, which is usually XLA's
  // order too (its own depends on history and is in no file), and the operands they read it as.
  struct Read {
    hlo::InstrId user;
    uint32_t operand = 0;
  };
  std::vector<uint32_t> read_begins;
  std::vector<Read> reads;
  // The same, each user once.
  std::vector<uint32_t> user_begins;
  std::vector<hlo::InstrId> users;

  [[nodiscard]] std::span<const Read> reads_of(hlo::InstrId id) const {
    return std::span(reads).subspan(read_begins[id.index],
                                    read_begins[id.index + 1] - read_begins[id.index]);
  }
  [[nodiscard]] std::span<const hlo::InstrId> users_of(hlo::InstrId id) const {
    return std::span(users).subspan(user_begins[id.index],
                                    user_begins[id.index + 1] - user_begins[id.index]);
  }
  [[nodiscard]] static std::span<const hlo::InstrId> Of(const std::vector<hlo::InstrId>& order,
                                                        const hlo::Computation& computation) {
    return std::span(order).subspan(computation.first.index, computation.count);
  }
};

Orders FindOrders(const hlo::Module& module, ComputationList list,
                  ComputationPostOrder post_order = ComputationPostOrder::kAsPrinted);

}  // namespace stowplan
