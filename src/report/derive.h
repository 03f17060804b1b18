// SPDX-License-Identifier: Apache-2.0
// Figures that follow from a report's facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stowplan/report/report.h"

namespace stowplan::report {

// 41 943 072
std::string GroupedNumber(int64_t n);

// The sum of the allocations' sizes.
int64_t TotalBytes(const Report& report);

// By value: whether it lies in an allocation of a different color, and the report says so.
std::vector<uint8_t> FindGuests(const Report& report);

// Shapes of the report's values, as far as the files have them; plain sizes as in XLA's peak list.
struct PlainSizes {
  // By value; absent if no file has the shape.
  std::vector<std::optional<int64_t>> value;        // of the value's own shape
  std::vector<std::optional<int64_t>> instruction;  // of the defining instruction's whole shape
};
PlainSizes ComputePlainSizes(const Report& report);

// XLA's peak: the first moment with the largest sum of the *instructions'* sizes, where a value
// still counts one step after its end. Absent when a shape is missing.
struct XlaPeak {
  int64_t time = 0;
  std::vector<PeakRow> rows;
};
std::optional<XlaPeak> ComputeXlaPeak(const Report& report, const PlainSizes& sizes,
                                      PeakLine order);

}  // namespace stowplan::report
