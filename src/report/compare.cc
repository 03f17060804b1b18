// SPDX-License-Identifier: Apache-2.0
// Figures of a file against their computation. A consistent file is written back as it is, so every
// line that differs holds a figure that is wrong.
#include <string_view>

#include "report/lines.h"
#include "stowplan/report/write.h"

namespace stowplan::report {

Diagnostics CompareFigures(const Report& report, const Source& source) {
  const std::string written = WriteFile(report, KindOf(source));
  Diagnostics findings;
  const std::shared_ptr<const Source> copy = Source::FromBytes("", written);
  Lines said(source);
  Lines computed(*copy);
  const auto add = [&](std::string message) {
    Diagnostic finding = source.At(static_cast<size_t>(said.line().data() - source.begin()),
                                   said.line().size(), std::move(message));
    finding.severity = Severity::kWarning;
    findings.push_back(std::move(finding));
  };
  for (; !said.at_end() && !computed.at_end(); said.Next(), computed.Next()) {
    if (said.line() != computed.line()) add("computed: " + std::string(computed.line()));
  }
  if (!said.at_end()) add("computed: no such line");
  if (!computed.at_end()) add("computed, behind this: " + std::string(computed.line()));
  if (findings.empty() && written != source.bytes()) add("computed: another end of the file");
  return findings;
}

}  // namespace stowplan::report
