// SPDX-License-Identifier: Apache-2.0
#include "check/memory.h"

#include <algorithm>

namespace stowplan::check {

void Memory::Add(uint32_t allocation, int64_t begin, const Piece& piece, bool is_write) {
  pieces_[allocation].emplace(begin, piece);
  if (marks_ != 0) log_.push_back({Entry::Kind::kAdded, is_write, allocation, begin, piece});
}

void Memory::Remove(uint32_t allocation, Pieces::iterator row) {
  if (marks_ != 0)
    log_.push_back({Entry::Kind::kRemoved, false, allocation, row->first, row->second});
  pieces_[allocation].erase(row);
}

void Memory::Write(const Bytes& bytes, ContentId content, hlo::InstrId writer, uint32_t row,
                   int64_t step) {
  if (bytes.begin >= bytes.end) return;
  Pieces& pieces = pieces_[bytes.allocation];
  auto next = pieces.upper_bound(bytes.begin);
  if (next != pieces.begin() && std::prev(next)->second.end > bytes.begin) --next;
  while (next != pieces.end() && next->first < bytes.end) {
    const int64_t begin = next->first;
    const Piece old = next->second;
    const auto after = std::next(next);
    Remove(bytes.allocation, next);
    if (begin < bytes.begin) {
      Piece rest = old;
      rest.end = bytes.begin;
      Add(bytes.allocation, begin, rest, /*is_write=*/false);
    }
    if (old.end > bytes.end) Add(bytes.allocation, bytes.end, old, /*is_write=*/false);
    next = after;
  }
  Add(bytes.allocation, bytes.begin, {bytes.end, content, bytes.begin, writer, row, step},
      /*is_write=*/true);
}

std::optional<Memory::Mismatch> Memory::Find(const Bytes& bytes, ContentId content,
                                             int64_t since) const {
  if (bytes.begin >= bytes.end) return std::nullopt;
  const Pieces& pieces = pieces_[bytes.allocation];
  auto next = pieces.upper_bound(bytes.begin);
  if (next != pieces.begin() && std::prev(next)->second.end > bytes.begin) --next;
  for (int64_t at = bytes.begin; at < bytes.end; ++next) {
    if (next == pieces.end() || next->first > at) {
      const int64_t end = next == pieces.end() ? bytes.end : std::min(bytes.end, next->first);
      return Mismatch{at, end, std::nullopt};
    }
    const Piece& piece = next->second;
    if ((piece.content != content || piece.shift != bytes.begin) && piece.step > since)
      return Mismatch{at, std::min(bytes.end, piece.end), piece};
    at = piece.end;
  }
  return std::nullopt;
}

std::optional<Memory::Mismatch> Memory::FindLater(const Bytes& bytes, int64_t step) const {
  const Pieces& pieces = pieces_[bytes.allocation];
  auto next = pieces.upper_bound(bytes.begin);
  if (next != pieces.begin() && std::prev(next)->second.end > bytes.begin) --next;
  for (; next != pieces.end() && next->first < bytes.end; ++next) {
    if (next->second.step > step)
      return Mismatch{std::max(bytes.begin, next->first), std::min(bytes.end, next->second.end),
                      next->second};
  }
  return std::nullopt;
}

std::vector<Memory::Mismatch> Memory::FindRivals(const Bytes& bytes, int64_t step,
                                                 uint32_t row) const {
  std::vector<Mismatch> rivals;
  const Pieces& pieces = pieces_[bytes.allocation];
  auto next = pieces.upper_bound(bytes.begin);
  if (next != pieces.begin() && std::prev(next)->second.end > bytes.begin) --next;
  for (; next != pieces.end() && next->first < bytes.end; ++next) {
    if (next->second.step == step && next->second.row != row)
      rivals.push_back({std::max(bytes.begin, next->first), std::min(bytes.end, next->second.end),
                        next->second});
  }
  return rivals;
}

Memory::Mark Memory::Begin() {
  ++marks_;
  return log_.size();
}

std::vector<Memory::Change> Memory::Undo(Mark mark) {
  std::vector<Change> changes;
  for (size_t k = mark; k < log_.size(); ++k) {
    const Entry& entry = log_[k];
    if (!entry.is_write) continue;
    changes.push_back({{entry.allocation, entry.begin, entry.piece.end},
                       entry.piece.writer,
                       entry.piece.row,
                       entry.piece.step});
  }
  while (log_.size() > mark) {
    const Entry& entry = log_.back();
    if (entry.kind == Entry::Kind::kAdded) {
      pieces_[entry.allocation].erase(entry.begin);
    } else {
      pieces_[entry.allocation].emplace(entry.begin, entry.piece);
    }
    log_.pop_back();
  }
  --marks_;
  return changes;
}

void Memory::Keep(Mark mark) {
  --marks_;
  if (marks_ == 0) log_.resize(mark);
}

}  // namespace stowplan::check
