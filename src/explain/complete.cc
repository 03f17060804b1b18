// SPDX-License-Identifier: Apache-2.0
#include "explain/complete.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stowplan::explain {
namespace {

using hlo::InstrId;

class Completer {
 public:
  Completer(report::Report report, const hlo::Module& module, const Analysis& analysis)
      : module_(module), analysis_(analysis) {
    completed_.report = std::move(report);
  }

  Completed Run() && {
    report::Report& report = completed_.report;
    completed_.has_new_ranges = !report.live_ranges && !analysis_.schedule.sequence.empty();
    completed_.has_new_uses = !report.has_value_list;
    if (!completed_.has_new_ranges && !completed_.has_new_uses) return std::move(completed_);
    names_.resize(module_.instructions.size());
    if (completed_.has_new_ranges) {
      report::LiveRanges& ranges = report.live_ranges.emplace();
      ranges.end = analysis_.schedule.end();
      for (const InstrId id : analysis_.schedule.sequence) ranges.sequence.push_back(NameOf(id));
    }
    const std::vector<stowplan::ValueId> values = FindValues();
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].is_none()) {
        completed_.strangers += report.values[report::ValueId(i)].allocation.is_none() ? 0 : 1;
      } else {
        AddFacts(report::ValueId(i), values[i]);
      }
    }
    report.has_value_list = true;
    return std::move(completed_);
  }

 private:
  // The program's value for each of the report's: born at the same part of the same instruction.
  std::vector<stowplan::ValueId> FindValues() {
    const Positions& positions = analysis_.flow.positions;
    std::vector<stowplan::ValueId> born(positions.size());
    for (size_t v = 0; v < analysis_.flow.values.size(); ++v) {
      const stowplan::ValueId id(v);
      if (!analysis_.flow.values[id].is_gone) born[analysis_.flow.values[id].position.index] = id;
    }
    // Where names repeat, those on the time line are meant.
    std::unordered_map<std::string_view, InstrId> by_name;
    by_name.reserve(module_.instructions.size());
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      InstrId& known = by_name[module_.name(InstrId(i))];
      if (known.is_none() || (analysis_.schedule.time(known) == kNoTime &&
                              analysis_.schedule.time(InstrId(i)) != kNoTime))
        known = InstrId(i);
    }
    const report::Report& report = completed_.report;
    std::vector<stowplan::ValueId> values(report.values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const report::Value& value = report.values[report::ValueId(i)];
      const auto row = by_name.find(value.instruction);
      if (row == by_name.end()) continue;
      const uint32_t offset = positions.Find(
          module_.shapes, module_.instructions[row->second].shape, report.numbers(value.index));
      if (offset != Positions::kNowhere) values[i] = born[positions.At(row->second, offset).index];
    }
    return values;
  }

  void AddFacts(report::ValueId id, stowplan::ValueId from) {
    report::Report& report = completed_.report;
    report::Value& value = report.values[id];
    if (const LiveRange& range = analysis_.live.of(from);
        completed_.has_new_ranges && range.exists()) {
      value.has_range = true;
      value.start = range.start;
      value.end = range.end;
      report.live_ranges->values.push_back(id);
    }
    if (!completed_.has_new_uses || value.allocation.is_none()) return;
    value.is_listed = true;
    value.is_phi = analysis_.flow.values[from].is_phi;
    report.value_list.push_back(id);
    value.positions.begin = static_cast<uint32_t>(report.positions.size());
    for (const PositionId position : analysis_.flow.positions_of(from))
      report.positions.push_back(
          {NameOf(analysis_.flow.positions.instruction(position)), IndexAt(position)});
    value.positions.count = static_cast<uint32_t>(report.positions.size()) - value.positions.begin;
    value.has_uses = true;
    value.uses.begin = static_cast<uint32_t>(report.uses.size());
    for (const stowplan::Use& use : analysis_.flow.uses_of(from))
      report.uses.push_back({NameOf(use.user), use.operand, IndexAt(use.position)});
    value.uses.count = static_cast<uint32_t>(report.uses.size()) - value.uses.begin;
  }

  report::Index IndexAt(PositionId id) {
    std::vector<int64_t>& ints = completed_.report.ints;
    const InstrId instruction = analysis_.flow.positions.instruction(id);
    report::Index index;
    index.numbers.begin = static_cast<uint32_t>(ints.size());
    analysis_.flow.positions.AppendIndex(module_.shapes, module_.instructions[instruction].shape,
                                         analysis_.flow.positions.offset(id), ints);
    index.numbers.count = static_cast<uint32_t>(ints.size()) - index.numbers.begin;
    index.is_shown = module_.shapes.is_tuple(module_.instructions[instruction].shape);
    return index;
  }

  // In the report's keeping.
  std::string_view NameOf(InstrId id) {
    std::string_view& name = names_[id.index];
    if (name.data() != nullptr) return name;
    constexpr size_t kPiece = size_t{1} << 16U;
    const std::string_view text = module_.name(id);
    if (piece_ == nullptr || piece_->capacity() - piece_->size() < text.size()) {
      piece_ = completed_.report.made_texts.emplace_back(std::make_unique<std::string>()).get();
      piece_->reserve(std::max(kPiece, text.size()));
    }
    const size_t begin = piece_->size();
    piece_->append(text);
    name = std::string_view(*piece_).substr(begin);
    return name;
  }

  const hlo::Module& module_;
  const Analysis& analysis_;
  Completed completed_;
  std::vector<std::string_view> names_;  // by instruction
  std::string* piece_ = nullptr;
};

}  // namespace

Completed Complete(report::Report report, const hlo::Module& module, const Analysis& analysis) {
  return Completer(std::move(report), module, analysis).Run();
}

}  // namespace stowplan::explain
