// SPDX-License-Identifier: Apache-2.0
#include "check/memory.h"

#include <algorithm>

namespace stowplan::check {

void Memory::Know(uint32_t allocation, Pieces::iterator row) {
  const ContentId content = row->second.content;
  if (content >= latest_.size()) latest_.resize(size_t{content} * 2 + 1);
  latest_[content] = {&row->second, allocation, row->first};
}

void Memory::Forget(Pieces::iterator row) {
  Latest& latest = latest_[row->second.content];
  if (latest.piece == &row->second) latest.piece = nullptr;
}

void Memory::Insert(uint32_t allocation, Pieces::iterator next, int64_t begin, const Piece& piece) {
  Know(allocation, pieces_[allocation].emplace_hint(next, begin, piece));
}

void Memory::Erase(uint32_t allocation, Pieces::iterator row) {
  Forget(row);
  pieces_[allocation].erase(row);
}

void Memory::Replace(uint32_t allocation, Pieces::iterator row, const Piece& piece) {
  Forget(row);
  row->second = piece;
  Know(allocation, row);
}

void Memory::Add(uint32_t allocation, Pieces::iterator next, int64_t begin, const Piece& piece,
                 bool is_write) {
  Insert(allocation, next, begin, piece);
  if (marks_ != 0) log_.push_back({Entry::Kind::kAdded, is_write, allocation, begin, piece});
}

void Memory::Remove(uint32_t allocation, Pieces::iterator row) {
  if (marks_ != 0)
    log_.push_back({Entry::Kind::kRemoved, false, allocation, row->first, row->second});
  Erase(allocation, row);
}

void Memory::Write(const Bytes& bytes, ContentId content, hlo::InstrId writer, uint32_t row,
                   int64_t step) {
  if (bytes.begin >= bytes.end) return;
  Pieces& pieces = pieces_[bytes.allocation];
  auto next = pieces.upper_bound(bytes.begin);
  if (next != pieces.begin() && std::prev(next)->second.end > bytes.begin) --next;
  if (marks_ == 0 && next != pieces.end() && next->first == bytes.begin &&
      next->second.end == bytes.end) {
    Replace(bytes.allocation, next, {bytes.end, content, bytes.begin, writer, row, step});
    return;
  }
  while (next != pieces.end() && next->first < bytes.end) {
    const int64_t begin = next->first;
    const Piece old = next->second;
    const auto after = std::next(next);
    Remove(bytes.allocation, next);
    if (begin < bytes.begin) {
      Piece rest = old;
      rest.end = bytes.begin;
      Add(bytes.allocation, after, begin, rest, /*is_write=*/false);
    }
    next = after;
    if (old.end <= bytes.end) continue;
    Add(bytes.allocation, after, bytes.end, old, /*is_write=*/false);
    next = std::prev(after);
  }
  Add(bytes.allocation, next, bytes.begin, {bytes.end, content, bytes.begin, writer, row, step},
      /*is_write=*/true);
}

std::optional<Memory::Mismatch> Memory::Find(const Bytes& bytes, ContentId content,
                                             int64_t since) const {
  if (bytes.begin >= bytes.end) return std::nullopt;
  if (content != kLost && content < latest_.size()) {
    const Latest& latest = latest_[content];
    if (latest.piece != nullptr && latest.allocation == bytes.allocation &&
        latest.begin <= bytes.begin && latest.piece->end >= bytes.end &&
        latest.piece->shift == bytes.begin)
      return std::nullopt;
  }
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
    Pieces& pieces = pieces_[entry.allocation];
    if (entry.kind == Entry::Kind::kAdded) {
      Erase(entry.allocation, pieces.find(entry.begin));
    } else {
      Insert(entry.allocation, pieces.upper_bound(entry.begin), entry.begin, entry.piece);
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
