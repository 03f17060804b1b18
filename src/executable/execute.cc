// SPDX-License-Identifier: Apache-2.0
#include "executable/execute.h"

#include <algorithm>
#include <span>

#include "executable/field_reader.h"

namespace stowplan::executable {
namespace {

enum KeyKind : uint64_t {
  kInput,
  kFirstWorld,
  kExecution,
  kOutput,
  kHead,
  kNextHead,
  kAfterLoop,
  kPredicate,
  kJoin
};

constexpr uint32_t kAsyncId = 1;

// Slices without overlaps, in order.
std::vector<Slice> Merged(std::vector<Slice> slices) {
  std::ranges::sort(slices);
  std::vector<Slice> out;
  for (const Slice& slice : slices) {
    if (slice.size == 0) continue;
    if (!out.empty() && out.back().allocation == slice.allocation &&
        slice.offset <= out.back().offset + out.back().size) {
      Slice& last = out.back();
      last.size = std::max(last.size, slice.offset + slice.size - last.offset);
    } else {
      out.push_back(slice);
    }
  }
  return out;
}

// Contents of several slices.
using State = std::vector<std::vector<Piece>>;

// What runs beside the sequence until a thunk waits for it.
struct Flight {
  uint64_t id = 0;
  std::vector<Slice> reads;
  std::vector<Slice> writes;
};

bool Meet(std::span<const Slice> merged, const Slice& slice) {
  return std::ranges::any_of(merged, [&](const Slice& other) {
    return other.allocation == slice.allocation && other.offset < slice.offset + slice.size &&
           slice.offset < other.offset + other.size;
  });
}

class Machine {
 public:
  Machine(const Program& program, const Assignment& assignment, const std::vector<bool>& reads,
          Comparison& comparison)
      : program_(program),
        reads_(reads),
        comparison_(comparison),
        contents_(assignment.allocations.size() + 1),
        world_{static_cast<int64_t>(assignment.allocations.size()), 0, 1},
        identities_(program.thunks.size()) {
    for (const Allocation& allocation : assignment.allocations) {
      if (!allocation.is_parameter && !allocation.is_constant) continue;
      contents_.Write({allocation.index, 0, allocation.size},
                      Name({kInput, static_cast<uint64_t>(allocation.index)}), 0);
    }
    contents_.Write(world_, Name({kFirstWorld}), 0);
  }

  Execution Run() {
    RunSequence(0);
    Execution out{.end = end_, .at = at_, .contents = std::move(contents_)};
    out.launches = std::move(launches_);
    out.world = out.contents.Read(world_)[0].name;
    return out;
  }

 private:
  ContentName Name(std::initializer_list<uint64_t> key) {
    return comparison_.names.Find(std::span(key.begin(), key.size()));
  }
  [[nodiscard]] bool is_running() const { return end_ == ExecutionEnd::kDone; }
  void Stop(ExecutionEnd end, const Thunk& thunk) {
    if (!is_running()) return;
    end_ = end;
    at_ = thunk.name;
  }

  uint64_t IdentityNumber(uint32_t row) {
    std::optional<uint64_t>& number = identities_[row];
    if (!number) {
      const Thunk& thunk = program_.thunks[row];
      number = comparison_.NumberOf(std::to_string(thunk.kind_number) + ":" +
                                    IdentityOf(program_, thunk));
    }
    return *number;
  }

  // Recursive, as deep as sequences lie inside each other, which DecodeProgram bounds.
  void RunSequence(size_t row) {
    const size_t flights_before = flights_.size();
    for (const uint32_t thunk : program_.sequences[row].thunks) {
      if (!is_running()) return;
      RunThunk(thunk);
    }
    // What nobody waits for inside is waited for by whoever runs the sequence.
    flights_.resize(std::min(flights_.size(), flights_before));
  }

  void RunThunk(uint32_t row) {
    const Thunk& thunk = program_.thunks[row];
    if (comparison_.thunks_left == 0) return Stop(ExecutionEnd::kTooLong, thunk);
    --comparison_.thunks_left;
    FindRaces(thunk);
    if (thunk.kind->effect != Effect::kControl) return Launch(row, thunk);
    const std::span<const Sequence> inner = program_.sequences_of(thunk);
    if (inner.empty()) return;
    switch (inner[0].role) {
      case FieldRole::kCalled:
        for (size_t i = 0; i < inner.size(); ++i) RunSequence(thunk.sequences.begin + i);
        break;
      case FieldRole::kAsync:
        return Start(thunk);
      case FieldRole::kBranch:
        return Branches(row, thunk);
      default:
        return Loop(row, thunk);
    }
  }

  // ---- One kernel

  void AppendPieces(const std::vector<Piece>& pieces, std::vector<uint64_t>& key) {
    key.push_back(pieces.size());
    for (const Piece& piece : pieces) {
      key.push_back(static_cast<uint64_t>(piece.end));
      key.push_back(piece.name);
      key.push_back(static_cast<uint64_t>(piece.offset));
    }
  }

  void Launch(uint32_t row, const Thunk& thunk) {
    const bool has_effect = thunk.kind->effect == Effect::kEffect;
    std::vector<uint64_t> key = {kExecution, IdentityNumber(row)};
    if (has_effect) AppendPieces(contents_.Read(world_), key);
    for (uint32_t i = 0; i < thunk.slots.count; ++i) {
      const size_t slot = thunk.slots.begin + i;
      if (!reads_[slot]) continue;
      key.push_back(i);
      AppendPieces(contents_.Read(program_.slots[slot].slice), key);
    }
    const ContentName execution = comparison_.names.Find(key);
    launches_.emplace_back(row, execution);
    for (uint32_t i = 0; i < thunk.slots.count; ++i) {
      const Slot& slot = program_.slots[thunk.slots.begin + i];
      if (IsWritten(slot.access)) contents_.Write(slot.slice, Name({kOutput, execution, i}), 0);
    }
    if (has_effect) contents_.Write(world_, Name({kOutput, execution, thunk.slots.count}), 0);
    if (thunk.kind->name == "async-done") Finish(thunk);
  }

  // ---- What runs at the same time

  static uint64_t AsyncId(const Thunk& thunk) {
    const std::optional<std::string_view> message = FindBytes(thunk.bytes, thunk.kind_number);
    return message ? FindVarint(*message, kAsyncId).value_or(0) : 0;
  }

  void Start(const Thunk& thunk) {
    Flight flight{.id = AsyncId(thunk)};
    for (uint32_t i = 0; i < thunk.sequences.count; ++i) {
      const size_t sequence = thunk.sequences.begin + i;
      AddTouched(sequence, flight.reads, flight.writes);
      RunSequence(sequence);
    }
    flight.reads = Merged(std::move(flight.reads));
    flight.writes = Merged(std::move(flight.writes));
    flights_.push_back(std::move(flight));
  }

  void Finish(const Thunk& thunk) {
    const uint64_t id = AsyncId(thunk);
    std::erase_if(flights_, [&](const Flight& flight) { return flight.id == id; });
  }

  void FindRaces(const Thunk& thunk) {
    for (const Flight& flight : flights_) {
      for (const Slot& slot : program_.slots_of(thunk)) {
        if (Meet(flight.writes, slot.slice) ||
            (IsWritten(slot.access) && Meet(flight.reads, slot.slice))) {
          return Stop(ExecutionEnd::kRace, thunk);
        }
      }
    }
  }

  // What the thunks of a sequence read and write, those inside them too.
  void AddTouched(size_t first, std::vector<Slice>& reads, std::vector<Slice>& writes) {
    std::vector<size_t> waiting = {first};
    while (!waiting.empty()) {
      const size_t sequence = waiting.back();
      waiting.pop_back();
      for (const uint32_t row : program_.sequences[sequence].thunks) {
        const Thunk& thunk = program_.thunks[row];
        for (const Slot& slot : program_.slots_of(thunk)) {
          (IsWritten(slot.access) ? writes : reads).push_back(slot.slice);
          if (slot.access == Access::kUpdate || slot.access == Access::kMaybeUpdate)
            reads.push_back(slot.slice);
        }
        if (thunk.kind->effect == Effect::kEffect) writes.push_back(world_);
        for (uint32_t i = 0; i < thunk.sequences.count; ++i)
          waiting.push_back(thunk.sequences.begin + i);
      }
    }
  }

  std::vector<Slice> WrittenBy(const Thunk& thunk) {
    std::vector<Slice> reads;
    std::vector<Slice> writes;
    for (uint32_t i = 0; i < thunk.sequences.count; ++i)
      AddTouched(thunk.sequences.begin + i, reads, writes);
    return Merged(std::move(writes));
  }

  // ---- Loops and branches

  State ReadAll(std::span<const Slice> slices) {
    State out;
    for (const Slice& slice : slices) out.push_back(contents_.Read(slice));
    return out;
  }
  void WriteAll(std::span<const Slice> slices, const State& state) {
    for (size_t i = 0; i < slices.size(); ++i) {
      for (const Piece& piece : state[i]) {
        contents_.Write(
            {slices[i].allocation, slices[i].offset + piece.begin, piece.end - piece.begin},
            piece.name, piece.offset);
      }
    }
  }

  // Calls `make` for the largest parts over which all states have one piece, and puts the pieces it
  // returns together. `make` gets the pieces cut to the part.
  template <class Make>
  static State Combine(std::span<const State* const> states, Make make) {
    State out(states[0]->size());
    for (size_t slice = 0; slice < out.size(); ++slice) {
      std::vector<size_t> next(states.size(), 0);
      const std::vector<Piece>& first = (*states[0])[slice];
      const int64_t end = first.empty() ? 0 : first.back().end;
      for (int64_t at = 0; at < end;) {
        int64_t part_end = end;
        for (size_t i = 0; i < states.size(); ++i)
          part_end = std::min(part_end, (*states[i])[slice][next[i]].end);
        std::vector<Piece> parts;
        for (size_t i = 0; i < states.size(); ++i) {
          Piece piece = (*states[i])[slice][next[i]];
          if (piece.name != kUndefined) piece.offset += at - piece.begin;
          piece.begin = at;
          if (piece.end == part_end) ++next[i];
          piece.end = part_end;
          parts.push_back(piece);
        }
        out[slice].push_back(make(parts));
        at = part_end;
      }
    }
    return out;
  }

  // How far ahead of `base` a content is, if both are parts of arrays.
  static uint64_t Ahead(const Piece& piece, const Piece& base) {
    return piece.name == kUndefined ? 0 : static_cast<uint64_t>(piece.offset - base.offset);
  }

  ContentName PredicateOf(const Thunk& thunk) {
    std::vector<uint64_t> key = {kPredicate};
    for (const Slot& slot : program_.slots_of(thunk)) AppendPieces(contents_.Read(slot.slice), key);
    return comparison_.names.Find(key);
  }

  void RunRole(const Thunk& thunk, FieldRole role) {
    for (uint32_t i = 0; i < thunk.sequences.count; ++i) {
      if (program_.sequences[thunk.sequences.begin + i].role == role && is_running())
        RunSequence(thunk.sequences.begin + i);
    }
  }

  void Loop(uint32_t row, const Thunk& thunk) {
    const uint64_t loop =
        comparison_.NumberOf("loop " + std::string(thunk.name) + ":" + IdentityOf(program_, thunk));
    const std::vector<Slice> written = WrittenBy(thunk);
    const int rounds = comparison_.rounds.emplace(loop, 1).first->second;
    State head = ReadAll(written);
    const State* const before[] = {&head};
    head = Combine(before, [&](const std::vector<Piece>& parts) {
      Piece piece = parts[0];
      piece.name = Name({kHead, loop, IdentityNumber(row), piece.name});
      return piece;
    });
    for (int round = 0; is_running(); ++round) {
      WriteAll(written, head);
      RunRole(thunk, FieldRole::kCondition);
      RunRole(thunk, FieldRole::kBody);
      if (!is_running()) return;
      const State after = ReadAll(written);
      if (round == rounds) {
        if (!RecordSteps(head, after)) {
          ++comparison_.rounds[loop];
          return Stop(ExecutionEnd::kAnotherRound, thunk);
        }
        break;
      }
      const State* const both[] = {&head, &after};
      head = Combine(both, [&](const std::vector<Piece>& parts) {
        Piece piece = parts[0];
        piece.name = Name({kNextHead, piece.name, parts[1].name, Ahead(parts[1], piece)});
        return piece;
      });
    }
    WriteAll(written, head);
    RunRole(thunk, FieldRole::kCondition);
    const ContentName predicate = PredicateOf(thunk);
    const State last = ReadAll(written);
    const State* const end[] = {&last};
    WriteAll(written, Combine(end, [&](const std::vector<Piece>& parts) {
               Piece piece = parts[0];
               piece.name = Name({kAfterLoop, piece.name, predicate});
               return piece;
             }));
  }

  // Whether one iteration takes each name to one other, in everything executed so far.
  bool RecordSteps(const State& head, const State& after) {
    bool is_one = true;
    const State* const both[] = {&head, &after};
    Combine(both, [&](const std::vector<Piece>& parts) {
      const std::pair<ContentName, int64_t> step = {
          parts[1].name, static_cast<int64_t>(Ahead(parts[1], parts[0]))};
      is_one = comparison_.steps.emplace(parts[0].name, step).first->second == step && is_one;
      return parts[0];
    });
    return is_one;
  }

  void Branches(uint32_t row, const Thunk& thunk) {
    const std::vector<Slice> written = WrittenBy(thunk);
    const ContentName predicate = PredicateOf(thunk);
    const State before = ReadAll(written);
    std::vector<State> after;
    for (uint32_t i = 0; i < thunk.sequences.count && is_running(); ++i) {
      WriteAll(written, before);
      RunSequence(thunk.sequences.begin + i);
      after.push_back(ReadAll(written));
    }
    if (!is_running()) return;
    std::vector<const State*> states;
    states.reserve(after.size());
    for (const State& state : after) states.push_back(&state);
    WriteAll(written, Combine(states, [&](const std::vector<Piece>& parts) {
               Piece piece = parts[0];
               const bool is_one = std::ranges::all_of(parts, [&](const Piece& part) {
                 return part.name == piece.name && part.offset == piece.offset;
               });
               if (is_one) return piece;
               std::vector<uint64_t> key = {kJoin, IdentityNumber(row), predicate};
               for (const Piece& part : parts) {
                 key.push_back(part.name);
                 key.push_back(Ahead(part, piece));
               }
               piece.name = comparison_.names.Find(key);
               return piece;
             }));
  }

  const Program& program_;
  const std::vector<bool>& reads_;
  Comparison& comparison_;
  Contents contents_;
  const Slice world_;
  std::vector<std::optional<uint64_t>> identities_;
  std::vector<Flight> flights_;
  std::vector<std::pair<uint32_t, ContentName>> launches_;
  ExecutionEnd end_ = ExecutionEnd::kDone;
  std::string_view at_;
};

}  // namespace

Execution Execute(const Program& program, const Assignment& assignment,
                  const std::vector<bool>& reads, Comparison& comparison) {
  return Machine(program, assignment, reads, comparison).Run();
}

}  // namespace stowplan::executable
