// SPDX-License-Identifier: Apache-2.0
// -memory-usage-report.pb (MemoryUsageReportProto, 2026 on): the usage report's text in pieces,
// with the numbers of the allocations, which the text does not have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"

namespace stowplan::report {

struct UsageProtoAllocation {
  int64_t index = 0;
  int64_t size = 0;
  int64_t cumulative_size = 0;
  double cumulative_share = 0;  // 0 to 1
  std::vector<std::string_view>
      positions;           // where its values are defined: `fusion.2 {1}`, in no order
  std::string_view table;  // its table in the text
};
struct UsageProtoSpace {
  int64_t color = 0;
  int64_t total_bytes = 0;
  std::vector<UsageProtoAllocation> allocations;  // as the text has them
};
struct UsageProto {
  std::vector<UsageProtoSpace> spaces;
};

// Whether the bytes look like this message rather than another one or text.
bool LooksLikeUsageProto(const Source& source);

// Texts are slices of the source. Errors have byte offset and path.
Result<UsageProto> ParseUsageProto(const Source& source);

// The text that XLA writes beside the proto.
std::string ToUsageText(const UsageProto& usage);

}  // namespace stowplan::report
