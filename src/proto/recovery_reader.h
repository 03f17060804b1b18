// SPDX-License-Identifier: Apache-2.0
// OriginalValueRecoveryTableProto: how arrays of the original program can be recovered from those
// of the optimized one.
#pragma once

#include <string>
#include <string_view>

#include "proto/context.h"

namespace stowplan::proto {

// The header attribute as XLA writes it, with its newlines:
//
//     origin_recovery_table={
//       {"add.3"} : {"add.3__ovp0"},
//       "
//         HloModule recovery, ...
//       "
//     }
//
// Nothing when the table is empty.
void AppendRecoveryTable(Context& context, std::string_view bytes, std::string& out);

}  // namespace stowplan::proto
