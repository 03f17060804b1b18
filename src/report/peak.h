// SPDX-License-Identifier: Apache-2.0
// How many bytes are really in use at once.
//
// At a moment t, a byte of an allocation is live when a value lies on it whose range has start <= t
// <= end, both inclusive as XLA prints them. Each byte counts once, however many values share it:
//
//     byte 2 |   b    b                 live at 0: 1 byte
//     byte 1 |       c,b  c             live at 1: 3 bytes, the peak
//     byte 0 |   .    a   a             live at 2: 2 bytes
//              ---------------
//        time    0    1   2
//
// XLA's own peak is a different figure: it adds up sizes without padding, counts elements of tuples
// as tables of pointers, and counts a value one step beyond its end. Thread-local allocations
// belong to calls inside instructions and have no place on this axis; they are left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

struct Peak {
  int64_t bytes = 0;
  int64_t time = 0;  // the first moment that reaches it
  friend bool operator==(const Peak&, const Peak&) = default;
};

struct SpacePeak {
  int64_t color = 0;
  Peak peak;
  friend bool operator==(const SpacePeak&, const SpacePeak&) = default;
};

struct TruePeak {
  Peak all;                          // all memory spaces together
  std::vector<SpacePeak> spaces;     // by color; of each that has an allocation
  std::vector<Peak> allocations;     // by allocation; thread-local ones are 0
  int64_t values_without_range = 0;  // that have a place but no live range: never counted
  int64_t bytes_without_range = 0;
};

// Whether the report has what the peak follows from: places and live ranges.
[[nodiscard]] bool HasPeak(const Report& report);

// Whether a value counts as live at some moment: it has a place that is not thread-local, and a
// live range.
[[nodiscard]] bool IsCounted(const Report& report, const Value& value);

// Needs HasPeak. Fails when the bytes of all allocations together do not fit in 64 bits. n log n in
// the values.
[[nodiscard]] Result<TruePeak> ComputeTruePeak(const Report& report);

// Live bytes over time: a step at each moment where they change.
struct Step {
  int64_t time = 0;
  int64_t bytes = 0;  // from here to the next step
  friend bool operator==(const Step&, const Step&) = default;
};
struct Curve {
  std::optional<int64_t> space;  // a color; absent: all memory spaces together
  std::vector<Step> steps;       // by time; nothing is live before the first
  Peak peak;                     // the first of the highest steps
};
struct Curves {
  Curve all;
  std::vector<Curve> spaces;  // by color; of each that has an allocation

  // Of a memory space; absent, or without an allocation: of all together.
  [[nodiscard]] const Curve& of(std::optional<int64_t> space) const {
    const auto found = std::ranges::find(spaces, space, &Curve::space);
    return !space || found == spaces.end() ? all : *found;
  }
};

struct LiveBytes {
  TruePeak peak;
  Curves curves;
};
// The same, with the curves.
[[nodiscard]] Result<LiveBytes> ComputeLiveBytes(const Report& report);

// The level at a moment.
[[nodiscard]] int64_t BytesAt(const Curve& curve, int64_t time);

// A value that is live at some moment, and the bytes that it owns. A byte that several values share
// belongs to the youngest: the one with the latest start, among these the last in the table.
struct LiveValue {
  ValueId value;
  int64_t bytes = 0;
  friend bool operator==(const LiveValue&, const LiveValue&) = default;
};

// What is live at `time`, in all memory spaces: by descending bytes, then in table order. The bytes
// add up to the live bytes of that moment. Needs HasPeak, and sizes that ComputeTruePeak accepts.
[[nodiscard]] std::vector<LiveValue> LiveValuesAt(const Report& report, int64_t time);
// The same for these values only, which must be in table order and share no bytes with others, such
// as those of a memory space. The cost depends only on their number.
[[nodiscard]] std::vector<LiveValue> LiveAmong(const Report& report, int64_t time,
                                               std::span<const ValueId> values);

}  // namespace stowplan::report
