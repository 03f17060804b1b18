// SPDX-License-Identifier: Apache-2.0
// Calls and asynchronous operations.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "check/executor.h"

namespace stowplan::check {

void Executor::Bind(InstrId parameter, InstrId argument) {
  const uint32_t count = std::min(trees_.count(shape(parameter)), trees_.count(shape(argument)));
  for (uint32_t part = 0; part < count; ++part) {
    const uint32_t row = trees_.top(parameter) + part;
    // Inside of instructions, calls get copies of their arguments.
    const bool is_copy = is_inner_ && plan_.places.is_known(row);
    Note(is_copy ? EventKind::kCopy : EventKind::kHand, {row, trees_.top(argument) + part});
    Hand(cell(argument, part), row);
    if (is_copy) Write(row, cells_[row], parameter);
  }
}

void Executor::RunCall(InstrId id) {
  const CompId callee = module_.called_by(id)[0];
  if (is_inner_) Note(EventKind::kInner, {callee.index});
  BindAll(callee, module_.operands_of(id));
  Call(callee);
}

void Executor::EndCall(InstrId id) {
  Tick(id);
  Bind(id, module_.computations[module_.called_by(id)[0]].root);
}

void Executor::RunAsyncStart(InstrId id) {
  reads_.clear();
  ReadOperands(id);
  const std::span<const InstrId> operands = module_.operands_of(id);
  RunAsync(id, id, {operands.begin(), operands.end()});
}

void Executor::RunAsyncUpdate(InstrId id) {
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

void Executor::RunAsync(InstrId id, InstrId start, std::vector<InstrId> arguments) {
  std::vector<ReadPart> reads = std::exchange(reads_, {});
  Flight& flight = flights_[start];
  flight.arguments = std::move(arguments);
  const std::span<const CompId> called = module_.called_by(start);
  const bool runs = !flight.is_under_way && !called.empty() &&
                    module_.parameters_of(called[0]).size() <= flight.arguments.size();
  if (!runs) {
    EndAsync(id, start, reads, runs);
    return;
  }
  BindAll(called[0], flight.arguments);
  frames_.back().waiting = AsyncCall{.start = start, .reads = std::move(reads)};
  Call(called[0]);
}

void Executor::EndAsync(InstrId id, InstrId start, const std::vector<ReadPart>& reads, bool runs) {
  const std::span<const CompId> called = module_.called_by(start);
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
  if (id == start || runs) Depart(start);
  flights_[start].is_under_way |= runs;
}

InstrId Executor::StartOf(InstrId id) const {
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

void Executor::CheckFlight(InstrId done) {
  const InstrId start = StartOf(done);
  const auto flight = flights_.find(start);
  if (start.is_none() || flight == flights_.end() || module_.called_by(start).empty()) return;
  VisitWrites(module_.called_by(start)[0], [&](const Memory::Change& change) {
    Note(EventKind::kUntouched,
         {change.bytes.allocation, change.bytes.begin, change.bytes.end, start.index});
    const auto later = memory_.FindLater(change.bytes, flight->second.step);
    if (later) witness_.AddInFlight(change.bytes, change.row, *later, start, done);
  });
  flights_.erase(start);
}

}  // namespace stowplan::check
