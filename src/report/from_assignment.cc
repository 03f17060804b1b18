// SPDX-License-Identifier: Apache-2.0
#include "report/from_assignment.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "hlo/print.h"
#include "hlo/size.h"
#include "report/derive.h"
#include "report/stack_tree.h"

namespace stowplan::report {
namespace {

using hlo::InstrId;
using hlo::ShapeId;

class AssignmentReporter {
 public:
  AssignmentReporter(const hlo::Module& module, const Analysis& analysis,
                     const Assignment& assignment, const ReportStyle& style)
      : module_(module), analysis_(analysis), assignment_(assignment), style_(style) {
    names_.resize(module.instructions.size());
    shape_texts_.resize(module.shapes.size());
    plain_shape_texts_.resize(module.shapes.size());
    instruction_texts_.resize(module.instructions.size());
  }

  Report Make() && {
    report_.name = module_.view(module_.header.name);
    report_.dialect = style_.dialect;
    report_.has_assignment = true;
    report_.has_value_list = true;
    if (module_.source) report_.sources.push_back(module_.source);
    AddValues();
    AddAllocations();
    AddLiveRanges();
    return std::move(report_);
  }

 private:
  // The same text in the report's keeping, unless it already is.
  std::string_view Keep(std::string_view text) {
    const Source* source = module_.source.get();
    if (source != nullptr && text.data() >= source->begin() && text.data() <= source->end())
      return text;
    return Store(text);
  }
  // Texts lie in large pieces: there are as many of them as instructions.
  std::string_view Store(std::string_view text) {
    constexpr size_t kPiece = size_t{1} << 20U;
    if (piece_ == nullptr || piece_->capacity() - piece_->size() < text.size()) {
      piece_ = report_.made_texts.emplace_back(std::make_unique<std::string>()).get();
      piece_->reserve(std::max(kPiece, text.size()));
    }
    const size_t begin = piece_->size();
    piece_->append(text);
    return std::string_view(*piece_).substr(begin);
  }
  std::string_view NameOf(InstrId id) {
    std::string_view& name = names_[id.index];
    if (name.data() == nullptr) name = Keep(module_.name(id));
    return name;
  }
  std::string_view TextOf(ShapeId shape, bool layouts) {
    std::string_view& text = (layouts ? shape_texts_ : plain_shape_texts_)[shape.index];
    if (text.data() == nullptr) {
      text = Store(hlo::ToString(
          module_.shapes, shape,
          {.layouts = layouts, .index_comments = style_.instructions.index_comments}));
    }
    return text;
  }
  std::string_view TextOf(InstrId id) {
    std::string_view& text = instruction_texts_[id.index];
    if (text.data() == nullptr) {
      scratch_.clear();
      hlo::AppendInstruction(module_, id, style_.instructions, scratch_);
      text = Store(scratch_);
    }
    return text;
  }
  Index IndexAt(PositionId id) {
    const InstrId instruction = analysis_.flow.positions.instruction(id);
    Index index;
    index.numbers.begin = static_cast<uint32_t>(report_.ints.size());
    analysis_.flow.positions.AppendIndex(module_.shapes, module_.instructions[instruction].shape,
                                         analysis_.flow.positions.offset(id), report_.ints);
    index.numbers.count = static_cast<uint32_t>(report_.ints.size()) - index.numbers.begin;
    index.is_shown = module_.shapes.is_tuple(module_.instructions[instruction].shape);
    return index;
  }

  void AddValues() {
    const ValueFlow& flow = analysis_.flow;
    rows_.resize(flow.values.size());
    for (size_t v = 0; v < flow.values.size(); ++v) {
      const stowplan::ValueId id(v);
      const Place& place = assignment_.places[v];
      const LiveRange& range = analysis_.live.of(id);
      if (place.allocation.is_none() && !range.exists()) continue;
      const PositionId born = flow.values[id].position;
      const InstrId instruction = flow.positions.instruction(born);
      Value value = {.number = static_cast<int64_t>(v),
                     .instruction = NameOf(instruction),
                     .index = IndexAt(born),
                     .is_phi = flow.values[id].is_phi,
                     .color = assignment_.colors[v],
                     .instruction_text = TextOf(instruction),
                     .has_range = range.exists(),
                     .start = range.start,
                     .end = range.end};
      if (!place.allocation.is_none()) {
        value.allocation = AllocationId(place.allocation.index);
        value.size = place.size;
        value.offset = place.offset;
        value.shape = TextOf(flow.shape(id), true);
        value.is_listed = true;
        AddPlaces(id, value);
      }
      rows_[v] = report_.values.Add(value);
      if (value.is_listed) report_.value_list.push_back(rows_[v]);
    }
  }

  void AddPlaces(stowplan::ValueId id, Value& value) {
    const Positions& positions = analysis_.flow.positions;
    value.positions.begin = static_cast<uint32_t>(report_.positions.size());
    for (const PositionId position : analysis_.flow.positions_of(id))
      report_.positions.push_back({NameOf(positions.instruction(position)), IndexAt(position)});
    value.positions.count = static_cast<uint32_t>(report_.positions.size()) - value.positions.begin;
    value.has_uses = true;
    value.uses.begin = static_cast<uint32_t>(report_.uses.size());
    for (const stowplan::Use& use : analysis_.flow.uses_of(id))
      report_.uses.push_back({NameOf(use.user), use.operand, IndexAt(use.position)});
    value.uses.count = static_cast<uint32_t>(report_.uses.size()) - value.uses.begin;
  }

  void AddAllocations() {
    const InstrId root = module_.computations[module_.entry].root;
    const std::span<const stowplan::ValueId> result =
        analysis_.flow.at(analysis_.flow.positions.top(root));
    for (size_t a = 0; a < assignment_.allocations.size(); ++a) {
      const stowplan::Allocation& from = assignment_.allocations[stowplan::AllocationId(a)];
      Allocation to = {.number = static_cast<int64_t>(a),
                       .size = from.size,
                       .color = from.color,
                       .parameter = from.parameter,
                       .is_constant = from.is_constant,
                       .is_thread_local = from.is_thread_local,
                       .is_maybe_live_out = from.is_maybe_live_out};
      if (style_.dialect.page) to.page = 0;
      if (from.parameter) {
        to.parameter_index = IndexAt(from.parameter_position);
        const ShapeId shape =
            style_.dialect.parameter_parts
                ? analysis_.flow.positions.shape(from.parameter_position)
                : module_
                      .instructions[analysis_.flow.positions.instruction(from.parameter_position)]
                      .shape;
        to.parameter_shape = TextOf(shape, false);
      }
      for (const stowplan::ValueId value : from.values) {
        to.values.push_back(rows_[value.index]);
        if (assignment_.colors[value.index] != from.color)
          to.other_colors.push_back(rows_[value.index]);
        if (std::ranges::find(result, value) != result.end())
          to.output_shape = TextOf(module_.instructions[root].shape, false);
      }
      report_.allocations.Add(std::move(to));
    }
  }

  // As ComputePlainSizes finds them in texts; here the shapes are at hand.
  [[nodiscard]] PlainSizes FindPlainSizes() const {
    std::vector<std::optional<int64_t>> known(module_.shapes.size());
    std::vector<uint8_t> is_known(module_.shapes.size(), 0);
    const auto size_of = [&](ShapeId shape) {
      if (std::exchange(is_known[shape.index], 1) == 0) {
        const hlo::ByteCount size = hlo::PlainByteSize(module_.shapes, shape);
        if (size) known[shape.index] = *size;
      }
      return known[shape.index];
    };
    PlainSizes sizes;
    sizes.value.resize(report_.values.size());
    sizes.instruction.resize(report_.values.size());
    for (size_t v = 0; v < rows_.size(); ++v) {
      if (rows_[v].is_none()) continue;
      const stowplan::ValueId id(v);
      sizes.value[rows_[v].index] = size_of(analysis_.flow.shape(id));
      sizes.instruction[rows_[v].index] =
          size_of(module_.instructions[analysis_.flow.instruction(id)].shape);
    }
    return sizes;
  }

  void AddLiveRanges() {
    LiveRanges& ranges = report_.live_ranges.emplace();
    ranges.end = analysis_.schedule.end();
    for (const InstrId id : analysis_.schedule.sequence) ranges.sequence.push_back(NameOf(id));
    for (const ValueId id : rows_) {
      if (!id.is_none() && report_.values[id].has_range) ranges.values.push_back(id);
    }
    const PlainSizes sizes = FindPlainSizes();
    ranges.is_unbounded = std::ranges::any_of(
        ranges.values, [&](ValueId id) { return !sizes.instruction[id.index].has_value(); });
    if (ranges.is_unbounded) return;
    const std::optional<XlaPeak> peak = ComputeXlaPeak(report_, sizes, style_.dialect.peak_line);
    if (!peak) return;
    ranges.peak_time = peak->time;
    ranges.peak = peak->rows;
    if (!style_.dialect.stack_tree) return;
    std::vector<TracedBytes> rows;
    for (size_t v = 0; v < rows_.size(); ++v) {
      if (rows_[v].is_none()) continue;
      const Value& value = report_.values[rows_[v]];
      if (!value.has_range || value.start > peak->time || value.end < peak->time) continue;
      const std::span<const int64_t> index = report_.numbers(value.index);
      rows.push_back({analysis_.flow.instruction(stowplan::ValueId(v)),
                      {index.begin(), index.end()},
                      *sizes.value[rows_[v].index]});
    }
    ranges.tree = BuildStackTree(module_, analysis_.calls, rows, report_);
    // Each level is indented: calls that nest without end make a tree that nobody can read or keep.
    int64_t indents = 0;
    for (const TreeNode& node : ranges.tree) indents += node.depth;
    if (indents > kMaxIndents) ranges.tree.clear();
    ranges.has_tree = indents <= kMaxIndents;
  }

  static constexpr int64_t kMaxIndents = int64_t{1} << 26;
  const hlo::Module& module_;
  const Analysis& analysis_;
  const Assignment& assignment_;
  const ReportStyle& style_;
  Report report_;
  std::vector<ValueId> rows_;  // by value
  std::vector<std::string_view> names_;
  std::vector<std::string_view> shape_texts_;
  std::vector<std::string_view> plain_shape_texts_;
  std::vector<std::string_view> instruction_texts_;
  std::string* piece_ = nullptr;  // of the report's texts: the one that is filled
  std::string scratch_;
};

}  // namespace

std::optional<ReportStyle> FindReportStyle(std::string_view version) {
  const std::optional<ReportDialect> dialect = FindReportDialect(version);
  std::optional<hlo::Dialect> instructions = hlo::FindDialect(version);
  if (!dialect || !instructions) return std::nullopt;
  // While modules had the short form, reports had operands with their shapes.
  if (!instructions->long_form) instructions->operand_shapes = true;
  // Reports have the long form, and name every get-tuple-element, whatever the module's text has.
  instructions->long_form = true;
  instructions->compact_tuples = false;
  instructions->async_sugar = true;
  return ReportStyle{*dialect, *instructions};
}

Report ReportOf(const hlo::Module& module, const Analysis& analysis, const Assignment& assignment,
                const ReportStyle& style) {
  return AssignmentReporter(module, analysis, assignment, style).Make();
}

Result<std::optional<Preset>> PresetFrom(const hlo::Module& module, const Analysis& analysis,
                                         const Report& report, int64_t space) {
  Preset preset;
  bool has_block = false;
  const std::string file = report.sources.empty() ? std::string() : report.sources[0]->name();
  std::unordered_map<std::string_view, InstrId> by_name;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    // Reports do not say the computation; only what is on the time line has values in them.
    if (analysis.schedule.time(InstrId(i)) != kNoTime)
      by_name.emplace(module.name(InstrId(i)), InstrId(i));
  }
  for (const Allocation& allocation : report.allocations.rows()) {
    if (allocation.color != space || !allocation.is_temp()) continue;
    has_block = true;
    preset.size = std::max(preset.size, allocation.size);
    for (const ValueId id : allocation.values) {
      const Value& value = report.values[id];
      const auto row = by_name.find(value.instruction);
      const uint32_t offset =
          row == by_name.end()
              ? Positions::kNowhere
              : analysis.flow.positions.Find(module.shapes, module.instructions[row->second].shape,
                                             report.numbers(value.index));
      if (offset == Positions::kNowhere) {
        return Fail(file, fmt::format("the program has no {}", value.instruction),
                    "a preset must come from a report of the same program");
      }
      preset.chunks.push_back(
          {analysis.flow.positions.At(row->second, offset), value.offset, value.size});
    }
  }
  if (has_block) return preset;
  const bool has_values = std::ranges::any_of(analysis.flow.values.rows(), [&](const auto& value) {
    const hlo::LayoutId layout =
        module.shapes[analysis.flow.positions.shape(value.position)].layout;
    return !value.is_gone && !layout.is_none() &&
           module.shapes.layout(layout).memory_space == space;
  });
  if (has_values || !report.has_assignment) {
    return Fail(file, fmt::format("the report has no block of memory space {}", space),
                "a preset is the -buffer-assignment.txt or .hlo.pb of the same program");
  }
  return std::nullopt;
}

}  // namespace stowplan::report
