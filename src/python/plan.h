// SPDX-License-Identifier: Apache-2.0
// A plan as Python holds it: what was loaded, and what follows from it, made when it is asked for.
//
// All members may be called by several threads, without the interpreter lock. What they return
// lives as long as the plan.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/moment.h"
#include "explain/picture.h"
#include "live/analysis.h"
#include "report/summary.h"
#include "stowplan/session.h"

namespace stowplan::python {

// Of bytes without a file: "<text>".
[[nodiscard]] inline bool IsPlaceholder(std::string_view name) { return name.starts_with('<'); }

struct LoadOptions {
  PlanOptions plan;
  std::vector<std::string> parameter_names = {};
};
// Options as Python spells them; `caller` says the target.
LoadOptions OptionsOf(std::string module, std::string target, std::string xla_version,
                      std::string caller = "the call");

// A Failure when there is no such target or release.
void CheckNames(const LoadOptions& options);

// Facts of values, a row a value: what Python sees as arrays.
struct ValueColumns {
  std::vector<int64_t> allocations;  // rows of the table of allocations; -1: none
  std::vector<int64_t> offsets;
  std::vector<int64_t> sizes;
  std::vector<int64_t> colors;  // -1: not known
  std::vector<int64_t> starts;  // -1: no live range
  std::vector<int64_t> ends;    // inclusive, as XLA prints them

  // Of the values that have a live range alone.
  std::vector<int64_t> range_rows;  // which values
  std::vector<int64_t> range_starts;
  std::vector<int64_t> range_ends;
};

class Plan {
 public:
  // Throw a Failure when there is no plan.
  static std::shared_ptr<Plan> Load(const std::vector<std::string>& paths, LoadOptions options);
  static std::shared_ptr<Plan> LoadBytes(std::string_view bytes, std::string name,
                                         LoadOptions options);
  // Of a plan that was made elsewhere.
  static std::shared_ptr<Plan> Adopt(PlannedModule planned, LoadOptions options);

  [[nodiscard]] const PlannedModule& planned() const { return planned_; }
  [[nodiscard]] const std::string& name() const { return planned_.name; }
  [[nodiscard]] const report::Report& report() const { return *planned_.report; }
  [[nodiscard]] const hlo::Module* program() const { return planned_.module.get(); }
  [[nodiscard]] const LoadOptions& options() const { return options_; }
  [[nodiscard]] std::vector<std::string> notes() const;
  [[nodiscard]] const report::Summary& summary() const { return summary_; }
  [[nodiscard]] bool has_peak() const { return summary_.peak.has_value(); }
  // As the pages name memory spaces.
  [[nodiscard]] report::Backend backend() const;

  [[nodiscard]] const explain::Picture& picture();
  // Needs has_peak.
  [[nodiscard]] const explain::Curves& curves();
  [[nodiscard]] const ValueColumns& columns();
  // Null when the program does not allow it.
  [[nodiscard]] const Analysis* analysis();

  // The moment `time` of a memory space, or its peak; a Failure when there is none.
  [[nodiscard]] explain::Moment MomentAt(std::optional<int64_t> time, std::optional<int64_t> space);
  // "fusion.3": what runs then; empty when not known.
  [[nodiscard]] std::string_view InstructionAt(int64_t time) const;
  // A Failure when there is no such memory space.
  void CheckSpace(std::optional<int64_t> space) const;
  // A Failure when live ranges are not known.
  void NeedPeak() const;

 private:
  Plan(PlannedModule planned, LoadOptions options);

  PlannedModule planned_;
  LoadOptions options_;
  report::Summary summary_;

  std::mutex mutex_;  // of all that follows
  std::optional<explain::Picture> picture_;
  std::optional<ValueColumns> columns_;
  std::optional<PlannedModule> analyzed_;
};

}  // namespace stowplan::python
