// SPDX-License-Identifier: Apache-2.0
#include "check/witness.h"

#include <algorithm>

#include <fmt/format.h>

#include "check/places.h"

namespace stowplan::check {
namespace {

using hlo::InstrId;

// For "what lies there": nothing.
constexpr uint32_t kNobody = UINT32_MAX;

Code CodeOf(const Reader& reader, const Memory::Mismatch& wrong) {
  switch (reader.need) {
    case Reader::Need::kOutput:
      return Code::kOutputChanged;
    case Reader::Need::kParameter:
      return Code::kParameterChanged;
    case Reader::Need::kConstant:
      return Code::kConstantChanged;
    case Reader::Need::kOperand:
      break;
  }
  return wrong.piece ? Code::kOverwritten : Code::kNeverWritten;
}

}  // namespace

bool Witness::SetTime(InstrId id) {
  if (times_[id.index] >= 0) return false;
  times_[id.index] = now_++;
  return true;
}

bool Witness::IsNew(Code code, uint32_t a, uint32_t b) {
  if (!seen_.insert({code, a, b}).second) return false;
  keys_.emplace_back(code, a, b);
  return true;
}

void Witness::Undo(Mark mark) {
  for (; keys_.size() > mark; keys_.pop_back()) {
    seen_.erase(keys_.back());
    verdict_.findings.pop_back();  // one for each key
  }
}

ValueName Witness::NameAt(uint32_t row) const { return NameOf(module_, trees_, row); }

Event Witness::EventOf(InstrId id) const {
  Event event;
  event.instruction = module_.name(id);
  event.time = times_[id.index];
  const hlo::Metadata* metadata = module_.metadata_of(id);
  if (metadata == nullptr) return event;
  event.op_name = module_.view(metadata->op_name);
  if (metadata->source_file.size != 0) {
    event.source = fmt::format("{}:{}", module_.view(metadata->source_file), metadata->source_line);
  } else if (metadata->stack_frame > 0) {
    // The innermost frame of the call stack.
    const hlo::StackFrames& frames = module_.stack_frames;
    const auto at = [](const auto& rows, int32_t row) {
      return row > 0 && static_cast<size_t>(row) <= rows.size()
                 ? &rows[static_cast<size_t>(row) - 1]
                 : nullptr;
    };
    const auto* frame = at(frames.frames, metadata->stack_frame);
    const auto* location = frame == nullptr ? nullptr : at(frames.locations, frame->location);
    const auto* file = location == nullptr ? nullptr : at(frames.files, location->file);
    if (file != nullptr) event.source = fmt::format("{}:{}", module_.view(*file), location->line);
  }
  return event;
}

Finding& Witness::Add(Code code, const Bytes& bytes, uint32_t wanted, uint32_t found) {
  Finding finding;
  finding.code = code;
  finding.wanted = NameAt(wanted);
  if (found != kNobody) finding.found = NameAt(found);
  finding.allocation = report_.allocations[report::AllocationId(bytes.allocation)].number;
  finding.begin = bytes.begin;
  finding.end = bytes.end;
  verdict_.findings.push_back(std::move(finding));
  return verdict_.findings.back();
}

void Witness::AddWrongRead(const Bytes& bytes, uint32_t wanted, const Memory::Mismatch& wrong,
                           const Reader& reader) {
  const Code code = CodeOf(reader, wrong);
  const uint32_t found = wrong.piece ? wrong.piece->row : kNobody;
  if (!IsNew(code, wanted, found)) return;
  Finding& finding = Add(code, {bytes.allocation, wrong.begin, wrong.end}, wanted, found);
  finding.read = EventOf(reader.instruction);
  if (wrong.piece) finding.write = EventOf(wrong.piece->writer);
  const std::string what = wrong.piece ? fmt::format("but finds {} there", finding.found.text())
                                       : std::string("but nothing was ever written there");
  const std::string value = finding.wanted.text();
  switch (code) {
    case Code::kOutputChanged:
      finding.message = fmt::format("the program returns {}, {}", value, what);
      break;
    case Code::kParameterChanged:
      finding.message = fmt::format("parameter {} is not donated, but is overwritten by {}", value,
                                    finding.found.text());
      break;
    case Code::kConstantChanged:
      finding.message =
          fmt::format("constant {} is overwritten by {}", value, finding.found.text());
      break;
    default:
      finding.message = fmt::format(
          "{} reads {} {}, {}", finding.read.instruction, value,
          reader.end_of.is_none() ? fmt::format("at {}", finding.read.time)
                                  : fmt::format("at the end of {}", module_.name(reader.end_of)),
          what);
  }
}

void Witness::AddInPlace(const Bytes& read, const Bytes& written, uint32_t wanted,
                         uint32_t output) {
  if (!IsNew(Code::kInPlace, wanted, output)) return;
  Finding& finding =
      Add(Code::kInPlace,
          {read.allocation, std::max(read.begin, written.begin), std::min(read.end, written.end)},
          wanted, output);
  finding.read = EventOf(trees_.instruction(output));
  finding.write = finding.read;
  finding.message = fmt::format("{} overwrites {}, which it still reads", finding.found.text(),
                                finding.wanted.text());
}

void Witness::AddSlicesApart(const Bytes& bytes, uint32_t slice, uint32_t whole) {
  if (!IsNew(Code::kSlicesApart, slice, whole)) return;
  Finding& finding = Add(Code::kSlicesApart, bytes, slice, whole);
  finding.read = EventOf(trees_.instruction(whole));
  finding.message =
      fmt::format("the slices of {} do not lie side by side in its place: {} is elsewhere",
                  finding.found.text(), finding.wanted.text());
}

void Witness::AddInFlight(const Bytes& bytes, uint32_t wanted, const Memory::Mismatch& wrong,
                          InstrId start, InstrId done) {
  if (!IsNew(Code::kInFlight, wanted, wrong.piece->row)) return;
  Finding& finding =
      Add(Code::kInFlight, {bytes.allocation, wrong.begin, wrong.end}, wanted, wrong.piece->row);
  finding.write = EventOf(wrong.piece->writer);
  finding.read = EventOf(done);
  finding.message = fmt::format("{} is overwritten by {} while {} is in progress",
                                finding.wanted.text(), finding.found.text(), module_.name(start));
}

void Witness::AddSharedOutput(const Bytes& bytes, uint32_t a, uint32_t b) {
  if (!IsNew(Code::kOutputsShareBytes, a, b)) return;
  Finding& finding = Add(Code::kOutputsShareBytes, bytes, a, b);
  finding.message = fmt::format("two parts of the result are in the same place: {} and {}",
                                finding.wanted.text(), finding.found.text());
}

void Witness::AddMovedOutput(const Bytes& bytes, uint32_t output, uint32_t parameter) {
  if (!IsNew(Code::kOutputElsewhere, output, parameter)) return;
  Finding& finding = Add(Code::kOutputElsewhere, bytes, output, parameter);
  finding.message = fmt::format("output {} is not in the place of {}, which is donated for it",
                                finding.wanted.text(), finding.found.text());
}

void Witness::AddFlag(const Bytes& bytes, uint32_t row, std::string_view words) {
  if (!IsNew(Code::kFlag, bytes.allocation, kNobody)) return;
  Finding& finding = Add(Code::kFlag, bytes, row, kNobody);
  finding.message =
      fmt::format("allocation {} {}: {}", finding.allocation, words, finding.wanted.text());
}

void Witness::AddUnplaced(uint32_t row) {
  if (!IsNew(Code::kNoPlace, row, kNobody)) return;
  Finding finding;
  finding.code = Code::kNoPlace;
  finding.wanted = NameAt(row);
  finding.message = fmt::format("{} has no place", finding.wanted.text());
  finding.write = EventOf(trees_.instruction(row));
  verdict_.findings.push_back(std::move(finding));
}

}  // namespace stowplan::check
