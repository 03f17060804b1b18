// SPDX-License-Identifier: Apache-2.0
#include "page/repack_page.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "base/stable_sort.h"
#include "page/text.h"

namespace stowplan::page {

namespace {

constexpr size_t kMostRepeatLines = 12;

// What is computed again, by source line, the largest first.
void AppendRepeated(const repack::Repacked& repacked, std::string& out) {
  struct Line {
    int64_t times = 0;
    int64_t bytes = 0;
    double cost = 0;
  };
  std::map<std::string, Line> lines;
  for (const FitRepeat& repeat : repacked.repeats) {
    Line& line = lines[repeat.source.empty() ? repeat.instruction : repeat.source];
    line.times += repeat.times;
    line.bytes = SaturatingAdd(line.bytes, repeat.bytes);
    line.cost += repeat.cost;
  }
  std::vector<std::pair<std::string, Line>> rows(lines.begin(), lines.end());
  StableSort(rows, std::greater(), [](const auto& row) { return row.second.bytes; });
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"  computed again", "times", "of", "work"});
  for (size_t i = 0; i < std::min(rows.size(), kMostRepeatLines); ++i) {
    table.Add({"    " + Shortened(Printable(rows[i].first), 50),
               std::to_string(rows[i].second.times), HumanBytes(rows[i].second.bytes),
               fmt::format("{:+.1f} %", 100 * rows[i].second.cost)});
  }
  if (rows.size() > kMostRepeatLines)
    table.AddLine(fmt::format("    and {} more lines", rows.size() - kMostRepeatLines));
  table.Append(out);
}

// The fields of an object.
void AppendRepacked(const repack::Repacked& repacked, JsonWriter& json) {
  json.Field("module", std::string_view(repacked.module));
  json.Field("is_rewritten", !repacked.bytes.empty());
  json.Field("temporaries_before", repacked.bytes_before);
  json.Field("temporaries_after", repacked.bytes_after);
  json.Field("bound", repacked.bound);
  json.Field("moved_values", repacked.moved_values);
  json.Field("moved_thunks", repacked.moved_thunks);
  json.BeginArray("refusals");
  for (const std::string& refusal : repacked.refusals) json.Value(std::string_view(refusal));
  json.End();
  json.Field("copied_thunks", repacked.copied_thunks);
  json.Field("cost", repacked.cost);
  json.Field("other_bytes", repacked.fixed_bytes);
  if (repacked.budget) json.Field("budget", *repacked.budget);
  json.Field("fits", repacked.fits());
  json.BeginArray("repeats");
  for (const FitRepeat& repeat : repacked.repeats) {
    json.BeginObject();
    json.Field("instruction", std::string_view(repeat.instruction));
    if (!repeat.source.empty()) json.Field("source", std::string_view(repeat.source));
    if (!repeat.op_name.empty()) json.Field("op_name", std::string_view(repeat.op_name));
    json.Field("times", repeat.times);
    json.Field("bytes", repeat.bytes);
    json.Field("cost", repeat.cost);
    json.End();
  }
  json.End();
}

}  // namespace

std::string RepackPage(const repack::Repacked& repacked) {
  std::string out = Printable(repacked.module) + ": ";
  if (repacked.bytes.empty()) {
    out += fmt::format("stays as it is, with {} of temporaries\n",
                       HumanAndExactBytes(repacked.bytes_before));
  } else {
    out +=
        fmt::format("{} of temporaries instead of {}\n", HumanAndExactBytes(repacked.bytes_after),
                    HumanAndExactBytes(repacked.bytes_before));
    out += fmt::format("  {} values lie elsewhere, {} thunks run at another time\n",
                       repacked.moved_values, repacked.moved_thunks);
    out += fmt::format("  in this order no places need less than {}\n",
                       HumanAndExactBytes(repacked.bound));
    if (repacked.copied_thunks != 0) {
      out += fmt::format("  {} thunks run once more, about {:+.1f} % work\n",
                         repacked.copied_thunks, 100 * repacked.cost);
      AppendRepeated(repacked, out);
    }
  }
  if (repacked.budget) {
    out +=
        fmt::format("  {} in all, which {} into {}\n",
                    HumanAndExactBytes(SaturatingAdd(repacked.fixed_bytes, repacked.bytes_after)),
                    repacked.fits() ? "fits" : "does not fit", HumanBytes(*repacked.budget));
  }
  for (const std::string& refusal : repacked.refusals)
    out += "  refused: " + Printable(refusal) + "\n";
  return out;
}

std::string RepackJson(const repack::Repacked& repacked) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  AppendRepacked(repacked, json);
  json.End();
  return out;
}

std::string RepackFolderPage(const std::vector<RepackedEntry>& entries) {
  std::string out;
  using Align = TextTable::Align;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.Add({"", "temporaries", "now", ""});
  int64_t before = 0;
  int64_t after = 0;
  size_t rewritten = 0;
  for (const RepackedEntry& entry : entries) {
    const std::string name = Shortened(Printable(entry.name), 60);
    if (!entry.repacked) {
      table.AddLine(name + "  stays as it is: " + Printable(entry.failure));
      continue;
    }
    const repack::Repacked& repacked = *entry.repacked;
    before = SaturatingAdd(before, repacked.bytes_before);
    after = SaturatingAdd(after, repacked.bytes_after);
    if (!repacked.bytes.empty()) ++rewritten;
    table.Add({name, HumanBytes(repacked.bytes_before), HumanBytes(repacked.bytes_after),
               !repacked.bytes.empty()     ? "lower"
               : repacked.refusals.empty() ? "is low already"
                                           : "refused"});
    if (repacked.bytes.empty() && !repacked.refusals.empty())
      table.AddLine("    " + Printable(repacked.refusals[0]));
  }
  table.Append(out);
  out += fmt::format("{} of {} entries are lower: {} of temporaries in all instead of {}\n",
                     rewritten, entries.size(), HumanBytes(after), HumanBytes(before));
  return out;
}

std::string RepackFolderJson(const std::vector<RepackedEntry>& entries) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.BeginArray("entries");
  for (const RepackedEntry& entry : entries) {
    json.BeginObject();
    json.Field("name", std::string_view(entry.name));
    if (entry.repacked) {
      AppendRepacked(*entry.repacked, json);
    } else {
      json.Field("failure", std::string_view(entry.failure));
    }
    json.End();
  }
  json.End();
  json.End();
  return out;
}

}  // namespace stowplan::page
