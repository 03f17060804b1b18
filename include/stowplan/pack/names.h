// SPDX-License-Identifier: Apache-2.0
// Many short strings, stored one after the other: a million ids take a few bytes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stowplan::pack {

class Names {
 public:
  // All strings together must be smaller than 4 GiB.
  void Add(std::string_view name) {
    text_ += name;
    ends_.push_back(static_cast<uint32_t>(text_.size()));
  }
  // Memory that is reserved but never used costs nothing, because it is never touched.
  void Reserve(size_t count, size_t bytes) {
    ends_.reserve(count);
    text_.reserve(bytes);
  }

  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] size_t size() const { return ends_.size(); }
  // Valid until the next Add.
  [[nodiscard]] std::string_view operator[](size_t k) const {
    const size_t begin = k == 0 ? 0 : ends_[k - 1];
    return std::string_view(text_).substr(begin, ends_[k] - begin);
  }

 private:
  std::string text_;
  std::vector<uint32_t> ends_;
};

}  // namespace stowplan::pack
