// SPDX-License-Identifier: Apache-2.0
// Memory whose contents are names instead of bytes.
//
// A name stands for what an array holds: equal names mean equal bytes. A thunk's result is named by
// the kernel and by the names of what it reads, so two executions have the same name only if they
// compute the same. Names are numbers of exact keys, not hashes: no two keys share one.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "executable/program.h"

namespace stowplan::executable {

using ContentName = uint32_t;
inline constexpr ContentName kUndefined = 0;  // never written

class NamePool {
 public:
  // The number of a key; the same for the same key.
  ContentName Find(std::span<const uint64_t> key);

 private:
  struct Hash {
    size_t operator()(const std::vector<uint64_t>& key) const;
  };
  std::unordered_map<std::vector<uint64_t>, ContentName, Hash> names_;
};

// Bytes [begin, end) hold those of `name` from `offset` on.
struct Piece {
  int64_t begin = 0;
  int64_t end = 0;
  ContentName name = kUndefined;
  int64_t offset = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};

class Contents {
 public:
  explicit Contents(size_t allocations) : allocations_(allocations) {}

  // The contents of a slice, without gaps, positions relative to it. Pieces that continue each
  // other are one, so the same contents give the same pieces.
  [[nodiscard]] std::vector<Piece> Read(const Slice& slice) const;
  // The slice holds `name` from `offset` on.
  void Write(const Slice& slice, ContentName name, int64_t offset);

 private:
  struct Held {
    int64_t end = 0;
    ContentName name = kUndefined;
    int64_t offset = 0;
  };
  // Splits the piece that contains `at`, if there is one.
  static void Cut(std::map<int64_t, Held>& held, int64_t at);

  // By begin; they do not overlap. Bytes in none of them are undefined.
  std::vector<std::map<int64_t, Held>> allocations_;
};

}  // namespace stowplan::executable
