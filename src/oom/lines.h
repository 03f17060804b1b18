// SPDX-License-Identifier: Apache-2.0
// A log's lines without what loggers, terminals and e-mail add to them.
//
//     (Train pid=77) 2026-01-02 10:11:12.345678: W bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran
//     > \x1b[31mE0102 10:11:12.345678   42 client.cc:12]      Size: 6.00MiB\x1b[0m
//
// become "Allocator (GPU_0_bfc) ran" and "Size: 6.00MiB". A message inside a string, with \n as
// line ends, becomes several lines. Long lines are split between words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace stowplan::oom {

struct Line {
  std::string text;    // clean, without blanks around it; runs of blanks inside are one
  std::string lower;   // the same in lower case
  int64_t number = 0;  // in the text, from 1
  bool is_clean = false;
  bool is_hot = false;  // has one of the words that occur in messages about memory
};

// The line without prefixes, control characters and outer blanks.
std::string CleanLine(std::string_view raw);

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  // The next line; the pointer is valid until the next call. Null at the end. Lines that are not
  // hot are cleaned only when `wants_cold`.
  const Line* Next(bool wants_cold);
  // The lines after the current one, for messages that continue there; fewer at the end. They are
  // cleaned on demand.
  [[nodiscard]] size_t ahead_count() const { return ahead_.size(); }
  const Line& Ahead(size_t i) { return Cleaned(ahead_[i]); }
  [[nodiscard]] bool is_hot_ahead() const { return !ahead_.empty() && ahead_.front().is_hot; }
  static constexpr size_t kAhead = 4;

  [[nodiscard]] int64_t count() const { return count_; }

 private:
  static const Line& Cleaned(Line& line);
  void Fill();
  void Push(std::string_view raw, int64_t number);

  std::string_view rest_;
  std::deque<Line> ahead_;
  Line current_;
  int64_t count_ = 0;
};

}  // namespace stowplan::oom
