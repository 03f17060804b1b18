// SPDX-License-Identifier: Apache-2.0
// `stowplan explain --format=json`: docs/explain.md describes the fields.
#include "explain/footprint.h"
#include "explain/padding.h"
#include "explain/xla_peak.h"
#include "page/explain_view.h"
#include "page/headline.h"
#include "report/summary.h"

namespace stowplan::page {
namespace {

using explain::By;
using explain::Picture;

std::string_view HolderWord(explain::Holder holder) {
  switch (holder) {
    case explain::Holder::kLastUse:
      return "last-use";
    case explain::Holder::kLiveOut:
      return "live-out";
    case explain::Holder::kParameter:
      return "parameter";
    case explain::Holder::kLoop:
      return "loop";
    case explain::Holder::kCaller:
      return "caller";
    case explain::Holder::kSuccessor:
      return "successor";
    case explain::Holder::kNobody:
      return "nobody";
    case explain::Holder::kUnknown:
      break;
  }
  return "unknown";
}

class Writer {
 public:
  Writer(const ExplainView& view, bool has_curve, std::string& out)
      : view_(view),
        picture_(view.picture),
        report_(*view.picture.report),
        json_(out),
        has_curve_(has_curve) {}

  void Write(std::optional<By> by, const std::vector<explain::Why>& whys) {
    json_.BeginObject();
    json_.Field("schema", "stowplan.explain/1");
    json_.Field("module", std::string_view(view_.name));
    json_.Field("backend", report::Name(picture_.backend));
    if (picture_.target) json_.Field("target", picture_.target->name);
    json_.Field("plan", view_.is_made ? "made" : "given");
    json_.BeginArray("not_known");
    for (const std::string& sentence : picture_.unknown) json_.Value(std::string_view(sentence));
    json_.End();
    WriteOrder();
    if (report::HasPeak(report_)) {
      WritePeaks();
      WriteMoment();
      WriteGap();
      json_.BeginObject("partitions");
      for (size_t i = 0; i < explain::kBys; ++i) {
        if (!by || *by == static_cast<By>(i)) WritePartition(static_cast<By>(i));
      }
      json_.End();
    }
    WritePadding();
    json_.BeginArray("values");
    for (const explain::Why& why : whys) WriteWhy(why);
    json_.End();
    json_.End();
  }

 private:
  void WriteInstruction(int64_t time) {
    json_.Field("time", time);
    const std::vector<std::string_view>& sequence = report_.live_ranges->sequence;
    if (time >= 0 && static_cast<size_t>(time) < sequence.size())
      json_.Field("instruction", sequence[static_cast<size_t>(time)]);
  }

  void WriteOrder() {
    const OrderGlance& order = view_.order;
    if (!order.facts && order.reason.empty()) return;
    json_.BeginObject("order");
    if (order.facts) {
      json_.Field("status", order.facts->given_load <= order.facts->bound ? "optimal"
                            : order.facts->load < order.facts->given_load ? "better found"
                                                                          : "none found");
      json_.Field("given_load", order.facts->given_load);
      json_.Field("load", order.facts->load);
      json_.Field("bound", order.facts->bound);
      if (!order.facts->witness.empty())
        json_.Field("witness", std::string_view(order.facts->witness));
    } else {
      json_.Field("status", "not searched");
      json_.Field("reason", std::string_view(order.reason));
    }
    json_.End();
  }

  void WritePeaks() {
    json_.BeginArray("spaces");
    for (const explain::Curve& curve : view_.picture.curves.spaces) {
      json_.BeginObject();
      json_.Field("space", *curve.space);
      json_.Field("name", report::SpaceName(picture_.backend, *curve.space));
      WriteFootprint(explain::FootprintAt(picture_, curve.peak.time, curve.space));
      json_.BeginObject("peak");
      json_.Field("bytes", curve.peak.bytes);
      WriteInstruction(curve.peak.time);
      json_.End();
      json_.End();
    }
    json_.End();
    json_.BeginObject("together");
    json_.Field("bytes", view_.picture.curves.all.peak.bytes);
    WriteInstruction(view_.picture.curves.all.peak.time);
    json_.End();
  }

  void WriteFootprint(const explain::Footprint& split) {
    json_.BeginObject("footprint");
    json_.Field("bytes", split.bytes);
    json_.Field("live", split.live);
    json_.Field("dead", split.dead);
    json_.Field("fragmentation", split.fragmentation);
    json_.Field("alignment", split.alignment);
    json_.Field("no_live_range", split.untimed);
    json_.Field("thread_local", split.thread_local_bytes);
    json_.End();
  }

  void WriteMoment() {
    json_.BeginArray("headline");
    for (const std::string& line : Headline(view_)) json_.Value(std::string_view(line));
    json_.End();
    json_.BeginObject("moment");
    WriteInstruction(view_.moment.time);
    if (view_.space) json_.Field("space", *view_.space);
    json_.Field("is_peak", view_.is_peak);
    json_.Field("bytes", view_.moment.bytes);
    WriteFootprint(explain::FootprintOf(picture_, view_.moment));
    if (!has_curve_) {
      json_.End();
      return;
    }
    json_.BeginArray("curve");
    for (const explain::Step& step : view_.curve().steps) {
      json_.BeginArray();
      json_.Value(step.time);
      json_.Value(step.bytes);
      json_.End();
    }
    json_.End();
    json_.End();
  }

  void WriteGap() {
    const std::optional<explain::PeakGap> gap = explain::GapToXla(picture_);
    if (!gap) return;
    json_.BeginObject("xla");
    json_.Field("bytes", gap->xla.bytes);
    json_.Field("time", gap->xla.time);
    json_.Field("is_printed", gap->is_printed);
    if (gap->reasons) {
      json_.BeginObject("reasons");
      json_.Field("tuples", gap->reasons->tuples);
      json_.Field("no_memory", gap->reasons->unplaced);
      json_.Field("padding", gap->reasons->padding);
      json_.Field("shared", gap->reasons->shared);
      json_.End();
    }
    json_.Field("live_then", gap->live_then);
    json_.Field("other_moment", gap->other_moment);
    json_.Field("peak", gap->peak.bytes);
    json_.End();
  }

  void WriteValue(report::ValueId id) {
    const report::Value& value = report_.values[id];
    const explain::ValueFact& fact = picture_.fact(id);
    json_.Field("value", std::string_view(explain::ValueName(report_, id)));
    json_.Field("kind", explain::Word(fact.kind));
    json_.Field("shape", value.shape);
    json_.Field("size", value.size);
    json_.Field("padding", fact.padding);
    if (!value.allocation.is_none()) {
      json_.Field("allocation", report_.allocations[value.allocation].number);
      json_.Field("space", report_.allocations[value.allocation].color);
      json_.Field("offset", value.offset);
      const std::string& path = picture_.parameter_paths[value.allocation.index];
      if (!path.empty()) json_.Field("parameter", std::string_view(path));
    }
    if (value.has_range) {
      json_.Field("start", value.start);
      json_.Field("end", value.end);
    }
    if (!fact.op_name.empty()) json_.Field("op_name", fact.op_name);
    if (!fact.frame.is_none())
      json_.Field("source",
                  std::string_view(explain::SourceText(picture_, picture_.own_line(fact.frame))));
    WriteStack(fact.frame);
  }

  void WriteStack(explain::FrameId frame) {
    if (frame.is_none()) return;
    json_.BeginArray("stack");
    for (const explain::FrameId id : explain::StackOf(picture_, frame)) {
      json_.BeginObject();
      json_.Field("file", picture_.frames[id].file);
      json_.Field("line", int64_t{picture_.frames[id].line});
      if (!picture_.frames[id].function.empty())
        json_.Field("function", picture_.frames[id].function);
      json_.End();
    }
    json_.End();
  }

  void WritePartition(By by) {
    const explain::Partition partition = explain::PartitionOf(picture_, view_.moment, by);
    json_.BeginObject(explain::Name(by));
    json_.Field("total", partition.total());
    json_.BeginArray("rows");
    for (size_t i = 1; i < partition.rows.size(); ++i) {
      const explain::Row& row = partition.rows[i];
      json_.BeginObject();
      json_.Field("name", std::string_view(row.name));
      if (explain::IsTree(by)) json_.Field("parent", int64_t{row.parent} - 1);
      json_.Field("own", row.own);
      json_.Field("total", row.total);
      json_.Field("values", row.values);
      if (row.is_other) json_.Field("is_other", true);
      if (!row.value.is_none()) WriteValue(row.value);
      json_.End();
    }
    json_.End();
    json_.End();
  }

  void WritePadding() {
    json_.BeginArray("padding");
    for (const explain::PaddingTax& tax : explain::PaddingTaxes(picture_, view_.limit)) {
      json_.BeginObject();
      json_.Field("bytes", tax.padding);
      if (tax.cheaper) {
        json_.BeginObject("cheaper");
        json_.Field("shape", std::string_view(tax.cheaper->shape));
        json_.Field("bytes", tax.cheaper->bytes);
        json_.Field("change", explain::Name(tax.cheaper->change));
        json_.End();
      }
      if (!tax.free_shape.empty()) json_.Field("free_shape", std::string_view(tax.free_shape));
      WriteValue(tax.value);
      json_.End();
    }
    json_.End();
  }

  void WriteWhy(const explain::Why& why) {
    json_.BeginObject();
    WriteValue(why.value);
    json_.Field("held_by", HolderWord(why.holder));
    if (!why.held_by.is_none()) json_.Field("holder", picture_.ops[why.held_by].name);
    json_.Field("is_donated", why.is_donated);
    json_.BeginArray("uses");
    for (const explain::UseAt& use : why.uses) {
      json_.BeginObject();
      json_.Field("instruction", use.name);
      json_.Field("operand", use.operand);
      if (use.time >= 0) json_.Field("time", use.time);
      json_.End();
    }
    json_.End();
    json_.BeginArray("aliases");
    for (const explain::Alias& alias : why.aliases) {
      json_.BeginObject();
      json_.Field("at", std::string_view(alias.where));
      json_.Field("is_other_value", !alias.value.is_none());
      json_.Field("rule", explain::Describe(alias.rule));
      json_.End();
    }
    json_.End();
    const auto neighbour = [&](std::string_view key, report::ValueId id) {
      if (!id.is_none()) json_.Field(key, std::string_view(explain::ValueName(report_, id)));
    };
    neighbour("below", why.below);
    neighbour("above", why.above);
    neighbour("before", why.before);
    neighbour("after", why.after);
    json_.End();
  }

  const ExplainView& view_;
  const Picture& picture_;
  const report::Report& report_;
  JsonWriter json_;
  bool has_curve_;
};

}  // namespace

std::string ExplainJson(const ExplainView& view, std::optional<By> by, bool has_curve,
                        const std::vector<explain::Why>& whys) {
  std::string out;
  Writer(view, has_curve, out).Write(by, whys);
  return out + "\n";
}

}  // namespace stowplan::page
