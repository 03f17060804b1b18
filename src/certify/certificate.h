// SPDX-License-Identifier: Apache-2.0
// What a certificate contains (docs/pack.md), and the three steps of the check. Nothing here uses
// the library, so a mistake there is not repeated here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stowplan::certify {

struct Piece {  // bytes [low, high) are in use in [start, end)
  int64_t start, end, low, high;
};

struct Buffer {
  int64_t start, end, size, alignment, offset, pool;
  std::string id;
  int64_t pin = -1;
  size_t item = 0;
  std::vector<Piece> gaps;
  std::vector<int64_t> pools;  // where it may be; empty: anywhere
};

// A buffer or a group of buffers: whatever has one offset.
struct Item {
  std::vector<size_t> members;
  std::vector<Piece> pieces;  // no two share a byte at one moment
  int64_t size = 0;
  int64_t alignment = 1;
  int64_t pin = -1;
};

struct Certificate {
  std::vector<int64_t> capacities;  // by pool
  std::vector<Buffer> buffers;
  std::vector<std::vector<int64_t>> groups;
  std::vector<std::pair<int64_t, int64_t>> apart;
  std::optional<int64_t> capacity, height, bound, moment;
  std::vector<int64_t> witness;
  std::string status;
  std::vector<Item> items;
};

// Ends the program: this is not a certificate.
[[noreturn]] void Refuse(const std::string& words);
// Ends the program: the certificate is wrong.
[[noreturn]] void Deny(const std::string& words);
// Refuses sums that do not fit.
int64_t AddUp(int64_t a, int64_t b);

// Checks that every number in it refers to something, and that no sum overflows.
Certificate ReadCertificate(const std::string& text);

void CheckPlan(const Certificate& certificate);

enum class Proof : uint8_t {
  kProved,   // there is no plan
  kRefuted,  // there is one
  kGaveUp,
};

// Whether the items have no plan that is at most `ceiling` high, by trying all orders of pairs.
// `nodes` limits the number of tries.
Proof ProveNone(const Certificate& certificate, const std::vector<size_t>& items, int64_t ceiling,
                int64_t nodes);

}  // namespace stowplan::certify
