// SPDX-License-Identifier: Apache-2.0
// Names of places in a serialized message, computed only when there is an error: the readers keep
// only pointers into the bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proto/fields.h"

namespace stowplan::proto {

// The fields that lead to the value at `offset` of a message:
// hlo_module.computations[3].instructions[17].shape. The offset is that of the value's first byte,
// as the readers have it, not of the key before it.
std::string PathAt(std::string_view bytes, MessageKind root, size_t offset);

struct Damage {
  size_t offset = 0;
  std::string path;
  std::string message;
};
// The first place that is not valid protobuf, in all messages that the schema knows. Nothing if all
// are valid.
std::optional<Damage> FindDamage(std::string_view bytes, MessageKind root);

}  // namespace stowplan::proto
