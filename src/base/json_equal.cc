// SPDX-License-Identifier: Apache-2.0
#include "base/json_equal.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stowplan {
namespace {

// A value at the end of a path of keys and positions: {"a":[1,2]} has  .a[0] = 1  and  .a[1] = 2.
// Sorted, these leaves do not tell in which order the keys stood.
using Leaf = std::pair<std::string, std::string_view>;
using Leaves = std::vector<Leaf>;

class JsonFlattener {
 public:
  explicit JsonFlattener(std::string_view text) : rest_(text) {}

  // Nothing when the text is not JSON, or too deep.
  std::optional<Leaves> Run() {
    if (!Value()) return std::nullopt;
    while (!levels_.empty()) {
      if (!Step()) return std::nullopt;
    }
    SkipBlanks();
    if (!rest_.empty()) return std::nullopt;
    std::ranges::sort(leaves_);
    return std::move(leaves_);
  }

 private:
  static constexpr size_t kMaxDepth = 1000;

  struct Level {
    bool is_array;
    size_t path_size;  // of the object or array itself
    int64_t count = 0;
  };

  void SkipBlanks() {
    const size_t next = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(next == std::string_view::npos ? rest_.size() : next);
  }

  bool Take(char c) {
    SkipBlanks();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<std::string_view> String() {
    SkipBlanks();
    if (rest_.empty() || rest_[0] != '"') return std::nullopt;
    size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2U : 1U;
    if (end >= rest_.size()) return std::nullopt;
    const std::string_view text = rest_.substr(0, end + 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  // A scalar, or the beginning of an object or array.
  bool Value() {
    SkipBlanks();
    if (rest_.empty()) return false;
    if (rest_[0] == '{' || rest_[0] == '[') {
      if (levels_.size() == kMaxDepth) return false;
      levels_.push_back({.is_array = rest_[0] == '[', .path_size = path_.size()});
      rest_.remove_prefix(1);
      return true;
    }
    std::optional<std::string_view> scalar;
    if (rest_[0] == '"') {
      scalar = String();
    } else {
      scalar = rest_.substr(0, rest_.find_first_of(",]} \t\r\n"));
      rest_.remove_prefix(scalar->size());
    }
    if (!scalar || scalar->empty()) return false;
    leaves_.emplace_back(path_, *scalar);
    return true;
  }

  // The next element of the innermost object or array, or its end.
  bool Step() {
    Level& level = levels_.back();
    path_.resize(level.path_size);
    if (Take(level.is_array ? ']' : '}')) {
      // An empty one would leave no trace.
      if (level.count == 0) leaves_.emplace_back(path_, level.is_array ? "[]" : "{}");
      levels_.pop_back();
      return true;
    }
    if (level.count != 0 && !Take(',')) return false;
    if (level.is_array) {
      path_ += "[" + std::to_string(level.count) + "]";
    } else {
      const auto key = String();
      if (!key || !Take(':')) return false;
      path_ += ".";
      path_ += *key;
    }
    ++level.count;
    return Value();
  }

  std::string_view rest_;
  std::string path_;
  std::vector<Level> levels_;
  Leaves leaves_;
};

}  // namespace

bool SameJson(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto x = JsonFlattener(a).Run();
  const auto y = JsonFlattener(b).Run();
  return x && y && *x == *y;
}

}  // namespace stowplan
