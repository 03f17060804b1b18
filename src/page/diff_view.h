// SPDX-License-Identifier: Apache-2.0
// What `stowplan diff` shows for one pair of modules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "diff/cause.h"
#include "diff/diff.h"
#include "explain/picture.h"
#include "stowplan/base/speech.h"

namespace stowplan::page {

struct DiffView {
  std::string name;
  const explain::Picture& a;
  const explain::Picture& b;
  diff::Diff diff;
  diff::Group group = diff::Group::kCause;
  size_t limit = 8;                              // causes per table; 0: all
  std::vector<std::vector<diff::Cause>> causes;  // by Diff::spaces
  Speech speech = Speech::kCommandLine;

  // The memory space to show first: the one that changed most, or else the largest.
  [[nodiscard]] size_t main_space() const;
};

// Fills `causes`.
DiffView MakeDiffView(std::string name, const explain::Picture& a, const explain::Picture& b,
                      diff::Diff diff, diff::Group group, size_t limit);

// +512.00MiB
std::string SignedBytes(int64_t bytes);
// A cause in a few words: "sharing lost: argument params, no longer donated".
std::string CauseText(const diff::Cause& cause);
// peak 1.50GiB (1610612736) -> 2.00GiB (2147483648), +512.00MiB: grown: 8 -> 16 in 50 values
std::string Headline(const DiffView& view);

std::string DiffPage(const DiffView& view);
// The page as Markdown, for a pull request.
std::string DiffMarkdown(const DiffView& view);
// One object of the array `modules` of stowplan.diff/1.
void WriteDiffJson(const DiffView& view, JsonWriter& json);
// "sharing_lost"
std::string JsonKey(std::string_view words);
// Writes a cause as a JSON object.
void WriteCauseJson(const diff::Cause& cause, JsonWriter& json);
// A cell of a Markdown table.
std::string MarkdownCell(std::string_view text);

}  // namespace stowplan::page
