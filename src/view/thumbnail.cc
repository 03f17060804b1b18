// SPDX-License-Identifier: Apache-2.0
#include "view/thumbnail.h"

#include <algorithm>

namespace stowplan::view {

std::vector<explain::Step> Thumbnail(const explain::Curve& curve, int64_t end, size_t most) {
  const std::vector<explain::Step>& steps = curve.steps;
  if (steps.size() <= most) return steps;
  const auto count = static_cast<int64_t>(most);
  const int64_t length = end / count + 1;  // of a stretch: count * length > end
  std::vector<explain::Step> out;
  int64_t level = 0;  // when the stretch begins
  size_t next = 0;
  for (int64_t begin = 0; begin <= end; begin += length) {
    int64_t highest = level;
    for (bool is_first = true; next < steps.size() && steps[next].time < begin + length; ++next) {
      // A step at the very beginning leaves nothing of the level before.
      highest = is_first && steps[next].time <= begin ? steps[next].bytes
                                                      : std::max(highest, steps[next].bytes);
      level = steps[next].bytes;
      is_first = false;
    }
    if (out.empty() ? highest != 0 : highest != out.back().bytes)
      out.push_back({.time = begin, .bytes = highest});
  }
  return out;
}

}  // namespace stowplan::view
