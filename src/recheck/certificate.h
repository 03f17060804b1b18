// SPDX-License-Identifier: Apache-2.0
// A certificate of `stowplan check`: words and numbers. docs/check-certificate.md defines them.
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace stowplan::recheck {

// The certificate does not hold. Any other exception means that it is not a certificate.
struct Denial : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void Need(bool is_so, const std::string& words) {
  if (!is_so) throw std::runtime_error(words);
}

// A part of what an instruction returns, and where the plan puts it.
struct Part {
  std::string name;
  int64_t size = 0;
  int64_t allocation = -1;  // its number; -1: the plan names no place
  int64_t offset = 0;
};

// What is said about a module before its program begins.
struct Section {
  std::string module;
  std::map<int64_t, int64_t> sizes;  // of allocations, by their numbers
  std::vector<Part> parts;
};

// Reads a certificate word by word.
struct Input {
  std::istringstream text;
  int64_t count = 0;  // of words so far

  // Empty at the end.
  std::string Word() {
    std::string word;
    text >> word;
    ++count;
    return word;
  }
  int64_t Number() {
    const std::string word = Word();
    int64_t number = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    Need(error == std::errc() && *end == '\0' && number >= 0, "`" + word + "` is no number");
    return number;
  }
};

// Up to the first word of the program, which is left in `word`.
inline Section ReadSection(Input& input, std::string& word) {
  Section section = {.module = input.Word()};
  for (word = input.Word(); word == "allocation"; word = input.Word()) {
    const int64_t number = input.Number();
    Need(section.sizes.emplace(number, input.Number()).second, "it is there twice");
  }
  for (; word == "part" || word == "placed"; word = input.Word()) {
    Part part = {.name = input.Word(), .size = input.Number()};
    if (word == "placed") part.allocation = input.Number();
    if (word == "placed") part.offset = input.Number();
    Need(word == "part" || section.sizes.contains(part.allocation), "no such allocation");
    section.parts.push_back(std::move(part));
  }
  return section;
}

}  // namespace stowplan::recheck
