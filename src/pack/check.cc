// SPDX-License-Identifier: Apache-2.0
#include "stowplan/pack/check.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/checked_math.h"

namespace stowplan::pack {
namespace {

constexpr size_t kMaxComplaints = 20;

}  // namespace

std::vector<std::string> CheckProblem(const Problem& problem) {
  std::vector<std::string> complaints;
  int64_t sum = 0;
  for (size_t b = 0; b < problem.buffers.size() && complaints.size() < kMaxComplaints; ++b) {
    const Buffer& buffer = problem.buffers[b];
    if (buffer.size < 0) complaints.push_back(fmt::format("buffer {}: its size is negative", b));
    if (buffer.start >= buffer.end)
      complaints.push_back(fmt::format("buffer {}: it ends before it begins", b));
    if (buffer.alignment < 1)
      complaints.push_back(fmt::format("buffer {}: its alignment is not positive", b));
    if (buffer.size < 0 || buffer.alignment < 1) continue;
    // No offset of a plan is above the sum of all sizes and alignments.
    const std::optional<int64_t> step = CheckedAdd(buffer.size, buffer.alignment);
    const std::optional<int64_t> next = step ? CheckedAdd(sum, *step) : std::nullopt;
    if (!next) {
      complaints.push_back(fmt::format("buffer {}: the sizes do not fit in 64 bits", b));
      break;
    }
    sum = *next;
  }
  return complaints;
}

std::vector<std::string> CheckPlan(const Problem& problem, const Plan& plan) {
  std::vector<std::string> complaints;
  if (plan.offsets.size() != problem.buffers.size()) {
    complaints.push_back(fmt::format("the plan has {} offsets for {} buffers", plan.offsets.size(),
                                     problem.buffers.size()));
    return complaints;
  }
  struct Event {
    int64_t time;
    bool is_begin;  // at one time, ends come first
    size_t buffer;
  };
  std::vector<Event> events;
  int64_t height = 0;
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    const int64_t offset = plan.offsets[b];
    const std::optional<int64_t> end = CheckedAdd(offset, problem.buffers[b].size);
    if (offset < 0 || !end) {
      complaints.push_back(fmt::format("buffer {} lies at {}", b, offset));
      continue;
    }
    if (offset % problem.buffers[b].alignment != 0) {
      complaints.push_back(fmt::format("buffer {} lies at {}, which is no multiple of {}", b,
                                       offset, problem.buffers[b].alignment));
    }
    height = std::max(height, *end);
    if (problem.buffers[b].size == 0) continue;
    events.push_back({problem.buffers[b].start, true, b});
    events.push_back({problem.buffers[b].end, false, b});
  }
  if (height != plan.height) {
    complaints.push_back(fmt::format("the plan is {} high, and says {}", height, plan.height));
  }
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.is_begin < b.is_begin;
  });
  std::map<int64_t, size_t> alive;  // by offset; they are apart
  for (const Event& event : events) {
    if (complaints.size() >= kMaxComplaints) break;
    const int64_t offset = plan.offsets[event.buffer];
    const auto next = alive.lower_bound(offset);
    if (!event.is_begin) {
      if (next != alive.end() && next->second == event.buffer) alive.erase(next);
      continue;
    }
    const auto complain = [&](size_t other) {
      complaints.push_back(
          fmt::format("buffers {} and {} share bytes at time {}", other, event.buffer, event.time));
    };
    if (next != alive.end() && next->first < offset + problem.buffers[event.buffer].size) {
      complain(next->second);
    } else if (next != alive.begin() &&
               std::prev(next)->first + problem.buffers[std::prev(next)->second].size > offset) {
      complain(std::prev(next)->second);
    } else {
      alive.emplace(offset, event.buffer);
    }
  }
  return complaints;
}

}  // namespace stowplan::pack
