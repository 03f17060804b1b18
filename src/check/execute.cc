// SPDX-License-Identifier: Apache-2.0
#include "check/execute.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/hash.h"
#include "check/invariants.h"
#include "check/meaning.h"
#include "check/memory.h"
#include "check/overwriting.h"
#include "check/witness.h"

namespace stowplan::check {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;
using hlo::ShapeId;

// A computation that is called from many places is executed for each of them.
constexpr int64_t kStepsPerInstruction = 64;
// Calls nest this deep at most.
constexpr int kMaxDepth = 500;

// What is known of a part of an instruction's result: what it is, and where.
struct Cell {
  ContentId content = kLost;
  PlaceId place = kNoPlaceId;
  uint32_t origin = 0;  // the row where it was made
};

class Executor {
 public:
  Executor(const Plan& plan, Verdict& verdict)
      : module_(plan.module),
        trees_(plan.trees),
        plan_(plan),
        memory_(plan.report.allocations.size()),
        overwriting_(plan.module, plan.trees),
        invariants_(plan.module, plan.trees),
        witness_(plan.module, plan.report, plan.trees, verdict),
        verdict_(verdict) {
    cells_.resize(trees_.count());
    writes_.resize(module_.computations.size());
    has_writes_.resize(module_.computations.size());
    budget_ = 1'000'000 + kStepsPerInstruction * static_cast<int64_t>(module_.instructions.size());
  }

  Result<void> Run() {
    Load();
    const CompId entry = module_.entry;
    RunComputation(entry);
    Finish();
    is_inner_ = true;
    for (const CompId id : FindInner()) {
      if (witness_.HasRun(id)) continue;
      for (const InstrId parameter : module_.parameters_of(id)) DefineAll(parameter);
      RunComputation(id);
    }
    if (is_too_long_) {
      return Fail(module_.source ? module_.source->name() : std::string(),
                  "computations are called from so many places that the program is too long to be "
                  "executed");
    }
    return {};
  }

 private:
  [[nodiscard]] Opcode opcode(InstrId id) const { return module_.instructions[id].opcode; }
  [[nodiscard]] ShapeId shape(InstrId id) const { return module_.instructions[id].shape; }
  [[nodiscard]] Cell& cell(InstrId id, uint32_t part) { return cells_[trees_.top(id) + part]; }
  [[nodiscard]] int64_t SizeAt(uint32_t row) const { return plan_.sizes[trees_.shape(row).index]; }
  [[nodiscard]] bool IsTable(uint32_t row) const {
    return module_.shapes.is_tuple(trees_.shape(row));
  }

  // --- Contents ---

  ContentId NewContent() { return ++contents_; }
  // Equal keys have equal contents.
  ContentId SharedContent(std::string key) {
    const auto [known, is_new] = shared_.try_emplace(std::move(key), kLost);
    if (is_new) known->second = NewContent();
    return known->second;
  }
  // A table holds the places of its elements, wherever it was made.
  ContentId TableContent(uint32_t row) {
    std::string key = "table";
    const std::span<const uint32_t> children = trees_.children(trees_.shape(row));
    for (const uint32_t child : children) {
      const Place& place = plan_.places.rows[cells_[row + child].place];
      const bool is_somewhere = cells_[row + child].place != kNoPlaceId;
      const int64_t numbers[] = {is_somewhere ? int64_t{place.allocation} : -1, place.offset};
      key.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
    }
    return SharedContent(std::move(key));
  }
  ContentId ConstantContent(InstrId id) {
    const hlo::Attribute* literal = module_.FindAttribute(id, hlo::AttributeKey::kLiteral);
    // `{...}` stands for what the text left out.
    if (literal == nullptr || trees_.count(shape(id)) != 1) return NewContent();
    const std::string_view text = module_.view(literal->text());
    if (text.find("...") != std::string_view::npos) return NewContent();
    return SharedContent(fmt::format("constant {} {}", shape(id).index, text));
  }

  // --- Memory ---

  [[nodiscard]] Bytes BytesAt(PlaceId id, int64_t size) const {
    const Place& place = plan_.places.rows[id];
    return {place.allocation, place.offset, SaturatingAdd(place.offset, size)};
  }
  // Whether `row`, which is `at` now, is there; where nothing is, there is nothing to lose.
  [[nodiscard]] bool IsThere(uint32_t row, Cell at) const {
    const int64_t size = SizeAt(row);
    if (at.place == kNoPlaceId || size == 0) return true;
    return at.content != kLost && !memory_.Find(BytesAt(at.place, size), at.content);
  }
  void Read(uint32_t row, Cell at, const Reader& reader) {
    const int64_t size = SizeAt(row);
    if (at.place == kNoPlaceId || size == 0) return;
    ++verdict_.reads;
    const Bytes bytes = BytesAt(at.place, size);
    const auto wrong = memory_.Find(bytes, at.content);
    if (!wrong || at.content == kLost) return;
    // What an asynchronous operation itself writes over its operand.
    if (wrong->piece && wrong->piece->step <= reader.since) return;
    witness_.AddWrongRead(bytes, at.origin, *wrong, reader);
  }
  void Write(uint32_t row, Cell at, InstrId writer) {
    const int64_t size = SizeAt(row);
    if (at.place == kNoPlaceId || size == 0) return;
    ++verdict_.writes;
    memory_.Write(BytesAt(at.place, size), at.content, writer, row, step_);
  }
  void Lose(const Memory::Change& change) {
    memory_.Write(change.bytes, kLost, change.writer, change.row, step_);
  }

  // A part that the instruction makes.
  void Define(InstrId id, uint32_t row, ContentId content) {
    Cell& at = cells_[row];
    at = {content, plan_.places.by_row[row], row};
    if (at.place == kNoPlaceId && SizeAt(row) > 0 && !is_inner_ &&
        opcode(id) != Opcode::kConstant && !IsTable(row))
      witness_.AddUnplaced(row);
    Write(row, at, id);
  }
  // Elements first, since tables point to them.
  void DefineAll(InstrId id) {
    const uint32_t top = trees_.top(id);
    const uint32_t count = trees_.count(shape(id));
    for (uint32_t part = count; part-- > 0;) {
      const uint32_t row = top + part;
      cells_[row].place = plan_.places.by_row[row];
      Define(id, row, IsTable(row) ? TableContent(row) : NewContent());
    }
  }

  // --- The program ---

  void Load() {
    for (const InstrId parameter : module_.parameters_of(module_.entry)) DefineAll(parameter);
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const InstrId id(i);
      if (IsLoaded(id)) DefineConstant(id);
    }
  }
  [[nodiscard]] bool IsLoaded(InstrId id) const {
    if (opcode(id) != Opcode::kConstant) return false;
    const PlaceId place = plan_.places.by_row[trees_.top(id)];
    return place != kNoPlaceId &&
           plan_.report.allocations[report::AllocationId(plan_.places.rows[place].allocation)]
               .is_constant;
  }
  void DefineConstant(InstrId id) {
    const uint32_t top = trees_.top(id);
    for (uint32_t part = trees_.count(shape(id)); part-- > 0;) {
      const uint32_t row = top + part;
      cells_[row].place = plan_.places.by_row[row];
      Define(id, row, IsTable(row) ? TableContent(row) : ConstantContent(id));
    }
  }

  void RunComputation(CompId id) {
    if (++depth_ > kMaxDepth) is_too_long_ = true;
    for (const InstrId instruction : plan_.orders[id.index]) {
      if (is_too_long_ || --budget_ < 0) {
        is_too_long_ = true;
        break;
      }
      Step(instruction);
    }
    --depth_;
  }

  // Time as XLA counts it: callees stand before their callers.
  void Tick(InstrId id) {
    ++step_;
    if (witness_.SetTime(id)) ++verdict_.instructions;
  }

  void Step(InstrId id) {
    switch (opcode(id)) {
      case Opcode::kParameter:
        Tick(id);
        return;
      case Opcode::kConstant:
        Tick(id);
        if (!IsLoaded(id)) DefineConstant(id);
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

  void RunPlain(InstrId id) {
    reads_.clear();
    if (ReadsBytes(opcode(id))) {
      ReadOperands(id);
    } else if (opcode(id) == Opcode::kGetTupleElement) {
      const uint32_t row = trees_.top(module_.operands_of(id)[0]);
      Read(row, cells_[row], {id});
    }
    if (opcode(id) == Opcode::kAsyncDone) CheckFlight(id);
    FindSources(module_, trees_, id, sources_);
    Produce(id);
    if (IsStart(opcode(id))) flights_[id].step = step_;
  }

  static bool IsStart(Opcode opcode) {
    return opcode == Opcode::kCopyStart || opcode == Opcode::kAllGatherStart ||
           opcode == Opcode::kCollectivePermuteStart;
  }

  // What is read, to compare it with what is then written.
  struct ReadPart {
    Bytes bytes;
    uint32_t operand = 0;
    uint32_t part = 0;
  };

  void ReadOperands(InstrId id) {
    const std::span<const InstrId> operands = module_.operands_of(id);
    const int64_t since = FlightOf(id);
    for (size_t k = 0; k < operands.size(); ++k) {
      const uint32_t top = trees_.top(operands[k]);
      const uint32_t count = trees_.count(shape(operands[k]));
      for (uint32_t part = 0; part < count; ++part) {
        const Cell at = cells_[top + part];
        Read(top + part, at, {.instruction = id, .since = since});
        const int64_t size = SizeAt(top + part);
        if (at.place != kNoPlaceId && size > 0)
          reads_.push_back({BytesAt(at.place, size), static_cast<uint32_t>(k), part});
      }
    }
  }

  [[nodiscard]] CompId WrappedBy(InstrId id) const {
    const InstrId start = opcode(id) == Opcode::kAsyncUpdate ? StartOf(id) : id;
    return module_.called_by(start)[0];
  }

  // The instruction's parts, by `sources_`; new ones are written.
  void Produce(InstrId id) {
    const uint32_t top = trees_.top(id);
    const std::span<const InstrId> operands = module_.operands_of(id);
    for (auto part = static_cast<uint32_t>(sources_.size()); part-- > 0;) {
      const Source& source = sources_[part];
      const uint32_t row = top + part;
      if (source.kind != Source::Kind::kNew) {
        const InstrId from = source.kind == Source::Kind::kOperand
                                 ? operands[source.operand]
                                 : module_.computations[WrappedBy(id)].root;
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
  // Parts of one result that lie on each other are written in no known order.
  [[nodiscard]] std::vector<Memory::Mismatch> FindRivals(uint32_t row) const {
    const int64_t size = SizeAt(row);
    if (sources_.size() == 1 || cells_[row].place == kNoPlaceId || size == 0) return {};
    return memory_.FindRivals(BytesAt(cells_[row].place, size), step_, row);
  }
  ContentId ContentOf(InstrId id, uint32_t part) {
    const uint32_t row = trees_.top(id) + part;
    const bool is_copy = (opcode(id) == Opcode::kCopy && part == 0) ||
                         (opcode(id) == Opcode::kCopyStart && part == 1);
    if (is_copy) {
      const uint32_t from = trees_.top(module_.operands_of(id)[0]);
      if (cells_[from].content != kLost &&
          KeepsBytes(module_, trees_.shape(from), trees_.shape(row)))
        return cells_[from].content;
    }
    return NewContent();
  }
  // The same value at another position. If the plan names a place for that position, it is read
  // there.
  void Hand(Cell from, uint32_t to) {
    cells_[to] = from;
    if (plan_.places.is_known(to)) cells_[to].place = plan_.places.by_row[to];
  }

  // A custom call that only says that its operands, one behind the other, are its result. They are
  // slices of one array, in any order; where each belongs, its start says.
  [[nodiscard]] bool IsConcatenationInPlace(InstrId id, const Bytes& written) const {
    const hlo::Attribute* target = module_.FindAttribute(id, hlo::AttributeKey::kCustomCallTarget);
    if (target == nullptr || module_.view(target->text()) != "ConcatBitcast") return false;
    std::vector<ReadPart> reads = reads_;
    std::ranges::sort(reads, {}, [](const ReadPart& read) { return read.bytes.begin; });
    int64_t end = written.begin;
    std::vector<int64_t> last;
    for (const ReadPart& read : reads) {
      if (read.bytes.allocation != written.allocation || read.bytes.begin != end) return false;
      std::vector<int64_t> start = SliceStart(module_.operands_of(id)[read.operand]);
      if (start < last) return false;
      last = std::move(start);
      end = read.bytes.end;
    }
    return end == written.end;
  }
  // Where the slice begins that an instruction is, or that an asynchronous operation returns.
  [[nodiscard]] std::vector<int64_t> SliceStart(InstrId id) const {
    if (const InstrId start = StartOf(id); !start.is_none() && !module_.called_by(start).empty())
      id = module_.computations[module_.called_by(start)[0]].root;
    const hlo::Attribute* slice = module_.FindAttribute(id, hlo::AttributeKey::kSlice);
    if (slice == nullptr) return {};
    std::vector<int64_t> start;
    const std::span<const int64_t> rows = hlo::Module::Rows(module_.ints, slice->rows());
    for (size_t k = 0; k < rows.size(); k += 3) start.push_back(rows[k]);
    return start;
  }

  void CheckOverwriting(InstrId id, uint32_t part) {
    const uint32_t row = trees_.top(id) + part;
    const int64_t size = SizeAt(row);
    if (reads_.empty() || cells_[row].place == kNoPlaceId || size == 0) return;
    const Bytes written = BytesAt(cells_[row].place, size);
    if (opcode(id) == Opcode::kCustomCall && IsConcatenationInPlace(id, written)) return;
    for (const ReadPart& read : reads_) {
      if (read.bytes.allocation != written.allocation || read.bytes.begin >= written.end ||
          read.bytes.end <= written.begin)
        continue;
      // A done does not touch what it hands on.
      const bool is_safe = read.bytes.begin == written.begin &&
                           overwriting_.IsSafe(id, read.operand, read.part, part);
      if (is_safe) continue;
      const InstrId operand = module_.operands_of(id)[read.operand];
      witness_.AddInPlace(read.bytes, written, trees_.top(operand) + read.part, row);
    }
  }

  // --- Calls ---

  void Bind(InstrId parameter, InstrId argument) {
    const uint32_t count = std::min(trees_.count(shape(parameter)), trees_.count(shape(argument)));
    for (uint32_t part = 0; part < count; ++part) {
      const uint32_t row = trees_.top(parameter) + part;
      Hand(cell(argument, part), row);
      // Inside of instructions, calls get copies of their arguments.
      if (is_inner_ && plan_.places.is_known(row)) Write(row, cells_[row], parameter);
    }
  }
  void BindAll(CompId callee, std::span<const InstrId> arguments) {
    const std::span<const InstrId> parameters = module_.parameters_of(callee);
    for (size_t k = 0; k < std::min(parameters.size(), arguments.size()); ++k)
      Bind(parameters[k], arguments[k]);
  }

  void RunCall(InstrId id) {
    if (module_.called_by(id).empty()) return;
    const CompId callee = module_.called_by(id)[0];
    BindAll(callee, module_.operands_of(id));
    RunComputation(callee);
    Tick(id);
    Bind(id, module_.computations[callee].root);
  }

  void RunAsyncStart(InstrId id) {
    reads_.clear();
    ReadOperands(id);
    const std::span<const InstrId> operands = module_.operands_of(id);
    RunAsync(id, id, {operands.begin(), operands.end()});
  }
  void RunAsyncUpdate(InstrId id) {
    reads_.clear();
    ReadOperands(id);
    const InstrId start = StartOf(id);
    const std::span<const InstrId> operands = module_.operands_of(id);
    if (start.is_none() || operands.empty()) {
      Tick(id);
      FindSources(module_, trees_, id, sources_);
      Produce(id);
      return;
    }
    std::vector<InstrId> arguments = flights_[start].arguments;
    arguments.insert(arguments.end(), operands.begin() + 1, operands.end());
    RunAsync(id, start, std::move(arguments));
  }
  // The wrapped computation runs when all its operands are there, which a start may leave to an
  // update.
  void RunAsync(InstrId id, InstrId start, std::vector<InstrId> arguments) {
    const std::vector<ReadPart> reads = std::exchange(reads_, {});
    Flight& flight = flights_[start];
    flight.arguments = std::move(arguments);
    const std::span<const CompId> called = module_.called_by(start);
    const bool runs = !flight.is_under_way && !called.empty() &&
                      module_.parameters_of(called[0]).size() <= flight.arguments.size();
    if (runs) {
      BindAll(called[0], flight.arguments);
      RunComputation(called[0]);  // `flight` may be gone now
    }
    Tick(id);
    FindSources(module_, trees_, id, sources_);
    // The parts that were given late; where the report names a place for the result, the wrapped
    // computation has none.
    for (uint32_t part = 0; part < sources_.size(); ++part) {
      if (sources_[part].kind == Source::Kind::kCallee &&
          cell(module_.computations[called[0]].root, sources_[part].part).place == kNoPlaceId)
        sources_[part] = {};
    }
    reads_.clear();
    if (id != start) reads_ = reads;  // otherwise the wrapped instructions read and write
    Produce(id);
    Flight& now = flights_[start];
    if (id == start || runs) now.step = step_;
    now.is_under_way |= runs;
  }
  // The start of the operation that this done or update belongs to; none when it is neither.
  [[nodiscard]] InstrId StartOf(InstrId id) const {
    switch (opcode(id)) {
      case Opcode::kAsyncDone:
      case Opcode::kAsyncUpdate:
      case Opcode::kCopyDone:
      case Opcode::kAllGatherDone:
      case Opcode::kCollectivePermuteDone:
        break;
      default:
        return {};
    }
    while (!module_.operands_of(id).empty()) {
      id = module_.operands_of(id)[0];
      if (opcode(id) != Opcode::kAsyncUpdate) return id;
    }
    return {};
  }
  // The step until which the operation itself wrote.
  [[nodiscard]] int64_t FlightOf(InstrId id) const {
    const InstrId start = StartOf(id);
    const auto flight = flights_.find(start);
    return start.is_none() || flight == flights_.end() ? -1 : flight->second.step;
  }
  // What the wrapped computation wrote must still be there.
  void CheckFlight(InstrId done) {
    const InstrId start = StartOf(done);
    const auto flight = flights_.find(start);
    if (start.is_none() || flight == flights_.end() || module_.called_by(start).empty()) return;
    for (const Memory::Change& change : WritesOf(module_.called_by(start)[0])) {
      const auto later = memory_.FindLater(change.bytes, flight->second.step);
      if (later) witness_.AddInFlight(change.bytes, change.row, *later, start, done);
    }
    flights_.erase(start);
  }

  // All that a computation and those it calls may write.
  const std::vector<Memory::Change>& WritesOf(CompId id) {
    std::vector<Memory::Change>& writes = writes_[id.index];
    if (std::exchange(has_writes_[id.index], 1) != 0) return writes;
    std::vector<Source> sources;
    for (const InstrId instruction : plan_.orders[id.index]) {
      switch (opcode(instruction)) {
        case Opcode::kParameter:
          continue;
        case Opcode::kWhile:
        case Opcode::kConditional:
        case Opcode::kCall:
          AddCalled(instruction, writes);
          continue;
        case Opcode::kAsyncStart:
          AddCalled(instruction, writes);
          break;
        default:
          break;
      }
      if (IsLoaded(instruction)) continue;
      FindSources(module_, trees_, instruction, sources);
      for (uint32_t part = 0; part < sources.size(); ++part) {
        const uint32_t row = trees_.top(instruction) + part;
        if (sources[part].kind == Source::Kind::kOperand || !plan_.places.is_known(row)) continue;
        writes.push_back({BytesAt(plan_.places.by_row[row], SizeAt(row)), instruction, row, step_});
      }
    }
    return writes;
  }
  void AddCalled(InstrId id, std::vector<Memory::Change>& writes) {
    if (writes.size() > static_cast<size_t>(budget_)) {
      is_too_long_ = true;
      return;
    }
    for (const CompId callee : module_.called_by(id)) {
      const std::vector<Memory::Change>& inner = WritesOf(callee);
      writes.insert(writes.end(), inner.begin(), inner.end());
    }
  }

  // --- Branches and loops ---

  // What branches return: where the conditional has it, and where the branches left it, which is
  // one place unless the plan is wrong.
  struct Merge {
    static constexpr size_t kViews = 2;
    std::array<std::vector<Cell>, kViews> results;
    std::array<std::vector<uint8_t>, kViews> is_lost;
    std::vector<uint8_t> differs;
  };

  void RunConditional(InstrId id) {
    const std::span<const InstrId> operands = module_.operands_of(id);
    const std::span<const CompId> branches = module_.called_by(id);
    if (operands.size() != branches.size() + 1) return;
    const uint32_t top = trees_.top(id);
    Read(trees_.top(operands[0]), cell(operands[0], 0), {id});
    Merge merge;
    std::vector<Memory::Change> changes;
    for (size_t k = 0; k < branches.size(); ++k) {
      const Memory::Mark mark = memory_.Begin();
      BindAll(branches[k], operands.subspan(k + 1, 1));
      RunComputation(branches[k]);
      AddBranch(id, module_.computations[branches[k]].root, merge);
      const std::vector<Memory::Change> more = memory_.Undo(mark);
      changes.insert(changes.end(), more.begin(), more.end());
    }
    Tick(id);
    for (const Memory::Change& change : changes) Lose(change);
    // Parts that are lost are wrong only if somebody reads them.
    for (auto part = static_cast<uint32_t>(merge.differs.size()); part-- > 0;) {
      const uint32_t row = top + part;
      Cell at = merge.results[0][part];
      if (merge.differs[part] != 0 || merge.is_lost[0][part] != 0) {
        at.content = NewContent();
        at.origin = row;
      }
      for (size_t view = Merge::kViews; view-- > 0;) {
        at.place = merge.results[view][part].place;
        if (merge.is_lost[view][part] == 0 && !IsThere(row, at)) Write(row, at, id);
      }
      cells_[row] = at;
    }
  }
  void AddBranch(InstrId id, InstrId root, Merge& merge) {
    const uint32_t top = trees_.top(id);
    const uint32_t count = trees_.count(shape(id));
    const bool is_first = merge.differs.empty();
    merge.differs.resize(count, 0);
    for (size_t view = 0; view < Merge::kViews; ++view) {
      merge.is_lost[view].resize(count, 0);
      merge.results[view].resize(count);
    }
    for (uint32_t part = 0; part < count; ++part) {
      Cell at = cell(root, part);
      if (is_first) {
        merge.results[1][part] = at;
        Hand(at, top + part);
        merge.results[0][part] = cells_[top + part];
      }
      if (at.content != merge.results[0][part].content) merge.differs[part] = 1;
      for (size_t view = 0; view < Merge::kViews; ++view) {
        at.place = merge.results[view][part].place;
        if (!IsThere(top + part, at)) merge.is_lost[view][part] = 1;
      }
    }
  }

  // Parts of a loop's state that are not always what they were at first.
  std::vector<uint8_t> FindChanging(InstrId loop, const std::vector<Cell>& state) {
    const std::vector<uint32_t>& made_of = invariants_.Of(loop);
    std::vector<uint8_t> changes(state.size(), 0);
    for (bool is_done = false; !is_done;) {
      is_done = true;
      for (size_t part = 0; part < state.size(); ++part) {
        const uint32_t from = made_of[part];
        // Tables are made again by every iteration, and as a rule they hold the same.
        const bool is_kept = IsTable(trees_.top(loop) + static_cast<uint32_t>(part)) ||
                             (from != Invariants::kChanged && changes[from] == 0 &&
                              state[from].content == state[part].content);
        if (is_kept || changes[part] != 0) continue;
        changes[part] = 1;
        is_done = false;
      }
    }
    return changes;
  }

  // A loop under way. Its state is seen at three positions, the parameters of body and condition
  // and the loop itself, which lie in one place unless the plan is wrong.
  struct Loop {
    static constexpr size_t kViews = 3;
    InstrId instruction;
    std::array<uint32_t, kViews> tops;                 // rows of the positions
    std::array<std::vector<Cell>, kViews> states;      // at first
    std::array<std::vector<uint8_t>, kViews> is_lost;  // not where the position has it
    std::vector<uint8_t> changes;                      // not always the same
  };

  void RunWhile(InstrId id) {
    if (module_.called_by(id).size() < 2 || module_.operands_of(id).empty()) return;
    const CompId body = module_.called_by(id)[0];
    const CompId condition = module_.called_by(id)[1];
    if (module_.parameters_of(body).size() != 1 || module_.parameters_of(condition).size() != 1)
      return;
    const InstrId initial = module_.operands_of(id)[0];
    const uint32_t count = trees_.count(shape(id));
    const InstrId inside = module_.parameters_of(body)[0];
    Loop loop;
    loop.instruction = id;
    loop.tops = {trees_.top(inside), trees_.top(module_.parameters_of(condition)[0]),
                 trees_.top(id)};
    for (size_t view = 0; view < Loop::kViews; ++view) {
      loop.is_lost[view].assign(count, 0);
      for (uint32_t part = 0; part < count; ++part) {
        const uint32_t row = loop.tops[view] + part;
        // Where nothing else is said, the state is where the body has it.
        Hand(view == 0 ? cell(initial, part) : cell(inside, part), row);
        if (!IsThere(row, cells_[row])) loop.is_lost[view][part] = 1;
        loop.states[view].push_back(cells_[row]);
      }
    }
    loop.changes = FindChanging(id, loop.states[0]);
    // If the body does not leave all of the state in its place, the next iteration begins without
    // these parts: once more, then. No sound plan comes here.
    while (true) {
      const Witness::Mark findings = witness_.Begin();
      const Memory::Mark before = memory_.Begin();
      if (!RunIteration(loop) || is_too_long_) {
        memory_.Keep(before);
        break;
      }
      witness_.Undo(findings);
      memory_.Undo(before);
    }
    Tick(id);
  }
  // The condition and, on the side, the body. Whether parts of the state got lost in it, or tables
  // changed, that were not known to.
  bool RunIteration(Loop& loop) {
    const InstrId id = loop.instruction;
    const CompId body = module_.called_by(id)[0];
    const CompId condition = module_.called_by(id)[1];
    const uint32_t top = trees_.top(id);
    const auto count = static_cast<uint32_t>(loop.changes.size());
    for (const Memory::Change& change : WritesOf(condition)) Lose(change);
    for (const Memory::Change& change : WritesOf(body)) Lose(change);
    EnterLoop(loop);
    const std::vector<Cell> head(cells_.begin() + top, cells_.begin() + top + count);
    RunComputation(condition);
    const InstrId answer = module_.computations[condition].root;
    Read(trees_.top(answer), cell(answer, 0), {.instruction = id});
    const Memory::Mark mark = memory_.Begin();
    RunComputation(body);
    bool is_worse = false;
    const InstrId root = module_.computations[body].root;
    for (uint32_t part = 0; part < count; ++part) {
      Cell back = cell(root, part);
      for (size_t view = 0; view < Loop::kViews; ++view) {
        back.place = loop.states[view][part].place;
        if (loop.is_lost[view][part] != 0 || IsThere(top + part, back)) continue;
        loop.is_lost[view][part] = 1;
        is_worse = true;
      }
      if (IsTable(top + part) && loop.changes[part] == 0 && back.content != head[part].content) {
        loop.changes[part] = 1;
        is_worse = true;
      }
    }
    memory_.Undo(mark);
    std::ranges::copy(head, cells_.begin() + top);
    return is_worse;
  }
  // The state at the head of the loop: of some iteration, in its places but where it is lost.
  void EnterLoop(const Loop& loop) {
    for (size_t part = loop.changes.size(); part-- > 0;) {
      const ContentId content =
          loop.changes[part] != 0 ? NewContent() : loop.states[0][part].content;
      for (size_t view = 0; view < Loop::kViews; ++view) {
        const auto row = static_cast<uint32_t>(loop.tops[view] + part);
        cells_[row] = loop.states[view][part];
        cells_[row].content = content;
        if (loop.changes[part] != 0)
          cells_[row].origin = static_cast<uint32_t>(trees_.top(loop.instruction) + part);
      }
      for (size_t view = 0; view < Loop::kViews; ++view) {
        const auto row = static_cast<uint32_t>(loop.tops[view] + part);
        if (loop.is_lost[view][part] == 0 && !IsThere(row, cells_[row]))
          Write(row, cells_[row], loop.instruction);
      }
    }
  }

  // --- The end ---

  void Finish() {
    const InstrId root = module_.computations[module_.entry].root;
    const uint32_t top = trees_.top(root);
    std::map<std::pair<uint32_t, int64_t>, uint32_t> outputs;
    for (uint32_t part = 0; part < trees_.count(shape(root)); ++part) {
      const Cell at = cells_[top + part];
      Read(top + part, at, {.instruction = root, .need = Reader::Need::kOutput});
      if (at.place == kNoPlaceId || SizeAt(top + part) == 0 || IsTable(top + part)) continue;
      const Bytes bytes = BytesAt(at.place, SizeAt(top + part));
      const auto [other, is_new] = outputs.try_emplace({bytes.allocation, bytes.begin}, top + part);
      if (!is_new) witness_.AddSharedOutput(bytes, other->second, top + part);
    }
    CheckDonations(root);
    for (const InstrId parameter : module_.parameters_of(module_.entry)) {
      for (uint32_t part = 0; part < trees_.count(shape(parameter)); ++part) {
        const uint32_t row = trees_.top(parameter) + part;
        if (!donated_.contains(row))
          Read(row, cells_[row], {.instruction = parameter, .need = Reader::Need::kParameter});
      }
    }
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const InstrId id(i);
      if (!IsLoaded(id)) continue;
      for (uint32_t part = 0; part < trees_.count(shape(id)); ++part)
        Read(trees_.top(id) + part, cell(id, part),
             {.instruction = id, .need = Reader::Need::kConstant});
    }
  }

  // Donated parameters may be written over, and their outputs lie on them.
  void CheckDonations(InstrId root) {
    const std::span<const InstrId> parameters = module_.parameters_of(module_.entry);
    for (const hlo::InputOutputAlias& alias : module_.header.aliases) {
      if (alias.parameter < 0 || static_cast<size_t>(alias.parameter) >= parameters.size())
        continue;
      const InstrId parameter = parameters[static_cast<size_t>(alias.parameter)];
      const auto in = trees_.Find(module_, shape(parameter), alias.parameter_index);
      const auto out = trees_.Find(module_, shape(root), alias.output_index);
      if (!in || !out) continue;
      donated_.insert(trees_.top(parameter) + *in);
      const PlaceId from = cell(parameter, *in).place;
      const PlaceId to = cell(root, *out).place;
      if (from == kNoPlaceId || to == kNoPlaceId || SizeAt(trees_.top(root) + *out) == 0) continue;
      if (plan_.places.rows[from] != plan_.places.rows[to])
        witness_.AddMovedOutput(BytesAt(to, SizeAt(trees_.top(root) + *out)),
                                trees_.top(root) + *out, trees_.top(parameter) + *in);
    }
  }

  // Computations that run inside of instructions (reducers, comparators), but for fusions.
  std::vector<CompId> FindInner() {
    std::set<CompId> inner;
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const InstrId id(i);
      switch (opcode(id)) {
        case Opcode::kWhile:
        case Opcode::kConditional:
        case Opcode::kCall:
        case Opcode::kFusion:
        case Opcode::kAsyncStart:
        case Opcode::kAsyncUpdate:
        case Opcode::kAsyncDone:
          break;
        default:
          for (const CompId callee : module_.called_by(id)) inner.insert(callee);
          break;
      }
    }
    return {inner.begin(), inner.end()};
  }

  const hlo::Module& module_;
  const Trees& trees_;
  const Plan& plan_;
  Memory memory_;
  Overwriting overwriting_;
  Invariants invariants_;
  Witness witness_;
  Verdict& verdict_;

  std::vector<Cell> cells_;     // by row
  ContentId contents_ = kLost;  // so many there are
  std::unordered_map<std::string, ContentId> shared_;
  std::vector<Source> sources_;
  std::vector<ReadPart> reads_;
  std::vector<std::vector<Memory::Change>> writes_;  // by computation
  std::vector<uint8_t> has_writes_;
  // Asynchronous operations under way.
  struct Flight {
    std::vector<InstrId> arguments;
    int64_t step = 0;  // what it writes, it has written until then
    bool is_under_way = false;
  };
  std::map<InstrId, Flight> flights_;  // by start
  std::set<uint32_t> donated_;         // rows of entry parameters
  int64_t step_ = 0;
  int64_t budget_ = 0;
  int depth_ = 0;
  bool is_inner_ = false;
  bool is_too_long_ = false;
};

}  // namespace

Result<void> Execute(const Plan& plan, Verdict& verdict) { return Executor(plan, verdict).Run(); }

}  // namespace stowplan::check
