// SPDX-License-Identifier: Apache-2.0
#include "stowplan/report/dialect.h"

#include <array>

#include "base/words.h"
#include "stowplan/hlo/dialect.h"

namespace stowplan::report {
namespace {

// Each era differs from the next newer one in a few points.
constexpr ReportDialect Pages() { return {}; }
constexpr ReportDialect NoneUses() {
  ReportDialect d = Pages();
  d.page = false;
  return d;
}
constexpr ReportDialect Separate() {
  ReportDialect d = NoneUses();
  d.none_uses = false;
  return d;
}
constexpr ReportDialect SortedUsage() {
  ReportDialect d = Separate();
  d.separate_files = false;
  d.usage = UsageReport::kSorted;
  return d;
}
constexpr ReportDialect TreeDialect() {
  ReportDialect d = SortedUsage();
  d.usage = UsageReport::kHashOrder;
  return d;
}
constexpr ReportDialect NoTree() {
  ReportDialect d = TreeDialect();
  d.stack_tree = false;
  return d;
}
constexpr ReportDialect PeakIndex() {
  ReportDialect d = NoTree();
  d.peak_line = PeakLine::kIndex;
  d.parameter_parts = false;
  return d;
}
constexpr ReportDialect PeakName() {
  ReportDialect d = PeakIndex();
  d.peak_line = PeakLine::kName;
  return d;
}
constexpr ReportDialect Glued() {
  ReportDialect d = PeakName();
  d.from_instruction = FromInstruction::kGlued;
  return d;
}
constexpr ReportDialect NoUsage() {
  ReportDialect d = Glued();
  d.usage = UsageReport::kNone;
  return d;
}
constexpr ReportDialect Tight() {
  ReportDialect d = NoUsage();
  d.from_instruction = FromInstruction::kTight;
  return d;
}
constexpr ReportDialect Addresses() {
  ReportDialect d = Tight();
  d.address = true;
  return d;
}
constexpr ReportDialect NoInstructions() {
  ReportDialect d = Addresses();
  d.from_instruction = FromInstruction::kAbsent;
  d.human_total = false;
  return d;
}
constexpr ReportDialect NoRanges() {
  ReportDialect d = NoInstructions();
  d.peak_line = PeakLine::kNone;
  return d;
}

constexpr std::array<NamedReportDialect, 15> kDialects = {{
    {"tf-2.2", "tf-2.4", NoRanges()},
    {"tf-2.6", "", NoInstructions()},
    {"tf-2.8", "", Addresses()},
    {"tf-2.11", "tf-2.12 jaxlib-0.4.13 tf-2.15", Tight()},
    {"jaxlib-0.4.25", "jaxlib-0.4.30 tf-2.16 tf-2.17 tf-2.18", NoUsage()},
    {"jaxlib-0.4.35", "libtpu-0.0.2", Glued()},
    {"jaxlib-0.5.0", "libtpu-0.0.8 tf-2.19", PeakName()},
    {"libtpu-0.0.13", "", PeakName()},
    {"jaxlib-0.6.0", "", PeakIndex()},
    {"tf-2.20", "", NoTree()},
    {"jaxlib-0.7.2", "libtpu-0.0.23.1 torch_xla-2.9", TreeDialect()},
    {"jaxlib-0.8.2", "jaxlib-0.9.0 libtpu-0.0.32.1 tf-2.21", SortedUsage()},
    {"jaxlib-0.10.0", "", Separate()},
    {"jaxlib-0.10.2", "", NoneUses()},
    {"jaxlib-0.11.2", "jaxlib-0.12.0 libtpu-0.0.51", Pages()},
}};

}  // namespace

std::span<const NamedReportDialect> ReportDialects() { return kDialects; }

std::optional<ReportDialect> FindReportDialect(std::string_view version) {
  const std::string_view name = hlo::KnownRelease(version);
  for (const NamedReportDialect& named : kDialects) {
    if (named.name == name || HasWord(named.aliases, name)) return named.dialect;
  }
  return std::nullopt;
}

}  // namespace stowplan::report
