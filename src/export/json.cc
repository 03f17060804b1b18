// SPDX-License-Identifier: Apache-2.0
// Schema stowplan.export/1: what the CSV has, the call stacks as a table of frames, and the curves
// of live bytes.
#include "base/json_writer.h"
#include "export/formats.h"
#include "report/summary.h"

namespace stowplan::exporting {
namespace {

class Writer {
 public:
  Writer(const Subject& subject, std::string& out)
      : subject_(subject),
        picture_(*subject.picture),
        report_(*subject.picture->report),
        json_(out, 2) {}

  void Write() {
    json_.BeginObject();
    json_.Field("schema", "stowplan.export/1");
    json_.Field("module", std::string_view(subject_.name));
    json_.Field("backend", report::Name(picture_.backend));
    if (picture_.target) json_.Field("target", picture_.target->name);
    json_.BeginArray("not_known");
    for (const std::string& sentence : picture_.unknown) json_.Value(std::string_view(sentence));
    json_.End();
    if (subject_.moment) {
      WriteMoment();
      WriteSpaces();
    }
    WriteFrames();
    json_.BeginArray("values");
    const std::vector<int64_t> owned = OwnedBytes(subject_);
    for (size_t i = 0; i < report_.values.size(); ++i) WriteValue(report::ValueId(i), owned[i]);
    json_.End();
    json_.End();
  }

 private:
  void WriteMoment() {
    json_.BeginObject("moment");
    json_.Field("time", subject_.moment->time);
    const std::string_view instruction = InstructionAt(picture_, subject_.moment->time);
    if (!instruction.empty()) json_.Field("instruction", instruction);
    if (subject_.moment->space) json_.Field("space", *subject_.moment->space);
    json_.Field("is_peak", subject_.is_peak);
    json_.Field("bytes", subject_.moment->bytes);
    json_.End();
  }

  void WriteSpaces() {
    json_.BeginArray("spaces");
    for (const explain::Curve& curve : picture_.curves.spaces) {
      json_.BeginObject();
      json_.Field("space", *curve.space);
      json_.Field("name", std::string_view(SpaceWord(picture_, *curve.space)));
      json_.BeginObject("peak");
      json_.Field("bytes", curve.peak.bytes);
      json_.Field("time", curve.peak.time);
      json_.End();
      json_.BeginArray("curve");
      for (const explain::Step& step : curve.steps) {
        json_.BeginArray();
        json_.Value(step.time);
        json_.Value(step.bytes);
        json_.End();
      }
      json_.End();
      json_.End();
    }
    json_.End();
  }

  void WriteFrames() {
    json_.BeginArray("frames");
    for (const explain::Frame& frame : picture_.frames.rows()) {
      json_.BeginObject();
      json_.Field("file", frame.file);
      json_.Field("line", int64_t{frame.line});
      if (!frame.function.empty()) json_.Field("function", frame.function);
      if (!frame.parent.is_none()) json_.Field("parent", int64_t{frame.parent.index});
      json_.End();
    }
    json_.End();
  }

  void WriteValue(report::ValueId id, int64_t owned) {
    const report::Value& value = report_.values[id];
    const explain::ValueFact& fact = picture_.fact(id);
    json_.BeginObject();
    json_.Field("value", std::string_view(explain::ValueName(report_, id)));
    json_.Field("kind", explain::Word(fact.kind));
    json_.Field("shape", value.shape);
    if (!value.allocation.is_none()) {
      json_.Field("space", report_.allocations[value.allocation].color);
      json_.Field("allocation", report_.allocations[value.allocation].number);
      json_.Field("offset", value.offset);
      json_.Field("size", value.size);
      json_.Field("padding", fact.padding);
    }
    if (value.has_range) {
      json_.Field("start", value.start);
      json_.Field("end", value.end);
    }
    if (!fact.op_name.empty()) json_.Field("op_name", fact.op_name);
    if (!fact.frame.is_none()) {
      json_.Field("frame", int64_t{fact.frame.index});
      json_.Field("own_frame", int64_t{picture_.own_line(fact.frame).index});
    }
    if (const std::string_view path = ParameterPath(picture_, id); !path.empty())
      json_.Field("parameter", path);
    if (subject_.moment) {
      json_.Field("is_live", owned >= 0);
      json_.Field("bytes", owned >= 0 ? owned : 0);
    }
    json_.End();
  }

  const Subject& subject_;
  const explain::Picture& picture_;
  const report::Report& report_;
  JsonWriter json_;
};

}  // namespace

std::string WriteJson(const Subject& subject) {
  std::string out;
  Writer(subject, out).Write();
  return out;
}

}  // namespace stowplan::exporting
