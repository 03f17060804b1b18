// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/json_writer.h"
#include "page/fit_page.h"
#include "session/fit_lines.h"

namespace stowplan::page {
namespace {

void Put(std::string_view key, std::string_view text, JsonWriter& json) {
  if (!text.empty()) json.Field(key, text);
}

void WriteLines(const std::vector<FitLine>& lines, JsonWriter& json) {
  json.BeginArray("lines");
  for (const FitLine& line : lines) {
    json.BeginObject();
    Put("source", line.source, json);
    Put("function", line.function, json);
    json.Field("operations", std::string_view(line.operations));
    Put("parts", line.parts, json);
    json.Field("instructions", line.instructions);
    json.Field("times", line.times);
    json.Field("bytes", line.bytes);
    json.Field("freed", line.freed);
    json.Field("cost", line.cost);
    if (line.is_in_loop) json.Field("in_loop", true);
    json.End();
  }
  json.End();
}

void WriteRepeats(const FitFacts& facts, JsonWriter& json) {
  json.BeginArray("repeats");
  for (const FitRepeat& repeat : facts.repeats) {
    json.BeginObject();
    json.Field("instruction", std::string_view(repeat.instruction));
    Put("source", repeat.source, json);
    Put("function", repeat.function, json);
    Put("op_name", repeat.op_name, json);
    json.Field("times", repeat.times);
    json.Field("bytes", repeat.bytes);
    json.Field("freed", repeat.freed);
    json.Field("cost", repeat.cost);
    json.End();
  }
  json.End();
}

void WriteObstacles(const FitFacts& facts, JsonWriter& json) {
  Put("fullest", facts.fullest, json);
  json.BeginArray("obstacles");
  for (const FitObstacle& obstacle : facts.obstacles) {
    json.BeginObject();
    json.Field("kind", obstacle.kind);
    json.Field("words", obstacle.words);
    json.Field("bytes", obstacle.bytes);
    json.Field("values", obstacle.values);
    Put("largest", obstacle.largest, json);
    Put("source", obstacle.source, json);
    json.End();
  }
  json.End();
}

void WriteWork(const FitFacts& facts, JsonWriter& json) {
  json.BeginObject("work");
  json.Field("bytes", facts.work.bytes);
  json.Field("flops", facts.work.flops);
  for (size_t k = 0; k < facts.work.products.size(); ++k) {
    if (facts.work.products[k] > 0)
      json.Field(fmt::format("products_{}", cost::kProductBits[k]), facts.work.products[k]);
  }
  json.Field("launches", facts.work.launches);
  if (!facts.machine.empty()) json.Field("seconds", facts.seconds);
  json.End();
}

void WriteDonated(const FitFacts& facts, JsonWriter& json) {
  json.BeginArray("donated");
  for (const FitDonation& donation : facts.donated) {
    json.BeginObject();
    Put("argument", donation.name, json);
    json.BeginArray("parameters");
    for (const int64_t parameter : donation.parameters) json.Value(parameter);
    json.End();
    json.End();
  }
  json.End();
  if (facts.donated.empty()) return;
  json.Field("donated_bytes", facts.donated_bytes);
  json.Field("donation", std::string_view(facts.donation_spelling));
}

}  // namespace

std::string FitJson(const Fitted& fitted, const FitOptions& options) {
  const FitFacts& facts = fitted.facts;
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("schema", "stowplan.fit/1");
  json.Field("module", std::string_view(fitted.planned.name));
  if (options.budget) json.Field("budget", *options.budget);
  json.Field("fits", Fits(facts, options));
  json.Field("given_bytes", facts.given_bytes);
  json.Field("ordered_bytes", facts.ordered_bytes);
  json.Field("bytes", facts.bytes);
  json.Field("cost", facts.cost);
  Put("machine", facts.machine, json);
  WriteWork(facts, json);
  json.Field("bound", facts.bound);
  json.Field("bound_fixed", facts.bound_fixed);
  json.Field("bound_own", facts.bound_own);
  Put("witness", facts.witness, json);
  WriteDonated(facts, json);
  json.BeginArray("curve");
  for (const FitPoint& point : facts.curve) {
    json.BeginObject();
    json.Field("cost", point.cost);
    json.Field("bytes", point.bytes);
    if (point.lines) WriteLines(*point.lines, json);
    json.End();
  }
  json.End();
  WriteLines(LinesOf(facts.repeats), json);
  WriteRepeats(facts, json);
  WriteObstacles(facts, json);
  json.End();
  return out;
}

}  // namespace stowplan::page
