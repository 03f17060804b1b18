// SPDX-License-Identifier: Apache-2.0
#include "view/page_names.h"

#include <algorithm>

namespace stowplan::view {
namespace {

constexpr size_t kLongest = 120;  // disks allow 255; a folder is to be read by people

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string StemOf(std::string_view module) {
  std::string stem;
  for (const char c : module.substr(0, kLongest)) {
    const bool is_safe = IsLetter(c) || IsDigit(c) || c == '_' || c == '-' || c == '.';
    stem += is_safe ? c : '_';
  }
  if (stem.empty() || !(IsLetter(stem[0]) || IsDigit(stem[0]))) stem.insert(0, "m");
  return stem;
}

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

}  // namespace

std::string PageNames::NameFor(std::string_view module) {
  const std::string stem = StemOf(module);
  if (taken_.empty()) taken_.emplace(kIndexPage);
  int64_t& count = counts_[Lower(stem)];
  for (;;) {
    ++count;
    std::string name = stem + (count == 1 ? "" : "-" + std::to_string(count)) + ".html";
    if (taken_.insert(Lower(name)).second) return name;
  }
}

}  // namespace stowplan::view
