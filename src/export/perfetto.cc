// SPDX-License-Identifier: Apache-2.0
// Trace events, for ui.perfetto.dev and chrome://tracing. A step of the program is a microsecond. A
// memory space is a process: the counter of its live bytes, and a thread for each lane of values.
//
// Spans are complete events on lanes of our own, not async events: viewers give async events of
// each name a track of their own, and values have as many names as there are values.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "base/stable_sort.h"
#include "export/formats.h"
#include "export/tracks.h"
#include "report/peak.h"

namespace stowplan::exporting {
namespace {

// Viewers take 0 for the kernel.
constexpr int64_t kProgramProcess = 1;
constexpr int64_t kProgramThread = 1;

std::string AllocationWords(const report::Allocation& allocation) {
  std::string words = "allocation " + std::to_string(allocation.number);
  if (allocation.parameter) return words + " parameter " + std::to_string(*allocation.parameter);
  if (allocation.is_constant) return words + " constant";
  return words + (allocation.is_maybe_live_out ? " output" : " temporary");
}

class TraceWriter {
 public:
  TraceWriter(const Subject& subject, std::string& out)
      : subject_(subject),
        picture_(*subject.picture),
        report_(*subject.picture->report),
        moment_(*subject.moment),
        owned_(OwnedBytes(subject)),
        json_(out, 2) {}

  void Write() {
    ChooseValues();
    const explain::Curves& curves = picture_.curves;
    json_.BeginObject();
    json_.Field("displayTimeUnit", "ns");
    WriteHead();
    json_.BeginArray("traceEvents");
    WriteProgram();
    if (!moment_.space && curves.spaces.size() > 1)
      WriteCounter(kProgramProcess, "live bytes, all memory spaces", curves.all);
    WriteMoment();
    const std::vector<AllocationSpans> spans = FindSpans(report_, values_);
    std::map<int64_t, std::vector<const AllocationSpans*>> spans_of;  // by memory space
    for (const AllocationSpans& one : spans)
      spans_of[report_.allocations[one.allocation].color].push_back(&one);
    int64_t process = kProgramProcess;
    for (const explain::Curve& curve : curves.spaces) {
      if (moment_.space && moment_.space != curve.space) continue;
      ++process;
      Name("process_name", process, 0, SpaceWord(picture_, *curve.space));
      Sort("process_sort_index", process, 0, process);
      WriteCounter(process, "live bytes", curve);
      for (const AllocationSpans* one : spans_of[*curve.space]) WriteAllocation(process, *one);
    }
    json_.End();
    json_.End();
  }

 private:
  // The largest values that have a time and a place.
  void ChooseValues() {
    for (size_t i = 0; i < report_.values.size(); ++i) {
      const report::ValueId id(i);
      const report::Value& value = report_.values[id];
      if (!report::IsCounted(report_, value) || value.size == 0) continue;
      if (moment_.space && report_.allocations[value.allocation].color != *moment_.space) continue;
      values_.push_back(id);
    }
    if (subject_.top == 0 || values_.size() <= subject_.top) return;
    StableSort(values_, std::greater(),
               [&](report::ValueId id) { return report_.values[id].size; });
    for (size_t i = subject_.top; i < values_.size(); ++i) {
      ++left_out_;
      bytes_left_out_ += std::max<int64_t>(owned_[values_[i].index], 0);
    }
    values_.resize(subject_.top);
  }

  void WriteHead() {
    json_.BeginObject("otherData");
    json_.Field("schema", "stowplan.trace/1");
    json_.Field("module", std::string_view(subject_.name));
    json_.Field("time", "1 us is one instruction of the program, in the order of execution");
    json_.Field("moment", moment_.time);
    json_.Field("moment_bytes", moment_.bytes);
    json_.Field("values", static_cast<int64_t>(values_.size()));
    json_.Field("values_left_out", left_out_);
    json_.Field("moment_bytes_left_out", bytes_left_out_);
    json_.End();
  }

  void Begin(std::string_view phase, std::string_view name, int64_t process, int64_t thread,
             int64_t time) {
    json_.BeginObject();
    json_.Field("ph", phase);
    json_.Field("name", name);
    json_.Field("pid", process);
    json_.Field("tid", thread);
    json_.Field("ts", time);
  }
  void Name(std::string_view what, int64_t process, int64_t thread, std::string_view name) {
    Begin("M", what, process, thread, 0);
    json_.BeginObject("args");
    json_.Field("name", name);
    json_.End();
    json_.End();
  }
  void Sort(std::string_view what, int64_t process, int64_t thread, int64_t index) {
    Begin("M", what, process, thread, 0);
    json_.BeginObject("args");
    json_.Field("sort_index", index);
    json_.End();
    json_.End();
  }

  // The order of execution: computations, and inside them their instructions.
  void WriteProgram() {
    Name("process_name", kProgramProcess, 0, subject_.name);
    Sort("process_sort_index", kProgramProcess, 0, 0);
    Name("thread_name", kProgramProcess, kProgramThread, "program");
    for (const ComputationSpan& span : FindComputations(picture_)) {
      Begin("X", span.name, kProgramProcess, kProgramThread, span.start);
      json_.Field("dur", span.length);
      json_.Field("cat", "computation");
      json_.End();
    }
    int64_t time = 0;
    for (const std::string_view name : report_.live_ranges->sequence) {
      Begin("X", name, kProgramProcess, kProgramThread, time++);
      json_.Field("dur", int64_t{1});
      json_.Field("cat", "instruction");
      const explain::OpId id = picture_.FindOp(name);
      if (!id.is_none()) {
        json_.BeginObject("args");
        WriteOrigin(picture_.ops[id].op_name, picture_.ops[id].frame);
        json_.End();
      }
      json_.End();
    }
  }

  void WriteOrigin(std::string_view op_name, explain::FrameId frame) {
    if (!op_name.empty()) json_.Field("op_name", op_name);
    const std::string source = explain::SourceText(picture_, picture_.own_line(frame));
    if (!source.empty()) json_.Field("source", std::string_view(source));
  }

  void WriteCounter(int64_t process, std::string_view name, const explain::Curve& curve) {
    for (const explain::Step& step : curve.steps) {
      Begin("C", name, process, 0, step.time);
      json_.BeginObject("args");
      json_.Field("bytes", step.bytes);
      json_.End();
      json_.End();
    }
  }

  void WriteMoment() {
    const std::string name =
        std::string(subject_.is_peak ? "peak, " : "moment, ") + HumanBytes(moment_.bytes);
    Begin("i", name, kProgramProcess, kProgramThread, moment_.time);
    json_.Field("s", "g");
    json_.Field("cat", "moment");
    json_.BeginObject("args");
    json_.Field("bytes", moment_.bytes);
    const std::string_view instruction = InstructionAt(picture_, moment_.time);
    if (!instruction.empty()) json_.Field("instruction", instruction);
    if (moment_.space) json_.Field("space", *moment_.space);
    json_.End();
    json_.End();
  }

  void WriteAllocation(int64_t process, const AllocationSpans& spans) {
    const std::string words = AllocationWords(report_.allocations[spans.allocation]);
    const int64_t first = threads_ + 1;
    for (uint32_t lane = 0; lane < spans.lanes; ++lane) {
      const int64_t thread = ++threads_;
      const std::string more = lane == 0 ? "" : " +" + std::to_string(lane);
      Name("thread_name", process, thread, words + more);
      Sort("thread_sort_index", process, thread, thread);
    }
    for (const ValueSpan& span : spans.spans) WriteSpan(process, first + span.lane, span);
  }

  void WriteSpan(int64_t process, int64_t thread, const ValueSpan& span) {
    const report::Value& value = report_.values[span.value];
    const explain::ValueFact& fact = picture_.fact(span.value);
    Begin("X", explain::ValueName(report_, span.value), process, thread, span.start);
    json_.Field("dur", span.length);
    json_.Field("cat", "value");
    json_.BeginObject("args");
    json_.Field("bytes", value.size);
    if (const int64_t owned = owned_[span.value.index]; owned >= 0)
      json_.Field("bytes_at_moment", owned);
    if (fact.padding != 0) json_.Field("padding", fact.padding);
    json_.Field("offset", value.offset);
    json_.Field("kind", explain::Word(fact.kind));
    json_.Field("shape", value.shape);
    if (const std::string_view path = ParameterPath(picture_, span.value); !path.empty())
      json_.Field("parameter", path);
    WriteOrigin(fact.op_name, fact.frame);
    json_.End();
    json_.End();
  }

  const Subject& subject_;
  const explain::Picture& picture_;
  const report::Report& report_;
  const explain::Moment& moment_;
  std::vector<int64_t> owned_;
  std::vector<report::ValueId> values_;
  int64_t left_out_ = 0;
  int64_t bytes_left_out_ = 0;
  int64_t threads_ = kProgramThread;  // that have a number: threads of all processes differ
  JsonWriter json_;
};

}  // namespace

std::string WritePerfetto(const Subject& subject) {
  std::string out;
  TraceWriter(subject, out).Write();
  return out;
}

}  // namespace stowplan::exporting
