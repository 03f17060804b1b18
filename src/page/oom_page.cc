// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "page/explain_view.h"
#include "page/oom_dump.h"
#include "page/oom_view.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

using oom::Incident;

std::string LineText(const std::string& name, int64_t line) {
  return line > 0 ? fmt::format("{}:{}", name, line) : name;
}

std::string TitleOf(const Incident& incident) {
  std::string title = incident.is_failure ? "out of memory" : "short of memory";
  if (incident.backend != oom::Backend::kUnknown)
    title += fmt::format(" on a {}", oom::Name(incident.backend));
  if (!incident.executable.empty()) title += ", running " + incident.executable;
  if (!incident.code.empty()) title += fmt::format(" (XLA's {})", incident.code);
  return Printable(title);
}

void AppendWhere(const Incident& incident, std::string& out) {
  std::string words = fmt::format("in line {} of the log", incident.line);
  if (incident.count > 1) words += fmt::format(", logged {} times", incident.count);
  if (!incident.devices.empty()) {
    constexpr size_t kMost = 4;
    words += incident.devices.size() == 1
                 ? ", by "
                 : fmt::format(", by {} devices: ", incident.devices.size());
    for (size_t i = 0; i < std::min(kMost, incident.devices.size()); ++i)
      words += (i > 0 ? ", " : "") + incident.devices[i];
    if (incident.devices.size() > kMost) words += ", ...";
  }
  AppendParagraph(Printable(words), 2, out);
}

void AppendFigures(const oom::Explanation& explanation, std::string& out) {
  if (explanation.figures.empty()) return;
  out += "\nThe figures\n";
  TextTable table({TextTable::kLeft, TextTable::kRight, TextTable::kLeft});
  for (const oom::Figure& figure : explanation.figures) {
    table.Add({std::string(2 * static_cast<size_t>(figure.depth), ' ') + Printable(figure.name),
               oom::SizeText(figure.size), Printable(figure.note)});
  }
  table.Append(out);
}

// "jit(step)/.../dot_general  model.py:42"
std::string OomWordsOf(const oom::Buffer& buffer, size_t indent) {
  std::string source =
      buffer.source_file.empty()
          ? std::string()
          : LineText(ShortenedPath(Printable(buffer.source_file), 36), buffer.source_line);
  std::string words;
  const size_t room = kExplainWidth - indent - (source.empty() ? 0 : TextWidth(source) + 2);
  if (!buffer.op_name.empty()) words = ShortenedOpName(Printable(buffer.op_name), room);
  if (words.empty() && !buffer.label.empty()) words = Shortened(Printable(buffer.label), room);
  if (words.empty()) return source;
  return source.empty() ? words : words + "  " + source;
}

void AppendBuffers(const OomView& view, const Incident& incident, std::string& out) {
  const std::vector<oom::Buffer>& buffers = incident.buffers;
  if (buffers.empty()) return;
  const size_t shown = view.limit == 0 ? buffers.size() : std::min(view.limit, buffers.size());
  out += fmt::format("\nLargest buffers, {} of the {} in the log\n", shown, buffers.size());
  for (size_t i = 0; i < shown; ++i) {
    const oom::Buffer& buffer = buffers[i];
    std::string row = fmt::format("  {:>10}", buffer.size ? HumanBytes(buffer.size->bytes) : "?");
    const size_t without_name = row.size();
    if (!buffer.shape.empty()) row += "  " + ShortenedShape(Printable(buffer.shape), 40);
    if (!buffer.instruction.empty()) row += "  " + Shortened(Printable(buffer.instruction), 24);
    // Then only the wording identifies it.
    const bool has_name = row.size() != without_name;
    if (!has_name) {
      const std::string words = OomWordsOf(buffer, without_name + 2);
      row += "  " + (words.empty() ? std::string("no name") : words);
    }
    if (buffer.is_parameter) row += "  parameter";
    out += row + '\n';
    if (buffer.padding && buffer.padding->bytes > 0)
      out += fmt::format("      {} of it padding\n", HumanBytes(buffer.padding->bytes));
    if (!has_name) continue;
    if (const std::string words = OomWordsOf(buffer, 6); !words.empty())
      out += "      " + words + '\n';
  }
}

// A numbered paragraph: "1. ", " 2. ".
void AppendNumbered(size_t number, std::string_view words, std::string& out) {
  const size_t begin = out.size();
  AppendParagraph(Printable(words), 5, out);
  const std::string mark = fmt::format("{:>3}.", number);
  if (out.size() >= begin + mark.size()) out.replace(begin, mark.size(), mark);
}

void AppendOomCauses(const oom::Explanation& explanation, std::string& out) {
  out += "\nWhy\n";
  size_t number = 0;
  for (const oom::Cause& cause : explanation.causes) {
    std::string what = cause.what;
    if (cause.bytes && cause.bytes->bytes > 0)
      what += fmt::format(" ({})", HumanBytes(cause.bytes->bytes));
    AppendNumbered(++number, what, out);
    AppendParagraph(Printable(cause.why), 5, out);
  }
}

void AppendFixes(const oom::Explanation& explanation, Speech speech, std::string& out) {
  out += "\nWhat helps\n";
  constexpr size_t kMost = 8;
  size_t number = 0;
  for (const oom::Fix& fix : explanation.fixes) {
    if (number == kMost) break;
    std::string what = fix.what;
    if (fix.saves && fix.saves->bytes > 0)
      what += fmt::format(" (at most {}{})", HumanBytes(fix.saves->bytes),
                          fix.is_enough ? ", enough" : "");
    AppendNumbered(++number, what, out);
    for (const std::string& line : fix.how) out += "       " + Printable(line) + '\n';
    if (!fix.note.empty()) AppendParagraph(Printable(fix.note), 5, out);
  }
  if (explanation.fixes.size() > kMost)
    out += fmt::format("     and {} more ({} all)\n", explanation.fixes.size() - kMost,
                       speech == Speech::kPython ? "`fixes` has" : "--format=json has");
}

void AppendLog(const OomView& view, std::string& out) {
  const oom::Log& log = view.log;
  if (log.incidents.size() < 2) return;
  out += fmt::format("\nAll {} incidents in this log\n",
                     log.incidents.size() + static_cast<size_t>(log.left_out));
  constexpr size_t kMost = 12;
  const bool is_python = view.speech == Speech::kPython;
  const size_t first = is_python ? 0 : 1;  // as `incident` counts
  for (size_t i = 0; i < std::min(kMost, log.incidents.size()); ++i) {
    const Incident& incident = log.incidents[i];
    const std::string mark = i == view.incident ? "*" : " ";
    const std::string head =
        fmt::format("  {} {:>2}. line {}, {}x: ", mark, i + first, incident.line, incident.count);
    out += head +
           Shortened(Printable(incident.message),
                     std::max<size_t>(20, kExplainWidth - TextWidth(head))) +
           '\n';
  }
  if (log.incidents.size() > kMost)
    out += fmt::format("    and {} more ({} all)\n", log.incidents.size() - kMost,
                       is_python ? "`incidents` has" : "--format=json has");
  out += fmt::format(
      "  * is explained here: it lacks the most. {}incident=N explains a different one.\n",
      is_python ? "" : "--");
}

void AppendOomNext(const OomView& view, const Incident& incident, std::string& out) {
  out += "\nNext\n";
  const bool is_python = view.speech == Speech::kPython;
  if (view.dump != nullptr && is_python) {
    const std::string dump = Printable(view.dump->options.paths[0]);
    out += fmt::format("  r = stowplan.analyze(\"{}\")\n", dump);
    out += "    r.explain()             what fills the peak, exactly\n";
    out += "    r.save(\"view.html\")     every value at its place\n";
    return;
  }
  if (view.dump != nullptr) {
    const std::string dump = Printable(view.dump->options.paths[0]);
    out += fmt::format("  stowplan explain {}\n      what fills the peak, exactly\n", dump);
    out += fmt::format("  stowplan view {} -o view.html\n      every value at its place\n", dump);
    return;
  }
  const bool is_program = incident.kind == oom::Kind::kCompile ||
                          incident.kind == oom::Kind::kBuffer || incident.kind == oom::Kind::kLoad;
  if (!is_program) {
    out += "  Does the program itself need too much? A dump shows that:\n";
  } else {
    out += "  At best, the log has the largest buffers. A dump of the program has all:\n";
  }
  out += "    XLA_FLAGS=\"--xla_dump_to=dump --xla_dump_hlo_as_text\" python train.py\n";
  if (is_python) {
    out += "    stowplan.explain_oom(error, dump=\"dump\")\n";
    out += "    r = stowplan.analyze(\"dump\")\n";
    out += "    r.explain()             what fills the peak, exactly\n";
    out += "    r.advice()              what would save memory, each change tried\n";
    return;
  }
  out += "    stowplan explain dump                 what fills the peak, exactly\n";
  out += "    stowplan explain dump --advice        changes that save memory\n";
  if (!view.input.empty() && view.input != "-")
    out += fmt::format("    stowplan explain-oom {} --dump=dump\n", Printable(view.input));
}

}  // namespace

std::string OomPage(const OomView& view) {
  const Incident& incident = view.log.incidents[view.incident];
  const oom::Explanation explanation = oom::Explain(view.log, view.incident);
  std::string out = TitleOf(incident) + '\n';
  AppendParagraph(Printable(explanation.headline), 2, out);
  AppendWhere(incident, out);
  AppendFigures(explanation, out);
  AppendBuffers(view, incident, out);
  AppendOomCauses(explanation, out);
  AppendFixes(explanation, view.speech, out);
  if (!explanation.unknown.empty()) {
    out += "\nNot known\n";
    for (const std::string& sentence : explanation.unknown)
      AppendParagraph(Printable(sentence), 2, out);
  }
  if (view.dump != nullptr) out += OomDumpPage(incident, *view.dump);
  AppendLog(view, out);
  AppendOomNext(view, incident, out);
  return out;
}

}  // namespace stowplan::page
