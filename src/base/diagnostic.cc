// SPDX-License-Identifier: Apache-2.0
#include "stowplan/base/diagnostic.h"

#include <string_view>

#include "base/utf8.h"

namespace stowplan {
namespace {

constexpr std::string_view kReset = "\x1b[0m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kGreen = "\x1b[1;32m";

struct SeverityStyle {
  std::string_view word;
  std::string_view color;
};

SeverityStyle StyleOf(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return {"error", "\x1b[1;31m"};
    case Severity::kWarning:
      return {"warning", "\x1b[1;35m"};
    case Severity::kNote:
      return {"note", "\x1b[1;36m"};
  }
  return {"error", ""};
}

// Messages quote names, and those may be as long as the input.
void AppendShort(std::string_view text, std::string& out) {
  constexpr size_t kHead = 400;
  constexpr size_t kTail = 200;
  constexpr size_t kMost = 1000;
  if (text.size() <= kMost) {
    AppendHarmless(text, out);
    return;
  }
  AppendHarmless(text.substr(0, kHead), out);
  out += "...";
  AppendHarmless(text.substr(text.size() - kTail), out);
}

// A note may have several lines; the lines after the first are indented. In anything else a newline
// can only come from a quoted name.
void AppendMessage(const Diagnostic& diagnostic, std::string& out) {
  std::string_view rest = diagnostic.message;
  if (diagnostic.severity == Severity::kNote) {
    for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      AppendShort(rest.substr(0, end), out);
      out += "\n  ";
      rest.remove_prefix(end + 1);
    }
  }
  AppendShort(rest, out);
  out.push_back('\n');
}

class Painter {
 public:
  Painter(bool color, std::string& out) : color_(color), out_(out) {}
  void Begin(std::string_view code) {
    if (color_) out_ += code;
  }
  void End() { Begin(kReset); }

 private:
  bool color_;
  std::string& out_;
};

void AppendPlace(const Diagnostic& diagnostic, std::string& out) {
  AppendHarmless(
      diagnostic.file.empty() ? std::string_view("stowplan") : std::string_view(diagnostic.file),
      out);
  if (diagnostic.line != 0) {
    out += ":" + std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column);
  } else if (diagnostic.offset != 0) {
    out += ": byte " + std::to_string(diagnostic.offset);
  }
  if (!diagnostic.path.empty()) {
    out += ": in ";
    AppendShort(diagnostic.path, out);
  }
  out += ": ";
}

// The excerpt, and below it the caret. Tabs are repeated in the second line, so that the two stay
// aligned whatever a tab's width is.
void AppendExcerpt(const Diagnostic& diagnostic, Painter& paint, std::string& out) {
  out += "  " + diagnostic.excerpt;
  while (out.ends_with(' ') || out.ends_with('\t')) out.pop_back();
  out += "\n  ";
  for (uint32_t i = 0; i < diagnostic.caret; ++i) {
    const bool is_tab = i < diagnostic.excerpt.size() && diagnostic.excerpt[i] == '\t';
    out.push_back(is_tab ? '\t' : ' ');
  }
  paint.Begin(kGreen);
  out.push_back('^');
  out.append(diagnostic.caret_length - 1, '~');
  paint.End();
  out.push_back('\n');
}

}  // namespace

std::unexpected<Diagnostics> Fail(std::string file, std::string message, std::string hint) {
  Diagnostic diagnostic;
  diagnostic.file = std::move(file);
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return Fail(std::move(diagnostic));
}

std::unexpected<Diagnostics> Fail(Diagnostic diagnostic) {
  Diagnostics diagnostics;
  diagnostics.push_back(std::move(diagnostic));
  return std::unexpected(std::move(diagnostics));
}

std::string Render(const Diagnostic& diagnostic, bool color) {
  std::string out;
  Painter paint(color, out);
  const SeverityStyle style = StyleOf(diagnostic.severity);
  paint.Begin(kBold);
  AppendPlace(diagnostic, out);
  paint.End();
  paint.Begin(style.color);
  out += style.word;
  out += ':';
  paint.End();
  out.push_back(' ');
  AppendMessage(diagnostic, out);
  if (diagnostic.caret_length != 0) AppendExcerpt(diagnostic, paint, out);
  if (!diagnostic.hint.empty()) {
    out += "  hint: ";
    AppendShort(diagnostic.hint, out);
    out.push_back('\n');
  }
  return out;
}

std::string Render(const Diagnostics& diagnostics, bool color) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) out += Render(diagnostic, color);
  return out;
}

}  // namespace stowplan
