// SPDX-License-Identifier: Apache-2.0
// Any bytes to the report reader. What it accepts is written back; whatever line then differs is
// named as a finding, so no line is lost in silence; and the written file is accepted and comes
// back as it is. Its figures can be computed.
#include <cstddef>
#include <cstdint>
#include <string>

#include "laws.h"
#include "report/json.h"
#include "stowplan/report/check.h"
#include "stowplan/report/read.h"
#include "stowplan/report/summary.h"
#include "stowplan/report/write.h"

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
  const std::string written = report::WriteFile(*read, report::KindOf(*source));
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
  (void)report::WriteJson(*read);
  const std::shared_ptr<const Source> again = Source::FromBytes("written", written);
  const auto reread = report::ReadReport({&again, 1});
  if (!reread)
    stowplan::fuzz::Fail("the written file is not accepted", written, Render(reread.error()));
  const std::string twice = report::WriteFile(*reread, report::KindOf(*again));
  if (twice != written) stowplan::fuzz::Fail("writing twice differs", written, twice);
  return 0;
}
