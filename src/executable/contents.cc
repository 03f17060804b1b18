// SPDX-License-Identifier: Apache-2.0
#include "executable/contents.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/hash.h"

namespace stowplan::executable {

size_t NamePool::Hash::operator()(const std::vector<uint64_t>& key) const {
  return HashBytes({reinterpret_cast<const char*>(key.data()), key.size() * sizeof(uint64_t)});
}

ContentName NamePool::Find(std::span<const uint64_t> key) {
  // Number 0 is kUndefined.
  const auto next = static_cast<ContentName>(names_.size() + 1);
  return names_.emplace(std::vector<uint64_t>(key.begin(), key.end()), next).first->second;
}

std::vector<Piece> Contents::Read(const Slice& slice) const {
  const std::map<int64_t, Held>& held = allocations_[static_cast<size_t>(slice.allocation)];
  const int64_t end = slice.offset + slice.size;
  std::vector<Piece> out;
  int64_t at = slice.offset;
  const auto add = [&](int64_t piece_end, ContentName name, int64_t offset) {
    const Piece piece = {at - slice.offset, piece_end - slice.offset, name, offset};
    at = piece_end;
    if (!out.empty()) {
      Piece& last = out.back();
      const bool continues = last.name == name && (name == kUndefined ||
                                                   last.offset + (last.end - last.begin) == offset);
      if (continues) {
        last.end = piece.end;
        return;
      }
    }
    out.push_back(piece);
  };
  auto it = held.upper_bound(at);
  if (it != held.begin()) --it;
  for (; it != held.end() && it->first < end; ++it) {
    const auto& [begin, what] = *it;
    if (what.end <= at) continue;
    if (begin > at) add(begin, kUndefined, 0);
    if (at >= end) break;
    add(std::min(end, what.end), what.name,
        what.name == kUndefined ? 0 : what.offset + (at - begin));
  }
  if (at < end) add(end, kUndefined, 0);
  return out;
}

void Contents::Cut(std::map<int64_t, Held>& held, int64_t at) {
  const auto next = held.lower_bound(at);
  if (next == held.begin()) return;
  const auto it = std::prev(next);
  const Held whole = it->second;
  if (whole.end <= at) return;
  it->second.end = at;
  held.emplace_hint(next, at,
                    Held{.end = whole.end,
                         .name = whole.name,
                         .offset = whole.name == kUndefined ? 0 : whole.offset + at - it->first});
}

void Contents::Write(const Slice& slice, ContentName name, int64_t offset) {
  if (slice.size == 0) return;
  std::map<int64_t, Held>& held = allocations_[static_cast<size_t>(slice.allocation)];
  const int64_t end = slice.offset + slice.size;
  Cut(held, slice.offset);
  Cut(held, end);
  held.erase(held.lower_bound(slice.offset), held.lower_bound(end));
  held[slice.offset] = {.end = end, .name = name, .offset = offset};
}

}  // namespace stowplan::executable
