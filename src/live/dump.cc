// SPDX-License-Identifier: Apache-2.0
#include "live/dump.h"

#include <array>
#include <iterator>

#include <fmt/format.h>

namespace stowplan {
namespace {

using hlo::CompId;
using hlo::InstrId;

constexpr std::array<std::string_view, 6> kStages = {"orders", "calls",   "schedule",
                                                     "values", "aliases", "live-ranges"};

class Dumper {
 public:
  Dumper(const hlo::Module& module, const Analysis& analysis)
      : module_(module), analysis_(analysis) {}

  std::string Run(std::string_view stage) && {
    if (stage == "orders") DumpOrders();
    if (stage == "calls") DumpCalls();
    if (stage == "schedule") DumpSchedule();
    if (stage == "values") DumpValues();
    if (stage == "aliases") DumpBuffers();
    if (stage == "live-ranges") DumpRanges();
    return std::move(out_);
  }

 private:
  template <class... T>
  void Line(fmt::format_string<T...> format, T&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(arguments)...);
    out_ += '\n';
  }
  // name{1,0}; without braces for what is no tuple.
  std::string PositionText(PositionId id) const {
    const Positions& positions = analysis_.flow.positions;
    const InstrId instruction = positions.instruction(id);
    std::string text(module_.name(instruction));
    if (!module_.shapes.is_tuple(module_.instructions[instruction].shape)) return text;
    std::vector<int64_t> index;
    positions.AppendIndex(module_.shapes, module_.instructions[instruction].shape,
                          positions.offset(id), index);
    return text + fmt::format("{{{}}}", fmt::join(index, ","));
  }
  std::string ValueText(ValueId id) const {
    const Value& value = analysis_.flow.values[id];
    return fmt::format("<{} {}{}>", id.index, PositionText(value.position),
                       value.is_phi ? " (phi)" : "");
  }

  void DumpOrders() {
    for (const CompId id : analysis_.orders.computations) {
      const hlo::Computation& computation = module_.computations[id];
      Line("computation {}", module_.name(id));
      for (const auto& [title, order] : {std::pair("listed", &analysis_.orders.listed),
                                         std::pair("post-order", &analysis_.orders.post_order)}) {
        std::string names;
        for (const InstrId instruction : Orders::Of(*order, computation))
          names.append(" ").append(module_.name(instruction));
        Line("  {}:{}", title, names);
      }
    }
  }

  void DumpCalls() {
    for (const CompId id : analysis_.orders.computations) {
      const bool is_embedded = analysis_.calls.context(id) == CallContext::kEmbedded;
      Line("computation {}: {}{}", module_.name(id), is_embedded ? "embedded" : "control flow",
           analysis_.calls.is_fused[id.index] != 0 ? ", fused" : "");
      for (const InstrId caller : analysis_.calls.callers_of(id)) {
        Line("  called by {} of {}", module_.name(caller),
             module_.name(module_.instructions[caller].parent));
      }
    }
  }

  void DumpSchedule() {
    for (size_t t = 0; t < analysis_.schedule.sequence.size(); ++t) {
      const InstrId id = analysis_.schedule.sequence[t];
      Line("{}: {} of {}", t, module_.name(id), module_.name(module_.instructions[id].parent));
    }
  }

  void DumpValues() {
    const ValueFlow& flow = analysis_.flow;
    for (size_t v = 0; v < flow.values.size(); ++v) {
      const ValueId id(v);
      if (flow.values[id].is_gone) continue;
      Line("{}", ValueText(id));
      for (const PositionId position : flow.positions_of(id).subspan(1))
        Line("  seen at {}", PositionText(position));
      for (const Use& use : flow.uses_of(id)) {
        Line("  read by {}, operand {}, {}", module_.name(use.user), use.operand,
             PositionText(use.position));
      }
    }
  }

  void DumpBuffers() {
    const BufferSet& buffers = analysis_.buffers;
    for (size_t b = 0; b < buffers.size(); ++b) {
      std::string values;
      for (const ValueId id : buffers.values_of(BufferId(b))) values += " " + ValueText(id);
      Line("buffer {}:{}{}", b, values, buffers.is_live_out[b] != 0 ? " live-out" : "");
    }
    for (const InstrId id : analysis_.pairs.instructions) {
      for (const InPlacePair& pair : analysis_.pairs.of(id)) {
        const InstrId operand = module_.operands_of(id)[pair.operand];
        Line("{} is written over operand {}, {}",
             PositionText(analysis_.flow.positions.At(id, pair.output)), pair.operand,
             PositionText(analysis_.flow.positions.At(operand, pair.input)));
      }
    }
  }

  void DumpRanges() {
    for (size_t v = 0; v < analysis_.live.ranges.size(); ++v) {
      const LiveRange& range = analysis_.live.ranges[v];
      if (range.exists()) Line("{}: {}-{}", ValueText(ValueId(v)), range.start, range.end);
    }
  }

  const hlo::Module& module_;
  const Analysis& analysis_;
  std::string out_;
};

}  // namespace

std::span<const std::string_view> AnalysisStages() { return kStages; }

std::string DumpStage(const hlo::Module& module, const Analysis& analysis, std::string_view stage) {
  return Dumper(module, analysis).Run(stage);
}

}  // namespace stowplan
