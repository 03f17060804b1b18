// SPDX-License-Identifier: Apache-2.0
#include "repack/repack.h"

#include <algorithm>
#include <expected>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "executable/executable.h"
#include "executable/field_reader.h"
#include "executable/numbers.h"
#include "executable/thunk_check.h"
#include "repack/layout.h"
#include "repack/slots.h"
#include "session/names.h"
#include "session/write_module.h"
#include "stowplan/session.h"

namespace stowplan::repack {
namespace {

using executable::Executable;

// What Stowplan knows about the executable's program.
struct Known {
  PlannedModule given;  // with the executable's own plan
  PlannedModule made;   // the same plan, made by XLA's rules
};

std::string FirstMessage(const Diagnostics& errors) {
  for (const Diagnostic& error : errors) {
    if (error.severity == Severity::kError) return error.message;
  }
  return "no reason is given";
}

PlanOptions OptionsFor(const Executable& executable, const RepackOptions& options) {
  return {.target = std::string(Name(executable.platform())), .release = options.release};
}

// The plan by the rules of one release, if that is the executable's.
std::expected<Known, std::string> UnderstandAs(const Executable& executable,
                                               const PlannedModule& given,
                                               const PlanOptions& options) {
  Result<PlannedModule> made = Plan(given, options);
  if (!made) return std::unexpected(FirstMessage(made.error()));
  if (!made->analysis || !made->report->live_ranges)
    return std::unexpected("the live ranges of its values are not known");
  if (const auto other = FindOtherPlace(*made->report, executable.assignment)) {
    return std::unexpected(fmt::format("its plan is not the one that XLA's rules lead to ({}): {}",
                                       made->release, *other));
  }
  return Known{given, *std::move(made)};
}

std::expected<Known, std::string> Understand(const Executable& executable, PlanOptions& options) {
  const Result<Inputs> inputs =
      OpenBytes(executable.source->name(), executable::HloProtoOf(executable));
  if (!inputs) return std::unexpected(FirstMessage(inputs.error()));
  const Result<PlannedModule> given = LoadOne(*inputs, options);
  if (!given) return std::unexpected(FirstMessage(given.error()));
  if (!given->module) return std::unexpected("its module cannot be read");
  std::expected<Known, std::string> known = UnderstandAs(executable, *given, options);
  if (known || !options.release.empty()) return known;
  // Nothing in an executable names the release, and not every program shows it. The right one is
  // the one whose rules lead to the plan.
  std::vector<std::string_view> releases = ReleaseNames();
  std::ranges::reverse(releases);
  for (const std::string_view release : releases) {
    if (!release.starts_with("jaxlib-")) continue;
    PlanOptions other = options;
    other.release = release;
    std::expected<Known, std::string> again = UnderstandAs(executable, *given, other);
    if (!again) continue;
    options = other;
    return again;
  }
  return known;
}

int64_t Temporaries(const executable::Assignment& assignment) {
  int64_t sum = 0;
  for (const executable::Allocation& allocation : assignment.allocations) {
    if (allocation.is_temporary()) sum = SaturatingAdd(sum, allocation.size);
  }
  return sum;
}

// A new plan, as bytes.
struct Attempt {
  std::string bytes;
  Layout layout;
  int64_t temporaries = 0;
  int64_t moved_thunks = 0;
};

// Thunks in the order of a module's instructions; how many are elsewhere now.
int64_t Reorder(const report::LiveRanges& ranges, executable::Program& program) {
  std::unordered_map<std::string_view, size_t> times;
  for (size_t i = 0; i < ranges.sequence.size(); ++i) times.emplace(ranges.sequence[i], i);
  int64_t moved = 0;
  for (executable::Sequence& sequence : program.sequences) {
    const auto time_of = [&](uint32_t row) {
      const auto found = times.find(program.thunks[row].name);
      return found == times.end() ? std::optional<size_t>() : found->second;
    };
    // What names thunks by number, or is of no instruction, stays as it is.
    if (!sequence.rest.empty() || !std::ranges::all_of(sequence.thunks, [&](uint32_t row) {
          return time_of(row).has_value();
        })) {
      continue;
    }
    std::ranges::stable_sort(sequence.thunks, {}, time_of);
    for (size_t i = 0; i < sequence.thunks.size(); ++i) {
      if (sequence.thunks[i] != sequence.original[i]) ++moved;
    }
  }
  return moved;
}

// Writes the layout into the executable. `module` has the order that the layout is for.
std::expected<Attempt, std::string> Write(const Executable& executable,
                                          const PlannedModule& planned, bool is_reordered) {
  std::expected<Layout, std::string> layout = FindLayout(executable, planned);
  if (!layout) return std::unexpected(std::move(layout).error());
  Attempt attempt{.layout = *std::move(layout)};
  executable::Changes changes;
  executable::Assignment assignment = executable.assignment;
  for (const HeapLayout& heap : attempt.layout.heaps)
    assignment.allocations[static_cast<size_t>(heap.allocation)].size = heap.bytes;
  size_t row = 0;
  for (const report::Value& value : planned.report->values.rows()) {
    const int64_t offset = attempt.layout.value_offsets[row++];
    if (!value.allocation.is_none()) assignment.places[value.number].offset = offset;
  }
  attempt.temporaries = Temporaries(assignment);
  executable::Program program = executable.program;
  for (size_t i = 0; i < program.slots.size(); ++i)
    program.slots[i].slice.offset = attempt.layout.slot_offsets[i];
  if (is_reordered) {
    attempt.moved_thunks = Reorder(*planned.report->live_ranges, program);
    Result<std::string> proto = WriteModule(*planned.module);
    if (!proto) return std::unexpected(FirstMessage(proto.error()));
    changes.module =
        std::string(executable::FindBytes(*proto, executable::kHloModule).value_or(""));
  }
  changes.assignment = std::move(assignment);
  changes.program = &program;
  Result<std::string> bytes = executable::WriteExecutable(executable, changes);
  if (!bytes) return std::unexpected(FirstMessage(bytes.error()));
  attempt.bytes = *std::move(bytes);
  return attempt;
}

// Decodes the new bytes and checks everything about them; empty if they are right.
std::string FindMistake(const Executable& original, const std::vector<bool>& reads,
                        const std::string& bytes, const PlanOptions& options) {
  const Result<Executable> rewritten =
      executable::ReadExecutable(Source::FromBytes(original.source->name(), bytes));
  if (!rewritten) return FirstMessage(rewritten.error());
  const std::vector<std::string> findings = executable::CompareThunks(original, *rewritten, reads);
  if (!findings.empty()) return findings[0];
  const Result<Inputs> inputs =
      OpenBytes(original.source->name(), executable::HloProtoOf(*rewritten));
  if (!inputs) return FirstMessage(inputs.error());
  const Result<PlannedModule> planned = LoadOne(*inputs, options);
  if (!planned) return FirstMessage(planned.error());
  const Result<PlannedModule> checked = Check(*planned, options);
  if (!checked) return FirstMessage(checked.error());
  if (checked->verdict.soundness != Soundness::kSound) {
    return fmt::format("the checker calls the new plan {}", Name(checked->verdict.soundness));
  }
  return {};
}

// Takes the attempt if it is lower than what there is, and right.
void Consider(std::string_view what, std::expected<Attempt, std::string> attempt,
              const Executable& original, const std::vector<bool>& reads,
              const PlanOptions& options, Repacked& out) {
  if (!attempt) {
    out.refusals.push_back(fmt::format("{}: {}", what, attempt.error()));
    return;
  }
  if (attempt->temporaries >= out.bytes_after) return;
  if (const std::string mistake = FindMistake(original, reads, attempt->bytes, options);
      !mistake.empty()) {
    out.refusals.push_back(fmt::format("{}: {}", what, mistake));
    return;
  }
  out.bytes = std::move(attempt->bytes);
  out.bytes_after = attempt->temporaries;
  out.moved_values = attempt->layout.moved_values;
  out.moved_thunks = attempt->moved_thunks;
  out.bound = 0;
  for (const HeapLayout& heap : attempt->layout.heaps)
    out.bound = SaturatingAdd(out.bound, heap.bound);
}

// The made plan with the live ranges of a better order, if there is one.
std::optional<PlannedModule> InBestOrder(const Known& known, PlanOptions options,
                                         const Executable& executable) {
  options.scheduler = "best";
  options.allow_unsound = true;
  options.allow_unchecked = true;
  const Result<PlannedModule> ordered = Plan(known.given, options);
  if (!ordered || !ordered->report->live_ranges || !ordered->analysis) return std::nullopt;
  // Numbers of values are XLA's, whatever the order; their places are to be those of the
  // executable.
  auto report = std::make_shared<report::Report>(*ordered->report);
  for (size_t i = 0; i < report->values.size(); ++i) {
    report::Value& value = report->values[report::ValueId(i)];
    const auto place = executable.assignment.places.find(value.number);
    if (value.allocation.is_none() != (place == executable.assignment.places.end()))
      return std::nullopt;
    if (value.allocation.is_none()) continue;
    if (place->second.size != value.size) return std::nullopt;
    value.offset = place->second.offset;
    value.allocation = report::AllocationId();
    for (size_t a = 0; a < known.made.report->allocations.size(); ++a) {
      const report::AllocationId id(a);
      if (known.made.report->allocations[id].number == place->second.allocation)
        value.allocation = id;
    }
  }
  report->allocations = known.made.report->allocations;
  PlannedModule out = *ordered;
  out.report = std::move(report);
  return out;
}

}  // namespace

Result<Repacked> Repack(std::shared_ptr<const Source> source, const RepackOptions& options) {
  STOWPLAN_TRY(const Executable original, executable::ReadExecutable(std::move(source)));
  Repacked out;
  out.module = original.module_name;
  out.bytes_before = out.bytes_after = Temporaries(original.assignment);
  out.refusals = executable::FindObstacles(original);
  if (!out.refusals.empty()) return out;
  PlanOptions plan_options = OptionsFor(original, options);
  const std::expected<Known, std::string> known = Understand(original, plan_options);
  if (!known) {
    out.refusals.push_back(known.error());
    return out;
  }
  const std::vector<bool> reads = SlotResolver(original, known->made).FindReads(original.program);
  Consider("other places", Write(original, known->made, false), original, reads, plan_options, out);
  if (options.reorders) {
    if (const std::optional<PlannedModule> ordered = InBestOrder(*known, plan_options, original))
      Consider("another order", Write(original, *ordered, true), original, reads, plan_options,
               out);
  }
  return out;
}

}  // namespace stowplan::repack
