// SPDX-License-Identifier: Apache-2.0
// A line a value: `frame;frame;frame bytes`, as flame graph programs read them. They split at each
// semicolon and at the last blank, and take a second number before the bytes for a difference; so
// none of these may come from a name.
#include <algorithm>

#include "base/utf8.h"
#include "export/formats.h"
#include "export/stacks.h"

namespace stowplan::exporting {
namespace {

// Stacks are written out again and again: what would take more is a hostile input.
constexpr size_t kMostBytes = size_t{1} << 30U;

void AppendFrame(std::string_view name, std::string& out) {
  std::string text;
  AppendUtf8(name, text);
  for (char& c : text) {
    if (c == ';') c = ',';
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  out += text;
}

// `copy 3` becomes `copy_3`.
void HideNumber(std::string& out) {
  const size_t blank = out.find_last_of(' ');
  if (blank == std::string::npos) return;
  const bool is_number = std::all_of(out.begin() + static_cast<ptrdiff_t>(blank) + 1, out.end(),
                                     [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  if (is_number) out[blank] = '_';
}

}  // namespace

Result<std::string> WriteCollapsed(const Subject& subject) {
  StackFinder finder(subject);
  std::string out;
  for (const explain::Share& share : subject.moment->shares) {
    if (share.bytes == 0) continue;
    std::string line;
    for (const uint32_t row : finder.Of(share.value)) {
      AppendFrame(finder.frames()[row].name, line);
      line += ';';
    }
    AppendFrame(finder.LeafText(share.value), line);
    HideNumber(line);
    out += line + " " + std::to_string(share.bytes) + "\n";
    if (out.size() > kMostBytes) {
      return Fail({}, "collapsed stacks of this plan take more than 1GiB",
                  "speedscope and pprof files name each frame once");
    }
  }
  return out;
}

}  // namespace stowplan::exporting
