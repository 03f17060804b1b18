// SPDX-License-Identifier: Apache-2.0
#include "cli/report_cut.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/report_text.h"
#include "stowplan/report/read.h"

namespace stowplan::cli {
namespace {

// Where the last line begins; of a text that ends with a newline, behind it.
size_t LastLine(std::string_view text) { return text.rfind('\n') + 1; }  // npos + 1 is 0

// Counts lines of each part of a report, in the order in which they come.
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
    // A value ends with its instruction; before 2021 it has none, and the next one begins.
    if (thing == "value") return line.starts_with(" from instruction:");
    return line.starts_with("  ");
  }

  std::vector<Part> parts_;
};

// Whether a file may end without a newline: a sentence about ranges that are not available has
// none, and neither has a value list of 2024, when XLA forgot it behind each value. (In the files
// of that time live ranges follow.)
bool MayLackNewline(const report::Report& report, const Source& source) {
  if (report.live_ranges && report.live_ranges->is_unavailable) return true;
  return report::KindOf(source) == report::FileKind::kValueList &&
         report.dialect.from_instruction == report::FromInstruction::kGlued;
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
  if (text.empty() || text.ends_with('\n') || MayLackNewline(report, source)) return std::nullopt;
  return source.At(text.size(), 1, "the file ends in the middle of a line",
                   "it was cut off; complete: " + CompleteParts(source));
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

}  // namespace stowplan::cli
