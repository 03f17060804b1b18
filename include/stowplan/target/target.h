// SPDX-License-Identifier: Apache-2.0
// The machines that programs are compiled for, as data: what differs between them when bytes are
// counted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stowplan {

struct Target {
  std::string_view name;  // "cpu", "gpu", "tpu-v5e", ...

  // A tuple is a table of pointers to its elements.
  int64_t pointer_bytes = 8;
  // Such a table takes a multiple of this many bytes; 0: it is not rounded. An empty one takes
  // nothing.
  int64_t tuple_granule = 0;
  int64_t opaque_bytes = 8;
  // Arrays with a dynamic dimension store their sizes after the data, this many bytes for each
  // dimension.
  int64_t bytes_per_dynamic_dimension = 4;

  // Whether layouts' tiles, tail padding and dynamic prefix (T, L and M) take room.
  bool has_tiles = false;
  // Tiled arrays take a multiple of this many bytes.
  int64_t tiled_granule = 1;
  // Arrays without tiles are padded to a multiple of this many elements, in the memory spaces whose
  // bits are set.
  int64_t untiled_granule = 1;
  uint64_t untiled_granule_spaces = 0;
  // Memory spaces whose words are counted one by one, whatever the layout says.
  uint64_t exact_spaces = 0;

  friend bool operator==(const Target&, const Target&) = default;
};

// All of them: cpu, gpu, then the TPUs by generation.
std::span<const Target> Targets();
std::optional<Target> FindTarget(std::string_view name);

}  // namespace stowplan
