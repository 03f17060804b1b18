// SPDX-License-Identifier: Apache-2.0
// speedscope's file format: frames in a table, one profile of samples weighed in bytes. Each value
// is a sample, and its own innermost frame.
#include <span>

#include "base/json_writer.h"
#include "export/formats.h"
#include "export/stacks.h"
#include "stowplan/version.h"

namespace stowplan::exporting {

std::string WriteSpeedscope(const Subject& subject) {
  const explain::Moment& moment = *subject.moment;
  StackFinder finder(subject);
  const std::string title = Title(subject);
  std::string out;
  JsonWriter json(out, 3);
  json.BeginObject();
  json.Field("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.Field("exporter", std::string_view("stowplan@" + std::string(kVersion)));
  json.Field("name", std::string_view(title));
  json.Field("activeProfileIndex", int64_t{0});
  json.BeginArray("profiles");
  json.BeginObject();
  json.Field("type", "sampled");
  json.Field("name", std::string_view(title));
  json.Field("unit", "bytes");
  json.Field("startValue", int64_t{0});
  json.Field("endValue", moment.bytes);
  json.BeginArray("samples");
  for (const explain::Share& share : moment.shares) {
    if (share.bytes == 0) continue;
    json.BeginArray();
    for (const uint32_t row : finder.Of(share.value)) json.Value(int64_t{row});
    json.Value(int64_t{finder.Named(finder.LeafText(share.value))});
    json.End();
  }
  json.End();
  json.BeginArray("weights");
  for (const explain::Share& share : moment.shares) {
    if (share.bytes != 0) json.Value(share.bytes);
  }
  json.End();
  json.End();
  json.End();
  json.BeginObject("shared");
  json.BeginArray("frames");
  for (const StackFrame& frame : finder.frames()) {
    json.BeginObject();
    json.Field("name", std::string_view(frame.name));
    if (!frame.file.empty()) json.Field("file", frame.file);
    if (frame.line > 0) json.Field("line", int64_t{frame.line});
    json.End();
  }
  json.End();
  json.End();
  json.End();
  return out;
}

}  // namespace stowplan::exporting
