// SPDX-License-Identifier: Apache-2.0
// Live bytes over time: a line, a chart, CSV, SVG.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "page/explain_view.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

using explain::Curve;
using explain::Step;

constexpr std::array<std::string_view, 9> kEighths = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// The column of a moment, of `width` columns from 0 to `end`.
size_t ColumnOf(int64_t time, int64_t end, size_t width) {
  if (end <= 0 || time <= 0) return 0;
  const double share = static_cast<double>(time) / (static_cast<double>(end) + 1);
  return std::min(width - 1, static_cast<size_t>(share * static_cast<double>(width)));
}

// The highest level in each column. A moment takes all columns that it touches.
std::vector<int64_t> ColumnsOf(const Curve& curve, int64_t end, size_t width) {
  std::vector<int64_t> columns(width);
  const double scale = static_cast<double>(width) / (static_cast<double>(end) + 1);
  for (size_t i = 0; i < curve.steps.size(); ++i) {
    const size_t first = ColumnOf(curve.steps[i].time, end, width);
    size_t after = width;
    if (i + 1 < curve.steps.size()) {
      const double next = static_cast<double>(curve.steps[i + 1].time) * scale;
      after = std::min(width, static_cast<size_t>(std::ceil(std::max(0.0, next) - 1e-9)));
    }
    for (size_t k = first; k < std::max(first + 1, after); ++k)
      columns[k] = std::max(columns[k], curve.steps[i].bytes);
  }
  return columns;
}

// A short program has a few columns for each moment.
size_t WidthFor(int64_t end, size_t most) {
  if (end < 0 || end >= static_cast<int64_t>(most)) return most;
  const auto moments = static_cast<size_t>(end) + 1;
  return moments * (most / moments);
}

int64_t EighthsOf(int64_t bytes, int64_t most, int64_t eighths) {
  if (most <= 0 || bytes <= 0) return 0;
  const double share = static_cast<double>(bytes) / static_cast<double>(most);
  return std::max<int64_t>(1, std::llround(share * static_cast<double>(eighths)));
}

std::string Axis(int64_t end, int64_t marked, size_t width) {
  std::string line(width, ' ');
  const std::string mark = "^ t=" + std::to_string(marked);
  const size_t column = ColumnOf(marked, end, width);
  // The mark's words stand on the side where there is room.
  if (column + mark.size() <= width) {
    line.replace(column, mark.size(), mark);
  } else {
    const std::string left = "t=" + std::to_string(marked) + " ^";
    line.replace(column + 1 - std::min(column + 1, left.size()), left.size(), left);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string Sparkline(const Curve& curve, int64_t end, int64_t marked, size_t most_width) {
  const size_t width = WidthFor(end, most_width);
  std::string out = "  ";
  for (const int64_t bytes : ColumnsOf(curve, end, width))
    out += kEighths[static_cast<size_t>(EighthsOf(bytes, curve.peak.bytes, 8))];
  return out + "\n  " + Axis(end, marked, width) + "\n";
}

std::string CurvePage(const ExplainView& view) {
  constexpr size_t kLabel = 12;
  constexpr int64_t kHeight = 12;
  const int64_t end = view.picture.report->live_ranges->end;
  const Curve& curve = view.curve();
  const size_t width = WidthFor(end, kExplainWidth - kLabel - 2);
  std::string out = fmt::format("Live bytes of {} over the program\n  peak {} at {}\n\n",
                                SpaceName(view, view.space), HumanAndExactBytes(curve.peak.bytes),
                                TimeText(view.picture, curve.peak.time));
  const std::vector<int64_t> columns = ColumnsOf(curve, end, width);
  for (int64_t row = kHeight; row-- > 0;) {
    std::string label;
    if (row == kHeight - 1) label = HumanBytes(curve.peak.bytes);
    if (row == kHeight / 2 - 1) label = HumanBytes(curve.peak.bytes / 2);
    out += fmt::format("{:>{}} ", label, kLabel);
    std::string line;
    for (const int64_t bytes : columns) {
      const int64_t eighths = EighthsOf(bytes, curve.peak.bytes, kHeight * 8) - row * 8;
      line += kEighths[static_cast<size_t>(std::clamp<int64_t>(eighths, 0, 8))];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line;
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  out += std::string(kLabel + 1, ' ') + Axis(end, view.moment.time, width) + "\n";
  out += fmt::format("{:>{}} t=0 to t={}\n", "", kLabel, end);
  return out;
}

// A row for each moment at which a memory space changes.
std::string CurveCsv(const ExplainView& view) {
  std::set<int64_t> times;
  for (const Step& step : view.picture.curves.all.steps) times.insert(step.time);
  std::string out = "time,instruction";
  for (const Curve& curve : view.picture.curves.spaces) {
    for (const Step& step : curve.steps) times.insert(step.time);
    out += ",space_" + std::to_string(*curve.space);
  }
  out += ",all\n";
  const std::vector<std::string_view>& sequence = view.picture.report->live_ranges->sequence;
  std::vector<size_t> next(view.picture.curves.spaces.size() + 1);
  const auto level = [&](const Curve& curve, size_t& at, int64_t time) {
    while (at < curve.steps.size() && curve.steps[at].time <= time) ++at;
    return at == 0 ? 0 : curve.steps[at - 1].bytes;
  };
  for (const int64_t time : times) {
    std::string name;
    if (time >= 0 && static_cast<size_t>(time) < sequence.size())
      name = Printable(sequence[static_cast<size_t>(time)]);
    // Quotes in a field are doubled.
    if (name.find_first_of(",\"") != std::string::npos) {
      std::string quoted = "\"";
      for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
      name = quoted + "\"";
    }
    out += fmt::format("{},{}", time, name);
    for (size_t i = 0; i < view.picture.curves.spaces.size(); ++i)
      out += fmt::format(",{}", level(view.picture.curves.spaces[i], next[i], time));
    out += fmt::format(",{}\n", level(view.picture.curves.all, next.back(), time));
  }
  return out;
}

namespace {

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

}  // namespace

// A panel for each memory space; in a long program, each pixel shows its highest level.
std::string CurveSvg(const ExplainView& view) {
  constexpr int kWidth = 960;
  constexpr int kHeight = 200;
  constexpr int kLeft = 20;
  constexpr int kPanel = kHeight + 70;
  const int64_t end = std::max<int64_t>(0, view.picture.report->live_ranges->end);
  std::vector<const Curve*> curves;
  for (const Curve& curve : view.picture.curves.spaces) {
    if (curve.peak.bytes != 0) curves.push_back(&curve);
  }
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kWidth + 2 * kLeft, kPanel * static_cast<int>(curves.size()) + 10);
  int top = 30;
  for (const Curve* const curve : curves) {
    const std::vector<int64_t> columns = ColumnsOf(*curve, end, kWidth);
    out += fmt::format("<text x=\"{}\" y=\"{}\">{}: {}, peak {} at {}</text>\n", kLeft, top - 8,
                       Escaped(Printable(view.name)), Escaped(SpaceName(view, curve->space)),
                       HumanAndExactBytes(curve->peak.bytes),
                       Escaped(TimeText(view.picture, curve->peak.time)));
    const int bottom = top + kHeight;
    out += fmt::format("<path fill=\"#4a7fb5\" d=\"M{} {}", kLeft, bottom);
    double last = -1;
    for (int x = 0; x < kWidth; ++x) {
      const double share = static_cast<double>(columns[static_cast<size_t>(x)]) /
                           static_cast<double>(curve->peak.bytes);
      const double y = static_cast<double>(bottom) - share * kHeight;
      if (y != last) out += fmt::format("V{:.1f}", y);
      last = y;
      out += fmt::format("H{}", kLeft + x + 1);
    }
    out += fmt::format("V{}Z\"/>\n", bottom);
    const double x = kLeft + (static_cast<double>(curve->peak.time) + 0.5) * kWidth /
                                 (static_cast<double>(end) + 1);
    out += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" "
        "stroke=\"#c0392b\"/>\n",
        x, top, bottom);
    out += fmt::format(
        "<text x=\"{}\" y=\"{}\" fill=\"#555\">t=0</text>"
        "<text x=\"{}\" y=\"{}\" fill=\"#555\" text-anchor=\"end\">t={}</text>\n",
        kLeft, bottom + 16, kLeft + kWidth, bottom + 16, end);
    top += kPanel;
  }
  return out + "</svg>\n";
}

}  // namespace stowplan::page
