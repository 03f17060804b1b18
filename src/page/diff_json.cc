// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "page/diff_view.h"

namespace stowplan::page {

using diff::Cause;
using diff::SpaceDiff;

std::string JsonKey(std::string_view words) {
  std::string key(words);
  std::ranges::replace_if(key, [](char c) { return c == ' ' || c == '-'; }, '_');
  return key;
}

namespace {

void WriteTerms(const diff::Terms& terms, size_t count, JsonWriter& json) {
  json.BeginObject("terms");
  for (size_t i = 0; i < count; ++i) {
    if (terms[i] != 0) json.Field(JsonKey(diff::Name(static_cast<diff::Term>(i))), terms[i]);
  }
  json.End();
}

void WriteSide(std::string_view key, const explain::Picture& picture, report::ValueId id,
               JsonWriter& json) {
  if (id.is_none()) return;
  json.BeginObject(key);
  json.Field("value", std::string_view(explain::ValueName(*picture.report, id)));
  json.Field("shape", picture.report->values[id].shape);
  json.Field("kind", explain::Word(picture.fact(id).kind));
  if (const std::string source =
          explain::SourceText(picture, picture.own_line(picture.fact(id).frame));
      !source.empty())
    json.Field("source", std::string_view(source));
  if (!picture.fact(id).op_name.empty()) json.Field("op_name", picture.fact(id).op_name);
  json.End();
}

void WriteDiffPeak(std::string_view key, const report::Peak& peak, int64_t compared,
                   JsonWriter& json) {
  json.BeginObject(key);
  json.Field("bytes", peak.bytes);
  json.Field("time", peak.time);
  json.Field("compared_time", compared);
  json.End();
}

void WriteFootprint(std::string_view key, const explain::Footprint& footprint, JsonWriter& json) {
  json.BeginObject(key);
  json.Field("bytes", footprint.bytes);
  json.Field("live", footprint.live);
  json.Field("dead", footprint.dead);
  json.Field("fragmentation", footprint.fragmentation);
  json.Field("alignment", footprint.alignment);
  json.Field("without_live_range", footprint.untimed);
  json.Field("thread_local", footprint.thread_local_bytes);
  json.End();
}

void WriteSpace(const DiffView& view, size_t index, JsonWriter& json) {
  const SpaceDiff& space = view.diff.spaces[index];
  json.BeginObject();
  if (space.space) {
    json.Field("space", *space.space);
  } else {
    json.Field("space", "all");
  }
  if (view.diff.has_peak) {
    WriteDiffPeak("peak_a", space.a, space.time_a, json);
    WriteDiffPeak("peak_b", space.b, space.time_b, json);
    json.Field("peak_change", space.peak_change());
    WriteTerms(space.terms, diff::kTerms, json);
  }
  WriteFootprint("footprint_a", space.footprint_a, json);
  WriteFootprint("footprint_b", space.footprint_b, json);
  json.Field("footprint_change", space.footprint_change());
  json.BeginArray("causes");
  const std::vector<Cause>& causes = view.causes[index];
  const size_t limit = view.limit == 0 ? causes.size() : view.limit;
  size_t number = 0;
  for (const Cause& cause : causes) {
    if (!cause.is_moved && number++ >= limit) continue;
    json.BeginObject();
    WriteCauseJson(cause, json);
    json.BeginArray("largest");
    for (size_t i = 0; i < std::min<size_t>(5, cause.changes.size()); ++i) {
      const diff::Change& change = space.changes[cause.changes[i]];
      json.BeginObject();
      json.Field("term", diff::Name(change.term));
      json.Field("bytes", change.bytes);
      WriteSide("a", view.a, change.a, json);
      WriteSide("b", view.b, change.b, json);
      json.End();
    }
    json.End();
    json.End();
  }
  json.End();
  json.Field("cause_count", static_cast<int64_t>(causes.size()));
  json.End();
}

}  // namespace

void WriteCauseJson(const Cause& cause, JsonWriter& json) {
  json.Field("cause", std::string_view(cause.name));
  json.Field("bytes", cause.bytes);
  if (cause.is_moved) {
    json.Field("main_term", diff::Name(diff::Term::kPeakMoved));
  } else {
    json.Field("main_term", diff::Name(cause.main_term()));
  }
  json.Field("values", cause.values);
  WriteTerms(cause.terms, diff::kPeakTerms, json);
  if (cause.kind_a) json.Field("kind_a", explain::Word(*cause.kind_a));
  if (cause.kind_b) json.Field("kind_b", explain::Word(*cause.kind_b));
  json.BeginArray("places");
  for (const diff::CausePart& part : cause.parts) {
    json.BeginObject();
    json.Field("place", std::string_view(part.place));
    json.Field("bytes", part.bytes);
    json.Field("values", part.values);
    json.End();
  }
  json.End();
}

void WriteDiffJson(const DiffView& view, JsonWriter& json) {
  json.BeginObject();
  json.Field("module", std::string_view(view.name));
  json.Field("differs", !view.diff.is_empty());
  json.Field("has_peak", view.diff.has_peak);
  json.BeginArray("spaces");
  for (size_t i = 0; i < view.diff.spaces.size(); ++i) WriteSpace(view, i, json);
  json.End();
  json.BeginArray("allocated");
  for (const diff::Total& total : view.diff.totals) {
    json.BeginObject();
    json.Field("space", total.space);
    json.Field("kind", diff::Name(total.use));
    json.Field("a", total.a);
    json.Field("b", total.b);
    json.End();
  }
  json.End();
  json.BeginArray("live_at_peak");
  for (const diff::KindTotal& kind : view.diff.kinds) {
    json.BeginObject();
    json.Field("kind", kind.name);
    json.Field("a", kind.a);
    json.Field("b", kind.b);
    json.End();
  }
  json.End();
  json.BeginObject("values");
  json.Field("pairs", view.diff.counts.pairs);
  json.Field("resized", view.diff.counts.resized);
  json.Field("other_space", view.diff.counts.other_space);
  json.Field("only_a", view.diff.counts.only_a);
  json.Field("only_b", view.diff.counts.only_b);
  json.End();
  for (const auto& [key, picture] :
       {std::pair("unknown_a", &view.a), std::pair("unknown_b", &view.b)}) {
    json.BeginArray(key);
    for (const std::string& sentence : picture->unknown) json.Value(std::string_view(sentence));
    json.End();
  }
  json.End();
}

}  // namespace stowplan::page
