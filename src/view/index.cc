// SPDX-License-Identifier: Apache-2.0
// The list of many modules.
#include <limits>

#include "base/json_writer.h"
#include "explain/moment.h"
#include "report/peak.h"
#include "report/summary.h"
#include "view/header.h"
#include "view/thumbnail.h"
#include "view/view.h"

namespace stowplan::view {
namespace {

void WriteRow(JsonWriter& json, const IndexRow& row) {
  json.BeginObject();
  json.Field("name", std::string_view(row.name));
  json.Field("file", std::string_view(row.file));
  json.Field("plan", std::string_view(row.plan));
  json.Field("backend", std::string_view(row.backend));
  json.Field("bytes", row.bytes);
  if (row.best_bytes) json.Field("best_bytes", *row.best_bytes);
  if (row.base_bytes) json.Field("base_bytes", *row.base_bytes);
  if (!row.only.empty()) json.Field("only", std::string_view(row.only));
  json.Field("main_bytes", row.main_bytes);
  json.Field("peak", row.peak);
  json.Field("values", row.values);
  json.Field("end", row.end);
  json.BeginArray("curve");
  for (const explain::Step& step : row.curve) {
    json.BeginArray();
    json.Value(step.time);
    json.Value(step.bytes);
    json.End();
  }
  json.End();
  json.End();
}

}  // namespace

Result<IndexRow> IndexRowOf(const Shown& shown) {
  const report::Report& report = *shown.picture->report;
  if (!report::HasPeak(report))
    return Fail({}, "`" + shown.name + "` does not say when its values are alive");
  if (report.live_ranges->end > std::numeric_limits<int32_t>::max())
    return Fail({}, "the program is too long to be drawn");
  const explain::Curve& all = shown.picture->curves.all;
  IndexRow row = {.name = shown.name,
                  .file = {},
                  .plan = shown.plan,
                  .backend = std::string(report::Name(shown.picture->backend)),
                  .best_bytes = {},
                  .base_bytes = {},
                  .only = {},
                  .peak = all.peak.bytes,
                  .values = static_cast<int64_t>(report.values.size()),
                  .end = report.live_ranges->end,
                  .curve = {}};
  // MakePicture has seen that the sum fits.
  for (const report::Allocation& allocation : report.allocations.rows()) {
    row.bytes += allocation.size;
    if (allocation.color == 0) row.main_bytes += allocation.size;
  }
  row.curve = Thumbnail(all, row.end, kThumbnailSteps);
  return row;
}

std::string WriteIndexBundle(const Index& index) {
  std::string header;
  JsonWriter json(header, 0);
  BeginHeader(json, index.title, index.budget);
  json.BeginArray("modules");
  json.End();
  json.BeginArray("index");
  for (const IndexRow& row : index.rows) WriteRow(json, row);
  json.End();
  if (!index.compared.empty()) {
    json.BeginArray("compared");
    for (const std::string& name : index.compared) json.Value(std::string_view(name));
    json.End();
  }
  json.BeginArray("problems");
  for (const IndexProblem& problem : index.problems) {
    json.BeginObject();
    json.Field("name", std::string_view(problem.name));
    json.Field("reason", std::string_view(problem.reason));
    json.End();
  }
  json.End();
  json.End();
  return StartBundle(header);
}

}  // namespace stowplan::view
