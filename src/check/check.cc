// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "check/execute.h"
#include "check/index_map.h"
#include "check/names.h"
#include "check/trace.h"
#include "hlo/verify.h"
#include "hlo/verify_complaints.h"
#include "target/size.h"

namespace stowplan::check {
namespace {

using hlo::CompId;
using hlo::InstrId;

// How long a list of findings becomes: the first ones tell the story.
constexpr size_t kMaxFindings = 10'000;

// In which order a computation's instructions are executed: by its schedule, or as the report lists
// them. Those inside instructions (reducers) have no schedule, and stand in an order that works.
class Orders {
 public:
  Orders(const hlo::Module& module, const std::vector<int64_t>& times)
      : module_(module), times_(times) {}

  Result<std::vector<std::vector<InstrId>>> Find() {
    std::vector<std::vector<InstrId>> orders(module_.computations.size());
    std::vector<uint8_t> is_run(module_.computations.size(), 0);
    MarkRun(module_.entry, is_run);
    for (size_t c = 0; c < orders.size(); ++c) {
      const hlo::Computation& computation = module_.computations[CompId(c)];
      const std::span<const InstrId> schedule = module_.schedule_of(CompId(c));
      if (!schedule.empty()) {
        orders[c].assign(schedule.begin(), schedule.end());
        continue;
      }
      for (uint32_t k = 0; k < computation.count; ++k)
        orders[c].push_back(InstrId(size_t{computation.first.index} + k));
      if (is_run[c] == 0 || computation.count < 2) continue;
      for (const InstrId id : orders[c]) {
        if (times_[id.index] >= 0) continue;
        return Fail(
            module_.source ? module_.source->name() : std::string(),
            fmt::format("the order of execution of {} is not known", module_.name(CompId(c))),
            "the module has no schedule; a report with live ranges has the order");
      }
      std::ranges::stable_sort(orders[c], {}, [&](InstrId id) { return times_[id.index]; });
    }
    return orders;
  }

 private:
  // Computations that are part of the program's own order.
  void MarkRun(CompId entry, std::vector<uint8_t>& is_run) const {
    std::vector<CompId> stack = {entry};
    while (!stack.empty()) {
      const CompId id = stack.back();
      stack.pop_back();
      if (std::exchange(is_run[id.index], 1) != 0) continue;
      const hlo::Computation& computation = module_.computations[id];
      for (uint32_t k = 0; k < computation.count; ++k) {
        const InstrId instruction(size_t{computation.first.index} + k);
        switch (module_.instructions[instruction].opcode) {
          case hlo::Opcode::kWhile:
          case hlo::Opcode::kConditional:
          case hlo::Opcode::kCall:
          case hlo::Opcode::kAsyncStart:
            for (const CompId callee : module_.called_by(instruction)) stack.push_back(callee);
            break;
          default:
            break;
        }
      }
    }
  }

  const hlo::Module& module_;
  const std::vector<int64_t>& times_;  // by instruction
};

// The instructions in the order in which the report says that they are executed; none for names
// that the program does not have.
std::vector<InstrId> SequenceOf(Names& names, const report::Report& report) {
  std::vector<InstrId> sequence;
  if (!report.live_ranges) return sequence;
  sequence.reserve(report.live_ranges->sequence.size());
  for (const std::string_view name : report.live_ranges->sequence)
    sequence.push_back(names.Find(name));
  names.Rewind();
  return sequence;
}

// When instructions are executed; -1 where that is not known.
std::vector<int64_t> TimesOf(const hlo::Module& module, const std::vector<InstrId>& sequence) {
  std::vector<int64_t> times(module.instructions.size(), -1);
  for (size_t t = 0; t < sequence.size(); ++t) {
    if (!sequence[t].is_none()) times[sequence[t].index] = static_cast<int64_t>(t);
  }
  return times;
}

}  // namespace

namespace {

// The executor hands results part by part to what is called and back, so that both must have the
// same parts. hlo::VerifyCalls lets shapes of unbounded arrays differ; they may not differ in that.
Diagnostics FindOtherParts(const hlo::Module& module, const Trees& trees) {
  hlo::Complaints complaints(module);
  const auto count = [&](InstrId id) { return trees.count(module.instructions[id].shape); };
  const auto compare = [&](InstrId id, InstrId other) {
    if (count(id) != count(other))
      complaints.At(id, fmt::format("it has {} parts, and {} has {}", count(id), module.name(other),
                                    count(other)));
  };
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstrId id(i);
    const hlo::Opcode opcode = module.instructions[id].opcode;
    if (opcode == hlo::Opcode::kWhile) {
      const CompId body = module.called_by(id)[0];
      compare(id, module.operands_of(id)[0]);
      compare(id, module.parameters_of(body)[0]);
      compare(id, module.parameters_of(module.called_by(id)[1])[0]);
      compare(id, module.computations[body].root);
    } else if (opcode == hlo::Opcode::kConditional || opcode == hlo::Opcode::kCall) {
      for (const CompId called : module.called_by(id))
        compare(id, module.computations[called].root);
    }
  }
  return std::move(complaints).Finish();
}

// Bytes of each part of what instructions return.
std::vector<int64_t> SizesOf(const hlo::Module& module, const Trees& trees, const Target& target) {
  std::vector<int64_t> by_shape(module.shapes.size(), 0);
  for (size_t s = 0; s < by_shape.size(); ++s) {
    // Shapes without a size are never placed.
    by_shape[s] =
        std::max<int64_t>(0, ByteSize(module.shapes, hlo::ShapeId(s), target).value_or(0));
  }
  std::vector<int64_t> sizes(trees.count(), 0);
  for (uint32_t row = 0; row < trees.count(); ++row) sizes[row] = by_shape[trees.shape(row).index];
  // An array without tiles may be shown with tiles, by a bitcast of as many elements; what makes it
  // then makes it with the padding that tiles have. (TPUs write so into fast memory.) Of bitcasts
  // of bitcasts, the last comes first.
  for (size_t i = module.instructions.size(); target.has_tiles && i-- > 0;) {
    const InstrId id(i);
    if (module.instructions[id].opcode != hlo::Opcode::kBitcast) continue;
    const InstrId operand = module.operands_of(id)[0];
    const hlo::ShapeId from = module.instructions[operand].shape;
    const hlo::ShapeId to = module.instructions[id].shape;
    const hlo::LayoutId layout = module.shapes[from].layout;
    if (layout.is_none() || !module.shapes.layout(layout).tiles.empty() ||
        ElementWidth(module.shapes, from) != ElementWidth(module.shapes, to) ||
        CountElements(module.shapes, from) != CountElements(module.shapes, to))
      continue;
    int64_t& size = sizes[trees.top(operand)];
    size = std::max(size, sizes[trees.top(id)]);
  }
  return sizes;
}

// Instructions that are executed before an operand is there.
void FindEarly(const hlo::Module& module, const std::vector<std::vector<InstrId>>& orders,
               Findings& findings) {
  std::vector<uint8_t> is_done(module.instructions.size(), 0);
  for (const std::vector<InstrId>& order : orders) {
    for (const InstrId id : order) {
      is_done[id.index] = 1;
      for (const InstrId operand : module.operands_of(id)) {
        if (is_done[operand.index] != 0 ||
            module.instructions[operand].opcode == hlo::Opcode::kConstant)
          continue;
        Finding finding;
        finding.code = Code::kNeverWritten;
        finding.wanted.instruction = module.name(operand);
        finding.read.instruction = module.name(id);
        finding.message = fmt::format("{} is executed before its operand {}", module.name(id),
                                      module.name(operand));
        findings.push_back(std::move(finding));
      }
    }
  }
}

// Where the report lists a computation's instructions in another order than the schedule.
void FindOtherOrder(const hlo::Module& module, const std::vector<int64_t>& times,
                    const std::vector<std::vector<InstrId>>& orders, Findings& findings) {
  for (const std::vector<InstrId>& order : orders) {
    int64_t last = -1;
    for (const InstrId id : order) {
      const int64_t time = times[id.index];
      if (time < 0) continue;
      if (time < last) {
        Finding finding;
        finding.code = Code::kOrder;
        finding.wanted.instruction = module.name(id);
        finding.message = fmt::format("the report has {} at {}, but the schedule has it later",
                                      module.name(id), time);
        findings.push_back(std::move(finding));
        break;
      }
      last = time;
    }
  }
}

}  // namespace

bool Plan::IsLoaded(InstrId id) const {
  if (module.instructions[id].opcode != hlo::Opcode::kConstant) return false;
  const PlaceId place = places.by_row[trees.top(id)];
  return place != kNoPlaceId &&
         report.allocations[report::AllocationId(places.rows[place].allocation)].is_constant;
}

namespace {

Result<Certified> Check(const hlo::Module& module, const report::Report& report,
                        const Target& target, bool is_traced) {
  const std::string file = module.source ? module.source->name() : std::string();
  if (!report.has_assignment) return Fail(file, "the report has no assignment");
  const std::optional<Trees> trees = Trees::Of(module);
  if (!trees) return Fail(file, "the tuples of the program are too large");
  if (Diagnostics complaints = hlo::VerifyCalls(module); !complaints.empty())
    return std::unexpected(std::move(complaints));
  if (Diagnostics complaints = FindOtherParts(module, *trees); !complaints.empty())
    return std::unexpected(std::move(complaints));
  const std::vector<int64_t> sizes = SizesOf(module, *trees, target);
  Names names(module);
  const std::vector<InstrId> sequence = SequenceOf(names, report);
  const std::vector<int64_t> times = TimesOf(module, sequence);
  STOWPLAN_TRY(const std::vector<std::vector<InstrId>> orders, Orders(module, times).Find());
  Verdict verdict;
  FindEarly(module, orders, verdict.findings);
  FindOtherOrder(module, times, orders, verdict.findings);
  const Places places =
      FindPlaces(module, names, sequence, *trees, report, sizes, verdict.findings);
  const Plan plan = {module, report, *trees, places, sizes, orders};
  Trace trace;
  if (const Result<void> done = Execute(plan, verdict, is_traced ? &trace : nullptr); !done)
    return std::unexpected(done.error());
  std::ranges::stable_sort(verdict.findings, [](const Finding& a, const Finding& b) {
    return IsUnsound(a.code) && !IsUnsound(b.code);
  });
  if (verdict.findings.size() > kMaxFindings) verdict.findings.resize(kMaxFindings);
  Certified certified = {.verdict = std::move(verdict), .certificate = {}};
  if (is_traced && certified.verdict.is_sound()) certified.certificate = WriteTrace(plan, trace);
  return certified;
}

}  // namespace

Result<Verdict> CheckPlan(const hlo::Module& module, const report::Report& report,
                          const Target& target) {
  Result<Certified> checked = Check(module, report, target, /*is_traced=*/false);
  if (!checked) return std::unexpected(std::move(checked).error());
  return std::move(checked->verdict);
}

Result<Certified> CertifyPlan(const hlo::Module& module, const report::Report& report,
                              const Target& target) {
  return Check(module, report, target, /*is_traced=*/true);
}

}  // namespace stowplan::check
