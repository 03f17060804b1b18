// SPDX-License-Identifier: Apache-2.0
#include "executable/snappy.h"

#include <algorithm>
#include <cstdint>

namespace stowplan::executable {
namespace {

// A size before the data, as a varint of at most 32 bits.
std::optional<uint32_t> TakeSize(std::string_view& in) {
  uint64_t size = 0;
  for (unsigned shift = 0; shift < 35 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    size |= static_cast<uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) {
      return size <= UINT32_MAX ? std::optional(static_cast<uint32_t>(size)) : std::nullopt;
    }
  }
  return std::nullopt;
}

// A little-endian number of `count` bytes.
std::optional<size_t> TakeNumber(std::string_view& in, size_t count) {
  if (in.size() < count) return std::nullopt;
  size_t number = 0;
  for (size_t i = 0; i < count; ++i)
    number |= static_cast<size_t>(static_cast<unsigned char>(in[i])) << (8 * i);
  in.remove_prefix(count);
  return number;
}

// Bytes that were written before, `distance` back; they may overlap what they make.
bool CopyBack(size_t distance, size_t length, std::string& out) {
  if (distance == 0 || distance > out.size()) return false;
  for (size_t i = 0; i < length; ++i) out += out[out.size() - distance];
  return true;
}

}  // namespace

std::optional<std::string> Unsnappy(std::string_view bytes, size_t max_size) {
  const std::optional<uint32_t> size = TakeSize(bytes);
  if (!size || *size > max_size) return std::nullopt;
  std::string out;
  // The size is only a claim: a byte of input makes at most 64 / 3 bytes of output.
  out.reserve(std::min<size_t>(*size, bytes.size() * 22 + 64));
  while (!bytes.empty()) {
    const auto tag = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    const unsigned kind = tag & 3U;
    size_t length = tag >> 2U;
    if (kind == 0) {
      constexpr size_t kShort = 60;  // longer literals have their length in the next 1 to 4 bytes
      if (length >= kShort) {
        const std::optional<size_t> longer = TakeNumber(bytes, length - kShort + 1);
        if (!longer) return std::nullopt;
        length = *longer;
      }
      ++length;
      if (length > bytes.size() || length > *size - out.size()) return std::nullopt;
      out += bytes.substr(0, length);
      bytes.remove_prefix(length);
      continue;
    }
    std::optional<size_t> distance = TakeNumber(bytes, kind == 1 ? 1 : kind == 2 ? 2 : 4);
    if (!distance) return std::nullopt;
    if (kind == 1) {
      *distance |= (length >> 3U) << 8U;
      length = (length & 7U) + 4;
    } else {
      ++length;
    }
    if (length > *size - out.size() || !CopyBack(*distance, length, out)) return std::nullopt;
  }
  return out.size() == *size ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace stowplan::executable
