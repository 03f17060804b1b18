// SPDX-License-Identifier: Apache-2.0
// Why one value is alive, as a page.
#include <algorithm>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "page/explain_view.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

using explain::Holder;
using explain::Picture;

std::string Range(const report::Value& value) {
  return value.has_range ? fmt::format("t={} to {}", value.start, value.end)
                         : std::string("no live range");
}

std::string PlaceOf(const report::Value& value) {
  return fmt::format("bytes {} to {}", value.offset, value.offset + value.size);
}

// fusion.3, model.py:88, ...jvp()/mul
std::string OpText(const Picture& picture, explain::OpId id, std::string_view name, size_t width) {
  std::string text = Printable(name);
  if (id.is_none()) return text;
  const explain::Op& op = picture.ops[id];
  const std::string source = explain::SourceText(picture, picture.own_line(op.frame));
  if (!source.empty()) text += ", " + ShortenedPath(Printable(source), 28);
  const size_t used = TextWidth(text) + 2;
  if (!op.op_name.empty() && used + 12 < width)
    text += ", " + ShortenedOpName(Printable(op.op_name), width - used);
  return text;
}

std::string HolderText(const Picture& picture, const explain::Why& why) {
  const auto op = [&] {
    return why.held_by.is_none() ? std::string("what runs then")
                                 : Printable(picture.ops[why.held_by].name);
  };
  switch (why.holder) {
    case Holder::kLastUse:
      return op() + " reads it last, and keeps it alive until it finishes";
    case Holder::kLiveOut:
      return "it is part of the program's result, so it is alive until the end";
    case Holder::kParameter:
      return "it is a parameter that the caller keeps, so it is alive throughout. If it were "
             "donated, it could be overwritten";
    case Holder::kLoop:
      return "a loop carries it until " + op();
    case Holder::kCaller:
      return "it is alive until " + op() + ", which ends its computation or passes it on";
    case Holder::kSuccessor:
      return why.next_value.is_none()
                 ? std::string("it ends when the next value is computed in its place")
                 : explain::ValueName(*picture.report, why.next_value) +
                       " is computed in its place, and stays alive for the later uses";
    case Holder::kNobody:
      return "nothing reads it: it is alive only while it is computed";
    case Holder::kUnknown:
      break;
  }
  return "not known: no file has its uses or its live range";
}

void AppendUses(const ExplainView& view, const explain::Why& why, std::string& out) {
  const Picture& picture = view.picture;
  const report::Value& value = picture.report->values[why.value];
  out += "\nWhat reads it, in order\n";
  if (!value.has_uses) {
    out += "  not known: no file lists uses\n";
  } else if (why.uses.empty()) {
    out += "  nothing\n";
  }
  TextTable uses({TextTable::kRight, TextTable::kLeft});
  const size_t shown = view.limit == 0 ? why.uses.size() : std::min(why.uses.size(), view.limit);
  // The last readers keep it alive, so if there are too many, the first are left out.
  if (shown < why.uses.size())
    uses.Add({"", fmt::format("{} earlier uses", why.uses.size() - shown)});
  for (size_t i = why.uses.size() - shown; i < why.uses.size(); ++i) {
    const explain::UseAt& use = why.uses[i];
    uses.Add({use.time < 0 ? "" : "t=" + std::to_string(use.time),
              OpText(picture, use.op, use.name, kExplainWidth - 14)});
  }
  uses.Append(out);
}

void AppendAliases(const ExplainView& view, const explain::Why& why, std::string& out) {
  if (!why.aliases.empty()) out += "\nAlso seen or shared\n";
  size_t left = view.limit == 0 ? SIZE_MAX : view.limit;
  for (const explain::Alias& alias : why.aliases) {
    if (left-- == 0) {
      out += fmt::format("  and {} more\n", why.aliases.size() - view.limit);
      break;
    }
    out += fmt::format("  {}: {}\n", Shortened(Printable(alias.where), 38),
                       explain::Describe(alias.rule));
  }
}

void AppendNeighbours(const report::Report& report, const explain::Why& why, std::string& out) {
  const auto neighbour = [&](std::string_view head, report::ValueId id) {
    if (id.is_none()) return;
    const report::Value& other = report.values[id];
    out += fmt::format("  {:<8}{}, {}, {}\n", head,
                       Shortened(Printable(explain::ValueName(report, id)), 30),
                       HumanBytes(other.size), Range(other));
  };
  if (!(why.below.is_none() && why.above.is_none() && why.before.is_none() &&
        why.after.is_none())) {
    out += "\nNeighbours in its allocation\n";
    neighbour("below", why.below);
    neighbour("above", why.above);
    neighbour("before", why.before);
    neighbour("after", why.after);
  }
}

}  // namespace

std::string WhyPage(const ExplainView& view, const explain::Why& why) {
  const Picture& picture = view.picture;
  const report::Report& report = *picture.report;
  const report::Value& value = report.values[why.value];
  const explain::ValueFact& fact = picture.fact(why.value);
  std::string out = fmt::format("{}: {}, {}\n", Printable(explain::ValueName(report, why.value)),
                                HumanAndExactBytes(value.size), explain::Name(fact.kind));
  const auto line = [&](std::string_view head, const std::string& text) {
    if (!text.empty()) out += fmt::format("  {:<10}{}\n", head, text);
  };
  line("shape", ShortenedShape(Printable(value.shape), kExplainWidth - 12));
  if (fact.padding != 0)
    line("padding", fmt::format("{} ({})", HumanAndExactBytes(fact.padding),
                                Percent(fact.padding, value.size)));
  line("op_name", ShortenedOpName(Printable(fact.op_name), kExplainWidth - 12));
  const auto frames = [&](std::string_view head, explain::FrameId from, explain::FrameId to) {
    for (explain::FrameId at = from; at != to; at = picture.frames[at].parent) {
      const std::string_view function = picture.frames[at].function;
      line(at == from ? head : "", Printable(explain::SourceText(picture, at)) +
                                       (function.empty() ? "" : " in " + Printable(function)));
    }
  };
  const explain::FrameId own = picture.own_line(fact.frame);
  frames("source", own, {});
  frames("inside", fact.frame, own);
  line("alive", Range(value));
  if (!value.allocation.is_none()) {
    const report::Allocation& allocation = report.allocations[value.allocation];
    line("place", fmt::format("{} of allocation {} ({}, {})", PlaceOf(value), allocation.number,
                              SpaceText(picture.backend, allocation.color),
                              AllocationText(report, allocation)));
    const std::string& path = picture.parameter_paths[value.allocation.index];
    line("parameter",
         path.empty() ? path : Printable(path) + (why.is_donated ? ", donated" : ", not donated"));
  } else {
    line("place", "none of its own");
  }
  out += "\nWhat keeps it alive\n";
  AppendParagraph(HolderText(picture, why), 2, out);

  AppendUses(view, why, out);
  AppendAliases(view, why, out);
  AppendNeighbours(report, why, out);
  return out;
}

}  // namespace stowplan::page
