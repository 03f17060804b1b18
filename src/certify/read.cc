// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <unordered_set>

#include "certify/certificate.h"
#include "certify/line_reader.h"

namespace stowplan::certify {

int64_t AddUp(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) Refuse("a sum does not fit in 64 bits");
  return sum;
}

namespace {

class Reader : private LineReader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Certificate Read() {
    std::istringstream lines(text_);
    std::string line;
    bool is_ended = false;
    while (std::getline(lines, line)) {
      CountLine();
      if (is_ended) Bad("something follows the end");
      if (number() == 1) {
        if (line != "stowplan-certificate 1") Bad("this is not a certificate of version 1");
        continue;
      }
      Begin(line);
      const std::string key = Word();
      if (key == "end") {
        is_ended = true;
      } else {
        Take(key);
      }
      if (!IsAtEnd()) Bad("the line is too long");
    }
    if (!is_ended) Bad("the end is missing");
    Finish();
    return std::move(read_);
  }

 private:
  std::vector<int64_t> Indices(size_t count) {
    std::vector<int64_t> numbers;
    while (!IsAtEnd()) numbers.push_back(static_cast<int64_t>(Index(count)));
    Need(!numbers.empty(), "a number is missing");
    std::vector<int64_t> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    Need(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
         "a number appears twice");
    return numbers;
  }
  void Once(std::optional<int64_t>& field) {
    Need(!field.has_value(), "the line appears twice");
    field = Number();
  }

  void Take(const std::string& key) {
    std::vector<Buffer>& buffers = read_.buffers;
    if (key == "pool") {
      Need(buffers.empty(), "pools come before buffers");
      read_.capacities.push_back(Number());
      Need(read_.capacities.back() >= 0, "a capacity is negative");
      Rest();
    } else if (key == "buffer") {
      TakeBuffer();
    } else if (key == "gap") {
      Buffer& buffer = buffers[Index(buffers.size())];
      const Piece gap = {Number(), Number(), Number(), Number()};
      const int64_t after = buffer.gaps.empty() ? buffer.start : buffer.gaps.back().end;
      Need(after <= gap.start && gap.start < gap.end && gap.end <= buffer.end && gap.low >= 0 &&
               gap.low <= gap.high && gap.high <= buffer.size,
           "the gap is not within the buffer, or not in order");
      buffer.gaps.push_back(gap);
    } else if (key == "pin") {
      Buffer& buffer = buffers[Index(buffers.size())];
      Need(buffer.pin < 0, "the buffer is pinned twice");
      buffer.pin = Number();
      Need(buffer.pin >= 0, "a pin is negative");
    } else if (key == "group") {
      read_.groups.push_back(Indices(buffers.size()));
    } else if (key == "apart") {
      const size_t first = Index(buffers.size());
      read_.apart.emplace_back(first, Index(buffers.size()));
    } else if (key == "choice") {
      Buffer& buffer = buffers[Index(buffers.size())];
      Need(buffer.pools.empty(), "the choice appears twice");
      buffer.pools = Indices(read_.capacities.size());
    } else if (key == "capacity") {
      Once(read_.capacity);
    } else if (key == "height") {
      Once(read_.height);
    } else if (key == "bound") {
      Once(read_.bound);
    } else if (key == "status") {
      Need(read_.status.empty(), "the line appears twice");
      read_.status = Rest();
    } else if (key == "witness") {
      Need(!read_.moment && read_.witness.empty(), "the line appears twice");
      const std::string kind = NextWord();
      Need(kind == "load" || kind == "buffers", "a witness is `load` or `buffers`");
      if (kind == "load") read_.moment = Number();
      if (kind == "buffers") read_.witness = Indices(buffers.size());
    } else {
      Bad("there is no line `" + key + "`");
    }
  }

  void TakeBuffer() {
    Buffer buffer = {Number(), Number(), Number(), Number(), Number(), Number(), Rest()};
    int64_t length = 0;
    Need(buffer.start < buffer.end && !__builtin_sub_overflow(buffer.end, buffer.start, &length) &&
             buffer.size >= 0 && buffer.alignment > 0 && buffer.offset >= -1,
         "the buffer makes no sense");
    Need(buffer.pool >= 0 &&
             static_cast<size_t>(buffer.pool) < std::max<size_t>(1, read_.capacities.size()),
         "there is no such pool");
    Need(ids_.insert(buffer.id).second, "the id appears twice");
    if (buffer.offset >= 0) AddUp(buffer.offset, buffer.size);
    sum_ = AddUp(sum_, AddUp(buffer.size, buffer.alignment));
    read_.buffers.push_back(std::move(buffer));
  }

  // Groups become items, and so does each buffer that is in none.
  void Finish() {
    Need(read_.bound && (read_.moment || !read_.witness.empty()),
         "the bound or the witness is missing");
    std::vector<bool> is_grouped(read_.buffers.size());
    for (const std::vector<int64_t>& group : read_.groups) {
      read_.items.emplace_back();
      for (const int64_t member : group) {
        Need(!is_grouped[static_cast<size_t>(member)], "a buffer is in two groups");
        is_grouped[static_cast<size_t>(member)] = true;
        read_.items.back().members.push_back(static_cast<size_t>(member));
      }
    }
    for (size_t b = 0; b < read_.buffers.size(); ++b)
      if (!is_grouped[b]) read_.items.push_back({.members = {b}});
    for (size_t i = 0; i < read_.items.size(); ++i) FinishItem(i);
  }

  void FinishItem(size_t number) {
    Item& item = read_.items[number];
    std::vector<Piece> pieces;
    for (const size_t b : item.members) {
      Buffer& buffer = read_.buffers[b];
      buffer.item = number;
      item.size = std::max(item.size, buffer.size);
      const int64_t step = buffer.alignment / std::gcd(item.alignment, buffer.alignment);
      Need(!__builtin_mul_overflow(item.alignment, step, &item.alignment), "an alignment is huge");
      Need(item.pin < 0 || buffer.pin < 0 || item.pin == buffer.pin, "a group has two pins");
      if (buffer.pin >= 0) item.pin = buffer.pin;
      int64_t time = buffer.start;
      for (const Piece& gap : buffer.gaps) {
        if (time < gap.start) pieces.push_back({time, gap.start, 0, buffer.size});
        pieces.push_back(gap);
        time = gap.end;
      }
      if (time < buffer.end) pieces.push_back({time, buffer.end, 0, buffer.size});
    }
    Need(item.pin <= 0 || item.pin % item.alignment == 0, "a pin is not aligned");
    sum_ = AddUp(sum_, AddUp(std::max<int64_t>(item.pin, 0), item.alignment));
    std::erase_if(pieces, [](const Piece& piece) { return piece.low == piece.high; });
    if (item.members.size() == 1) {
      item.pieces = std::move(pieces);
      return;
    }
    // The union of what members need, between each two moments at which that changes.
    std::set<int64_t> times;
    for (const Piece& piece : pieces) times.insert({piece.start, piece.end});
    std::sort(pieces.begin(), pieces.end(), [](auto& a, auto& b) { return a.low < b.low; });
    for (auto time = times.begin(); time != times.end() && std::next(time) != times.end(); ++time) {
      const size_t first = item.pieces.size();
      for (const Piece& piece : pieces) {
        if (piece.start > *time || piece.end <= *time) continue;
        if (item.pieces.size() > first && item.pieces.back().high >= piece.low) {
          item.pieces.back().high = std::max(item.pieces.back().high, piece.high);
        } else {
          item.pieces.push_back({*time, *std::next(time), piece.low, piece.high});
        }
      }
    }
  }

  const std::string& text_;
  std::unordered_set<std::string> ids_;
  int64_t sum_ = 0;  // of all sizes, alignments and pins: no sum of the checks is larger
  Certificate read_;
};

}  // namespace

Certificate ReadCertificate(const std::string& text) { return Reader(text).Read(); }

}  // namespace stowplan::certify
