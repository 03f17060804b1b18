// SPDX-License-Identifier: Apache-2.0
#include "export/export.h"

#include <algorithm>
#include <array>

#include "export/formats.h"
#include "report/summary.h"

namespace stowplan::exporting {
namespace {

constexpr std::array<std::string_view, kFormats> kNames = {"pprof",     "perfetto", "speedscope",
                                                           "collapsed", "csv",      "json"};

}  // namespace

std::string_view Name(Format format) { return kNames[static_cast<size_t>(format)]; }

std::optional<Format> FindFormat(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Format>(found - kNames.begin());
}

bool NeedsMoment(Format format) { return format != Format::kCsv && format != Format::kJson; }

std::string_view Name(Stacks stacks) { return stacks == Stacks::kSource ? "source" : "op_name"; }

Stacks BestStacks(const explain::Picture& picture, const explain::Moment& moment) {
  const bool has_source = std::ranges::any_of(moment.shares, [&](const explain::Share& share) {
    return share.bytes != 0 &&
           !explain::SourceText(picture, picture.fact(share.value).frame).empty();
  });
  return has_source ? Stacks::kSource : Stacks::kOpName;
}

std::string SpaceWord(const explain::Picture& picture, int64_t space) {
  const std::string_view name = report::SpaceName(picture.backend, space);
  return name.empty() ? "memory space " + std::to_string(space) : std::string(name);
}

std::string Title(const Subject& subject) {
  const explain::Moment& moment = *subject.moment;
  std::string title = subject.name + (subject.is_peak ? ": peak of " : ": ");
  title += moment.space ? SpaceWord(*subject.picture, *moment.space) : "all memory spaces";
  return title + ", t=" + std::to_string(moment.time);
}

std::string_view InstructionAt(const explain::Picture& picture, int64_t time) {
  if (!picture.report->live_ranges || time < 0) return {};
  const std::vector<std::string_view>& sequence = picture.report->live_ranges->sequence;
  return static_cast<size_t>(time) < sequence.size() ? sequence[static_cast<size_t>(time)]
                                                     : std::string_view();
}

std::string_view ParameterPath(const explain::Picture& picture, report::ValueId id) {
  const report::AllocationId allocation = picture.report->values[id].allocation;
  if (allocation.is_none()) return {};
  return picture.parameter_paths[allocation.index];
}

std::vector<int64_t> OwnedBytes(const Subject& subject) {
  std::vector<int64_t> owned(subject.picture->report->values.size(), -1);
  if (!subject.moment) return owned;
  for (const explain::Share& share : subject.moment->shares) owned[share.value.index] = share.bytes;
  return owned;
}

Result<std::string> Write(const Subject& subject, Format format) {
  if (NeedsMoment(format) && !subject.moment)
    return Fail({}, "the live ranges are not known, so there is no peak");
  switch (format) {
    case Format::kPprof:
      return WritePprof(subject);
    case Format::kPerfetto:
      return WritePerfetto(subject);
    case Format::kSpeedscope:
      return WriteSpeedscope(subject);
    case Format::kCollapsed:
      return WriteCollapsed(subject);
    case Format::kCsv:
      return WriteCsv(subject);
    case Format::kJson:
      break;
  }
  return WriteJson(subject);
}

}  // namespace stowplan::exporting
