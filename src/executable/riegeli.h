// SPDX-License-Identifier: Apache-2.0
// Riegeli/records files in memory: the container that XLA keeps large messages in.
//
// A file is a sequence of chunks, each with a header and checksums; every 64 KiB a block header
// lies between the bytes, so that readers can find chunks from anywhere. A chunk holds records.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"

namespace stowplan::executable {

// Whether the bytes begin as every such file does.
[[nodiscard]] bool IsRiegeli(std::string_view bytes);

// All records, in order. Verifies every checksum. `name` is used in messages. Simple chunks, packed
// with Snappy or zstd or not at all, are read; anything else is an error that names it.
[[nodiscard]] Result<std::vector<std::string>> ReadRiegeli(const std::string& name,
                                                           std::string_view bytes);

// A file with these records, not packed, a chunk for each.
[[nodiscard]] std::string WriteRiegeli(std::span<const std::string> records);

}  // namespace stowplan::executable
