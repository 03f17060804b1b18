// SPDX-License-Identifier: Apache-2.0
// Steps of the program: what is read, what is written.
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "check/aliasing_config.h"
#include "check/executor.h"

namespace stowplan::check {

Result<void> Executor::Run() {
  const std::string file = module_.source ? module_.source->name() : std::string();
  const int64_t limit = budget_;
  const size_t before = verdict_.findings.size();
  if (const int64_t length = FindLength(); length > limit) {
    return Fail(file, length == std::numeric_limits<int64_t>::max()
                          ? fmt::format("with a copy of each computation for every call, the "
                                        "program has more instructions than 64 bits can count; "
                                        "the limit is {}",
                                        limit)
                          : fmt::format("with a copy of each computation for every call, the "
                                        "program has {} instructions; the limit is {}",
                                        length, limit));
  }
  Load();
  Note(EventKind::kBegin);
  const CompId entry = module_.entry;
  RunComputation(entry);
  if (!is_too_long_) Finish();
  Note(EventKind::kEnd);
  is_inner_ = true;
  for (const CompId id : FindInner()) {
    if (witness_.HasRun(id) || is_too_long_) continue;
    Note(EventKind::kInner, {id.index});
    for (const InstrId parameter : module_.parameters_of(id)) DefineAll(parameter);
    RunComputation(id);
  }
  if (is_too_long_) {
    return Fail(
        file,
        fmt::format("loops and branches nest so deep that executing the program takes more than {} "
                    "steps",
                    limit));
  }
  // Findings before these do not come from the contents of values.
  const auto is_unsound = [](const Finding& finding) { return IsUnsound(finding.code); };
  if (!congruence_.is_exact() &&
      std::ranges::none_of(std::span(verdict_.findings).first(before), is_unsound) &&
      std::ranges::any_of(verdict_.findings, is_unsound))
    return Fail(file, "to find out which parts of its loops' states are equal takes too long");
  return {};
}

int64_t Executor::FindLength() {
  constexpr int64_t kUnknown = -1;
  std::vector<int64_t> lengths(module_.computations.size(), kUnknown);
  std::vector<CompId> wanted = FindInner();
  wanted.push_back(module_.entry);
  int64_t total = 0;
  std::vector<CompId> stack;
  for (const CompId id : wanted) {
    stack.push_back(id);
    while (!stack.empty()) {
      const CompId next = stack.back();
      if (lengths[next.index] != kUnknown) {
        stack.pop_back();
        continue;
      }
      const size_t depth = stack.size();
      int64_t length = std::ssize(plan_.orders[next.index]);
      for (const InstrId instruction : plan_.orders[next.index]) {
        if (!RunsWhatItCalls(opcode(instruction))) continue;
        for (const CompId callee : module_.called_by(instruction)) {
          if (lengths[callee.index] == kUnknown) stack.push_back(callee);
          length = SaturatingAdd(length, lengths[callee.index]);
        }
      }
      if (stack.size() > depth) continue;  // those first
      lengths[next.index] = length;
      stack.pop_back();
    }
    total = SaturatingAdd(total, lengths[id.index]);
  }
  return total;
}

ContentId Executor::TableContent(uint32_t row) {
  elements_.clear();
  Note(EventKind::kTable, {row});
  for (const uint32_t child : trees_.children(trees_.shape(row))) {
    elements_.push_back(plan_.places.rows[cells_[row + child].place]);
    if (trace_ != nullptr) trace_->Append(row + child);
  }
  return contents_.OfTable(elements_);
}

void Executor::Read(uint32_t row, const Reader& reader) {
  const Cell at = cells_[row];
  if (at.place == kNoPlaceId || SizeAt(row) == 0) return;
  ++verdict_.reads;
  NoteRead(row, reader);
  const Bytes bytes = plan_.BytesAt(at.place, row);
  // What an asynchronous operation itself writes over its operand does not matter.
  const auto wrong = memory_.Find(bytes, at.content, reader.since);
  if (wrong && at.content != kLost) witness_.AddWrongRead(bytes, at.origin, *wrong, reader);
}

void Executor::NoteRead(uint32_t row, const Reader& reader) {
  switch (reader.need) {
    case Reader::Need::kOperand:
      if (reader.since < 0) {
        Note(EventKind::kRead, {row});
      } else {
        Note(EventKind::kReadSince, {row, StartOf(reader.instruction).index});
      }
      break;
    case Reader::Need::kOutput:
      Note(IsTable(row) ? EventKind::kRead : EventKind::kOutput, {row});
      break;
    case Reader::Need::kParameter:
    case Reader::Need::kConstant:
      break;  // all that was there at the start is looked at in the end
  }
}

void Executor::Write(uint32_t row, Cell at, InstrId writer) {
  const int64_t size = SizeAt(row);
  if (at.place == kNoPlaceId || size == 0) return;
  ++verdict_.writes;
  memory_.Write(plan_.BytesAt(at.place, row), at.content, writer, row, step_);
}

void Executor::Define(InstrId id, uint32_t row, ContentId content) {
  Cell& at = cells_[row];
  at = {content, plan_.places.by_row[row], row};
  if (at.place == kNoPlaceId && SizeAt(row) > 0 && !is_inner_ && opcode(id) != Opcode::kConstant &&
      !IsTable(row))
    witness_.AddUnplaced(row);
  Write(row, at, id);
}

void Executor::DefineAll(InstrId id) {
  const uint32_t top = trees_.top(id);
  const uint32_t count = trees_.count(shape(id));
  for (uint32_t part = count; part-- > 0;) {
    const uint32_t row = top + part;
    cells_[row].place = plan_.places.by_row[row];
    Define(id, row, IsTable(row) ? TableContent(row) : NewContent(row));
  }
}

void Executor::Load() {
  for (const InstrId parameter : module_.parameters_of(module_.entry)) DefineAll(parameter);
  for (size_t i = 0; i < module_.instructions.size(); ++i) {
    const InstrId id(i);
    if (!plan_.IsLoaded(id)) continue;
    loaded_.push_back(id);
    DefineConstant(id);
  }
}

void Executor::DefineConstant(InstrId id) {
  const uint32_t top = trees_.top(id);
  for (uint32_t part = trees_.count(shape(id)); part-- > 0;) {
    const uint32_t row = top + part;
    cells_[row].place = plan_.places.by_row[row];
    if (IsTable(row)) {
      Define(id, row, TableContent(row));
      continue;
    }
    const ContentId content = contents_.OfConstant(id);
    Note(EventKind::kConstant, {row, content});
    Define(id, row, content);
  }
}

void Executor::RunComputation(CompId id) {
  Call(id);
  while (!frames_.empty() && !is_too_long_) {
    Frame& frame = frames_.back();
    const std::vector<InstrId>& order = plan_.orders[frame.computation.index];
    if (frame.next == order.size()) {
      frames_.pop_back();
      if (!frames_.empty()) Resume();
    } else if (--budget_ >= 0) {
      frame.caller = order[frame.next++];
      Step(frame.caller);
    } else {
      is_too_long_ = true;
    }
  }
  frames_.clear();
}

void Executor::Resume() {
  Frame& frame = frames_.back();
  const InstrId id = frame.caller;
  if (AsyncCall* const flight = std::get_if<AsyncCall>(&frame.waiting)) {
    EndAsync(id, flight->start, flight->reads, /*runs=*/true);
  } else if (BranchCall* const call = std::get_if<BranchCall>(&frame.waiting)) {
    AddBranch(id, module_.computations[module_.called_by(id)[call->branch]].root, call->merge);
    const std::vector<Memory::Change> more = memory_.Undo(call->mark);
    call->changes.insert(call->changes.end(), more.begin(), more.end());
    // What branches inside branches write is written again by all that are around them.
    budget_ -= std::ssize(more);
    if (call->branch + 1 < module_.called_by(id).size()) {
      BeginBranch(id, call->branch + 1);
      return;
    }
    EndConditional(id, call->merge, call->changes);
  } else if (Loop* const loop = std::get_if<Loop>(&frame.waiting)) {
    if (!loop->is_in_body) {
      EnterBody(*loop);
      return;
    }
    // If the body does not leave all of the state in its place, the next iteration begins without
    // these parts: once more, then. No sound plan comes here.
    if (EndIteration(*loop)) {
      BeginIteration(*loop);
      return;
    }
    Tick(id);
  } else {
    EndCall(id);
  }
  frame.waiting = std::monostate();
}

void Executor::Step(InstrId id) {
  switch (opcode(id)) {
    case Opcode::kParameter:
      Tick(id);
      return;
    case Opcode::kConstant:
      Tick(id);
      if (!plan_.IsLoaded(id)) DefineConstant(id);
      return;
    case Opcode::kWhile:
      RunWhile(id);
      return;
    case Opcode::kConditional:
      RunConditional(id);
      return;
    case Opcode::kCall:
      RunCall(id);
      return;
    case Opcode::kAsyncStart:
      RunAsyncStart(id);
      return;
    case Opcode::kAsyncUpdate:
      RunAsyncUpdate(id);
      return;
    default:
      Tick(id);
      RunPlain(id);
      return;
  }
}

void Executor::RunPlain(InstrId id) {
  reads_.clear();
  if (ReadsBytes(opcode(id))) {
    ReadOperands(id);
  } else if (opcode(id) == Opcode::kGetTupleElement) {
    const uint32_t row = trees_.top(module_.operands_of(id)[0]);
    Read(row, {id});
  }
  if (opcode(id) == Opcode::kAsyncDone) CheckFlight(id);
  FindSources(module_, trees_, id, sources_);
  if (IsDone(opcode(id)) && MakesOnlyTables(id)) {
    // The operation is over, and nobody reads what it has read any more.
    reads_.clear();
    Note(EventKind::kStep, {id.index});
  }
  Produce(id);
  if (IsStart(opcode(id))) Depart(id);
}

bool Executor::MakesOnlyTables(InstrId id) const {
  bool makes_some = false;
  for (uint32_t part = 0; part < sources_.size(); ++part) {
    if (sources_[part].kind != Source::Kind::kNew || SizeAt(trees_.top(id) + part) == 0) continue;
    if (!IsTable(trees_.top(id) + part)) return false;
    makes_some = true;
  }
  return makes_some;
}

void Executor::ReadOperands(InstrId id) {
  const std::span<const InstrId> operands = module_.operands_of(id);
  const int64_t since = FlightOf(id);
  for (size_t k = 0; k < operands.size(); ++k) {
    const uint32_t top = trees_.top(operands[k]);
    const uint32_t count = trees_.count(shape(operands[k]));
    for (uint32_t part = 0; part < count; ++part) {
      if (IsContext(operands[k], part)) continue;
      const Cell at = cells_[top + part];
      Read(top + part, {.instruction = id, .since = since});
      const int64_t size = SizeAt(top + part);
      if (at.place != kNoPlaceId && size > 0)
        reads_.push_back({plan_.BytesAt(at.place, top + part), static_cast<uint32_t>(k), part});
    }
  }
}

bool Executor::IsContext(InstrId id, uint32_t part) const {
  constexpr size_t kContexts = 2;
  if (opcode(id) != Opcode::kAsyncStart && opcode(id) != Opcode::kAsyncUpdate) return false;
  const std::span<const ShapeId> parts = module_.shapes.elements(shape(id));
  return parts.size() > kContexts && module_.shapes.is_tuple(parts[kContexts]) &&
         part > trees_.children(shape(id))[kContexts];
}

void Executor::Produce(InstrId id) {
  const uint32_t top = trees_.top(id);
  const std::span<const InstrId> operands = module_.operands_of(id);
  for (auto part = static_cast<uint32_t>(sources_.size()); part-- > 0;) {
    const Source& source = sources_[part];
    const uint32_t row = top + part;
    if (source.kind != Source::Kind::kNew) {
      const InstrId from = source.kind == Source::Kind::kOperand
                               ? operands[source.operand]
                               : module_.computations[WrappedBy(id)].root;
      Note(EventKind::kHand, {row, trees_.top(from) + source.part});
      Hand(cell(from, source.part), row);
      continue;
    }
    cells_[row].place = plan_.places.by_row[row];
    CheckOverwriting(id, part);
    const std::vector<Memory::Mismatch> rivals = FindRivals(row);
    Define(id, row, IsTable(row) ? TableContent(row) : ContentOf(id, part));
    for (const Memory::Mismatch& rival : rivals) {
      memory_.Write({plan_.places.rows[cells_[row].place].allocation, rival.begin, rival.end},
                    kLost, id, rival.piece->row, step_);
    }
  }
}

ContentId Executor::ContentOf(InstrId id, uint32_t part) {
  const uint32_t row = trees_.top(id) + part;
  const bool is_copy =
      (opcode(id) == Opcode::kCopy && part == 0) || (opcode(id) == Opcode::kCopyStart && part == 1);
  if (is_copy) {
    const uint32_t from = trees_.top(module_.operands_of(id)[0]);
    if (cells_[from].content != kLost &&
        KeepsBytes(module_, trees_.shape(from), trees_.shape(row))) {
      Note(EventKind::kCopy, {row, from});
      return cells_[from].content;
    }
  }
  return NewContent(row);
}

bool Executor::IsConcatenation(InstrId id) const {
  if (opcode(id) != Opcode::kCustomCall) return false;
  const hlo::Attribute* target = module_.FindAttribute(id, hlo::AttributeKey::kCustomCallTarget);
  return target != nullptr && module_.view(target->text()) == "ConcatBitcast";
}

std::optional<Executor::ReadPart> Executor::FindStray(InstrId id, const Bytes& whole) const {
  std::vector<ReadPart> reads = reads_;
  std::ranges::sort(reads, {}, [](const ReadPart& read) { return read.bytes.begin; });
  int64_t end = whole.begin;
  std::vector<int64_t> last;
  for (const ReadPart& read : reads) {
    if (read.bytes.allocation != whole.allocation || read.bytes.begin != end) return read;
    std::vector<int64_t> start = SliceStart(module_.operands_of(id)[read.operand]);
    if (start < last) return read;
    last = std::move(start);
    end = read.bytes.end;
  }
  if (end == whole.end) return std::nullopt;
  return reads.back();
}

std::vector<int64_t> Executor::SliceStart(InstrId id) const {
  if (const InstrId start = StartOf(id); !start.is_none() && !module_.called_by(start).empty())
    id = module_.computations[module_.called_by(start)[0]].root;
  const hlo::Attribute* slice = module_.FindAttribute(id, hlo::AttributeKey::kSlice);
  if (slice == nullptr) return {};
  std::vector<int64_t> start;
  const std::span<const int64_t> rows = hlo::Module::Rows(module_.ints, slice->rows());
  for (size_t k = 0; k < rows.size(); k += 3) start.push_back(rows[k]);
  return start;
}

void Executor::CheckOverwriting(InstrId id, uint32_t part) {
  const uint32_t row = trees_.top(id) + part;
  const int64_t size = SizeAt(row);
  if (reads_.empty() || cells_[row].place == kNoPlaceId || size == 0) return;
  const Bytes written = plan_.BytesAt(cells_[row].place, row);
  if (IsConcatenation(id)) {
    const auto row_of = [&](const ReadPart& read) {
      return trees_.top(module_.operands_of(id)[read.operand]) + read.part;
    };
    if (const std::optional<ReadPart> stray = FindStray(id, written))
      witness_.AddSlicesApart(written, row_of(*stray), row);
    for (const ReadPart& read : reads_) Note(EventKind::kJoins, {row, row_of(read)});
    return;
  }
  for (const ReadPart& read : reads_) {
    if (read.bytes.allocation != written.allocation || read.bytes.begin >= written.end ||
        read.bytes.end <= written.begin)
      continue;
    const Hazard hazard =
        overwriting_.Find(id, read.operand, read.part, part, read.bytes.begin - written.begin);
    const uint32_t operand = trees_.top(module_.operands_of(id)[read.operand]) + read.part;
    switch (hazard) {
      case Hazard::kNone:
        Note(EventKind::kOver, {row, operand});
        break;
      case Hazard::kClash:
        if (IsCodeToldOfOverlap(module_, id, read.operand, part == 0 ? 0 : part - 1)) {
          DoubtOverwriting(id, row, operand);
        } else {
          witness_.AddInPlace(read.bytes, written, operand, row);
        }
        break;
      case Hazard::kUnknown:
        DoubtOverwriting(id, row, operand);
        break;
    }
  }
}

void Executor::DoubtOverwriting(InstrId id, uint32_t row, uint32_t operand) {
  if (!verdict_.doubt.empty()) return;
  verdict_.doubt = fmt::format("it is not known whether {} may write {} over {}, which it reads",
                               module_.name(id), NameOf(module_, trees_, row).text(),
                               NameOf(module_, trees_, operand).text());
}

Result<void> Execute(const Plan& plan, Verdict& verdict, Trace* trace) {
  return Executor(plan, verdict, trace).Run();
}

}  // namespace stowplan::check
