// SPDX-License-Identifier: Apache-2.0
#include "oom/join.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/checked_math.h"
#include "report/summary.h"
#include "stowplan/hlo/opcode.h"

namespace stowplan::oom {
namespace {

std::string_view WithoutLayout(std::string_view shape) { return shape.substr(0, shape.find('{')); }

bool IsSize(const Buffer& buffer, const report::Value& value) {
  return !buffer.size || Agree(*buffer.size, {.bytes = value.size, .slack = 0}) ||
         (buffer.unpadded && Agree(*buffer.unpadded, {.bytes = value.size, .slack = 0}));
}

// How well a value of the same size and shape fits: alive at the peak, of the same operation.
int ScoreOf(const Buffer& buffer, const explain::Picture& picture, report::ValueId id) {
  const report::Value& value = picture.report->values[id];
  const explain::ValueFact& fact = picture.fact(id);
  int score = 0;
  if (!buffer.op_name.empty() && fact.op_name == buffer.op_name) score += 8;
  if (!buffer.opcode.empty() && hlo::Name(picture.op_of(id).opcode) == buffer.opcode) score += 4;
  if (buffer.is_parameter ==
      (fact.kind == explain::Kind::kParameter || fact.kind == explain::Kind::kDonated))
    score += 2;
  if (picture.peak && value.has_range && value.start <= picture.peak->all.time &&
      picture.peak->all.time <= value.end)
    score += 1;
  return score;
}

class Matcher {
 public:
  explicit Matcher(const explain::Picture& picture) : picture_(picture) {
    const report::Report& report = *picture.report;
    is_taken_.resize(report.values.size());
    for (size_t i = 0; i < report.values.size(); ++i) {
      const report::ValueId id(i);
      if (!report.values[id].allocation.is_none())
        by_shape_[WithoutLayout(report.values[id].shape)].push_back(id);
    }
  }

  Match Find(const Buffer& buffer) {
    if (!buffer.instruction.empty()) {
      for (const report::ValueId id : explain::FindValues(*picture_.report, buffer.instruction))
        if (IsFree(id) && IsSize(buffer, picture_.report->values[id]))
          return Take(id, MatchedBy::kName);
    }
    if (buffer.shape.empty()) return {};
    const auto found = by_shape_.find(WithoutLayout(buffer.shape));
    if (found == by_shape_.end()) return {};
    report::ValueId best;
    int best_score = -1;
    for (const report::ValueId id : found->second) {
      if (!IsFree(id) || !IsSize(buffer, picture_.report->values[id])) continue;
      const int score = ScoreOf(buffer, picture_, id);
      if (score > best_score) {
        best = id;
        best_score = score;
      }
    }
    if (best_score < 0) return {};
    return Take(best, best_score >= 8 ? MatchedBy::kOpName : MatchedBy::kShape);
  }

 private:
  [[nodiscard]] bool IsFree(report::ValueId id) const { return !is_taken_[id.index]; }
  Match Take(report::ValueId id, MatchedBy matched_by) {
    is_taken_[id.index] = true;
    return {.matched_by = matched_by, .value = id};
  }

  const explain::Picture& picture_;
  std::map<std::string_view, std::vector<report::ValueId>> by_shape_;
  std::vector<bool> is_taken_;
};

struct PlanSums {
  int64_t arguments = 0;
  int64_t outputs = 0;
  int64_t constants = 0;
  int64_t temporaries = 0;
  int64_t total = 0;
};

// As XLA counts them: an argument that is also an output counts as both.
PlanSums SumsOf(const report::Report& report, bool is_tpu) {
  PlanSums sums;
  for (const report::Allocation& allocation : report.allocations.rows()) {
    // A TPU's log is about its main memory alone.
    if (allocation.is_thread_local || (is_tpu && allocation.color != 0)) continue;
    const auto add = [&](int64_t& sum) { sum = SaturatingAdd(sum, allocation.size); };
    if (allocation.parameter) add(sums.arguments);
    if (allocation.is_maybe_live_out) add(sums.outputs);
    if (allocation.is_constant) add(sums.constants);
    if (allocation.is_temp()) add(sums.temporaries);
    add(sums.total);
  }
  return sums;
}

}  // namespace

std::string_view Word(MatchedBy matched_by) {
  switch (matched_by) {
    case MatchedBy::kName:
      return "name";
    case MatchedBy::kOpName:
      return "op_name";
    case MatchedBy::kShape:
      return "shape";
    case MatchedBy::kNothing:
      break;
  }
  return "nothing";
}

Join JoinPlan(const Incident& incident, const explain::Picture& picture) {
  Join join;
  const bool is_tpu = incident.backend == Backend::kTpu;
  const PlanSums sums = SumsOf(*picture.report, is_tpu);
  const auto add = [&](std::string name, const std::optional<Size>& log, int64_t plan) {
    if (!log) return;
    join.figures.push_back({.name = std::move(name),
                            .log = *log,
                            .plan = plan,
                            .agrees = Agree(*log, {.bytes = plan, .slack = 0})});
  };
  add("arguments", incident.program.arguments, sums.arguments);
  add("outputs", incident.program.outputs, sums.outputs);
  add("constants", incident.program.constants, sums.constants);
  add("temporaries", incident.program.temporaries, sums.temporaries);
  // On a TPU, the program is everything but the arguments.
  if (!is_tpu) add("all", incident.program.total, sums.total);
  if (incident.requested && incident.kind == Kind::kBuffer) {
    const Size wide = {.bytes = incident.requested->bytes,
                       .slack = SaturatingAdd(incident.requested->slack, 256)};
    for (size_t i = 0; i < picture.report->allocations.size(); ++i) {
      const report::Allocation& allocation = picture.report->allocations[report::AllocationId(i)];
      if (allocation.is_thread_local || allocation.parameter ||
          !Agree(wide, {.bytes = allocation.size, .slack = 0}))
        continue;
      join.requested = report::AllocationId(i);
      break;
    }
  }
  join.is_same = (!join.figures.empty() || !join.requested.is_none()) &&
                 std::ranges::all_of(join.figures, &JoinedFigure::agrees);
  Matcher matcher(picture);
  for (const Buffer& buffer : incident.buffers) join.matches.push_back(matcher.Find(buffer));
  return join;
}

}  // namespace stowplan::oom
