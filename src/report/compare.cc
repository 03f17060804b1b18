// SPDX-License-Identifier: Apache-2.0
// Figures of a file against their computation. A consistent file is written back as it is, so every
// line that differs holds a figure that is wrong, or is one too many.
#include <string_view>
#include <vector>

#include "base/line_counter.h"
#include "report/write.h"

namespace stowplan::report {
namespace {

// How many lines one side may have more than the other before they are compared out of step.
constexpr size_t kLookAhead = 16;

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.push_back(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return lines;
}

class Comparison {
 public:
  Comparison(const Source& source, const std::string& written)
      : source_(source),
        counter_(source.bytes()),
        said_(SplitLines(source.bytes())),
        computed_(SplitLines(written)) {}

  Diagnostics Run() && {
    while (i_ < said_.size() && j_ < computed_.size()) {
      if (said_[i_] == computed_[j_]) {
        ++i_;
        ++j_;
      } else {
        Step();
      }
    }
    while (i_ < said_.size()) AddSaidOnly();
    while (j_ < computed_.size()) AddComputedOnly("computed, after this: ");
    if (findings_.empty()) Add("computed: a different end of the file");
    return std::move(findings_);
  }

 private:
  // Past the first lines that differ: a line each, unless one side has some that the other lacks.
  void Step() {
    const bool is_one_line =
        i_ + 1 < said_.size() && j_ + 1 < computed_.size() && said_[i_ + 1] == computed_[j_ + 1];
    for (size_t d = 1; d <= kLookAhead && !is_one_line; ++d) {
      if (i_ + d < said_.size() && said_[i_ + d] == computed_[j_]) {
        for (size_t n = 0; n < d; ++n) AddSaidOnly();
        return;
      }
      if (j_ + d < computed_.size() && said_[i_] == computed_[j_ + d]) {
        for (size_t n = 0; n < d; ++n) AddComputedOnly("computed, before this: ");
        return;
      }
    }
    Add("computed: " + std::string(computed_[j_]));
    ++i_;
    ++j_;
  }

  void AddSaidOnly() {
    Add("computed: no such line");
    ++i_;
  }
  void AddComputedOnly(std::string_view words) {
    Add(std::string(words) + std::string(computed_[j_]));
    ++j_;
  }

  // At the current line of the file.
  void Add(std::string message) {
    const bool is_at_end = i_ >= said_.size();
    const size_t offset =
        is_at_end ? source_.size() : static_cast<size_t>(said_[i_].data() - source_.begin());
    Diagnostic finding;
    finding.severity = Severity::kWarning;
    finding.file = source_.name();
    finding.message = std::move(message);
    counter_.Locate(offset, is_at_end ? 1 : said_[i_].size(), finding);
    findings_.push_back(std::move(finding));
  }

  const Source& source_;
  LineCounter counter_;
  std::vector<std::string_view> said_;
  std::vector<std::string_view> computed_;
  size_t i_ = 0;  // in said_
  size_t j_ = 0;  // in computed_
  Diagnostics findings_;
};

}  // namespace

Diagnostics CompareFigures(const Report& report, const Source& source) {
  const std::string written = WriteFile(report, source);
  if (written == source.bytes()) return {};
  return Comparison(source, written).Run();
}

}  // namespace stowplan::report
