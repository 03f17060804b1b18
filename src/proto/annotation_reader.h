// SPDX-License-Identifier: Apache-2.0
// Messages that any instruction may have and that modules keep as text.
#pragma once

#include <string>
#include <string_view>

#include "proto/context.h"

namespace stowplan::proto {

// OriginalValueProto: {({"a"}, {"b" {1}})}. Leaves `out` unchanged if XLA would treat the value as
// absent.
void AppendOriginalValue(Context& context, std::string_view bytes, std::string& out);

// OriginalArrayProto: "a" {1}. False if its index has a negative number, which XLA treats as no
// array at all.
bool AppendOriginalArray(Context& context, std::string_view bytes, std::string& out);

// StatisticsViz: {visualizing_index=0,a=1}; nothing when it has no statistics.
void AppendStatistics(Context& context, std::string_view bytes, std::string& out);

// ResultAccuracy: {mode=highest} or {tolerance={atol=0,rtol=0.4,ulps=0}}; nothing for the default.
void AppendResultAccuracy(Context& context, std::string_view bytes, std::string& out);

// SparsityConfig: {lhs={sparsity=2x4 dimension=1 stride=1 idx=0}}; nothing when it has neither
// side.
void AppendSparsity(Context& context, std::string_view bytes, std::string& out);

}  // namespace stowplan::proto
