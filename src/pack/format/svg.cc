// SPDX-License-Identifier: Apache-2.0
#include "pack/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/stable_sort.h"
#include "pack/problem/loads.h"
#include "pack/problem/pieces.h"
#include "pack/solve/extract.h"

namespace stowplan::pack {
namespace {

// Of one panel, in pixels.
constexpr int kWidth = 1200;
constexpr int kHeight = 600;
constexpr int kLeft = 90;  // of the panel: room for sizes
constexpr int kTop = 40;
constexpr int kPanel = kTop + kHeight + 40;
// More rectangles than this make browsers slow.
constexpr size_t kMaxRectangles = 20000;
constexpr size_t kMaxLabels = 500;
// Thinner ones are not seen by themselves.
constexpr double kThin = 0.3;

// Colours that are told apart on white, and on each other.
constexpr std::array<std::string_view, 12> kColors = {"#4e79a7", "#f28e2b", "#76b7b2", "#e15759",
                                                      "#59a14f", "#edc948", "#b07aa1", "#ff9da7",
                                                      "#9c755f", "#86bcb6", "#d37295", "#8cd17d"};

// How many bytes the UTF-8 character at the front has; 0 when there is none.
size_t CharacterSize(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const size_t size = first >= 0xf0 && first < 0xf5   ? 4
                      : first >= 0xe0 && first < 0xf0 ? 3
                      : first >= 0xc2 && first < 0xe0 ? 2
                                                      : 0;
  if (size == 0 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  // Overlong forms, surrogates and what is behind the last character are none.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return size;
}

std::string Escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    switch (size == 0 ? '\0' : text.front()) {
      case '\0':
        out += "\xEF\xBF\xBD";
        break;
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += text.substr(0, size);
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return out;
}

// A piece of a buffer, in pixels of its panel; y goes down.
struct Rectangle {
  uint32_t buffer = 0;
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  [[nodiscard]] double area() const { return width * height; }
};

// One pool, or the only memory.
class Panel {
 public:
  Panel(const Table& table, const Plan& plan, std::optional<uint32_t> pool, int64_t first,
        int64_t last)
      : table_(table), plan_(plan), first_(first), last_(std::max(last, first + 1)) {
    const Problem& problem = table.problem;
    for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
      if (pool && plan.pools[b] != *pool) continue;
      height_ = std::max(height_, plan.offsets[b] + problem.buffers[b].size);
      buffers_.push_back(b);
    }
    if (pool) {
      title_ = fmt::format("{}: {} of {}", Escaped(problem.pools[*pool].name),
                           HumanAndExactBytes(height_),
                           HumanAndExactBytes(problem.pools[*pool].capacity));
    } else {
      title_ = HumanAndExactBytes(height_);
    }
  }

  void Draw(int top, std::string& out) {
    fmt::format_to(std::back_inserter(out), "<g transform=\"translate({},{})\">\n", kLeft, top);
    fmt::format_to(std::back_inserter(out),
                   "<text x=\"0\" y=\"-12\" class=\"t\">{}, {} buffers</text>\n", title_,
                   buffers_.size());
    DrawAxes(out);
    FindRectangles();
    DrawShade(out);
    DrawRectangles(out);
    DrawLoad(out);
    out += "</g>\n";
  }

 private:
  [[nodiscard]] double X(int64_t time) const {
    return kWidth * (static_cast<double>(time) - static_cast<double>(first_)) /
           (static_cast<double>(last_) - static_cast<double>(first_));
  }
  [[nodiscard]] double Y(int64_t offset) const {
    if (height_ == 0) return kHeight;
    return kHeight - kHeight * static_cast<double>(offset) / static_cast<double>(height_);
  }

  void DrawAxes(std::string& out) const {
    const auto to = std::back_inserter(out);
    fmt::format_to(to, "<rect width=\"{}\" height=\"{}\" class=\"f\"/>\n", kWidth, kHeight);
    constexpr int kTicks = 5;
    for (int k = 0; k <= kTicks; ++k) {
      const auto offset = static_cast<int64_t>(static_cast<double>(height_) / kTicks * k);
      const int y = kHeight - kHeight * k / kTicks;
      fmt::format_to(to, "<path d=\"M-4 {}H0\" class=\"a\"/>", y);
      fmt::format_to(to, "<text x=\"-8\" y=\"{}\" class=\"y\">{}</text>\n", y + 4,
                     HumanBytes(offset));
      const double length = static_cast<double>(last_) - static_cast<double>(first_);
      const auto time = static_cast<double>(first_) + length / kTicks * k;
      const int x = kWidth * k / kTicks;
      fmt::format_to(to, "<path d=\"M{} {}v4\" class=\"a\"/>", x, kHeight);
      fmt::format_to(to, "<text x=\"{}\" y=\"{}\" class=\"x\">{:.0f}</text>\n", x, kHeight + 18,
                     time);
    }
    fmt::format_to(to, "<path d=\"M0 0H{}\" class=\"h\"/>\n", kWidth);
  }

  // The largest first.
  void FindRectangles() {
    const Problem& problem = table_.problem;
    GapCursor gaps(problem);
    for (const uint32_t b : buffers_) {
      EachPiece(problem.buffers[b], gaps.Of(b), [&](const BufferPiece& piece) {
        const double x = X(piece.start);
        const double y = Y(plan_.offsets[b] + piece.high);
        rectangles_.push_back({b, x, y, X(piece.end) - x, Y(plan_.offsets[b] + piece.low) - y});
      });
    }
    StableSort(rectangles_, std::ranges::greater(), &Rectangle::area);
    const auto is_thin = [](const Rectangle& r) { return r.width < kThin || r.height < kThin; };
    const auto thin = std::ranges::stable_partition(rectangles_, std::not_fn(is_thin));
    drawn_ = std::min(kMaxRectangles, rectangles_.size() - thin.size());
  }

  // What is too small to be drawn alone: the pixels that it covers, in runs.
  void DrawShade(std::string& out) const {
    if (drawn_ == rectangles_.size()) return;
    std::vector<bool> cells(static_cast<size_t>(kWidth) * kHeight);
    for (size_t i = drawn_; i < rectangles_.size(); ++i) {
      const Rectangle& r = rectangles_[i];
      const auto cell = [](double at, int most) {
        return static_cast<size_t>(std::clamp(static_cast<int>(at), 0, most - 1));
      };
      const size_t left = cell(r.x, kWidth);
      const size_t right = std::max(left + 1, cell(std::ceil(r.x + r.width), kWidth));
      const size_t below = std::max(cell(r.y, kHeight) + 1, cell(r.y + r.height, kHeight));
      for (size_t y = cell(r.y, kHeight); y < below; ++y) {
        const auto row = cells.begin() + static_cast<ptrdiff_t>(y * kWidth);
        std::fill(row + static_cast<ptrdiff_t>(left), row + static_cast<ptrdiff_t>(right), true);
      }
    }
    out += "<path class=\"s\" d=\"";
    for (size_t y = 0; y < kHeight; ++y) {
      for (size_t x = 0; x < kWidth; ++x) {
        if (!cells[y * kWidth + x]) continue;
        const size_t begin = x;
        while (x < kWidth && cells[y * kWidth + x]) ++x;
        fmt::format_to(std::back_inserter(out), "M{} {}h{}v1h-{}z", begin, y, x - begin, x - begin);
      }
    }
    out += "\"/>\n";
  }

  void DrawRectangles(std::string& out) const {
    const Problem& problem = table_.problem;
    size_t labels = 0;
    for (size_t i = 0; i < drawn_; ++i) {
      const Rectangle& r = rectangles_[i];
      const Buffer& buffer = problem.buffers[r.buffer];
      const std::string id = Escaped(IdOf(table_, r.buffer));
      fmt::format_to(std::back_inserter(out),
                     "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
                     "fill=\"{}\"><title>{}: {} at {}, [{}, {})</title></rect>\n",
                     r.x, r.y, r.width, r.height, kColors[r.buffer * 5 % kColors.size()], id,
                     HumanAndExactBytes(buffer.size), plan_.offsets[r.buffer], buffer.start,
                     buffer.end);
      const double letters = static_cast<double>(IdOf(table_, r.buffer).size());
      if (r.height < 14 || r.width < 7 * letters + 6 || ++labels > kMaxLabels) continue;
      fmt::format_to(std::back_inserter(out),
                     "<text x=\"{:.2f}\" y=\"{:.2f}\" class=\"i\">{}</text>\n", r.x + r.width / 2,
                     r.y + r.height / 2 + 4, id);
    }
  }

  // The most of each pixel's moments.
  void DrawLoad(std::string& out) const {
    std::vector<int64_t> most(kWidth);
    const std::vector<LoadStep> steps = FindLoads(Extract(table_.problem, buffers_));
    for (size_t s = 0; s + 1 < steps.size(); ++s) {
      const auto begin = static_cast<size_t>(std::clamp(X(steps[s].time), 0.0, kWidth - 1.0));
      const auto end =
          static_cast<size_t>(std::clamp(std::ceil(X(steps[s + 1].time)), 1.0, kWidth * 1.0));
      for (size_t x = begin; x < std::max(end, begin + 1); ++x)
        most[x] = std::max(most[x], steps[s].bytes);
    }
    fmt::format_to(std::back_inserter(out), "<path class=\"l\" d=\"M0 {}", kHeight);
    for (size_t x = 0; x < kWidth; ++x) {
      if (x > 0 && most[x] == most[x - 1]) continue;
      fmt::format_to(std::back_inserter(out), "H{}V{:.2f}", x, Y(most[x]));
    }
    fmt::format_to(std::back_inserter(out), "H{}V{}\"/>\n", kWidth, kHeight);
  }

  const Table& table_;
  const Plan& plan_;
  int64_t first_;
  int64_t last_;
  int64_t height_ = 0;
  std::string title_;
  std::vector<uint32_t> buffers_;
  std::vector<Rectangle> rectangles_;
  size_t drawn_ = 0;  // of these, one by one
};

}  // namespace

std::string DrawPlan(const Table& table, const Plan& plan) {
  const std::vector<Buffer>& buffers = table.problem.buffers;
  int64_t first = buffers.empty() ? 0 : buffers.front().start;
  int64_t last = buffers.empty() ? 1 : buffers.front().end;
  for (const Buffer& buffer : buffers) {
    first = std::min(first, buffer.start);
    last = std::max(last, buffer.end);
  }
  const size_t panels = std::max<size_t>(1, table.problem.pools.size());
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\">\n",
      kLeft + kWidth + 30, kPanel * panels);
  out +=
      "<style>text{font:12px sans-serif;fill:#333}.t{font-size:14px}.x,.i{text-anchor:middle}"
      ".y{text-anchor:end}.f{fill:#fff;stroke:#ccc}.a{stroke:#333}"
      ".h{stroke:#c00;stroke-dasharray:6 4}.s{fill:#999}.i{pointer-events:none}"
      ".l{fill:none;stroke:#000;stroke-width:1.5;pointer-events:none}"
      "rect[fill]{stroke:#fff;stroke-width:.3}</style>\n";
  for (size_t p = 0; p < panels; ++p) {
    std::optional<uint32_t> pool;
    if (!table.problem.pools.empty()) pool = static_cast<uint32_t>(p);
    Panel(table, plan, pool, first, last).Draw(static_cast<int>(p) * kPanel + kTop, out);
  }
  out += "</svg>\n";
  return out;
}

}  // namespace stowplan::pack
