// SPDX-License-Identifier: Apache-2.0
#include "page/headline.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "explain/footprint.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

using explain::By;
using explain::Kind;
using explain::Row;

std::string PluralOf(Kind kind) {
  switch (kind) {
    case Kind::kActivation:
      return "activations kept for later";
    case Kind::kParameter:
    case Kind::kDonated:
      return "arguments";
    case Kind::kOutput:
      return "results";
    case Kind::kConstant:
      return "constants";
    case Kind::kLoopState:
      return "states of loops";
    case Kind::kCollective:
      return "buffers of collective operations";
    default:
      return "temporaries";
  }
}

int64_t DevicesOf(const explain::Picture& picture) {
  if (picture.module == nullptr) return 1;
  const hlo::Header& header = picture.module->header;
  return std::max<int64_t>(
      1, CheckedMultiply(header.replica_count, header.num_partitions).value_or(1));
}

// JAX names operations after the function that was compiled.
bool IsOfJax(const explain::Picture& picture) {
  return std::ranges::any_of(picture.ops.rows(), [](const explain::Op& op) {
    return op.op_name.starts_with("jit(") || op.op_name.starts_with("pmap(");
  });
}

class HeadlineMaker {
 public:
  explicit HeadlineMaker(const ExplainView& view)
      : view_(view),
        picture_(view.picture),
        needed_(explain::FootprintOf(view.picture, view.moment).bytes) {}

  std::vector<std::string> Make() {
    AddNeed();
    AddLimit();
    AddLeader();
    AddFix();
    return std::move(lines_);
  }

 private:
  void AddNeed() {
    std::string line = fmt::format("{} needs {}", Shortened(Printable(view_.name), 30),
                                   HumanAndExactBytes(needed_));
    if (const int64_t devices = DevicesOf(picture_); devices > 1)
      line += fmt::format(" per device, of {}", devices);
    lines_.push_back(std::move(line));
  }

  void AddLimit() {
    if (!view_.capacity) return;
    const int64_t left = *view_.capacity - needed_;
    lines_.push_back(
        left < 0 ? fmt::format("{} more than the {} of {}: it does not fit",
                               HumanAndExactBytes(-left), HumanBytes(*view_.capacity), view_.device)
                 : fmt::format("fits into the {} of {}: {} are left", HumanBytes(*view_.capacity),
                               view_.device, HumanBytes(left)));
  }

  // "84% of it are activations kept for later; the line with most is model.py:17, 96.00MiB"
  void AddLeader() {
    std::map<Kind, int64_t> kinds;
    for (const explain::Share& share : view_.moment.shares) {
      Kind kind = picture_.fact(share.value).kind;
      if (kind == Kind::kDonated) kind = Kind::kParameter;
      kinds[kind] += share.bytes;
    }
    if (kinds.empty() || needed_ == 0) return;
    const auto leader =
        std::ranges::max_element(kinds, {}, [](const auto& row) { return row.second; });
    std::string line =
        fmt::format("{} of it are {}", Percent(leader->second, needed_), PluralOf(leader->first));
    if (const auto [row, bytes] = LineWithMost(std::nullopt); !row.empty()) {
      line += fmt::format("; the line with most is {}", row);
      const std::string size = ", " + HumanBytes(bytes);
      line = ShortenedTo(std::move(line), size);
    }
    lines_.push_back(std::move(line));
  }

  static std::string ShortenedTo(std::string line, const std::string& tail) {
    return Shortened(line, kExplainWidth - std::min(kExplainWidth, TextWidth(tail))) + tail;
  }

  // The user's line that has the most bytes, of one kind or of all; empty: none is known.
  [[nodiscard]] std::pair<std::string, int64_t> LineWithMost(std::optional<Kind> kind) const {
    std::map<std::string, int64_t> lines;
    for (const explain::Share& share : view_.moment.shares) {
      const explain::ValueFact& fact = picture_.fact(share.value);
      if (fact.frame.is_none() || (kind && fact.kind != *kind)) continue;
      lines[explain::SourceText(picture_, picture_.own_line(fact.frame))] += share.bytes;
    }
    if (lines.empty()) return {};
    const auto most =
        std::ranges::max_element(lines, {}, [](const auto& row) { return row.second; });
    // The tables below have the whole path.
    const std::string name = Printable(most->first);
    return {Shortened(name.substr(name.rfind('/') + 1), 24), most->second};  // npos + 1 is 0
  }

  // Nothing is planned here, so these are estimates; --advice tries them.
  void AddFix() {
    if (!IsOfJax(picture_)) return;
    constexpr int64_t kLeast = 20;  // a twentieth of what is needed
    const std::string more =
        view_.speech == Speech::kPython ? " (r.advice() tries it)" : " (--advice tries it)";
    std::vector<std::string> names;
    if (const int64_t bytes = DonatableBytes(names); bytes >= needed_ / kLeast && bytes > 0) {
      std::string list;
      for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
      lines_.push_back(fmt::format("first: donate {}: about {} less{}", Shortened(list, 24),
                                   HumanBytes(bytes), more));
      return;
    }
    int64_t kept = 0;
    for (const explain::Share& share : view_.moment.shares)
      if (picture_.fact(share.value).kind == Kind::kActivation) kept += share.bytes;
    const auto [line, bytes] = LineWithMost(Kind::kActivation);
    if (line.empty() || kept < needed_ / kLeast) return;
    const std::string words =
        fmt::format("first: jax.checkpoint at {}: up to {} less", line, HumanBytes(kept));
    const bool has_room = TextWidth(words) + TextWidth(more) <= kExplainWidth;
    lines_.push_back(words + (has_room ? more : ", estimated"));
  }

  // Results that could lie where an argument of the same shape does that nobody needs any more. The
  // names are those of the arguments, without the parts of their paths.
  int64_t DonatableBytes(std::vector<std::string>& names) const {
    const report::Report& report = *picture_.report;
    std::map<std::string_view, int64_t> results;  // by shape: how many
    for (size_t i = 0; i < report.values.size(); ++i) {
      if (picture_.values[i].kind == Kind::kOutput)
        ++results[report.values[report::ValueId(i)].shape];
    }
    int64_t bytes = 0;
    for (size_t i = 0; i < report.values.size(); ++i) {
      const report::Value& value = report.values[report::ValueId(i)];
      if (picture_.values[i].kind != Kind::kParameter || value.shape.empty() ||
          picture_.op_of(report::ValueId(i)).opcode != hlo::Opcode::kParameter)
        continue;
      const auto result = results.find(value.shape);
      if (result == results.end() || result->second == 0) continue;
      --result->second;
      bytes += value.size;
      const auto parts = explain::ParameterParts(picture_.parameter_paths[value.allocation.index]);
      if (parts.empty()) continue;
      std::string name = Printable(parts[0]);
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    return bytes;
  }

  const ExplainView& view_;
  const explain::Picture& picture_;
  int64_t needed_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> Headline(const ExplainView& view) { return HeadlineMaker(view).Make(); }

}  // namespace stowplan::page
