// SPDX-License-Identifier: Apache-2.0
// The algorithm is that of Alakuijala, Cox, Wassenberg, "Fast keyed hash/pseudo-random function
// using SIMD multiply and permute" (2016): four lanes of state, multiplied and permuted for each
// packet of 32 bytes.
#include "executable/highway_hash.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace stowplan::executable {
namespace {

constexpr size_t kPacket = 32;
using Lanes = std::array<uint64_t, 4>;

constexpr Lanes kFirstMultipliers = {0xdbe6d5d5fe4cce2fU, 0xa4093822299f31d0U, 0x13198a2e03707344U,
                                     0x243f6a8885a308d3U};
constexpr Lanes kSecondMultipliers = {0x3bd39e10cb0ef593U, 0xc0acf169b5f18a8cU, 0xbe5466cf34e90c6cU,
                                      0x452821e638d01377U};

uint64_t SwapHalves(uint64_t value) { return std::rotl(value, 32); }

// Byte `from` of `value`, moved to byte `to`.
constexpr uint64_t Move(uint64_t value, unsigned from, unsigned to) {
  return (value >> (8 * from) & 0xffU) << (8 * to);
}

// Interleaves the bytes of two lanes and adds them to two others. The order of bytes is fixed by
// the paper, so that the well mixed middle bytes of the products reach the places that need them.
void ZipperMergeAdd(uint64_t high, uint64_t low, uint64_t& add_high, uint64_t& add_low) {
  add_low += Move(low, 3, 0) | Move(high, 4, 1) | Move(low, 2, 2) | Move(low, 5, 3) |
             Move(high, 6, 4) | Move(low, 1, 5) | Move(high, 7, 6) | Move(low, 0, 7);
  add_high += Move(high, 3, 0) | Move(low, 4, 1) | Move(high, 2, 2) | Move(high, 5, 3) |
              Move(high, 1, 4) | Move(low, 6, 5) | Move(high, 0, 6) | Move(low, 7, 7);
}

class HashState {
 public:
  explicit HashState(const HighwayKey& key) {
    for (size_t i = 0; i < 4; ++i) {
      v0_[i] = kFirstMultipliers[i] ^ key[i];
      v1_[i] = kSecondMultipliers[i] ^ SwapHalves(key[i]);
    }
  }

  void Update(const Lanes& lanes) {
    for (size_t i = 0; i < 4; ++i) {
      v1_[i] += mul0_[i] + lanes[i];
      mul0_[i] ^= (v1_[i] & 0xffffffffU) * (v0_[i] >> 32U);
      v0_[i] += mul1_[i];
      mul1_[i] ^= (v0_[i] & 0xffffffffU) * (v1_[i] >> 32U);
    }
    for (const size_t i : {size_t{0}, size_t{2}})
      ZipperMergeAdd(v1_[i + 1], v1_[i], v0_[i + 1], v0_[i]);
    for (const size_t i : {size_t{0}, size_t{2}})
      ZipperMergeAdd(v0_[i + 1], v0_[i], v1_[i + 1], v1_[i]);
  }

  void UpdatePacket(const char* packet) {
    static_assert(std::endian::native == std::endian::little);
    Lanes lanes{};
    std::memcpy(lanes.data(), packet, kPacket);
    Update(lanes);
  }

  // The last 1 to 31 bytes.
  void UpdateRest(std::string_view rest) {
    const auto size = static_cast<uint32_t>(rest.size());
    for (size_t i = 0; i < 4; ++i) {
      v0_[i] += (uint64_t{size} << 32U) + size;
      const auto low = std::rotl(static_cast<uint32_t>(v1_[i]), static_cast<int>(size));
      const auto high = std::rotl(static_cast<uint32_t>(v1_[i] >> 32U), static_cast<int>(size));
      v1_[i] = uint64_t{high} << 32U | low;
    }
    const size_t whole = rest.size() & ~size_t{3};
    const size_t last = rest.size() & 3U;
    std::array<char, kPacket> packet{};
    std::memcpy(packet.data(), rest.data(), whole);
    if ((rest.size() & 16U) != 0) {
      std::memcpy(packet.data() + 28, rest.data() + rest.size() - 4, 4);
    } else if (last != 0) {
      packet[16] = rest[whole];
      packet[17] = rest[whole + last / 2];
      packet[18] = rest[whole + last - 1];
    }
    UpdatePacket(packet.data());
  }

  uint64_t Finish() {
    for (int round = 0; round < 4; ++round) {
      Update({SwapHalves(v0_[2]), SwapHalves(v0_[3]), SwapHalves(v0_[0]), SwapHalves(v0_[1])});
    }
    return v0_[0] + v1_[0] + mul0_[0] + mul1_[0];
  }

 private:
  Lanes v0_{};
  Lanes v1_{};
  Lanes mul0_ = kFirstMultipliers;
  Lanes mul1_ = kSecondMultipliers;
};

}  // namespace

uint64_t HighwayHash64(std::string_view bytes, const HighwayKey& key) {
  HashState state(key);
  while (bytes.size() >= kPacket) {
    state.UpdatePacket(bytes.data());
    bytes.remove_prefix(kPacket);
  }
  if (!bytes.empty()) state.UpdateRest(bytes);
  return state.Finish();
}

}  // namespace stowplan::executable
