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

// `, name=value`, repeated. False after an error.
bool ParseAttributes(Reader& reader, hlo::Opcode opcode, AttributeList& out);

}  // namespace stowplan::text
