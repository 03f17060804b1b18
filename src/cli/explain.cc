// SPDX-License-Identifier: Apache-2.0
// stowplan explain: what fills the peak, in the words of the program.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "cli/advice.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/deadline.h"
#include "cli/explain_view.h"
#include "cli/number.h"
#include "cli/plan_input.h"
#include "cli/plan_moment.h"
#include "cli/report_text.h"
#include "cli/source_root.h"
#include "cli/suggest.h"
#include "report/summary.h"

namespace stowplan::cli {
namespace {

struct ExplainOptions {
  PlanInputOptions input;
  std::optional<explain::By> by;
  std::optional<int64_t> time;
  std::optional<size_t> limit;
  std::string space;  // empty: the largest
  std::string curve;  // empty: none; "text"; a file
  std::string value;
  std::string source_root;
  bool has_padding = false;
  bool has_advice = false;
  bool has_refused = false;
  std::optional<double> time_limit;
  bool is_json = false;
};

// What there is to say when nobody knows when values are alive.
std::string PageWithoutPeak(const explain::Picture& picture, const report::Summary& summary,
                            const std::string& name) {
  std::string out = fmt::format("{}: the peak is not known\n", Printable(name));
  for (const std::string& sentence : picture.unknown) AppendParagraph(sentence, 2, out);
  out += "\nThe footprint, by kind of allocation\n";
  TextTable table({TextTable::kLeft, TextTable::kRight, TextTable::kRight});
  for (const report::SpaceTotal& space : summary.spaces) {
    table.Add({SpaceText(picture.backend, space.color), HumanAndExactBytes(space.bytes)});
    for (const report::KindTotal& kind : space.kinds)
      table.Add({"  " + std::string(report::Name(kind.kind)), HumanAndExactBytes(kind.bytes),
                 Percent(kind.bytes, space.bytes)});
  }
  table.Append(out);
  out += "\nThe module itself (.txt or .hlo.pb) or -live-range.txt, given as well, tells more.\n";
  return out;
}

std::optional<std::vector<explain::Why>> FindWhys(const ExplainOptions& options,
                                                  const explain::Picture& picture,
                                                  const std::optional<Analysis>& analysis,
                                                  Console& console) {
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
  for (const report::ValueId id : found)
    whys.push_back(explain::WhyAlive(picture, analysis ? &*analysis : nullptr, id));
  return whys;
}

int WriteCurve(const ExplainView& view, const std::string& path, Console& console) {
  const bool is_csv = path.ends_with(".csv");
  const std::unique_ptr<Output> output = console.Open(path);
  if (output == nullptr) return kBadUse;
  output->Write(is_csv ? CurveCsv(view) : CurveSvg(view));
  return console.Finish(*output, kFine);
}

std::string TextOf(const ExplainOptions& options, const ExplainView& view,
                   const std::vector<explain::Why>& whys) {
  std::string text;
  for (const explain::Why& why : whys) {
    if (!text.empty()) text += '\n';
    text += WhyPage(view, why);
  }
  if (!whys.empty()) return text;
  if (options.by) return PartitionPage(view, *options.by);
  if (options.has_padding) return PaddingPage(view);
  if (!options.source_root.empty()) return SourcePage(view, options.source_root);
  if (options.curve == "text") return CurvePage(view);
  return ExplainPage(view);
}

int Explain(const ExplainOptions& options, Console& console) {
  std::optional<PlanInput> input = FindPlan(options.input, console);
  if (!input) return kBadUse;
  if (options.has_advice) {
    const std::optional<int64_t> space = ParseNumber(options.space);
    if (!options.space.empty() && !space) {
      console.ShowError("--advice wants the number of a memory space, not `" + options.space + "`",
                        "such as --space=0");
      return kBadUse;
    }
    return ShowAdvice(*input,
                      {.input = options.input.inputs[0],
                       .target = options.input.target,
                       .version = options.input.version,
                       .space = space,
                       .should_stop = options.time_limit ? StopAfter(*options.time_limit)
                                                         : std::function<bool()>(),
                       .limit = options.limit.value_or(8),
                       .has_refused = options.has_refused,
                       .is_json = options.is_json},
                      console);
  }
  if (!options.value.empty()) AnalyzeProgram(options.input, *input);
  const Result<explain::Picture> picture = explain::MakePicture(
      input->report, input->program ? &*input->program : nullptr, input->target);
  const Result<report::Summary> summary =
      picture ? report::Summarize(input->report) : std::unexpected(picture.error());
  if (!summary) {
    console.Show(summary.error());
    return kBadUse;
  }
  ExplainView view{.picture = *picture,
                   .name = input->name,
                   .input = options.input.inputs[0],
                   .is_ours = input->is_ours,
                   .space = {},
                   .moment = {}};
  // A page has short tables; one that is asked for is longer.
  view.limit = options.limit.value_or(options.by ? 30 : 8);
  if (!ChooseSpace(options.space, *picture, *summary, console, view.space)) return kBadUse;
  const std::optional<std::vector<explain::Why>> whys =
      FindWhys(options, *picture, input->analysis, console);
  if (!whys) return kBadUse;
  if (!report::HasPeak(input->report)) {
    if (options.by || options.time || !options.curve.empty() || !options.source_root.empty()) {
      console.ShowError("when values are alive is not known, so this cannot be shown",
                        "give the module or its -live-range.txt as well");
      return kBadUse;
    }
    if (options.is_json) return console.Print(ExplainJson(view, options.by, false, *whys), kFine);
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
  return console.Print(options.is_json
                           ? ExplainJson(view, options.by, !options.curve.empty(), *whys)
                           : TextOf(options, view, *whys),
                       kFine);
}

int Run(const Arguments& arguments, Console& console) {
  ExplainOptions options = {.input = {.inputs = arguments.positionals,
                                      .module = arguments.option("module"),
                                      .target = arguments.option("target"),
                                      .version = arguments.option("xla-version")},
                            .by = explain::FindBy(arguments.option("by")),
                            .time = {},
                            .limit = {},
                            .space = arguments.option("space"),
                            .curve = arguments.option("curve"),
                            .value = arguments.option("value"),
                            .source_root = arguments.option("source-root"),
                            .has_padding = arguments.flag("padding"),
                            .has_advice = arguments.flag("advice"),
                            .has_refused = arguments.flag("refused"),
                            .time_limit = {},
                            .is_json = arguments.option("format") == "json"};
  if (!CheckVersion(options.input.version, console)) return kBadUse;
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
    console.ShowError("--refused and --time-limit are for --advice");
    return kBadUse;
  }
  if (!CheckRoot(options.source_root, console)) return kBadUse;
  const int questions = (options.has_advice ? 1 : 0) + (options.by ? 1 : 0) +
                        (options.has_padding ? 1 : 0) + (options.value.empty() ? 0 : 1) +
                        (options.curve.empty() ? 0 : 1) + (options.source_root.empty() ? 0 : 1);
  if (questions > 1 && !options.is_json) {
    console.ShowError(
        "--by, --value, --padding, --advice, --curve and --source-root are each a page",
        "ask for one of them");
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
          "Finds the moment at which most bytes are live, and who owns them, in the words\n"
          "of the program: source lines, op_names, paths of parameters, kinds. All tables\n"
          "add up exactly. Beside it: the rest of the memory that is allocated, and XLA's\n"
          "own figure with the reasons why it differs.\n"
          "\n"
          "INPUT is anything with a plan: XLA's reports, a .hlo.pb, a dump directory (its\n"
          "largest module, or --module). A module alone is planned first, as XLA does.\n"
          "What the input does not tell is said at the end. docs/explain.md defines every\n"
          "figure.\n",
      .examples =
          "  stowplan explain dump/                        the largest module, one page\n"
          "  stowplan explain m.hlo.pb --by=op_name        a tree of named scopes\n"
          "  stowplan explain m.hlo.pb --by=parameter --top=50\n"
          "  stowplan explain m.hlo.pb --value=fusion.3    why is it alive?\n"
          "  stowplan explain m.hlo.pb --at=120            another moment\n"
          "  stowplan explain m.hlo.pb --curve=live.svg    live bytes over time\n"
          "  stowplan explain m.hlo.pb --source-root=.     source with bytes beside it\n"
          "  stowplan explain m.hlo.pb --advice            what would save how much\n"
          "  stowplan explain m.hlo.pb --format=json | jq .moment.bytes\n",
      .positional = "INPUT",
      .count = Positionals::kAny,
      .options = WithPlanInput({
          {.name = "by", .value = "WHAT", .help = "one table, by", .choices = ByNames()},
          {.name = "at", .value = "T", .help = "at this moment, not at the peak"},
          {.name = "top",
           .value = "N",
           .help = "at most N rows of a table, 0: all (default: 8; 30 with --by)"},
          {.name = "space",
           .value = "N",
           .help = "this memory space, or `all` (default: the largest)"},
          {.name = "value", .value = "NAME", .help = "why this value is alive"},
          {.name = "padding", .help = "what tiles cost, worst first"},
          {.name = "advice", .help = "what would save memory, by how much, each tried"},
          {.name = "refused", .help = "advice: with arguments that donating does not help"},
          {.name = "time-limit", .value = "S", .help = "advice: try for so many seconds"},
          {.name = "curve",
           .value = "FILE",
           .help = "live bytes over time: drawn as text, or written to a .csv or .svg",
           .implied = "text"},
          {.name = "source-root",
           .value = "DIR",
           .help = "show the source files below it with bytes beside their lines"},
          {.name = "format",
           .value = "KIND",
           .help = "how to print",
           .fallback = "text",
           .choices = {"text", "json"}},
      }),
      .run = Run,
  };
}

}  // namespace stowplan::cli
