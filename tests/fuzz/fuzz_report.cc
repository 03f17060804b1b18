// SPDX-License-Identifier: Apache-2.0
// Any bytes to the report reader. What it accepts is written back; whatever line then differs is
// named as a finding, so no line is lost in silence; and the written file is accepted and comes
// back as it is. Its figures can be computed. Planned again, it is refused or sound.
#include <cstddef>
#include <cstdint>
#include <string>

#include "explain/footprint.h"
#include "explain/partition.h"
#include "laws.h"
#include "report/check.h"
#include "report/json.h"
#include "report/read.h"
#include "report/replan.h"
#include "report/summary.h"
#include "report/write.h"

namespace {

// Larger reports take time, and show nothing that smaller ones do not.
constexpr size_t kMostToReplan = size_t{1} << 16;

// An error, or a report that can be written; the same one when nothing is said to differ.
void CheckReplan(const std::shared_ptr<const stowplan::Source>& source,
                 const stowplan::Target& target) {
  namespace report = stowplan::report;
  auto read = report::ReadReport({&source, 1});
  if (!read) return;
  const report::ReportDialect dialect = read->dialect;
  const std::string before = report::WriteCombined(*read, dialect);
  const auto replan = report::ReplanReport(std::move(*read), RulesOf(target));
  if (!replan) {
    stowplan::fuzz::CheckErrors(replan.error());
    return;
  }
  const std::string after = report::WriteCombined(replan->report, dialect);
  if (replan->differences.empty() && after != before)
    stowplan::fuzz::Fail("planned again, it differs without a word", before, after);
  const std::shared_ptr<const stowplan::Source> again =
      stowplan::Source::FromBytes("replanned", after);
  if (const auto reread = report::ReadReport({&again, 1}); !reread)
    stowplan::fuzz::Fail("the replanned file is not accepted", after, Render(reread.error()));
}

// Every way to split what is live adds up.
void CheckPicture(const stowplan::report::Report& read, std::string_view input) {
  namespace report = stowplan::report;
  const auto picture = stowplan::explain::MakePicture(read, nullptr);
  if (!picture || !report::HasPeak(read)) return;
  const stowplan::explain::Curves& curves = picture->curves;
  const auto moment = stowplan::explain::MomentAt(*picture, curves.all.peak.time);
  const int64_t footprint = stowplan::explain::FootprintAt(*picture, curves.all.peak.time).bytes;
  for (size_t i = 0; i < stowplan::explain::kBys; ++i) {
    const auto by = static_cast<stowplan::explain::By>(i);
    const int64_t total = stowplan::explain::PartitionOf(*picture, moment, by).total();
    const bool is_footprint = by == stowplan::explain::By::kFootprint;
    if (moment.bytes != curves.all.peak.bytes || total != (is_footprint ? footprint : moment.bytes))
      stowplan::fuzz::Fail("a partition of the peak does not add up", std::string(input), "");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using stowplan::Source;
  namespace report = stowplan::report;
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const std::shared_ptr<const Source> source = Source::FromBytes("input", input);
  const auto read = report::ReadReport({&source, 1});
  if (!read) {
    stowplan::fuzz::CheckErrors(read.error());
    return 0;
  }
  const std::string written = report::WriteFile(*read, *source);
  if ((written != source->bytes()) != !report::CompareFigures(*read, *source).empty()) {
    stowplan::fuzz::Fail("a difference without a finding, or the reverse", std::string(input),
                         written);
  }
  // The figures of a page: any answer will do, and sums add up.
  (void)Render(report::FindContradictions(*read, *source));
  if (read->has_assignment) {
    const auto summary = report::Summarize(*read);
    if (summary && summary->peak) {
      const report::Peak& peak = summary->peak->all;
      int64_t live = 0;
      for (const auto& row : report::LiveValuesAt(*read, peak.time)) live += row.bytes;
      if (live != peak.bytes)
        stowplan::fuzz::Fail("the list of the peak does not add up", std::string(input), written);
    }
  }
  CheckPicture(*read, input);
  (void)report::WriteJson(*read);
  if (size <= kMostToReplan && read->has_assignment && read->live_ranges) {
    const auto found = report::FindReportTarget(*read);
    // One whose heaps sweep time, and one that has none.
    for (const std::string_view name : {"tpu-v5e", "cpu"})
      CheckReplan(source, *stowplan::FindTarget(name));
    if (found) CheckReplan(source, *found);
  }
  const std::shared_ptr<const Source> again = Source::FromBytes("written", written);
  const auto reread = report::ReadReport({&again, 1});
  if (!reread)
    stowplan::fuzz::Fail("the written file is not accepted", written, Render(reread.error()));
  const std::string twice = report::WriteFile(*reread, *again);
  if (twice != written) stowplan::fuzz::Fail("writing twice differs", written, twice);
  return 0;
}
