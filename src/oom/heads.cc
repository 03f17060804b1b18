// SPDX-License-Identifier: Apache-2.0
#include "oom/heads.h"

#include <algorithm>
#include <array>

#include "base/stable_sort.h"
#include "oom/sentences.h"
#include "oom/size.h"
#include "oom/text.h"

namespace stowplan::oom {
namespace {

std::string MessageAt(const Window& window, size_t begin) {
  constexpr size_t kLongest = 160;
  constexpr size_t kSubject = 60;
  // Lines can be long, and full of messages: only what is near is looked at.
  const size_t first = begin - std::min(begin, kSubject);
  const std::string_view near =
      std::string_view(window.text).substr(first, begin - first + kLongest);
  size_t from = begin - first;
  size_t end = near.find(". ", from);
  // "Unable to allocate 184. GiB" ends later.
  if (end != std::string_view::npos && end > 0 && IsDigit(near[end - 1]))
    end = near.find(". ", end + 1);
  // The sentence begins a few words earlier, where it has a subject.
  const size_t stop = near.rfind(": ", from);
  if (stop != std::string_view::npos) from = stop + 2;
  return std::string(near.substr(
      from, std::min(end == std::string_view::npos ? kLongest : end + 1 - from, kLongest)));
}

}  // namespace

bool MayBegin(const Window& window) {
  constexpr std::array<std::string_view, 6> kOthers = {
      "resource_exhausted: ", "resource exhausted: ",  "reduce memory use below ", "stats:",
      "bin (256):",           "bfcallocator dump for "};
  const auto begins = [&](std::string_view words) {
    const std::string_view text = window.lower;
    return text.substr(0, window.first_line + words.size()).contains(words);
  };
  return std::ranges::any_of(Anchors(), begins, &Anchor::words) ||
         std::ranges::any_of(kOthers, begins);
}

std::vector<Head> FindHeads(const Window& window) {
  std::vector<Head> heads;
  for (const Anchor& anchor : Anchors()) {
    const std::string_view lower =
        std::string_view(window.lower).substr(0, window.first_line + anchor.words.size());
    for (size_t at = lower.find(anchor.words); at != std::string_view::npos;
         at = lower.find(anchor.words, at + anchor.words.size())) {
      if (at >= window.first_line) break;
      Head head;
      head.begin = at;
      Scan scan{.window = window, .at = at + anchor.words.size()};
      if (!anchor.rule(scan, at, head)) continue;
      head.incident.line = window.number;
      head.incident.message = MessageAt(window, at);
      heads.push_back(std::move(head));
    }
  }
  StableSort(heads, {}, &Head::begin);
  // "failed to allocate ...: CUDA_ERROR_OUT_OF_MEMORY" is one sentence.
  for (size_t i = heads.size(); i-- > 1;) {
    if (heads[i].incident.kind == Kind::kDriver && !heads[i].incident.requested &&
        heads[i].begin - heads[i - 1].begin < 200)
      heads.erase(heads.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (!heads.empty()) return heads;
  // What the following lines say is found there.
  for (const Anchor& anchor : Anchors())
    if (window.lower.contains(anchor.words)) return heads;
  for (const std::string_view words : {"resource_exhausted: ", "resource exhausted: "}) {
    const size_t at = window.lower.find(words);
    if (at >= window.first_line) continue;
    const std::string_view said = std::string_view(window.lower).substr(at + words.size(), 300);
    if (!said.contains("memory") && !said.contains("alloc") && !said.contains("hbm")) continue;
    Head head;
    head.begin = at;
    head.incident.line = window.number;
    head.incident.message = MessageAt(window, at + words.size());
    heads.push_back(std::move(head));
    break;
  }
  return heads;
}

std::optional<Remat> FindRemat(const Window& window) {
  const size_t at = window.lower.find("reduce memory use below ");
  if (at >= window.first_line) return std::nullopt;
  Scan scan{.window = window, .at = at + std::string_view("reduce memory use below ").size()};
  const std::optional<Size> limit = scan.TakeSize();
  if (!limit || !scan.SkipTo("only reduced to ", 60)) return std::nullopt;
  const std::optional<Size> reached = scan.TakeSize();
  if (!reached) return std::nullopt;
  Remat remat{.limit = *limit, .reached = *reached, .original = {}, .line = window.number};
  if (scan.SkipTo("down from ", 8)) remat.original = scan.TakeSize();
  return remat;
}

std::string FindCode(const Window& window) {
  for (size_t at = window.text.find('E'); at < window.first_line;
       at = window.text.find('E', at + 1)) {
    const std::string_view word = std::string_view(window.text).substr(at, 6);
    if (word.size() == 6 && word[5] == ':' && (at == 0 || window.text[at - 1] == ' ') &&
        std::ranges::all_of(word.substr(1, 4), IsDigit))
      return std::string(word.substr(0, 5));
  }
  return {};
}

std::string FindExecutable(const Window& window) {
  for (const std::string_view open : {"executable_name='", "Error loading program '"}) {
    const std::string_view name = Between(window.text, open, "'");
    if (!name.empty() && name.size() <= 200) return std::string(name);
  }
  // "HLO module: jit_step." and the end of the line
  constexpr std::string_view kModule = "HLO module: ";
  const size_t at = window.text.find(kModule);
  if (at == std::string::npos) return {};
  std::string_view name = std::string_view(window.text).substr(at + kModule.size());
  name = name.substr(0, name.find_first_of(" \t\r\n\\\"'"));
  if (name.ends_with('.')) name.remove_suffix(1);
  return name.size() <= 200 ? std::string(name) : std::string();
}

}  // namespace stowplan::oom
