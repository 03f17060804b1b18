// SPDX-License-Identifier: Apache-2.0
// The machine that executes: execute.cc has its steps, calls.cc, control_flow.cc and the_end.cc the
// rest.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <variant>
#include <vector>

#include "check/congruence.h"
#include "check/contents.h"
#include "check/execute.h"
#include "check/meaning.h"
#include "check/memory.h"
#include "check/overwriting.h"
#include "check/trace.h"
#include "check/witness.h"
#include "check/write_sets.h"

namespace stowplan::check {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;
using hlo::ShapeId;

// What is known of a part of an instruction's result: what it is, and where.
struct Cell {
  ContentId content = kLost;
  PlaceId place = kNoPlaceId;
  uint32_t origin = 0;  // the row where it was made
};

class Executor {
 public:
  // `trace`: what is done is noted there; null when nobody wants it.
  Executor(const Plan& plan, Verdict& verdict, Trace* trace)
      : module_(plan.module),
        trees_(plan.trees),
        plan_(plan),
        memory_(plan.report.allocations.size(), plan.report.values.size()),
        contents_(plan.module),
        write_sets_(plan),
        overwriting_(plan.module, plan.trees),
        congruence_(plan.module, plan.trees),
        witness_(plan.module, plan.report, plan.trees, verdict),
        verdict_(verdict),
        trace_(trace) {
    cells_.resize(trees_.count());
    budget_ = BudgetOf(module_);
  }

  Result<void> Run();

 private:
  // A computation that is called from many places is executed for each of them, so that a short
  // program may take for ever. Those that XLA compiles have a computation for each call.
  static constexpr int64_t kStepsPerInstruction = 64;
  static int64_t BudgetOf(const hlo::Module& module) {
    return 16'000'000 + kStepsPerInstruction * static_cast<int64_t>(module.instructions.size());
  }

  [[nodiscard]] Opcode opcode(InstrId id) const { return module_.instructions[id].opcode; }
  [[nodiscard]] ShapeId shape(InstrId id) const { return module_.instructions[id].shape; }
  [[nodiscard]] Cell& cell(InstrId id, uint32_t part) { return cells_[trees_.top(id) + part]; }
  [[nodiscard]] int64_t SizeAt(uint32_t row) const { return plan_.SizeAt(row); }
  [[nodiscard]] bool IsTable(uint32_t row) const {
    return module_.shapes.is_tuple(trees_.shape(row));
  }

  void Note(EventKind kind, std::initializer_list<int64_t> numbers = {}) {
    if (trace_ != nullptr) trace_->Add(kind, numbers);
  }
  [[nodiscard]] Trace::Mark BeginTrace() const { return trace_ == nullptr ? 0 : trace_->Begin(); }
  void UndoTrace(Trace::Mark mark) {
    if (trace_ != nullptr) trace_->Undo(mark);
  }

  // Of the table of a tuple, as its elements lie now.
  ContentId TableContent(uint32_t row);

  // --- Memory ---

  // Whether `row`, which is `at` now, is there; where nothing is, there is nothing to lose.
  [[nodiscard]] bool IsThere(uint32_t row, Cell at) const {
    const int64_t size = SizeAt(row);
    if (at.place == kNoPlaceId || size == 0) return true;
    return at.content != kLost && !memory_.Find(plan_.BytesAt(at.place, row), at.content);
  }
  // Of what the part `row` is now.
  void Read(uint32_t row, const Reader& reader);
  void NoteRead(uint32_t row, const Reader& reader);
  void Write(uint32_t row, Cell at, InstrId writer);
  void Lose(const Memory::Change& change) {
    memory_.Write(change.bytes, kLost, change.writer, change.row, step_);
  }

  // A part that the instruction makes.
  void Define(InstrId id, uint32_t row, ContentId content);
  // Elements first, since tables point to them.
  void DefineAll(InstrId id);

  // --- The program ---

  void Load();
  void DefineConstant(InstrId id);

  // How many instructions are executed, and no more than INT64_MAX.
  int64_t FindLength();
  static bool RunsWhatItCalls(Opcode opcode) {
    return opcode == Opcode::kWhile || opcode == Opcode::kConditional || opcode == Opcode::kCall ||
           opcode == Opcode::kAsyncStart;
  }

  // Executes the computation, and all that it calls. Calls may nest as deep as the module is long:
  // who calls waits in a frame, not on the stack.
  void RunComputation(CompId id);
  // The computation is executed next, then Resume is told.
  void Call(CompId id) { frames_.push_back({.computation = id}); }
  // Goes on with the instruction that has called.
  void Resume();
  // All that the computation may write.
  void VisitWrites(CompId id, const std::function<void(const Memory::Change&)>& visit) {
    if (!write_sets_.Visit(id, budget_, visit)) is_too_long_ = true;
  }

  // Time as XLA counts it: callees stand before their callers.
  void Tick(InstrId id) {
    ++step_;
    Note(EventKind::kStep, {id.index});
    if (witness_.SetTime(id)) ++verdict_.instructions;
  }

  void Step(InstrId id);

  void RunPlain(InstrId id);

  static bool IsStart(Opcode opcode) {
    return opcode == Opcode::kCopyStart || opcode == Opcode::kAllGatherStart ||
           opcode == Opcode::kCollectivePermuteStart;
  }

  static bool IsDone(Opcode opcode) {
    return opcode == Opcode::kAsyncDone || opcode == Opcode::kCopyDone ||
           opcode == Opcode::kAllGatherDone || opcode == Opcode::kCollectivePermuteDone ||
           opcode == Opcode::kAllReduceDone || opcode == Opcode::kRecvDone ||
           opcode == Opcode::kSendDone;
  }
  // By `sources_`; false when it makes nothing.
  [[nodiscard]] bool MakesOnlyTables(InstrId id) const;

  // What is read, to compare it with what is then written.
  struct ReadPart {
    Bytes bytes;
    uint32_t operand = 0;
    uint32_t part = 0;
  };

  void ReadOperands(InstrId id);
  // A part of (operands, result, (contexts)): the memory that programs of a TPU's SparseCore work
  // in, one after the other. What one leaves there nobody reads.
  [[nodiscard]] bool IsContext(InstrId id, uint32_t part) const;

  [[nodiscard]] CompId WrappedBy(InstrId id) const {
    const InstrId start = opcode(id) == Opcode::kAsyncUpdate ? StartOf(id) : id;
    return module_.called_by(start)[0];
  }

  // The instruction's parts, by `sources_`; new ones are written.
  void Produce(InstrId id);
  // Parts of one result that lie on each other are written in no known order.
  [[nodiscard]] std::vector<Memory::Mismatch> FindRivals(uint32_t row) const {
    const int64_t size = SizeAt(row);
    if (sources_.size() == 1 || cells_[row].place == kNoPlaceId || size == 0) return {};
    return memory_.FindRivals(plan_.BytesAt(cells_[row].place, row), step_, row);
  }
  ContentId ContentOf(InstrId id, uint32_t part);
  ContentId NewContent(uint32_t row) {
    Note(EventKind::kWrite, {row});
    return contents_.New();
  }
  // The same value at another position. If the plan names a place for that position, it is read
  // there.
  void Hand(Cell from, uint32_t to) {
    cells_[to] = from;
    if (plan_.places.is_known(to)) cells_[to].place = plan_.places.by_row[to];
  }

  // A custom call that only says that its operands, one after the other, are its result. They are
  // slices of one array, in any order; where each belongs, its start says.
  [[nodiscard]] bool IsConcatenation(InstrId id) const;
  // The first of the slices that is not where it belongs; nothing when all are.
  [[nodiscard]] std::optional<ReadPart> FindStray(InstrId id, const Bytes& whole) const;
  // Where the slice begins that an instruction is, or that an asynchronous operation returns.
  [[nodiscard]] std::vector<int64_t> SliceStart(InstrId id) const;

  void CheckOverwriting(InstrId id, uint32_t part);
  void DoubtOverwriting(InstrId id, uint32_t row, uint32_t operand);

  // --- Calls ---

  void Bind(InstrId parameter, InstrId argument);
  void BindAll(CompId callee, std::span<const InstrId> arguments) {
    const std::span<const InstrId> parameters = module_.parameters_of(callee);
    for (size_t k = 0; k < std::min(parameters.size(), arguments.size()); ++k)
      Bind(parameters[k], arguments[k]);
  }

  void RunCall(InstrId id);
  void EndCall(InstrId id);

  void RunAsyncStart(InstrId id);
  void RunAsyncUpdate(InstrId id);
  // The wrapped computation runs when all its operands are there, which a start may leave to an
  // update.
  void RunAsync(InstrId id, InstrId start, std::vector<InstrId> arguments);
  // `reads` is what the instruction itself has read; `runs`: the wrapped computation was executed.
  void EndAsync(InstrId id, InstrId start, const std::vector<ReadPart>& reads, bool runs);
  // The start of the operation that this done or update belongs to; none when it is neither.
  [[nodiscard]] InstrId StartOf(InstrId id) const;
  // The step until which the operation itself wrote.
  [[nodiscard]] int64_t FlightOf(InstrId id) const {
    const InstrId start = StartOf(id);
    const auto flight = flights_.find(start);
    return start.is_none() || flight == flights_.end() ? -1 : flight->second.step;
  }
  // Until now, an operation that this instruction started has written.
  void Depart(InstrId start) {
    flights_[start].step = step_;
    last_departure_ = step_;
    Note(EventKind::kDepart, {start.index});
  }
  // What the wrapped computation wrote must still be there.
  void CheckFlight(InstrId done);

  // --- Branches and loops ---

  // What branches return: where the conditional has it, and where the branches left it, which is
  // one place unless the plan is wrong.
  struct Merge {
    static constexpr size_t kViews = 2;
    std::array<std::vector<Cell>, kViews> results;
    std::array<std::vector<uint8_t>, kViews> is_lost;
    std::vector<uint8_t> differs;
    std::vector<std::vector<ContentId>> contents;  // by part: of each branch
  };

  void RunConditional(InstrId id);
  void BeginBranch(InstrId id, size_t branch);
  void AddBranch(InstrId id, InstrId root, Merge& merge);
  void EndConditional(InstrId id, const Merge& merge, const std::vector<Memory::Change>& changes);

  // A loop under way. Its state is seen at three positions, the parameters of body and condition
  // and the loop itself, which lie in one place unless the plan is wrong.
  struct Loop {
    static constexpr size_t kViews = 3;
    InstrId instruction;
    std::array<uint32_t, kViews> tops;                 // rows of the positions
    std::array<std::vector<Cell>, kViews> states;      // at first
    std::array<std::vector<uint8_t>, kViews> is_lost;  // not where the position has it
    LoopParts parts;                                   // what is assumed of the state
    uint32_t splits = 0;                               // of its classes

    // The iteration under way.
    bool is_in_body = false;  // or in the condition
    std::vector<Cell> head;
    Trace::Mark trace = 0;
    Witness::Mark findings = 0;
    Memory::Mark before = 0;
    Memory::Mark body = 0;
  };

  void RunWhile(InstrId id);
  // The condition and, on the side, the body.
  void BeginIteration(Loop& loop);
  void EnterBody(Loop& loop);
  // Whether parts of the state got lost in it, or are not what was assumed.
  bool EndIteration(Loop& loop);
  // The same for the contents alone: what does not hold is no longer assumed.
  bool RefineContents(Loop& loop);
  // What is known at its head: nothing of all that it may write.
  void LoseWrites(const Loop& loop);
  // The state at the head of the loop: of some iteration, in its places but where it is lost.
  void EnterLoop(const Loop& loop);
  // All bytes that the loop may write.
  void NoteLost(const Loop& loop);
  // `content`: of some iteration, or lost when it is always the same.
  void NoteState(const Loop& loop, size_t part, ContentId content);

  // --- The end ---

  void Finish();

  // Donated parameters may be written over, and their outputs lie on them.
  void CheckDonations(InstrId root);

  // Computations that run inside instructions (reducers, comparators), but for fusions.
  std::vector<CompId> FindInner();

  const hlo::Module& module_;
  const Trees& trees_;
  const Plan& plan_;
  Memory memory_;
  Contents contents_;
  WriteSets write_sets_;
  Overwriting overwriting_;
  Congruence congruence_;
  Witness witness_;
  Verdict& verdict_;
  Trace* trace_;

  std::vector<Cell> cells_;  // by row
  std::vector<Place> elements_;
  std::vector<Source> sources_;
  std::vector<ReadPart> reads_;
  // Asynchronous operations under way.
  struct Flight {
    std::vector<InstrId> arguments;
    int64_t step = 0;  // what it writes, it has written until then
    bool is_under_way = false;
  };
  std::map<InstrId, Flight> flights_;  // by start
  int64_t last_departure_ = -1;        // the step of the last start

  // What an instruction was about when it called.
  struct AsyncCall {
    InstrId start;
    std::vector<ReadPart> reads;
  };
  struct BranchCall {
    size_t branch = 0;
    Memory::Mark mark = 0;
    Merge merge;
    std::vector<Memory::Change> changes;
  };
  using Waiting = std::variant<std::monostate, AsyncCall, BranchCall, Loop>;
  // A computation under way.
  struct Frame {
    CompId computation;
    size_t next = 0;      // in its order
    InstrId caller = {};  // the instruction of it that has called
    Waiting waiting = {};
  };
  std::deque<Frame> frames_;       // the innermost is last; rows stay where they are
  std::vector<uint32_t> donated_;  // rows of entry parameters
  std::vector<InstrId> loaded_;    // constants that are there at the start
  int64_t step_ = 0;
  int64_t budget_ = 0;  // steps that are left
  bool is_inner_ = false;
  bool is_too_long_ = false;
};

}  // namespace stowplan::check
