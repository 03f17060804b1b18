// SPDX-License-Identifier: Apache-2.0
// Compressed inputs: recognizes the compression by the first bytes, and decompresses within a
// bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"

namespace stowplan {

enum class Packing : uint8_t { kNone, kGzip, kZstd, kXz, kBzip2, kZip };

Packing FindPacking(std::string_view bytes);

// Unpacks gzip (any number of members) and zstd (any number of frames); other packings are an error
// that names them. `packing` must not be kNone.
Result<std::shared_ptr<const Source>> Unpack(std::string name, std::string_view bytes,
                                             Packing packing, size_t max_size);

// "`name` is larger than 4294901760 bytes".
[[nodiscard]] std::unexpected<Diagnostics> FailTooLarge(std::string name, size_t max_size);

}  // namespace stowplan
