// SPDX-License-Identifier: Apache-2.0
// stowplan explain: what fills the peak, in the words of the program.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "advise/advice.h"
#include "base/human_bytes.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/deadline.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "cli/plan_moment.h"
#include "cli/progress.h"
#include "page/advice_page.h"
#include "page/explain_view.h"
#include "page/text.h"
#include "report/summary.h"
#include "session/load.h"
#include "session/setting.h"
#include "target/device.h"

namespace stowplan::cli {
namespace {

struct ExplainOptions {
  std::vector<std::string> inputs;
  PlanOptions plan;
  std::optional<explain::By> by;
  std::optional<int64_t> time;
  std::optional<size_t> limit;
  std::string space;  // empty: the largest
  std::string curve;  // empty: none; "text"; a file
  std::string value;
  bool has_padding = false;
  bool has_advice = false;
  bool has_refused = false;
  std::optional<double> time_limit;
  bool is_json = false;
  std::optional<Device> device;  // that the user named
};

// The page for a plan without live ranges.
std::string PageWithoutPeak(const explain::Picture& picture, const report::Summary& summary,
                            const std::string& name) {
  std::string out = fmt::format("{}: the peak is not known\n", page::Printable(name));
  for (const std::string& sentence : picture.unknown) page::AppendParagraph(sentence, 2, out);
  out += "\nThe footprint, by kind of allocation\n";
  page::TextTable table({page::TextTable::kLeft, page::TextTable::kRight, page::TextTable::kRight});
  for (const report::SpaceTotal& space : summary.spaces) {
    table.Add({page::SpaceText(picture.backend, space.color), HumanAndExactBytes(space.bytes)});
    for (const report::KindTotal& kind : space.kinds)
      table.Add({"  " + std::string(report::Name(kind.kind)), HumanAndExactBytes(kind.bytes),
                 page::Percent(kind.bytes, space.bytes)});
  }
  table.Append(out);
  out += "\nFor more, also give the module itself (.txt or .hlo.pb) or its -live-range.txt.\n";
  return out;
}

std::optional<std::vector<explain::Why>> FindWhys(const ExplainOptions& options,
                                                  const explain::Picture& picture,
                                                  const Analysis* analysis, Console& console) {
  std::vector<explain::Why> whys;
  if (options.value.empty()) return whys;
  const std::vector<report::ValueId> found = explain::FindValues(*picture.report, options.value);
  if (found.empty()) {
    std::vector<std::string> names;
    names.reserve(picture.report->values.size());
    for (size_t i = 0; i < picture.report->values.size(); ++i)
      names.push_back(explain::ValueName(*picture.report, report::ValueId(i)));
    console.ShowError("there is no value `" + options.value + "`",
                      DidYouMean(options.value, {names.begin(), names.end()}));
    return std::nullopt;
  }
  for (const report::ValueId id : found) whys.push_back(explain::WhyAlive(picture, analysis, id));
  return whys;
}

int WriteCurve(const page::ExplainView& view, const std::string& path, Console& console) {
  const bool is_csv = path.ends_with(".csv");
  const std::unique_ptr<Output> output = console.Open(path);
  if (output == nullptr) return kBadUse;
  output->Write(is_csv ? page::CurveCsv(view) : page::CurveSvg(view));
  return console.Finish(*output, kFine);
}

std::string TextOf(const ExplainOptions& options, const page::ExplainView& view,
                   const std::vector<explain::Why>& whys) {
  std::string text;
  for (const explain::Why& why : whys) {
    if (!text.empty()) text += '\n';
    text += page::WhyPage(view, why);
  }
  if (!whys.empty()) return text;
  if (options.by) return page::PartitionPage(view, *options.by);
  if (options.has_padding) return page::PaddingPage(view);
  if (options.curve == "text") return page::CurvePage(view);
  const std::string& root = options.plan.own.source_root;
  if (!root.empty()) return page::SourcePage(view, root);
  return page::ExplainPage(view);
}

bool HasMainPage(const ExplainOptions& options) {
  return !options.by && !options.has_padding && options.value.empty() && options.curve.empty() &&
         options.plan.own.source_root.empty();
}

int ShowAdvice(const PlannedModule& planned, const ExplainOptions& options, Console& console) {
  const std::optional<int64_t> space = ParseNumber(options.space);
  if (!options.space.empty() && !space) {
    console.ShowError("--advice needs the number of a memory space, not `" + options.space + "`",
                      "such as --space=0");
    return kBadUse;
  }
  advise::AdviseOptions advise_options;
  advise_options.space = space.value_or(0);
  if (options.time_limit) advise_options.should_stop = StopAfter(*options.time_limit);
  const std::optional<advise::AdviceReport> report = [&] {
    ProgressLine line(console.is_watched());
    advise_options.progress = [&](int64_t done, int64_t total) {
      line.Show([&] { return fmt::format("tried {} of {}", done, total); });
    };
    return console.Take(advise::AdvisePlanned(planned, options.plan, advise_options));
  }();
  if (!report) return kBadUse;
  return console.Print(options.is_json ? page::AdviceJson(*report, planned.name)
                                       : page::AdvicePage(*report, planned.name,
                                                          {.limit = options.limit.value_or(8),
                                                           .has_refused = options.has_refused}),
                       kFine);
}

int Explain(const ExplainOptions& options, Console& console) {
  const std::optional<Inputs> inputs = console.Take(Open(options.inputs));
  if (!inputs) return kBadUse;
  std::optional<PlannedModule> planned = console.Take(LoadOne(*inputs, options.plan));
  if (!planned) return kBadUse;
  console.Show(planned->notes);
  if (options.has_advice) return ShowAdvice(*planned, options, console);
  if (!options.value.empty()) planned = Analyzed(*std::move(planned), options.plan);
  const Result<explain::Picture> picture = explain::MakePicture(
      *planned->report, planned->module.get(), planned->target, {.own = options.plan.own});
  const Result<report::Summary> summary =
      picture ? report::Summarize(*planned->report) : std::unexpected(picture.error());
  if (!summary) {
    console.Show(summary.error());
    return kBadUse;
  }
  page::ExplainView view{.picture = *picture,
                         .name = planned->name,
                         .input = options.inputs[0],
                         .is_made = planned->is_made(),
                         .space = {},
                         .moment = {}};
  if (options.device) {
    view.capacity = options.device->memory;
    view.device = options.device->name;
  }
  // A table that was asked for is longer than the tables of a page.
  view.limit = options.limit.value_or(options.by ? 30 : 8);
  if (!ChooseSpace(options.space, *picture, *summary, console, view.space)) return kBadUse;
  const std::optional<std::vector<explain::Why>> whys =
      FindWhys(options, *picture, planned->analysis.get(), console);
  if (!whys) return kBadUse;
  if (!report::HasPeak(*planned->report)) {
    if (options.by || options.time || !options.curve.empty() ||
        !options.plan.own.source_root.empty()) {
      console.ShowError("the live ranges are not known, so this cannot be shown",
                        "also give the module or its -live-range.txt");
      return kBadUse;
    }
    if (options.is_json)
      return console.Print(page::ExplainJson(view, options.by, false, *whys), kFine);
    if (!whys->empty() || options.has_padding)
      return console.Print(TextOf(options, view, *whys), kFine);
    return console.Print(PageWithoutPeak(*picture, *summary, view.name), kFine);
  }
  std::optional<ChosenMoment> chosen = ChooseMoment(options.time, *picture, view.curve(), console);
  if (!chosen) return kBadUse;
  view.moment = std::move(chosen->moment);
  view.is_peak = chosen->is_peak;
  if (!options.curve.empty() && options.curve != "text")
    return WriteCurve(view, options.curve, console);
  // Not for the separate pages, which do not show it.
  if (HasMainPage(options) || options.is_json) view.order = GlanceAtOrder(*planned, options.plan);
  return console.Print(options.is_json
                           ? page::ExplainJson(view, options.by, !options.curve.empty(), *whys)
                           : TextOf(options, view, *whys),
                       kFine);
}

int RunExplain(const Arguments& arguments, Console& console) {
  ExplainOptions options = {.inputs = arguments.positionals,
                            .plan = PlanOptionsOf(arguments, console),
                            .by = explain::FindBy(arguments.option("by")),
                            .time = {},
                            .limit = {},
                            .space = arguments.option("space"),
                            .curve = arguments.option("curve"),
                            .value = arguments.option("value"),
                            .has_padding = arguments.flag("padding"),
                            .has_advice = arguments.flag("advice"),
                            .has_refused = arguments.flag("refused"),
                            .time_limit = {},
                            .is_json = arguments.option("format") == "json",
                            .device = FindDevice(arguments.option("target"))};
  if (!console.Take(CheckRelease(options.plan.release))) return kBadUse;
  if (!arguments.option("top").empty()) {
    options.limit = ReadCount("top", arguments, console);
    if (!options.limit) return kBadUse;
  }
  if (!ReadMoment(arguments, console, options.time)) return kBadUse;
  if (!options.curve.empty() && options.curve != "text" && !options.curve.ends_with(".csv") &&
      !options.curve.ends_with(".svg")) {
    console.ShowError("--curve writes a .csv or an .svg, not `" + options.curve + "`",
                      "--curve alone draws it as text");
    return kBadUse;
  }
  if (!arguments.option("time-limit").empty()) {
    options.time_limit = ReadSeconds("time-limit", arguments, console);
    if (!options.time_limit) return kBadUse;
  }
  if (!options.has_advice && (options.has_refused || options.time_limit)) {
    console.ShowError("--refused and --time-limit require --advice");
    return kBadUse;
  }
  const int questions = (options.has_advice ? 1 : 0) + (options.by ? 1 : 0) +
                        (options.has_padding ? 1 : 0) + (options.value.empty() ? 0 : 1) +
                        (options.curve.empty() ? 0 : 1);
  if (questions > 1 && !options.is_json) {
    console.ShowError("--by, --value, --padding, --advice and --curve are separate pages",
                      "give only one of them");
    return kBadUse;
  }
  return Explain(options, console);
}

std::vector<std::string_view> ByNames() {
  std::vector<std::string_view> names;
  names.reserve(explain::kBys);
  for (size_t i = 0; i < explain::kBys; ++i)
    names.push_back(explain::Name(static_cast<explain::By>(i)));
  return names;
}

}  // namespace

CommandSpec ExplainCommand() {
  return {
      .name = "explain",
      .summary = "show what fills the peak: source lines, kinds, values, and why",
      .details =
          "Finds the moment when the most bytes are live, and what owns them, in terms of\n"
          "your program: source lines, op_names, parameter paths, kinds. All tables add up\n"
          "exactly. Also shows the rest of the allocated memory, and XLA's own figure with\n"
          "the reasons why it differs.\n"
          "\n"
          "INPUT can be anything with a plan: XLA's reports, a .hlo.pb, or a dump directory\n"
          "(its largest module, or --module). A module without a plan is planned first, as\n"
          "XLA does. The page ends with what the input does not tell. docs/explain.md\n"
          "defines every figure.\n",
      .examples =
          "  stowplan explain dump/                        the largest module, one page\n"
          "  stowplan explain m.hlo.pb --by=op_name        a tree of named scopes\n"
          "  stowplan explain m.hlo.pb --by=parameter --top=50\n"
          "  stowplan explain m.hlo.pb --value=fusion.3    why is it alive?\n"
          "  stowplan explain m.hlo.pb --at=120            a moment other than the peak\n"
          "  stowplan explain m.hlo.pb --curve=live.svg    live bytes over time\n"
          "  stowplan explain m.hlo.pb --source-root=.     source code with live bytes\n"
          "  stowplan explain m.hlo.pb --advice            what saves memory, and how much\n"
          "  stowplan explain m.hlo.pb --format=json | jq .moment.bytes\n",
      .positional = "INPUT",
      .count = Positionals::kAny,
      .options = WithPlanOptions({
          {.name = "by", .value = "WHAT", .help = "show one table, by", .choices = ByNames()},
          {.name = "at", .value = "T", .help = "show this moment instead of the peak"},
          {.name = "top",
           .value = "N",
           .help = "at most N rows per table; 0 shows all (default: 8; 30 with --by)"},
          {.name = "space",
           .value = "N",
           .help = "this memory space, or `all` (default: the largest)"},
          {.name = "value", .value = "NAME", .help = "show why this value is alive"},
          {.name = "padding", .help = "show what tiling costs, worst first"},
          {.name = "advice", .help = "show changes that save memory; each was tried"},
          {.name = "refused", .help = "advice: also list arguments not worth donating"},
          {.name = "time-limit", .value = "S", .help = "advice: try changes for S seconds"},
          {.name = "curve",
           .value = "FILE",
           .help = "live bytes over time, drawn as text or written to a .csv or .svg",
           .implied = "text"},
          {.name = "source-root",
           .value = "DIR",
           .help = "your files: lines in them are yours; shown with the live bytes of each line"},
          {.name = "format",
           .value = "KIND",
           .help = "output format",
           .fallback = "text",
           .choices = {"text", "json"}},
      }),
      .run = RunExplain,
  };
}

}  // namespace stowplan::cli
