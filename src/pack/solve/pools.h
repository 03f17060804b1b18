// SPDX-License-Identifier: Apache-2.0
// Several memories: who goes where.
//
// Each buffer (or group) has pools in the order of its preference; the rank of the one that it is
// in counts from 0. The aim is the least sum of bytes times rank: as many bytes as possible where
// they are wanted, as a program is as fast as the bytes that are in fast memory. Then the last pool
// is made low.
//
// A pool takes all who want it if the solver for one memory fits them in. Otherwise it takes a
// subset, tried in several orders, and the others turn to their next pool. Where somebody has none
// left, all is done again with those who had to go without served first.
#pragma once

#include "stowplan/pack.h"

namespace stowplan::pack {

// Needs a sound problem with pools.
//
// - kOptimal: all are where they prefer to be, and the last pool is as low as it can be.
// - kInfeasible: at some moment, buffers need more than all the pools together have in which they
//   may be. The witness are these buffers.
// - kUndecided: no plan was found. In both cases the plan is empty.
//
// The bound is of the last pool: what does not fit into the others.
Answer SolvePools(const Problem& problem, const SolveOptions& options);

}  // namespace stowplan::pack
