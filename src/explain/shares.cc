// SPDX-License-Identifier: Apache-2.0
#include "explain/shares.h"

#include <algorithm>
#include <map>
#include <utility>

#include "report/peak.h"

namespace stowplan::explain {
namespace {

struct Event {
  int64_t time = 0;
  bool begins = false;
  uint32_t value = 0;
};

// One allocation while time goes by: pieces of it, each with the values on it that are alive, the
// youngest last. Values begin in the order of their age, so who begins owns what it lies on.
class Ownership {
 public:
  // Calls change(value, bytes) for each value that gains or, with negative bytes, loses some.
  template <class Change>
  void Begin(uint32_t value, int64_t begin, int64_t end, Change change) {
    if (begin == end) return;
    Cut(begin);
    Cut(end);
    // What nobody lies on has no piece.
    int64_t at = begin;
    for (auto piece = pieces_.lower_bound(begin); at < end;) {
      if (piece == pieces_.end() || piece->first > at) {
        const int64_t next = piece == pieces_.end() ? end : std::min(end, piece->first);
        pieces_.emplace_hint(piece, at, Piece{.end = next, .values = {value}});
        at = next;
        continue;
      }
      const int64_t bytes = piece->second.end - at;
      change(piece->second.values.back(), -bytes);
      piece->second.values.push_back(value);
      at = piece->second.end;
      ++piece;
    }
    change(value, end - begin);
  }

  template <class Change>
  void End(uint32_t value, int64_t begin, int64_t end, Change change) {
    if (begin == end) return;
    for (auto piece = pieces_.lower_bound(begin); piece != pieces_.end() && piece->first < end;) {
      std::vector<uint32_t>& values = piece->second.values;
      const int64_t bytes = piece->second.end - piece->first;
      if (values.back() == value) {
        change(value, -bytes);
        values.pop_back();
        if (!values.empty()) change(values.back(), bytes);
      } else {
        values.erase(std::ranges::find(values, value));
      }
      piece = values.empty() ? pieces_.erase(piece) : std::next(piece);
    }
    Join(begin);
    Join(end);
  }

 private:
  struct Piece {
    int64_t end = 0;
    std::vector<uint32_t> values;  // never empty
  };

  void Cut(int64_t at) {
    auto piece = pieces_.upper_bound(at);
    if (piece == pieces_.begin()) return;
    --piece;
    if (piece->first == at || piece->second.end <= at) return;
    pieces_.emplace(at, piece->second);
    piece->second.end = at;
  }
  // Pieces that meet here and have the same values become one again.
  void Join(int64_t at) {
    const auto behind = pieces_.find(at);
    if (behind == pieces_.end() || behind == pieces_.begin()) return;
    const auto before = std::prev(behind);
    if (before->second.end != at || before->second.values != behind->second.values) return;
    before->second.end = behind->second.end;
    pieces_.erase(behind);
  }

  std::map<int64_t, Piece> pieces_;  // by where they begin
};

}  // namespace

Shares SharesOf(const Picture& picture) {
  const report::Report& report = *picture.report;
  std::vector<Event> events;
  for (uint32_t v = 0; v < report.values.size(); ++v) {
    const report::Value& value = report.values[report::ValueId(v)];
    if (!report::IsCounted(report, value)) continue;
    events.push_back({.time = value.start, .begins = true, .value = v});
    if (value.end != INT64_MAX)
      events.push_back({.time = value.end + 1, .begins = false, .value = v});
  }
  // Of one moment, those that have ended come first; those that begin, in the order of the table.
  std::ranges::stable_sort(events, {},
                           [](const Event& event) { return std::pair(event.time, event.begins); });

  std::vector<Ownership> allocations(report.allocations.size());
  std::vector<int64_t> owned(report.values.size(), 0);
  std::vector<std::vector<ShareStep>> steps(report.values.size());
  std::vector<uint32_t> changed;
  for (size_t e = 0; e < events.size();) {
    const int64_t time = events[e].time;
    changed.clear();
    const auto change = [&](uint32_t value, int64_t bytes) {
      owned[value] += bytes;
      changed.push_back(value);
    };
    for (; e < events.size() && events[e].time == time; ++e) {
      const uint32_t v = events[e].value;
      const report::Value& value = report.values[report::ValueId(v)];
      Ownership& ownership = allocations[value.allocation.index];
      if (events[e].begins) {
        ownership.Begin(v, value.offset, value.offset + value.size, change);
      } else {
        ownership.End(v, value.offset, value.offset + value.size, change);
      }
    }
    for (const uint32_t v : changed) {
      const int64_t before = steps[v].empty() ? 0 : steps[v].back().bytes;
      if (owned[v] == before) continue;
      const int64_t plain = picture.values[v].plain.value_or(owned[v]);
      steps[v].push_back(
          {.time = time, .bytes = owned[v], .padding = std::max<int64_t>(0, owned[v] - plain)});
    }
  }
  Shares shares;
  shares.begins.push_back(0);
  for (const std::vector<ShareStep>& own : steps) {
    shares.steps.insert(shares.steps.end(), own.begin(), own.end());
    shares.begins.push_back(static_cast<uint32_t>(shares.steps.size()));
  }
  return shares;
}

}  // namespace stowplan::explain
