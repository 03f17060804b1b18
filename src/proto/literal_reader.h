// SPDX-License-Identifier: Apache-2.0
// LiteralProto to the text of a constant.
#pragma once

#include <string>
#include <string_view>

#include "proto/context.h"
#include "proto/shape_reader.h"

namespace stowplan::proto {

// What is written in constant(...): without the shape, and only {...} for tuples and arrays of more
// than kMaxPrintedElements elements. `shape` is the instruction's.
void AppendConstant(Context& context, ShapeReader& shapes, std::string_view bytes,
                    hlo::ShapeId shape, std::string& out);

// What follows literal= of a custom-call: with the shape and all elements.
void AppendWholeLiteral(Context& context, ShapeReader& shapes, std::string_view bytes,
                        std::string& out);

}  // namespace stowplan::proto
