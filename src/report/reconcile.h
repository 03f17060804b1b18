// SPDX-License-Identifier: Apache-2.0
// Every figure about memory that XLA and JAX print, and how it follows from the assignment.
//
// People meet the same program as "Total bytes used", as memory_analysis(), as a peak, as a usage
// report and as an OOM message, each with a different number. This puts them side by side.
// docs/report.md explains them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assign/temporaries.h"
#include "report/derive.h"
#include "report/summary.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

struct ReconcileRow {
  enum class Role : uint8_t {
    kFigure,  // a number that XLA or JAX prints
    kStep,    // what must be added to the number above to get ...
    kResult,  // ... this one
  };
  Role role = Role::kFigure;
  std::string figure = {};
  std::optional<int64_t> said = {};      // in the report's files; absent when they do not have it
  std::optional<int64_t> computed = {};  // absent if the files do not have enough
  std::string how = {};                  // the rule, in words

  [[nodiscard]] bool differs() const { return said && computed && *said != *computed; }
  friend bool operator==(const ReconcileRow&, const ReconcileRow&) = default;
};

struct ReconcileGroup {
  std::string title = {};  // where the figures are printed
  std::vector<ReconcileRow> rows = {};
};

// The steps from XLA's list to the bytes that are live at the same moment.
struct PeakSteps {
  int64_t own_shapes = 0;  // plain sizes of the values' own shapes, instead of the instructions'
  int64_t padding = 0;     // assigned sizes instead of plain ones
  int64_t unplaced = 0;    // values in the list that have no memory of their own
  int64_t shared = 0;      // bytes under several values, counted once
  int64_t live = 0;
};

// `listed` is the sum of XLA's list, `live` what is live at `time`. Nothing when a shape is
// missing. Needs HasPeak.
[[nodiscard]] std::optional<PeakSteps> StepsAt(const Report& report, const PlainSizes& plain,
                                               int64_t time, int64_t listed, int64_t live);

// Some figures of GPUs and TPUs need more about the temporaries than the report has; without it,
// they are not computed.
[[nodiscard]] std::vector<ReconcileGroup> Reconcile(const Report& report, const Summary& summary,
                                                    Backend backend,
                                                    const std::optional<Temporaries>& temporaries);

}  // namespace stowplan::report
