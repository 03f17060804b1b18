// SPDX-License-Identifier: Apache-2.0
#include "view/module_columns.h"

#include <algorithm>
#include <limits>

#include "explain/shares.h"
#include "explain/why.h"
#include "hlo/print.h"
#include "view/brackets.h"
#include "view/holes.h"

namespace stowplan::view {
namespace {

using explain::Picture;
using report::AllocationId;
using report::ValueId;

// Numbers beyond these do not fit the page's arrays.
constexpr int64_t kMostBytes = int64_t{1} << 53;
constexpr int64_t kLastTime = std::numeric_limits<int32_t>::max() - 1;

uint32_t RowOf(auto id) { return id.is_none() ? kNone : id.index; }
int32_t TimeOf(int64_t time) {
  return static_cast<int32_t>(std::clamp<int64_t>(time, -1, kLastTime));
}

class ModuleWriter {
 public:
  ModuleWriter(const Shown& shown, const explain::Curves& curves)
      : picture_(*shown.picture), report_(*picture_.report), shown_(shown), curves_(curves) {}

  Result<Columns> Run() && {
    for (const report::Allocation& allocation : report_.allocations.rows()) {
      if (allocation.size > kMostBytes) return Fail({}, "an allocation is too large to be drawn");
    }
    if (report_.live_ranges->end > kLastTime)
      return Fail({}, "the program is too long to be drawn");
    AddValues();
    AddShares();
    AddWhys();
    AddOps();
    AddAllocations();
    AddFrames();
    AddBrackets();
    AddCurves();
    AddHoles();
    strings_.AddTo(columns_);
    return std::move(columns_);
  }

 private:
  template <class T>
  void Add(std::string_view name, const std::vector<T>& rows) {
    columns_.Add(name, std::span<const T>(rows));
  }

  void AddValues() {
    const size_t count = report_.values.size();
    std::vector<uint32_t> name(count), op(count), allocation(count), shape(count), op_name(count),
        frame(count);
    std::vector<double> offset(count), size(count), padding(count);
    std::vector<int32_t> start(count), end(count);
    std::vector<uint8_t> kind(count);
    for (uint32_t v = 0; v < count; ++v) {
      const report::Value& value = report_.values[ValueId(v)];
      const explain::ValueFact& fact = picture_.fact(ValueId(v));
      name[v] = strings_.Id(explain::ValueName(report_, ValueId(v)));
      op[v] = RowOf(fact.op);
      allocation[v] = RowOf(value.allocation);
      offset[v] = static_cast<double>(value.offset);
      size[v] = static_cast<double>(value.size);
      padding[v] = static_cast<double>(fact.padding);
      start[v] = value.has_range ? TimeOf(value.start) : -1;
      end[v] = value.has_range ? TimeOf(value.end) : -1;
      kind[v] = static_cast<uint8_t>(fact.kind);
      shape[v] = strings_.Id(value.shape);
      op_name[v] = strings_.Id(fact.op_name);
      frame[v] = RowOf(fact.frame);
    }
    Add("value.name", name);
    Add("value.op", op);
    Add("value.allocation", allocation);
    Add("value.offset", offset);
    Add("value.size", size);
    Add("value.padding", padding);
    Add("value.start", start);
    Add("value.end", end);
    Add("value.kind", kind);
    Add("value.shape", shape);
    Add("value.op_name", op_name);
    Add("value.frame", frame);
  }

  void AddShares() {
    const explain::Shares shares = explain::SharesOf(picture_);
    std::vector<int32_t> times;
    std::vector<double> bytes;
    std::vector<double> padding;
    for (const explain::ShareStep& step : shares.steps) {
      times.push_back(TimeOf(step.time));
      bytes.push_back(static_cast<double>(step.bytes));
      padding.push_back(static_cast<double>(step.padding));
    }
    Add("share.begins", shares.begins);
    Add("share.times", times);
    Add("share.bytes", bytes);
    Add("share.padding", padding);
  }

  void AddWhys() {
    std::vector<uint8_t> holder;
    std::vector<uint32_t> held_by;
    std::vector<uint32_t> use_begins = {0};
    std::vector<uint32_t> use_op;
    std::vector<uint16_t> use_operand;
    std::vector<uint32_t> alias_begins = {0};
    std::vector<uint32_t> alias_value;
    std::vector<uint32_t> alias_where;
    std::vector<uint8_t> alias_rule;
    for (const explain::Why& why : explain::WhysAlive(picture_, shown_.analysis)) {
      holder.push_back(static_cast<uint8_t>(why.holder));
      held_by.push_back(RowOf(why.held_by));
      for (const explain::UseAt& use : why.uses) {
        if (use.op.is_none()) continue;
        use_op.push_back(use.op.index);
        use_operand.push_back(static_cast<uint16_t>(std::clamp<int64_t>(use.operand, 0, 65535)));
      }
      use_begins.push_back(static_cast<uint32_t>(use_op.size()));
      for (const explain::Alias& alias : why.aliases) {
        alias_value.push_back(RowOf(alias.value));
        alias_where.push_back(strings_.Id(alias.where));
        alias_rule.push_back(static_cast<uint8_t>(alias.rule));
      }
      alias_begins.push_back(static_cast<uint32_t>(alias_value.size()));
    }
    Add("value.holder", holder);
    Add("value.held_by", held_by);
    Add("use.begins", use_begins);
    Add("use.op", use_op);
    Add("use.operand", use_operand);
    Add("alias.begins", alias_begins);
    Add("alias.value", alias_value);
    Add("alias.where", alias_where);
    Add("alias.rule", alias_rule);
  }

  void AddOps() {
    std::vector<uint32_t> name, opcode, op_name, text, frame;
    std::vector<int32_t> time;
    std::vector<uint32_t> by_time(static_cast<size_t>(report_.live_ranges->end) + 1, kNone);
    for (uint32_t o = 0; o < picture_.ops.size(); ++o) {
      const explain::Op& op = picture_.ops[explain::OpId(o)];
      name.push_back(strings_.Id(op.name));
      opcode.push_back(op.opcode == hlo::Opcode::kUnknown ? 0 : strings_.Id(hlo::Name(op.opcode)));
      op_name.push_back(strings_.Id(op.op_name));
      text.push_back(strings_.Id(TextOf(op)));
      frame.push_back(RowOf(op.frame));
      time.push_back(TimeOf(op.time));
      if (op.time >= 0 && static_cast<size_t>(op.time) < by_time.size())
        by_time[static_cast<size_t>(op.time)] = o;
    }
    Add("op.name", name);
    Add("op.opcode", opcode);
    Add("op.op_name", op_name);
    Add("op.text", text);
    Add("op.frame", frame);
    Add("op.time", time);
    Add("time.op", by_time);
  }
  // Literals may be long; what a person reads is at the front.
  [[nodiscard]] std::string TextOf(const explain::Op& op) const {
    constexpr size_t kMost = 600;
    if (picture_.module == nullptr || op.instruction.is_none()) return {};
    std::string text;
    hlo::AppendInstruction(*picture_.module, op.instruction, picture_.module->dialect, text);
    if (text.size() > kMost) text = text.substr(0, kMost) + " ...";
    return text;
  }

  void AddAllocations() {
    std::vector<int32_t> number;
    std::vector<double> size;
    std::vector<uint32_t> space, path;
    std::vector<uint8_t> kind;
    for (uint32_t a = 0; a < report_.allocations.size(); ++a) {
      const report::Allocation& allocation = report_.allocations[AllocationId(a)];
      const auto at =
          std::ranges::lower_bound(curves_.spaces, allocation.color, {},
                                   [](const explain::Curve& curve) { return *curve.space; });
      number.push_back(TimeOf(allocation.number));
      size.push_back(static_cast<double>(allocation.size));
      space.push_back(static_cast<uint32_t>(at - curves_.spaces.begin()));
      kind.push_back(static_cast<uint8_t>(KindOf(allocation)));
      path.push_back(strings_.Id(picture_.parameter_paths[a]));
    }
    Add("allocation.number", number);
    Add("allocation.size", size);
    Add("allocation.space", space);
    Add("allocation.kind", kind);
    Add("allocation.path", path);
  }
  static AllocationKind KindOf(const report::Allocation& allocation) {
    if (allocation.is_thread_local) return AllocationKind::kThreadLocal;
    if (allocation.parameter)
      return allocation.is_maybe_live_out ? AllocationKind::kDonated : AllocationKind::kParameter;
    if (allocation.is_constant) return AllocationKind::kConstant;
    return allocation.is_maybe_live_out ? AllocationKind::kOutput : AllocationKind::kTemporary;
  }

  void AddFrames() {
    std::vector<uint32_t> file, function, parent, own;
    std::vector<int32_t> line;
    for (const explain::Frame& frame : picture_.frames.rows()) {
      file.push_back(strings_.Id(frame.file));
      function.push_back(strings_.Id(frame.function));
      line.push_back(frame.line);
      parent.push_back(RowOf(frame.parent));
    }
    for (const explain::FrameId id : picture_.own_lines) own.push_back(RowOf(id));
    Add("frame.file", file);
    Add("frame.function", function);
    Add("frame.line", line);
    Add("frame.parent", parent);
    Add("frame.own", own);
  }

  void AddBrackets() {
    std::vector<int32_t> start, end;
    std::vector<uint8_t> depth, kind;
    std::vector<uint32_t> label;
    for (const Bracket& bracket : FindBrackets(picture_)) {
      start.push_back(TimeOf(bracket.start));
      end.push_back(TimeOf(bracket.end));
      depth.push_back(bracket.depth);
      kind.push_back(static_cast<uint8_t>(bracket.kind));
      label.push_back(strings_.Id(bracket.label));
    }
    Add("bracket.start", start);
    Add("bracket.end", end);
    Add("bracket.depth", depth);
    Add("bracket.kind", kind);
    Add("bracket.label", label);
  }

  void AddCurves() {
    std::vector<uint32_t> begins = {0};
    std::vector<int32_t> times;
    std::vector<double> bytes;
    const auto add = [&](const explain::Curve& curve) {
      for (const explain::Step& step : curve.steps) {
        times.push_back(TimeOf(step.time));
        bytes.push_back(static_cast<double>(step.bytes));
      }
      begins.push_back(static_cast<uint32_t>(times.size()));
    };
    for (const explain::Curve& curve : curves_.spaces) add(curve);
    add(curves_.all);
    Add("curve.begins", begins);
    Add("curve.times", times);
    Add("curve.bytes", bytes);
  }

  void AddHoles() {
    std::vector<uint32_t> allocation, below, above;
    std::vector<uint8_t> kind;
    std::vector<double> begin, end;
    for (const explain::Curve& curve : curves_.spaces) {
      for (const Hole& hole : FindHoles(picture_, *curve.space, curve.peak.time)) {
        allocation.push_back(hole.allocation.index);
        kind.push_back(static_cast<uint8_t>(hole.kind));
        begin.push_back(static_cast<double>(hole.begin));
        end.push_back(static_cast<double>(hole.end));
        below.push_back(RowOf(hole.below));
        above.push_back(RowOf(hole.above));
      }
    }
    Add("hole.allocation", allocation);
    Add("hole.kind", kind);
    Add("hole.begin", begin);
    Add("hole.end", end);
    Add("hole.below", below);
    Add("hole.above", above);
  }

  const Picture& picture_;
  const report::Report& report_;
  const Shown& shown_;
  const explain::Curves& curves_;
  Columns columns_;
  Strings strings_;
};

}  // namespace

Result<Columns> ColumnsOf(const Shown& shown, const explain::Curves& curves) {
  return ModuleWriter(shown, curves).Run();
}

}  // namespace stowplan::view
