// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>

#include "base/json_writer.h"
#include "diff/cause.h"
#include "diff/diff.h"
#include "explain/footprint.h"
#include "explain/why.h"
#include "report/summary.h"
#include "view/brackets.h"
#include "view/header.h"
#include "view/holes.h"
#include "view/module_columns.h"
#include "view/view.h"

namespace stowplan::view {
namespace {

struct Part {
  explain::Curves curves;
  Columns columns;
};

void WritePeak(JsonWriter& json, std::string_view key, const report::Peak& peak) {
  json.BeginObject(key);
  json.Field("bytes", peak.bytes);
  json.Field("time", peak.time);
  json.End();
}

void WriteFootprint(JsonWriter& json, const explain::Footprint& footprint) {
  json.BeginObject("footprint");
  json.Field("bytes", footprint.bytes);
  json.Field("live", footprint.live);
  json.Field("dead", footprint.dead);
  json.Field("fragmentation", footprint.fragmentation);
  json.Field("alignment", footprint.alignment);
  json.Field("untimed", footprint.untimed);
  json.Field("thread_local", footprint.thread_local_bytes);
  json.End();
}

void WriteWords(JsonWriter& json, std::string_view key, const auto& words) {
  json.BeginArray(key);
  for (const std::string_view word : words) json.Value(word);
  json.End();
}

// The words that numbers in columns stand for.
void WriteNames(JsonWriter& json) {
  json.BeginArray("kinds");
  for (size_t k = 0; k < explain::kKinds; ++k) {
    json.BeginObject();
    json.Field("word", explain::Word(static_cast<explain::Kind>(k)));
    json.Field("name", explain::Name(static_cast<explain::Kind>(k)));
    json.End();
  }
  json.End();
  json.BeginArray("rules");
  for (size_t r = 0; r < explain::kAliasRules; ++r)
    json.Value(explain::Describe(static_cast<explain::AliasRule>(r)));
  json.End();
  json.BeginArray("holders");
  for (size_t h = 0; h < explain::kHolders; ++h)
    json.Value(explain::Describe(static_cast<explain::Holder>(h)));
  json.End();
  WriteWords(json, "bracket_kinds", kBracketKinds);
  WriteWords(json, "allocation_kinds", kAllocationKinds);
  WriteWords(json, "hole_kinds", kHoleKinds);
}

void WriteSpaces(JsonWriter& json, const Shown& shown, const explain::Curves& curves) {
  std::map<int64_t, const Bound*> bounds;
  for (const Bound& bound : shown.bounds) bounds.try_emplace(bound.color, &bound);
  json.BeginArray("spaces");
  for (const explain::Curve& curve : curves.spaces) {
    json.BeginObject();
    json.Field("color", *curve.space);
    json.Field("name", report::SpaceName(shown.picture->backend, *curve.space));
    WritePeak(json, "peak", curve.peak);
    WriteFootprint(json, explain::FootprintAt(*shown.picture, curve.peak.time, curve.space));
    const auto found = bounds.find(*curve.space);
    const Bound* const bound = found == bounds.end() ? nullptr : found->second;
    WriteOptional(json, "bound", bound != nullptr ? std::optional(bound->bytes) : std::nullopt);
    if (bound != nullptr && !bound->proof.empty())
      json.Field("proof", std::string_view(bound->proof));
    json.End();
  }
  json.End();
  WritePeak(json, "all_peak", curves.all.peak);
}

void WriteColumns(JsonWriter& json, const Columns& columns, size_t base) {
  json.BeginObject("columns");
  for (const Column& column : columns.columns()) {
    json.BeginObject(column.name);
    json.Field("type", Name(column.type));
    json.Field("at", static_cast<int64_t>(base + column.at));
    json.Field("count", static_cast<int64_t>(column.count));
    json.End();
  }
  json.End();
}

void WriteModule(JsonWriter& json, const Shown& shown, const Part& part, size_t base) {
  const explain::Picture& picture = *shown.picture;
  json.BeginObject();
  json.Field("name", std::string_view(shown.name));
  json.Field("plan", std::string_view(shown.plan));
  json.Field("backend", report::Name(picture.backend));
  WriteOptional(
      json, "target",
      picture.target ? std::optional<std::string_view>(picture.target->name) : std::nullopt);
  json.Field("end", picture.report->live_ranges->end);
  WriteWords(json, "unknown", picture.unknown);
  WriteNames(json);
  WriteSpaces(json, shown, part.curves);
  WriteColumns(json, part.columns, base);
  json.End();
}

// From the peak to all that is allocated. With the causes of the peak's change these add up to the
// change of the footprint.
void WriteRest(JsonWriter& json, const diff::SpaceDiff& all) {
  json.BeginObject("footprint");
  json.Field("a", all.footprint_a.bytes);
  json.Field("b", all.footprint_b.bytes);
  json.BeginArray("terms");
  for (size_t t = diff::kPeakTerms; t < diff::kTerms; ++t) {
    if (all.terms[t] == 0) continue;
    json.BeginObject();
    json.Field("term", diff::Name(static_cast<diff::Term>(t)));
    json.Field("bytes", all.terms[t]);
    json.End();
  }
  json.End();
  json.End();
}

// The causes of the change of the peak, all memory spaces together; they add up to it.
void WriteDiff(JsonWriter& json, const Scene& scene, const diff::Diff& change, const Columns& match,
               size_t base) {
  const diff::SpaceDiff& all = change.spaces[0];
  json.BeginObject("diff");
  json.BeginArray("terms");
  for (const diff::Cause& cause :
       diff::CausesOf(all, change.match, *scene.modules[0].picture, *scene.modules[1].picture)) {
    json.BeginObject();
    json.Field("term", diff::Name(cause.main_term()));
    json.Field("bytes", cause.bytes);
    json.Field("label", std::string_view(cause.name));
    const auto write_values = [&](std::string_view key, report::ValueId diff::Change::* side) {
      json.BeginArray(key);
      for (const uint32_t k : cause.changes) {
        const report::ValueId value = all.changes[k].*side;
        if (!value.is_none()) json.Value(static_cast<int64_t>(value.index));
      }
      json.End();
    };
    write_values("a", &diff::Change::a);
    write_values("b", &diff::Change::b);
    json.End();
  }
  json.End();
  json.BeginObject("change");
  json.Field("peak", all.peak_change());
  json.End();
  WriteRest(json, all);
  WriteColumns(json, match, base);
  json.End();
}

Columns MatchColumn(const diff::Match& match) {
  std::vector<uint32_t> partners;
  partners.reserve(match.b_of_a.size());
  for (const report::ValueId b : match.b_of_a) partners.push_back(b.is_none() ? kNone : b.index);
  Columns columns;
  columns.Add("match", std::span<const uint32_t>(partners));
  return columns;
}

}  // namespace

Result<std::string> WriteBundle(const Scene& scene) {
  std::vector<Part> parts;
  for (const Shown& shown : scene.modules) {
    if (!report::HasPeak(*shown.picture->report))
      return Fail({}, "`" + shown.name + "` does not say when its values are alive");
    explain::Curves curves = shown.picture->curves;
    Result<Columns> columns = ColumnsOf(shown, curves);
    if (!columns) return std::unexpected(std::move(columns).error());
    parts.push_back({.curves = std::move(curves), .columns = *std::move(columns)});
  }
  std::optional<diff::Diff> change;
  Columns match;
  if (scene.modules.size() == 2) {
    Result<diff::Diff> found = diff::DiffOf(*scene.modules[0].picture, *scene.modules[1].picture);
    if (!found) return std::unexpected(std::move(found).error());
    change = *std::move(found);
    match = MatchColumn(change->match);
  }
  std::string header;
  JsonWriter json(header, 0);
  BeginHeader(json, scene.title, scene.budget);
  json.BeginArray("modules");
  size_t base = 0;
  for (size_t m = 0; m < parts.size(); ++m) {
    WriteModule(json, scene.modules[m], parts[m], base);
    base += Padded(parts[m].columns.bytes().size());
  }
  json.End();
  if (change) {
    WriteDiff(json, scene, *change, match, base);
  } else {
    json.Field("diff", nullptr);
  }
  json.BeginArray("sources");
  for (const SourceFile& source : scene.sources) {
    json.BeginObject();
    json.Field("file", std::string_view(source.file));
    json.Field("text", std::string_view(source.text));
    json.End();
  }
  json.End();
  if (!scene.order.empty()) json.Field("order", std::string_view(scene.order));
  if (!scene.home.empty()) json.Field("home", std::string_view(scene.home));
  json.End();

  std::string bundle = StartBundle(header);
  for (const Part& part : parts) {
    bundle += part.columns.bytes();
    bundle.resize(Padded(bundle.size()));
  }
  bundle += match.bytes();
  return bundle;
}

}  // namespace stowplan::view
