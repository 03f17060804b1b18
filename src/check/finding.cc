// SPDX-License-Identifier: Apache-2.0
#include "stowplan/check/finding.h"

#include <fmt/format.h>

#include "base/json_writer.h"

namespace stowplan::check {
namespace {

std::string Words(const Event& event) {
  if (event.op_name.empty() && event.source.empty()) return {};
  if (event.source.empty()) return fmt::format("  ({})", event.op_name);
  if (event.op_name.empty()) return fmt::format("  ({})", event.source);
  return fmt::format("  ({}, {})", event.op_name, event.source);
}

std::string At(const Event& event) {
  return event.time < 0 ? std::string() : fmt::format(" at {}", event.time);
}

void WriteEvent(std::string_view key, const Event& event, JsonWriter& json) {
  if (event.instruction.empty()) return;
  json.BeginObject(key);
  json.Field("instruction", std::string_view(event.instruction));
  if (event.time >= 0) json.Field("time", event.time);
  if (!event.op_name.empty()) json.Field("op_name", std::string_view(event.op_name));
  if (!event.source.empty()) json.Field("source", std::string_view(event.source));
  json.End();
}

}  // namespace

std::string_view Name(Code code) {
  switch (code) {
    case Code::kOverwritten:
      return "overwritten";
    case Code::kNeverWritten:
      return "never-written";
    case Code::kInPlace:
      return "in-place";
    case Code::kSlicesApart:
      return "slices-apart";
    case Code::kInFlight:
      return "in-flight";
    case Code::kOutside:
      return "outside";
    case Code::kWrongSpace:
      return "wrong-space";
    case Code::kParameterChanged:
      return "parameter-changed";
    case Code::kConstantChanged:
      return "constant-changed";
    case Code::kOutputChanged:
      return "output-changed";
    case Code::kOutputElsewhere:
      return "output-elsewhere";
    case Code::kOutputsShareBytes:
      return "outputs-share-bytes";
    case Code::kAliveTogether:
      return "alive-together";
    case Code::kUnknownValue:
      return "unknown-value";
    case Code::kNoPlace:
      return "no-place";
    case Code::kTwoPlaces:
      return "two-places";
    case Code::kSize:
      return "size";
    case Code::kAlignment:
      return "alignment";
    case Code::kColor:
      return "color";
    case Code::kFlag:
      return "flag";
    case Code::kOrder:
      return "order";
    case Code::kRange:
      return "range";
    case Code::kContradiction:
      return "contradiction";
  }
  return {};
}

bool IsUnsound(Code code) { return code <= Code::kAliveTogether; }

std::string Describe(const Finding& finding) {
  std::string text =
      fmt::format("{}: {}: {}\n", IsUnsound(finding.code) ? "unsound" : "inconsistent",
                  Name(finding.code), finding.message);
  if (!finding.write.instruction.empty() && finding.allocation >= 0) {
    text += fmt::format("  {} writes bytes {} to {} of allocation {}{}{}\n",
                        finding.write.instruction, finding.begin, finding.end, finding.allocation,
                        At(finding.write), Words(finding.write));
  } else if (finding.allocation >= 0) {
    text += fmt::format("  bytes {} to {} of allocation {}\n", finding.begin, finding.end,
                        finding.allocation);
  }
  if (!finding.read.instruction.empty()) {
    text += fmt::format("  {} needs {} there{}{}\n", finding.read.instruction,
                        finding.wanted.text(), At(finding.read), Words(finding.read));
  }
  return text;
}

void WriteJson(const Finding& finding, JsonWriter& json) {
  json.BeginObject();
  json.Field("severity", IsUnsound(finding.code) ? "unsound" : "inconsistent");
  json.Field("code", Name(finding.code));
  json.Field("message", std::string_view(finding.message));
  const auto value = [&](std::string_view key, const ValueName& name) {
    if (name.instruction.empty()) return;
    json.BeginObject(key);
    json.Field("instruction", std::string_view(name.instruction));
    if (!name.index.empty()) json.Field("index", std::string_view(name.index));
    json.End();
  };
  value("wanted", finding.wanted);
  value("found", finding.found);
  if (finding.allocation >= 0) {
    json.Field("allocation", finding.allocation);
    json.Field("begin", finding.begin);
    json.Field("end", finding.end);
  }
  WriteEvent("write", finding.write, json);
  WriteEvent("read", finding.read, json);
  json.End();
}

}  // namespace stowplan::check
