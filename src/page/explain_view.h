// SPDX-License-Identifier: Apache-2.0
// What `stowplan explain` shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "explain/moment.h"
#include "explain/partition.h"
#include "explain/picture.h"
#include "explain/why.h"
#include "session/best_order.h"
#include "stowplan/base/speech.h"

namespace stowplan::page {

// Pages are at most this wide, unless a long name makes that impossible.
inline constexpr size_t kExplainWidth = 80;

struct ExplainView {
  const explain::Picture& picture;
  std::string name;              // of the module
  std::string input;             // as typed, for the commands to try next
  bool is_made = false;          // Stowplan made the plan
  std::optional<int64_t> space;  // absent: all spaces together
  explain::Moment moment;
  bool is_peak = false;  // the moment is the space's peak
  size_t limit = 10;     // rows per table; 0: all
  Speech speech = Speech::kCommandLine;
  OrderGlance order = {};  // what the order of instructions costs
  // The memory of the device that the user named, and its name.
  std::optional<int64_t> capacity = {};
  std::string device = {};

  [[nodiscard]] const explain::Curve& curve() const;
};

// S(0) HBM, or "all memory spaces".
std::string SpaceName(const ExplainView& view, std::optional<int64_t> space);
// t=12 all-reduce.28
std::string TimeText(const explain::Picture& picture, int64_t time);
// Appends words, wrapped, with each line indented by `indent` blanks.
void AppendParagraph(std::string_view words, size_t indent, std::string& out);

// One page: the peak, what fills it, and what to try next.
std::string ExplainPage(const ExplainView& view);
// One table.
std::string PartitionPage(const ExplainView& view, explain::By by);
// The values with the most padding.
std::string PaddingPage(const ExplainView& view);
// Why one value is alive.
std::string WhyPage(const ExplainView& view, const explain::Why& why);
// The source files below `root`, with bytes in the gutter. Files that cannot be read are listed at
// the end.
std::string SourcePage(const ExplainView& view, const std::string& root);

void AppendPartition(const ExplainView& view, explain::By by, size_t limit, std::string& out);
void AppendFootprint(const ExplainView& view, std::string& out);
void AppendGapToXla(const ExplainView& view, std::string& out);

// The curve of the view's memory space as a line of `width` columns that marks the moment, and as a
// chart; and all curves as files.
std::string Sparkline(const explain::Curve& curve, int64_t end, int64_t marked, size_t width);
std::string CurvePage(const ExplainView& view);
std::string CurveCsv(const ExplainView& view);
std::string CurveSvg(const ExplainView& view);

// Schema stowplan.explain/1; `by` absent: all tables.
std::string ExplainJson(const ExplainView& view, std::optional<explain::By> by, bool has_curve,
                        const std::vector<explain::Why>& whys);

}  // namespace stowplan::page
