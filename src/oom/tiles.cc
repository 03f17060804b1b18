// SPDX-License-Identifier: Apache-2.0
#include "oom/tiles.h"

#include <algorithm>

#include "oom/text.h"

namespace stowplan::oom {
namespace {

constexpr size_t kMostDimensions = 32;

// "8,128" as numbers; absent when one is not a number, or too large to be a dimension.
std::optional<std::vector<int64_t>> Numbers(std::string_view text) {
  std::vector<int64_t> numbers;
  text = Trimmed(text);
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    std::string_view word = Trimmed(text.substr(0, end));
    if (word.starts_with("<=")) word.remove_prefix(2);  // a bound of a dynamic dimension
    if (word.empty() || word.size() > 15 || !std::ranges::all_of(word, IsDigit))
      return std::nullopt;
    int64_t number = 0;
    for (const char c : word) number = number * 10 + (c - '0');
    numbers.push_back(number);
    if (numbers.size() > kMostDimensions) return std::nullopt;
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return numbers;
}

double Rounded(int64_t size, int64_t step) {
  const int64_t tiles = size / step + (size % step != 0 ? 1 : 0);
  return static_cast<double>(tiles) * static_cast<double>(step);
}

// The dimensions that the tile's two sides lie along; -1: no such dimension.
struct Sides {
  int64_t second = -1;
  int64_t minor = -1;
};
Sides SidesOf(const TiledShape& shape) {
  Sides sides;
  if (shape.tile.size() != 2 || shape.minor_to_major.empty()) return sides;
  sides.minor = shape.minor_to_major[0];
  if (shape.minor_to_major.size() > 1) sides.second = shape.minor_to_major[1];
  return sides;
}

}  // namespace

std::optional<TiledShape> ParseShape(std::string_view text) {
  TiledShape shape;
  text = Trimmed(text);
  const size_t open = text.find('[');
  const size_t close = text.find(']', std::min(open, text.size()));
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  if (open > 16 ||
      !std::ranges::all_of(text.substr(0, open), [](char c) { return IsLetter(c) || IsDigit(c); }))
    return std::nullopt;
  shape.type = text.substr(0, open);
  std::optional<std::vector<int64_t>> dimensions = Numbers(text.substr(open + 1, close - open - 1));
  if (!dimensions) return std::nullopt;
  shape.dimensions = *std::move(dimensions);
  const std::string_view layout = text.substr(close + 1);
  if (!layout.starts_with('{')) return shape;
  const size_t end = layout.find_first_of(":}");
  if (end == std::string_view::npos) return shape;
  std::optional<std::vector<int64_t>> order = Numbers(layout.substr(1, end - 1));
  if (!order || order->size() != shape.dimensions.size()) return shape;
  std::vector<int64_t> sorted = *order;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i)) return shape;
  shape.minor_to_major = *std::move(order);
  const std::string_view tile = Between(layout, ":T(", ")");
  if (std::optional<std::vector<int64_t>> sides = Numbers(tile);
      sides && std::ranges::all_of(*sides, [](int64_t n) { return n > 0; }))
    shape.tile = *std::move(sides);
  return shape;
}

std::string WasteWords(const TiledShape& shape) {
  const Sides sides = SidesOf(shape);
  std::string words;
  const auto add = [&](int64_t dimension, int64_t step) {
    if (dimension < 0) return;
    const int64_t size = shape.dimensions[static_cast<size_t>(dimension)];
    if (size <= 0 || size % step == 0) return;
    if (!words.empty()) words += ", ";
    words += "dimension " + std::to_string(dimension) + " has " + std::to_string(size) +
             " elements and takes " + std::to_string(size - size % step + step);
  };
  if (shape.tile.size() != 2) return words;
  add(sides.minor, shape.tile[1]);
  add(sides.second, shape.tile[0]);
  return words;
}

std::optional<CheaperOrder> FindCheaperOrder(const TiledShape& shape) {
  const Sides sides = SidesOf(shape);
  if (sides.second < 0) return std::nullopt;
  // How much larger the two dimensions make it: the others count in full anyway.
  const auto growth = [&](int64_t second, int64_t minor) {
    const int64_t rows = shape.dimensions[static_cast<size_t>(second)];
    const int64_t columns = shape.dimensions[static_cast<size_t>(minor)];
    if (rows <= 0 || columns <= 0) return 1.0;
    return Rounded(rows, shape.tile[0]) / static_cast<double>(rows) *
           Rounded(columns, shape.tile[1]) / static_cast<double>(columns);
  };
  const double now = growth(sides.second, sides.minor);
  std::optional<CheaperOrder> best;
  const auto count = static_cast<int64_t>(shape.dimensions.size());
  for (int64_t minor = 0; minor < count; ++minor) {
    for (int64_t second = 0; second < count; ++second) {
      if (second == minor) continue;
      const double factor = growth(second, minor) / now;
      if (factor < 0.9 && (!best || factor < best->factor))
        best = CheaperOrder{.second = second, .minor = minor, .factor = factor};
    }
  }
  return best;
}

}  // namespace stowplan::oom
