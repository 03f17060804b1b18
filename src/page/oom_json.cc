// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string_view>

#include "base/json_writer.h"
#include "page/oom_dump.h"
#include "page/oom_view.h"

namespace stowplan::page {
namespace {

using oom::Size;

void WriteSize(std::string_view key, const std::optional<Size>& size, JsonWriter& json) {
  if (!size) return;
  json.BeginObject(key);
  json.Field("bytes", size->bytes);
  json.Field("slack", size->slack);
  json.End();
}

void WriteText(std::string_view key, const std::string& text, JsonWriter& json) {
  if (!text.empty()) json.Field(key, std::string_view(text));
}

void WriteTexts(std::string_view key, const std::vector<std::string>& texts, JsonWriter& json) {
  json.BeginArray(key);
  for (const std::string& text : texts) json.Value(std::string_view(text));
  json.End();
}

void WriteProgram(const oom::Program& program, JsonWriter& json) {
  json.BeginObject("program");
  WriteSize("total", program.total, json);
  WriteSize("arguments", program.arguments, json);
  WriteSize("outputs", program.outputs, json);
  WriteSize("shared", program.shared, json);
  WriteSize("constants", program.constants, json);
  WriteSize("temporaries", program.temporaries, json);
  WriteSize("fragmentation", program.fragmentation, json);
  WriteSize("unpadded", program.unpadded, json);
  WriteSize("padded", program.padded, json);
  json.BeginArray("parts");
  for (const oom::Part& part : program.parts) {
    json.BeginObject();
    json.Field("name", std::string_view(part.name));
    WriteSize("size", part.size, json);
    json.End();
  }
  json.End();
  json.End();
}

void WritePool(const oom::Pool& pool, JsonWriter& json) {
  json.BeginObject("pool");
  WriteText("name", pool.name, json);
  WriteSize("limit", pool.limit, json);
  WriteSize("size", pool.size, json);
  WriteSize("in_use", pool.in_use, json);
  WriteSize("max_in_use", pool.max_in_use, json);
  WriteSize("free", pool.free, json);
  WriteSize("largest_free", pool.largest_free, json);
  if (pool.free_pieces > 0) json.Field("free_pieces", pool.free_pieces);
  WriteText("map", pool.map, json);
  json.End();
}

void WriteBuffer(const oom::Buffer& buffer, JsonWriter& json) {
  json.BeginObject();
  WriteSize("size", buffer.size, json);
  WriteText("shape", buffer.shape, json);
  WriteText("op_name", buffer.op_name, json);
  WriteText("source_file", buffer.source_file, json);
  if (buffer.source_line > 0) json.Field("source_line", buffer.source_line);
  WriteText("instruction", buffer.instruction, json);
  WriteText("opcode", buffer.opcode, json);
  WriteText("label", buffer.label, json);
  WriteText("type", buffer.type, json);
  WriteText("tag", buffer.tag, json);
  json.Field("is_parameter", buffer.is_parameter);
  WriteSize("unpadded", buffer.unpadded, json);
  WriteSize("padding", buffer.padding, json);
  json.End();
}

void WriteExplanation(const oom::Explanation& explanation, JsonWriter& json) {
  json.BeginObject("explanation");
  json.Field("headline", std::string_view(explanation.headline));
  WriteSize("lack", explanation.lack, json);
  json.BeginArray("figures");
  for (const oom::Figure& figure : explanation.figures) {
    json.BeginObject();
    json.Field("name", std::string_view(figure.name));
    WriteSize("size", figure.size, json);
    WriteText("note", figure.note, json);
    json.Field("depth", static_cast<int64_t>(figure.depth));
    json.End();
  }
  json.End();
  json.BeginArray("causes");
  for (const oom::Cause& cause : explanation.causes) {
    json.BeginObject();
    json.Field("kind", oom::Word(cause.kind));
    json.Field("what", std::string_view(cause.what));
    json.Field("why", std::string_view(cause.why));
    WriteSize("size", cause.bytes, json);
    json.Field("is_sure", cause.is_sure);
    json.Field("covers_lack", cause.covers_lack);
    json.End();
  }
  json.End();
  json.BeginArray("fixes");
  for (const oom::Fix& fix : explanation.fixes) {
    json.BeginObject();
    json.Field("cause", oom::Word(fix.cause));
    json.Field("what", std::string_view(fix.what));
    WriteTexts("how", fix.how, json);
    WriteText("note", fix.note, json);
    WriteSize("saves", fix.saves, json);
    json.Field("is_enough", fix.is_enough);
    json.End();
  }
  json.End();
  WriteTexts("not_known", explanation.unknown, json);
  json.End();
}

void WriteIncident(const oom::Log& log, size_t number, JsonWriter& json) {
  const oom::Incident& incident = log.incidents[number];
  json.BeginObject();
  json.Field("kind", oom::Word(incident.kind));
  json.Field("backend", incident.backend == oom::Backend::kUnknown ? std::string_view("unknown")
                                                                   : oom::Name(incident.backend));
  WriteText("space", incident.space, json);
  WriteTexts("devices", incident.devices, json);
  WriteText("code", incident.code, json);
  WriteText("executable", incident.executable, json);
  WriteText("instruction", incident.instruction, json);
  json.Field("message", std::string_view(incident.message));
  json.Field("line", incident.line);
  json.Field("count", incident.count);
  json.Field("is_failure", incident.is_failure);
  WriteSize("requested", incident.requested, json);
  WriteSize("used", incident.used, json);
  WriteSize("limit", incident.limit, json);
  WriteSize("exceeded", incident.exceeded, json);
  WriteSize("free", incident.free, json);
  WriteSize("largest_free", incident.largest_free, json);
  WriteSize("reserved", incident.reserved, json);
  WriteSize("device_free", incident.device_free, json);
  WriteSize("device_total", incident.device_total, json);
  WriteProgram(incident.program, json);
  WritePool(incident.pool, json);
  json.BeginArray("buffers");
  for (const oom::Buffer& buffer : incident.buffers) WriteBuffer(buffer, json);
  json.End();
  WriteExplanation(oom::Explain(log, number), json);
  json.End();
}

}  // namespace

std::string OomJson(const OomView& view) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("schema", "stowplan.oom/1");
  json.Field("framework", oom::Name(view.log.framework));
  json.Field("lines", view.log.lines);
  json.Field("chosen", static_cast<int64_t>(view.incident));
  json.BeginArray("incidents");
  for (size_t i = 0; i < view.log.incidents.size(); ++i) WriteIncident(view.log, i, json);
  json.End();
  json.Field("left_out", view.log.left_out);
  json.BeginArray("rematerializations");
  for (const oom::Remat& remat : view.log.remats) {
    json.BeginObject();
    WriteSize("limit", remat.limit, json);
    WriteSize("reached", remat.reached, json);
    WriteSize("original", remat.original, json);
    json.Field("line", remat.line);
    json.Field("count", remat.count);
    json.End();
  }
  json.End();
  if (view.dump != nullptr) WriteOomDump(*view.dump, json);
  json.End();
  out += '\n';
  return out;
}

}  // namespace stowplan::page
