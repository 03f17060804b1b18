// SPDX-License-Identifier: Apache-2.0
#include "session/cut.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "report/read.h"
#include "report/write.h"

namespace stowplan {
namespace {

// Where the last line begins. If the text ends with a newline, that is its end.
size_t LastLine(std::string_view text) { return text.rfind('\n') + 1; }  // npos + 1 is 0

// Counts the lines of each part of a report, in order.
class PartCounter {
 public:
  void Count(std::string_view line) {
    if (line == "BufferAssignment:") {
      Begin("the assignment", "allocation");
    } else if (line == "Used values:") {
      Begin("the value list", "value");
    } else if (line == "  InstructionSequence:") {
      Begin("the instruction sequence", "instruction");
    } else if (line == "  BufferLiveRange:") {
      Begin("the live ranges", "range");
    } else if (line.starts_with("  Live ranges at ")) {
      Begin("the list of the peak", "row");
    } else if (line.starts_with("  Stack trace breakdown")) {
      Begin("the stack tree", "row");
    } else if (line.starts_with("Memory Space: ")) {
      Begin("the memory space " + std::string(line.substr(14)), "row");
    } else if (!parts_.empty() && IsCounted(line)) {
      ++parts_.back().count;
    }
  }

  // All parts but the last are complete.
  [[nodiscard]] std::string Text() const {
    std::string out;
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part part = parts_[i];
      // Values of the last allocation may be missing.
      if (i + 1 == parts_.size() && part.thing == "allocation" && part.count > 0) --part.count;
      if (i + 1 == parts_.size() && part.count == 0) break;
      if (!out.empty()) out += ", ";
      const std::string count = CountOf(part.count, part.thing);
      out += i + 1 == parts_.size() ? count + " of " + part.name : part.name + " (" + count + ")";
    }
    return out.empty() ? "nothing" : out;
  }

 private:
  struct Part {
    std::string name;
    std::string thing;
    int64_t count = 0;
  };

  void Begin(std::string name, std::string thing) {
    parts_.push_back({.name = std::move(name), .thing = std::move(thing)});
  }
  [[nodiscard]] bool IsCounted(std::string_view line) const {
    const std::string_view thing = parts_.back().thing;
    if (thing == "allocation") return line.starts_with("allocation ");
    // A value ends with its instruction; before 2021, where the next value begins.
    if (thing == "value") return line.starts_with(" from instruction:");
    return line.starts_with("  ");
  }

  std::vector<Part> parts_;
};

// Whether a file may end without a newline. The sentence that live ranges are not available has
// none. Nor do value lists of 2024, when XLA forgot the newline after each value. (In files of that
// time, live ranges follow the list.)
bool MayLackNewline(const report::Report& report, const Source& source) {
  if (report.live_ranges && report.live_ranges->is_unavailable) return true;
  return report::KindOf(source) == report::FileKind::kValueList &&
         report.dialect.from_instruction == report::FromInstruction::kGlued;
}

int64_t CountUnlisted(const report::Report& report) {
  return std::ranges::count_if(report.values.rows(), [](const report::Value& value) {
    return !value.allocation.is_none() && !value.is_listed;
  });
}

int64_t CountUnplaced(const report::Report& report) {
  return std::ranges::count_if(report.values.rows(), [](const report::Value& value) {
    return value.is_listed && value.allocation.is_none();
  });
}

// The rules below hold in every dump we have seen. Allocations without values are temporaries that
// a TPU reserves. The value list has exactly the values of the assignment. Live ranges follow it in
// every combined file that contains instructions as text.

// Why the assignment at the end of a file is incomplete.
std::string MissingBehindAssignment(const report::Report& report, std::string_view text) {
  if (report.allocations.empty()) return "there is no allocation";
  const report::Allocation& last = report.allocations.rows().back();
  if (last.values.empty() && !last.is_temp()) {
    return "allocation " + std::to_string(last.number) + " has no values";
  }
  // Files with addresses are older than the separate ones.
  if (text.ends_with("\n\n") || report.dialect.address) return "the value list is missing";
  const int64_t unplaced = report.has_value_list ? CountUnplaced(report) : 0;
  if (unplaced == 0) return {};
  return CountOf(unplaced, "value") + " of the value list have no place";
}

// The same for a value list.
std::string MissingBehindValues(const report::Report& report, bool is_combined) {
  const int64_t unlisted = report.has_assignment ? CountUnlisted(report) : 0;
  if (unlisted != 0) {
    return CountOf(unlisted, "value") + " of the assignment " + (unlisted == 1 ? "is" : "are") +
           " not listed";
  }
  const bool has_texts = report.dialect.from_instruction != report::FromInstruction::kAbsent;
  return is_combined && has_texts ? "the live ranges are missing" : "";
}

// The same for live ranges: the tree must have the values of the list.
std::string MissingBehindRanges(const report::LiveRanges& ranges) {
  if (!ranges.has_tree) return {};
  int64_t listed = 0;
  int64_t in_tree = 0;
  for (const report::PeakRow& row : ranges.peak) listed = SaturatingAdd(listed, row.bytes);
  for (const report::TreeNode& node : ranges.tree) in_tree = SaturatingAdd(in_tree, node.current);
  if (in_tree >= listed) return {};
  return "the stack tree lacks " + HumanAndExactBytes(listed - in_tree) + " of the list above it";
}

// Why a file is incomplete although all its lines are understood. Empty if nothing suggests that.
std::string MissingEnd(const report::Report& report, const Source& source) {
  const std::string_view text = source.bytes();
  const report::FileKind kind = report::KindOf(source);
  const bool is_combined = kind == report::FileKind::kAssignment && !report.dialect.separate_files;
  std::string missing;
  if (kind == report::FileKind::kAssignment && !is_combined) {
    missing = MissingBehindAssignment(report, text);
  } else if (kind == report::FileKind::kValueList || (is_combined && !report.live_ranges)) {
    missing = MissingBehindValues(report, is_combined);
  } else if (kind != report::FileKind::kUsage && report.live_ranges) {
    missing = MissingBehindRanges(*report.live_ranges);
  }
  if (!missing.empty()) return missing;
  const std::string written = report::WriteFile(report, source);
  if (written.size() <= text.size() || !written.starts_with(text)) return {};
  std::string_view next = std::string_view(written).substr(text.size());
  next = next.substr(0, next.find('\n'));
  return "the next line should be `" + std::string(next) + "`";
}

}  // namespace

std::string CompleteParts(const Source& source) {
  std::string_view text = source.bytes();
  text = text.substr(0, LastLine(text));
  PartCounter counter;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    counter.Count(line);
    text.remove_prefix(line.size() + 1);
  }
  return counter.Text();
}

std::optional<Diagnostic> FindCut(const report::Report& report, const Source& source) {
  const std::string_view text = source.bytes();
  if (text.empty()) return std::nullopt;
  std::string message = "the file ends in the middle of a line";
  if (text.ends_with('\n') || MayLackNewline(report, source)) {
    const std::string missing = MissingEnd(report, source);
    if (missing.empty()) return std::nullopt;
    message = "the file ends too early: " + missing;
  }
  return source.At(text.size(), 1, std::move(message),
                   "it was cut off; complete: " + CompleteParts(source));
}

std::optional<Diagnostic> FindDoubtfulEnd(const report::Report& report, const Source& source) {
  const bool is_alone = report::KindOf(source) == report::FileKind::kAssignment &&
                        !report.has_value_list && !report.live_ranges;
  if (!is_alone || std::ranges::any_of(report.allocations.rows(), [](const auto& allocation) {
        return allocation.output_shape.has_value();
      })) {
    return std::nullopt;
  }
  Diagnostic doubt = source.At(source.size(), 1, "no allocation has the module's output",
                               "the file may be cut off; complete: " + CompleteParts(source));
  doubt.severity = Severity::kWarning;
  return doubt;
}

Diagnostics ExplainCuts(Diagnostics errors,
                        std::span<const std::shared_ptr<const Source>> sources) {
  Diagnostics explained;
  std::set<std::string> cut;
  for (Diagnostic& error : errors) {
    if (cut.contains(error.file)) continue;
    const auto source = std::ranges::find_if(
        sources, [&](const auto& candidate) { return candidate->name() == error.file; });
    const bool is_report =
        source != sources.end() && report::KindOf(**source) != report::FileKind::kUnknown;
    if (is_report && error.offset >= LastLine((*source)->bytes())) {
      cut.insert(error.file);
      error.hint = "the file seems to be cut off; complete: " + CompleteParts(**source);
    }
    explained.push_back(std::move(error));
  }
  return explained;
}

}  // namespace stowplan
