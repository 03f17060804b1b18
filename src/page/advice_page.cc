// SPDX-License-Identifier: Apache-2.0
#include "page/advice_page.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "page/explain_view.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

using advise::Advice;
using advise::AdviceReport;

// A list item that starts with a dash.
void AppendItem(std::string_view words, std::string& out) {
  const size_t begin = out.size();
  AppendParagraph(words, 5, out);
  if (out.size() > begin + 3) out[begin + 3] = '-';
}

std::string Change(std::string_view name, int64_t from, int64_t to) {
  if (from == to) return {};
  return fmt::format("{} {} -> {}", name, HumanBytes(from), HumanBytes(to));
}

void AppendAdvice(const AdviceReport& report, const Advice& advice, std::string_view number,
                  Speech speech, std::string& out) {
  if (advice.saved > 0) {
    out += fmt::format("\n{} saves {}\n", number, HumanAndExactBytes(advice.saved));
  } else {
    out += fmt::format("\n{} lowers the peak by {}; allocations stay the same size\n", number,
                       HumanAndExactBytes(advice.saved_peak));
  }
  AppendParagraph(advice.what, 3, out);
  if (!advice.how.empty()) AppendParagraph(advice.how, 5, out);
  std::string figures;
  const advise::SpaceFigures old = report.before.Space(report.space);
  const advise::SpaceFigures now = advice.after.Space(report.space);
  for (const std::string& change :
       {Change("peak", old.peak, now.peak),
        Change("temporaries", report.before.temp, advice.after.temp),
        Change("shared by arguments and results", report.before.alias, advice.after.alias)}) {
    if (!change.empty()) figures += (figures.empty() ? "" : "; ") + change;
  }
  if (!figures.empty()) AppendParagraph(figures, 3, out);
  constexpr size_t kMostNotes = 6;
  for (size_t i = 0; i < std::min(advice.notes.size(), kMostNotes); ++i)
    AppendItem(advice.notes[i], out);
  if (advice.notes.size() > kMostNotes)
    out += fmt::format("   - and {} more ({} all)\n", advice.notes.size() - kMostNotes,
                       speech == Speech::kPython ? "`notes` has" : "--format=json has");
}

std::string NameOf(const advise::Argument& argument) {
  return argument.name.empty() ? fmt::format("parameter {}", argument.parameters[0])
                               : argument.name;
}

void AppendRefused(const AdviceReport& report, std::string& out) {
  out += "\nArguments not worth donating\n";
  bool has_some = false;
  for (const advise::DonationAnswer& answer : report.donations) {
    if (answer.saved) continue;
    has_some = true;
    std::string words = NameOf(answer.argument) + ": ";
    if (answer.is_donated) {
      words += "already donated";
    } else if (answer.pairs.empty()) {
      words +=
          answer.refused.empty() ? std::string("could not be planned") : answer.refused[0].reason;
      if (answer.refused.size() > 1)
        words += fmt::format(" (and {} more of its parameters)", answer.refused.size() - 1);
    } else if (!answer.clashes.empty()) {
      words += "XLA would copy it" + advise::Reason(answer.clashes[0], answer.clash_sources[0]);
    } else {
      words += "other values take up the memory that it frees";
    }
    AppendParagraph(words, 2, out);
  }
  if (!has_some) out += "  none\n";
}

}  // namespace

std::string AdvicePage(const AdviceReport& report, const std::string& name,
                       const AdvicePageOptions& options) {
  const advise::SpaceFigures space = report.before.Space(report.space);
  std::string out = Printable(name) + "\n";
  out += fmt::format("  allocated  {}\n  peak       {}\n", HumanAndExactBytes(space.bytes),
                     HumanAndExactBytes(space.peak));
  for (const std::string& sentence : report.unknown) AppendParagraph(sentence, 2, out);
  size_t shown = report.advice.size();
  if (options.limit != 0) shown = std::min(shown, options.limit);
  // What the user can follow first, each kind by what it saves.
  std::vector<const Advice*> order;
  for (const bool is_for_compilers : {false, true}) {
    for (const Advice& advice : report.advice)
      if (advise::IsForCompilers(advice) == is_for_compilers) order.push_back(&advice);
  }
  const auto first = std::ranges::find_if(
      order, [](const Advice* advice) { return advise::IsForCompilers(*advice); });
  const auto own = static_cast<size_t>(first - order.begin());
  for (size_t i = 0; i < shown; ++i) {
    if (i == own) {
      if (report.together) AppendAdvice(report, *report.together, "=>", options.speech, out);
      out += "\nFor compiler engineers: copies, the order of instructions, packing\n";
    }
    AppendAdvice(report, *order[i], fmt::format("{}.", i + 1), options.speech, out);
  }
  if (report.together && own >= shown)
    AppendAdvice(report, *report.together, "=>", options.speech, out);
  if (report.advice.empty() && report.tried != 0)
    out += "\nNo change that was tried saves memory.\n";
  if (options.has_refused) AppendRefused(report, out);
  std::string words = fmt::format(
      "Each change was applied to the program, planned again and checked; {} tried", report.tried);
  if (shown < report.advice.size())
    words += fmt::format(", {} more {} something ({})", report.advice.size() - shown,
                         report.advice.size() - shown == 1 ? "saves" : "save",
                         options.speech == Speech::kPython ? "limit=0" : "--top=0");
  if (report.unsound != 0)
    words += fmt::format(", {} left out because values would be lost", report.unsound);
  out += '\n';
  AppendParagraph(words + ".", 0, out);
  if (report.untried != 0)
    out += fmt::format("Time ran out before {} more could be tried ({}).\n", report.untried,
                       OptionText(options.speech, "time-limit"));
  if (!options.has_refused && options.speech == Speech::kCommandLine)
    out += "--refused lists arguments not worth donating.\n";
  return out;
}

namespace {

void WriteFigures(std::string_view key, const advise::Figures& figures, JsonWriter& json) {
  json.BeginObject(key);
  json.Field("argument_bytes", figures.argument);
  json.Field("output_bytes", figures.output);
  json.Field("alias_bytes", figures.alias);
  json.Field("temp_bytes", figures.temp);
  json.Field("bytes", figures.bytes);
  json.BeginArray("spaces");
  for (const advise::SpaceFigures& space : figures.spaces) {
    json.BeginObject();
    json.Field("color", space.color);
    json.Field("bytes", space.bytes);
    json.Field("peak", space.peak);
    json.End();
  }
  json.End();
  json.End();
}

void WriteAdvice(const Advice& advice, JsonWriter& json) {
  json.Field("for_compilers", advise::IsForCompilers(advice));
  json.Field("saved_bytes", advice.saved);
  json.Field("saved_peak", advice.saved_peak);
  json.Field("what", std::string_view(advice.what));
  json.Field("how", std::string_view(advice.how));
  json.BeginArray("notes");
  for (const std::string& note : advice.notes) json.Value(std::string_view(note));
  json.End();
  WriteFigures("after", advice.after, json);
  json.BeginArray("edits");
  for (const advise::Edit& edit : advice.edits) {
    json.BeginObject();
    json.Field("kind", advise::Name(edit.kind));
    if (!edit.parameters.empty()) {
      json.BeginArray("parameters");
      for (const int64_t p : edit.parameters) json.Value(p);
      json.End();
    }
    if (!edit.instruction.empty()) {
      json.Field("computation", std::string_view(edit.computation));
      json.Field("instruction", std::string_view(edit.instruction));
    }
    if (!edit.anchor.empty()) json.Field("anchor", std::string_view(edit.anchor));
    json.End();
  }
  json.End();
}

void WriteDonation(const advise::DonationAnswer& answer, JsonWriter& json) {
  json.BeginObject();
  json.Field("argument", std::string_view(answer.argument.name));
  json.Field("position", answer.argument.position);
  json.Field("donated", answer.is_donated);
  if (answer.saved) json.Field("saved_bytes", *answer.saved);
  json.BeginArray("pairs");
  for (const advise::DonatedPair& pair : answer.pairs) {
    json.BeginObject();
    json.Field("parameter", pair.parameter);
    json.Field("output", pair.output);
    json.End();
  }
  json.End();
  json.BeginArray("refused");
  for (const advise::Refusal& refusal : answer.refused) {
    json.BeginObject();
    json.Field("parameter", refusal.parameter);
    json.Field("rule", advise::Name(refusal.rule));
    json.Field("reason", std::string_view(refusal.reason));
    json.End();
  }
  json.End();
  json.BeginArray("clashes");
  for (size_t i = 0; i < answer.clashes.size(); ++i) {
    json.BeginObject();
    json.Field("parameter", answer.clashes[i].parameter);
    json.Field("reader", std::string_view(answer.clashes[i].reader));
    json.Field("writer", std::string_view(answer.clashes[i].writer));
    json.Field("source", std::string_view(answer.clash_sources[i]));
    json.End();
  }
  json.End();
  json.End();
}

}  // namespace

std::string AdviceJson(const AdviceReport& report, const std::string& name) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("schema", "stowplan.advice/1");
  json.Field("module", std::string_view(name));
  json.Field("space", report.space);
  WriteFigures("before", report.before, json);
  json.BeginArray("advice");
  for (const Advice& advice : report.advice) {
    json.BeginObject();
    WriteAdvice(advice, json);
    json.End();
  }
  json.End();
  if (report.together) {
    json.BeginObject("together");
    WriteAdvice(*report.together, json);
    json.End();
  }
  json.BeginArray("donations");
  for (const advise::DonationAnswer& answer : report.donations) WriteDonation(answer, json);
  json.End();
  json.Field("tried", report.tried);
  json.Field("untried", report.untried);
  json.Field("unsound", report.unsound);
  json.BeginArray("not_known");
  for (const std::string& sentence : report.unknown) json.Value(std::string_view(sentence));
  json.End();
  json.End();
  out += '\n';
  return out;
}

}  // namespace stowplan::page
