// SPDX-License-Identifier: Apache-2.0
#include "explain/moment.h"

#include <algorithm>

namespace stowplan::explain {

Moment MomentAt(const Picture& picture, int64_t time, std::optional<int64_t> space) {
  Moment moment{.time = time, .space = space, .bytes = 0, .shares = {}};
  std::vector<report::LiveValue> values;
  if (!space) {
    values = report::LiveValuesAt(*picture.report, time);
  } else if (const Space* found = picture.FindSpace(*space); found != nullptr) {
    values = report::LiveAmong(*picture.report, time, found->values);
  }
  moment.shares.reserve(values.size());
  for (const report::LiveValue& live : values) {
    // Padding stands after the data: a value that shares its place loses that first.
    const ValueFact& fact = picture.fact(live.value);
    const int64_t plain = fact.plain.value_or(live.bytes);
    moment.shares.push_back({.value = live.value,
                             .bytes = live.bytes,
                             .padding = std::max<int64_t>(0, live.bytes - plain)});
    moment.bytes += live.bytes;
  }
  return moment;
}

}  // namespace stowplan::explain
