// SPDX-License-Identifier: Apache-2.0
// Lines of a certificate: a word, then numbers, each after one blank.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

#include "certify/certificate.h"

namespace stowplan::certify {

// What the readers of both kinds of certificate have in common. Refuses whatever is not as it
// should be, and names the line.
class LineReader {
 protected:
  // `line` must outlive the reading of it.
  void Begin(const std::string& line) {
    at_ = line.data();
    end_ = line.data() + line.size();
  }
  void CountLine() { ++number_; }
  [[nodiscard]] size_t number() const { return number_; }
  [[nodiscard]] bool IsAtEnd() const { return at_ == end_; }

  [[noreturn]] void Bad(const std::string& words) const {
    Refuse("line " + std::to_string(number_) + ": " + words);
  }
  void Need(bool is_so, const char* words) const {
    if (!is_so) Bad(words);
  }
  std::string Word() {
    const char* const begin = at_;
    while (at_ != end_ && *at_ != ' ') ++at_;
    return {begin, at_};
  }
  // A word after the first one.
  std::string NextWord() {
    if (at_ != end_) ++at_;
    return Word();
  }
  int64_t Number() {
    int64_t number = 0;
    Need(at_ != end_ && *at_ == ' ', "a number is missing");
    const auto [next, error] = std::from_chars(at_ + 1, end_, number);
    if (error != std::errc() || (next != end_ && *next != ' ')) Bad("expected a number");
    at_ = next;
    return number;
  }
  // The number of something that there is.
  size_t Index(size_t count) {
    const int64_t number = Number();
    Need(number >= 0 && static_cast<size_t>(number) < count, "there is no such number");
    return static_cast<size_t>(number);
  }
  std::string Rest() {
    std::string rest(at_ == end_ ? at_ : at_ + 1, end_);
    at_ = end_;
    return rest;
  }

 private:
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  size_t number_ = 0;
};

}  // namespace stowplan::certify
