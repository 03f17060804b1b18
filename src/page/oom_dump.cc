// SPDX-License-Identifier: Apache-2.0
#include "page/oom_dump.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "explain/picture.h"
#include "page/advice_page.h"
#include "page/explain_view.h"
#include "page/text.h"
#include "report/summary.h"
#include "session/choose_module.h"
#include "session/count_modules.h"

namespace stowplan::page {
namespace {

int64_t TemporariesOf(const report::Summary& summary) {
  for (const report::KindTotal& kind : summary.kinds)
    if (kind.kind == report::AllocationKind::kTemporary) return kind.bytes;
  return 0;
}

bool IsMeant(const oom::Incident& incident, const CountedModule& module) {
  const oom::Size temporaries = {.bytes = TemporariesOf(module.summary), .slack = 0};
  if (temporaries.bytes == 0) return false;
  if (incident.program.temporaries) return Agree(*incident.program.temporaries, temporaries);
  return incident.requested && Agree(*incident.requested, temporaries);
}

// The module that the log is about; empty if the log does not say.
std::string ModuleOf(const oom::Incident& incident, const Inputs& inputs,
                     const PlanOptions& options) {
  if (!incident.executable.empty() && inputs.modules.size() + inputs.programs.size() > 1) {
    const auto is_named = [&](const InputModule& module) {
      return LikenessOf(module, incident.executable) >= Likeness::kBegin;
    };
    if (std::ranges::any_of(inputs.modules, is_named) ||
        std::ranges::any_of(inputs.programs, is_named))
      return incident.executable;
  }
  if (inputs.modules.size() < 2) return {};
  const CountedModules counted = CountModules(inputs, options, MakePlans::kNo);
  const auto found = std::ranges::find_if(
      counted.modules, [&](const CountedModule& module) { return IsMeant(incident, module); });
  return found == counted.modules.end() ? std::string() : found->input.name;
}

// What fills the peak of the largest memory space.
void AppendPeak(const OomDump& dump, const explain::Picture& picture, std::string& out) {
  const Result<report::Summary> summary = report::Summarize(*dump.planned.report);
  if (!summary || summary->spaces.empty() || !report::HasPeak(*dump.planned.report)) return;
  const auto largest = std::ranges::max_element(summary->spaces, {}, &report::SpaceTotal::bytes);
  ExplainView view{.picture = picture,
                   .name = dump.planned.name,
                   .input = dump.options.paths[0],
                   .is_made = dump.planned.is_made(),
                   .space = largest->color,
                   .moment = {}};
  const explain::Curve& curve = view.curve();
  view.moment = explain::MomentAt(picture, curve.peak.time, view.space);
  out += fmt::format("\n  What fills the peak in the plan, {} at t={}\n",
                     HumanAndExactBytes(curve.peak.bytes), curve.peak.time);
  AppendPartition(view, explain::By::kSource, 5, out);
}

}  // namespace

Result<OomDump> JoinDump(const oom::Incident& incident, OomDumpOptions options) {
  STOWPLAN_TRY(const Inputs inputs, Open(options.paths));
  if (options.plan.module.empty()) options.plan.module = ModuleOf(incident, inputs, options.plan);
  STOWPLAN_TRY(PlannedModule planned, LoadOne(inputs, options.plan));
  OomDump dump{.options = std::move(options), .planned = std::move(planned)};
  STOWPLAN_TRY(const explain::Picture picture,
               explain::MakePicture(*dump.planned.report, dump.planned.module.get(),
                                    dump.planned.target, {.own = dump.options.plan.own}));
  dump.join = oom::JoinPlan(incident, picture);
  advise::AdviseOptions advise_options;
  advise_options.should_stop = std::exchange(dump.options.should_stop, {});
  Result<advise::AdviceReport> advice =
      advise::AdvisePlanned(dump.planned, dump.options.plan, std::move(advise_options));
  // If there is no advice, the page says so.
  if (advice) {
    dump.advice = *std::move(advice);
  } else if (const Diagnostic* const first = FirstError(advice.error())) {
    dump.no_advice = first->message;
  }
  return dump;
}

std::string OomDumpPage(const oom::Incident& incident, const OomDump& dump) {
  std::string out = fmt::format("\nWith the dump: {}\n", Printable(dump.planned.name));
  const oom::Join& join = dump.join;
  std::string words = join.is_same
                          ? "The figures in the log match this plan."
                          : "The figures in the log do not match this plan: it may be for a "
                            "different program, batch or compiler.";
  if (join.figures.empty() && join.requested.is_none())
    words = "The log has no figures that show whether this is its program.";
  if (!join.requested.is_none())
    words +=
        fmt::format(" The failed request was for allocation {}, {}.",
                    dump.planned.report->allocations[join.requested].number,
                    report::Name(report::KindOf(dump.planned.report->allocations[join.requested])));
  AppendParagraph(words, 2, out);
  TextTable table({TextTable::kLeft, TextTable::kRight, TextTable::kRight, TextTable::kLeft});
  if (!join.figures.empty()) table.Add({"", "log", "plan"});
  for (const oom::JoinedFigure& figure : join.figures)
    table.Add({figure.name, oom::SizeText(figure.log), HumanAndExactBytes(figure.plan),
               figure.agrees ? "" : "differs"});
  table.Append(out);

  const Result<explain::Picture> picture =
      explain::MakePicture(*dump.planned.report, dump.planned.module.get(), dump.planned.target,
                           {.own = dump.options.plan.own});
  const size_t count = static_cast<size_t>(std::ranges::count_if(
      join.matches, [](const oom::Match& match) { return !match.value.is_none(); }));
  if (!join.matches.empty() && picture) {
    out += fmt::format("\n  Buffers of the log found in the plan, {} of {}\n", count,
                       join.matches.size());
    const size_t limit = dump.options.limit == 0 ? join.matches.size() : dump.options.limit;
    for (size_t i = 0; i < std::min(limit, join.matches.size()); ++i) {
      const oom::Match& match = join.matches[i];
      const std::optional<oom::Size>& size = incident.buffers[i].size;
      std::string row = fmt::format("    {:>10}  ", size ? HumanBytes(size->bytes) : "?");
      if (match.value.is_none()) {
        out += row + "not found\n";
        continue;
      }
      const report::Value& value = dump.planned.report->values[match.value];
      row += Shortened(Printable(explain::ValueName(*dump.planned.report, match.value)), 26);
      if (value.has_range) row += fmt::format(", t={} to {}", value.start, value.end);
      row += fmt::format(", {}", explain::Name(picture->fact(match.value).kind));
      if (match.matched_by == oom::MatchedBy::kShape) row += " (by shape)";
      out += row + '\n';
    }
  }
  if (picture) AppendPeak(dump, *picture, out);
  out += "\nWhat would save memory in this program, each tried\n";
  if (!dump.advice) {
    AppendParagraph("nothing can be tried: " + dump.no_advice, 2, out);
    return out;
  }
  std::string page =
      AdvicePage(*dump.advice, dump.planned.name, {.limit = 3, .speech = dump.options.plan.speech});
  // Options of other commands are named under "Next".
  page.resize(std::min(page.find("--refused lists"), page.size()));
  out += page;
  return out;
}

void WriteOomDump(const OomDump& dump, JsonWriter& json) {
  const oom::Join& join = dump.join;
  json.BeginObject("dump");
  json.Field("module", std::string_view(dump.planned.name));
  json.Field("is_same", join.is_same);
  if (!join.requested.is_none())
    json.Field("requested_allocation", dump.planned.report->allocations[join.requested].number);
  json.BeginArray("figures");
  for (const oom::JoinedFigure& figure : join.figures) {
    json.BeginObject();
    json.Field("name", std::string_view(figure.name));
    json.Field("log", figure.log.bytes);
    json.Field("log_slack", figure.log.slack);
    json.Field("plan", figure.plan);
    json.Field("agrees", figure.agrees);
    json.End();
  }
  json.End();
  json.BeginArray("buffers");
  for (const oom::Match& match : join.matches) {
    json.BeginObject();
    json.Field("matched_by", oom::Word(match.matched_by));
    if (!match.value.is_none()) {
      const report::Value& value = dump.planned.report->values[match.value];
      json.Field("value", std::string_view(explain::ValueName(*dump.planned.report, match.value)));
      json.Field("bytes", value.size);
      if (value.has_range) {
        json.Field("start", value.start);
        json.Field("end", value.end);
      }
    }
    json.End();
  }
  json.End();
  if (dump.advice) {
    json.BeginArray("advice");
    for (const advise::Advice& advice : dump.advice->advice) {
      json.BeginObject();
      json.Field("saved_bytes", advice.saved);
      json.Field("saved_peak", advice.saved_peak);
      json.Field("what", std::string_view(advice.what));
      json.Field("how", std::string_view(advice.how));
      json.End();
    }
    json.End();
  } else {
    json.Field("no_advice", std::string_view(dump.no_advice));
  }
  json.End();
}

}  // namespace stowplan::page
