// SPDX-License-Identifier: Apache-2.0
// How many bytes a value takes on a target.
//
//                                         cpu  tpu-v5e   plain
//     f32[16,24,8]{1,2,0:T(8,128)}      12288    65536   12288   8 x 24 is padded to 8 x 128
//     (f32[2]{0}, f32[2]{0})               16      512      16   the table of its elements
//     s4[17,33]{1,0:T(8,128)(8,1)E(4)}    281     1536     281   four bits an element: E(4)
//     s4[17,33]{1,0}                      561     1024     561   a byte an element otherwise
#pragma once

#include "hlo/size.h"
#include "stowplan/hlo/shape.h"
#include "stowplan/target/target.h"

namespace stowplan {

using hlo::ByteCount;
using hlo::SizeError;

// The size that `target`'s compiler assigns to one value of this shape. Tuples: the table of
// pointers, not what it points to. Takes the same time for deep tuples as for flat ones.
[[nodiscard]] ByteCount ByteSize(const hlo::ShapeTable& shapes, hlo::ShapeId id,
                                 const Target& target);

}  // namespace stowplan
