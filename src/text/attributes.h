// SPDX-License-Identifier: Apache-2.0
// The attributes after an instruction's operands.
#pragma once

#include <vector>

#include "text/reader.h"

namespace stowplan::text {

struct AttributeList {
  std::vector<hlo::Attribute> list;
  bool has_metadata = false;
  hlo::Metadata metadata;
};

// Whether the short form of an async operation stands here, or the operation itself.
enum class AsyncForm : uint8_t { kNone, kShort };

// `, name=value`, repeated. False after an error. The short form may have two statistics: those of
// the wrapped operation, then its own.
bool ParseAttributes(Reader& reader, hlo::Opcode opcode, AsyncForm form, AttributeList& out);

}  // namespace stowplan::text
