// SPDX-License-Identifier: Apache-2.0
#include "repack/changed.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace stowplan::repack {
namespace {

using executable::Executable;
using executable::Slice;
using executable::Thunk;
using hlo::InstrId;

using RowsByName = std::unordered_map<std::string_view, InstrId>;

RowsByName NamesOf(const hlo::Module& module) {
  RowsByName out;
  for (size_t i = 0; i < module.instructions.size(); ++i)
    out.emplace(module.name(InstrId(i)), InstrId(i));
  return out;
}

bool LiesIn(const Slice& place, const Slice& slice) {
  return place.allocation == slice.allocation && place.offset <= slice.offset &&
         slice.offset + slice.size <= place.offset + place.size;
}

class SourceFinder {
 public:
  SourceFinder(const Executable& executable, const PlannedModule& planned)
      : executable_(executable),
        module_(*planned.module),
        flow_(planned.analysis->flow),
        rows_(NamesOf(module_)) {}

  std::expected<SlotSources, std::string> Run() {
    SlotSources out(executable_.program.slots.size());
    for (const Thunk& thunk : executable_.program.thunks) {
      for (uint32_t i = thunk.slots.begin; i < thunk.slots.begin + thunk.slots.count; ++i) {
        const Slice& slice = executable_.program.slots[i].slice;
        if (slice.size == 0) continue;
        out[i] = SourcesOf(thunk, slice);
        if (out[i].empty() && IsHeap(slice.allocation)) {
          return std::unexpected(
              fmt::format("`{}` uses bytes of allocation {} in which no value lies", thunk.name,
                          slice.allocation));
        }
      }
    }
    return out;
  }

 private:
  [[nodiscard]] bool IsHeap(int64_t allocation) const {
    return executable_.assignment.allocations[static_cast<size_t>(allocation)].is_temporary();
  }
  // The values that the thunk's instruction makes, hands on or reads, if they lie there. If there
  // are none, all values that lie there.
  std::vector<SlotSource> SourcesOf(const Thunk& thunk, const Slice& slice) {
    std::vector<SlotSource> out;
    const auto row = rows_.find(thunk.name);
    if (row != rows_.end()) {
      AddTouched(row->second, slice, out);
      // A loop's thunk has the slot of its condition's result. A kernel that a whole computation
      // was compiled into has slots for what is made in it, which may lie where operands did.
      for (const hlo::CompId called : module_.called_by(row->second)) {
        if (thunk.sequences.count != 0) {
          AddTouched(module_.computations[called].root, slice, out);
        } else {
          AddMade(called, slice, out);
        }
      }
    }
    if (out.empty()) AddAll(slice, out);
    return out;
  }
  void AddTouched(InstrId id, const Slice& slice, std::vector<SlotSource>& out) {
    for (uint32_t part = 0; part < flow_.positions.count(id); ++part)
      Add(flow_.positions.At(id, part), {id, SlotSource::kResult, part, 0}, slice, out);
    const std::span<const InstrId> operands = module_.operands_of(id);
    for (uint32_t k = 0; k < operands.size(); ++k) {
      for (uint32_t part = 0; part < flow_.positions.count(operands[k]); ++part)
        Add(flow_.positions.At(operands[k], part), {id, k, part, 0}, slice, out);
    }
  }
  // What is made in a computation and in those that it calls.
  void AddMade(hlo::CompId computation, const Slice& slice, std::vector<SlotSource>& out) {
    for (const hlo::CompId inner : WithCallees(module_, {computation})) {
      for (const InstrId id : module_.schedule_of(inner)) {
        for (uint32_t part = 0; part < flow_.positions.count(id); ++part)
          Add(flow_.positions.At(id, part), {id, SlotSource::kResult, part, 0}, slice, out);
      }
    }
  }
  void Add(PositionId position, SlotSource source, const Slice& slice,
           std::vector<SlotSource>& out) {
    for (const ValueId value : flow_.at(position)) {
      const auto place = executable_.assignment.places.find(value.index);
      if (place == executable_.assignment.places.end() || !LiesIn(place->second, slice)) continue;
      source.distance = slice.offset - place->second.offset;
      out.push_back(source);
      return;
    }
  }
  void AddAll(const Slice& slice, std::vector<SlotSource>& out) {
    for (const auto& [number, place] : executable_.assignment.places) {
      if (!LiesIn(place, slice) || static_cast<size_t>(number) >= flow_.values.size()) continue;
      const ValueId value(static_cast<size_t>(number));
      out.push_back({flow_.instruction(value), SlotSource::kResult,
                     flow_.positions.offset(flow_.values[value].position),
                     slice.offset - place.offset});
    }
  }

  const Executable& executable_;
  const hlo::Module& module_;
  const ValueFlow& flow_;
  const RowsByName rows_;
};

class Changer {
 public:
  Changer(const Executable& executable, const hlo::Module& original, Changed& out)
      : executable_(executable), original_(original), out_(out) {}

  std::optional<std::string> Run() {
    const RowsByName names = NamesOf(*out_.module);
    std::unordered_map<std::string_view, std::vector<uint32_t>> thunks;  // by name
    for (uint32_t row = 0; row < out_.program.thunks.size(); ++row)
      thunks[out_.program.thunks[row].name].push_back(row);
    std::vector<uint32_t> added;
    for (size_t i = 0; i < out_.module->instructions.size(); ++i) {
      if (out_.is_copy[i] == 0) continue;
      const auto originals = thunks.find(original_.name(out_.origins[i]));
      if (originals == thunks.end()) continue;  // it has none either, or belongs to a kernel
      for (const uint32_t row : originals->second) {
        if (!CanCopy(row)) {
          return fmt::format("the thunk of `{}` cannot run twice",
                             executable_.program.thunks[row].name);
        }
        added.push_back(executable::AddCopy(out_.program, row, out_.module->name(InstrId(i))));
        AddSlotOrigins(row);
      }
    }
    out_.copied_thunks = static_cast<int64_t>(added.size());
    for (const Thunk& thunk : out_.program.thunks) {
      const auto row = names.find(thunk.name);
      out_.thunk_instructions.push_back(row == names.end() ? InstrId() : row->second);
    }
    executable::Sequence& first = out_.program.sequences[0];
    first.thunks.insert(first.thunks.end(), added.begin(), added.end());
    for (executable::Sequence& sequence : out_.program.sequences) {
      if (!Sort(sequence) && &sequence == &first && !added.empty())
        return "thunks of the entry computation are numbered, or are of no instruction";
    }
    return std::nullopt;
  }

 private:
  // Only what stands in the sequence of the executable itself, computes a function of what it
  // reads, and is understood.
  [[nodiscard]] bool CanCopy(uint32_t row) const {
    const Thunk& thunk = executable_.program.thunks[row];
    return thunk.kind != nullptr && thunk.kind->effect == executable::Effect::kPure &&
           thunk.is_understood && thunk.sequences.count == 0 &&
           std::ranges::find(executable_.program.sequences[0].thunks, row) !=
               executable_.program.sequences[0].thunks.end();
  }
  void AddSlotOrigins(uint32_t row) {
    const Range& slots = executable_.program.thunks[row].slots;
    for (uint32_t i = 0; i < slots.count; ++i) out_.slot_origins.push_back(slots.begin + i);
  }
  // By the times of instructions. What names thunks by number, or is of no instruction, stays as
  // it is.
  bool Sort(executable::Sequence& sequence) {
    const Schedule& schedule = out_.analysis->schedule;
    const auto time_of = [&](uint32_t row) {
      const InstrId id = out_.thunk_instructions[row];
      return id.is_none() ? kNoTime : schedule.time(id);
    };
    if (!sequence.rest.empty() || std::ranges::any_of(sequence.thunks, [&](uint32_t row) {
          return time_of(row) == kNoTime;
        })) {
      return false;
    }
    std::ranges::stable_sort(sequence.thunks, {}, time_of);
    size_t k = 0;
    for (const uint32_t row : sequence.thunks) {
      if (row >= executable_.program.thunks.size()) continue;
      if (row != sequence.original[k++]) ++out_.moved_thunks;
    }
    return true;
  }

  const Executable& executable_;
  const hlo::Module& original_;
  Changed& out_;
};

Changed Begin(const Executable& executable, std::shared_ptr<const hlo::Module> module,
              std::shared_ptr<const Analysis> analysis) {
  Changed out;
  out.module = std::move(module);
  out.analysis = std::move(analysis);
  out.program = executable.program;
  out.slot_origins.resize(executable.program.slots.size());
  std::iota(out.slot_origins.begin(), out.slot_origins.end(), 0U);
  return out;
}

}  // namespace

std::vector<hlo::CompId> WithCallees(const hlo::Module& module, std::vector<hlo::CompId> found) {
  std::set<hlo::CompId> seen(found.begin(), found.end());
  for (size_t i = 0; i < found.size(); ++i) {
    for (const InstrId id : module.schedule_of(found[i])) {
      for (const hlo::CompId called : module.called_by(id)) {
        if (seen.insert(called).second) found.push_back(called);
      }
    }
  }
  return found;
}

std::expected<SlotSources, std::string> FindSources(const Executable& executable,
                                                    const PlannedModule& planned) {
  return SourceFinder(executable, planned).Run();
}

std::vector<hlo::CompId> FindCompiled(const Executable& executable, const hlo::Module& module) {
  const RowsByName rows = NamesOf(module);
  std::vector<hlo::CompId> found;
  for (const Thunk& thunk : executable.program.thunks) {
    const auto row = rows.find(thunk.name);
    if (row == rows.end() || thunk.sequences.count != 0) continue;
    const std::span<const hlo::CompId> called = module.called_by(row->second);
    found.insert(found.end(), called.begin(), called.end());
  }
  return WithCallees(module, std::move(found));
}

Changed Unchanged(const Executable& executable, std::shared_ptr<const hlo::Module> module,
                  std::shared_ptr<const Analysis> analysis) {
  Changed out = Begin(executable, std::move(module), std::move(analysis));
  const RowsByName names = NamesOf(*out.module);
  for (size_t i = 0; i < out.module->instructions.size(); ++i) out.origins.emplace_back(i);
  out.is_copy.assign(out.module->instructions.size(), 0);
  for (const Thunk& thunk : out.program.thunks) {
    const auto row = names.find(thunk.name);
    out.thunk_instructions.push_back(row == names.end() ? InstrId() : row->second);
  }
  return out;
}

std::expected<Changed, std::string> Change(const Executable& executable,
                                           const hlo::Module& original,
                                           std::shared_ptr<const hlo::Module> module,
                                           std::shared_ptr<const Analysis> analysis,
                                           std::vector<hlo::InstrId> origins) {
  Changed out = Begin(executable, std::move(module), std::move(analysis));
  out.origins = std::move(origins);
  for (size_t i = 0; i < out.origins.size(); ++i) {
    // Copies have names of their own.
    out.is_copy.push_back(
        static_cast<uint8_t>(out.module->name(InstrId(i)) != original.name(out.origins[i])));
  }
  if (std::optional<std::string> failure = Changer(executable, original, out).Run())
    return std::unexpected(*std::move(failure));
  return out;
}

}  // namespace stowplan::repack
