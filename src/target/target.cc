// SPDX-License-Identifier: Apache-2.0
#include "stowplan/target/target.h"

#include <array>

namespace stowplan {
namespace {

constexpr uint64_t Spaces(std::initializer_list<unsigned> numbers) {
  uint64_t bits = 0;
  for (const unsigned number : numbers) bits |= uint64_t{1} << number;
  return bits;
}

// Measured on the dumps of libtpu 0.0.2 to 0.0.51; only the rounding of tuple tables differs
// between generations.
constexpr Target Tpu(std::string_view name, int64_t tuple_granule) {
  return {
      .name = name,
      .pointer_bytes = 4,
      .tuple_granule = tuple_granule,
      .opaque_bytes = 4,
      .bytes_per_dynamic_dimension = 0,
      .has_tiles = true,
      .tiled_granule = 512,
      .untiled_granule = 1024,
      .untiled_granule_spaces = Spaces({0, 4, 6}),
      .exact_spaces = Spaces({2, 8, 10, 11, 12}),
  };
}

constexpr std::array kTargets = {
    Target{.name = "cpu"}, Target{.name = "gpu"}, Tpu("tpu-v2", 1024),
    Tpu("tpu-v3", 1024),   Tpu("tpu-v4", 512),    Tpu("tpu-v5e", 512),
    Tpu("tpu-v5p", 32),    Tpu("tpu-v6e", 32),    Tpu("tpu-v7x", 32),
};

}  // namespace

std::span<const Target> Targets() { return kTargets; }

std::optional<Target> FindTarget(std::string_view name) {
  for (const Target& target : kTargets) {
    if (target.name == name) return target;
  }
  return std::nullopt;
}

}  // namespace stowplan
