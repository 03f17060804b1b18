// SPDX-License-Identifier: Apache-2.0
#include "explain/picture.h"

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "explain/kinds.h"
#include "explain/labels.h"
#include "explain/op_slots.h"
#include "explain/spaces.h"
#include "report/summary.h"

namespace stowplan::explain {
namespace {

std::string FileOf(const report::Report& report) {
  return report.sources.empty() ? report.name : report.sources[0]->name();
}

// All sums of live bytes fit in 64 bits when the allocations do and values lie inside them.
Result<bool> CheckPlaces(const report::Report& report) {
  if (!report.has_assignment)
    return Fail(FileOf(report), "has no buffer assignment",
                "explain needs to know where values lie");
  int64_t sum = 0;
  for (const report::Allocation& allocation : report.allocations.rows()) {
    if (allocation.size < 0 || __builtin_add_overflow(sum, allocation.size, &sum))
      return Fail(FileOf(report), "the bytes of its allocations do not fit in 64 bits");
  }
  for (size_t i = 0; i < report.values.size(); ++i) {
    const report::Value& value = report.values[report::ValueId(i)];
    if (value.allocation.is_none()) continue;
    const std::optional<int64_t> end = CheckedAdd(value.offset, value.size);
    if (value.offset < 0 || value.size < 0 || !end ||
        *end > report.allocations[value.allocation].size) {
      return Fail(FileOf(report),
                  "the value " + ValueName(report, report::ValueId(i)) +
                      " lies outside allocation " +
                      std::to_string(report.allocations[value.allocation].number),
                  "`stowplan check` shows everything that is wrong with a plan");
    }
  }
  return true;
}

void AddPadding(Picture& picture) {
  const report::Report& report = *picture.report;
  picture.plain_sizes = report::ComputePlainSizes(report);
  const report::PlainSizes& plain = picture.plain_sizes;
  for (size_t i = 0; i < picture.values.size(); ++i) {
    const report::Value& value = report.values[report::ValueId(i)];
    if (value.allocation.is_none() || !plain.value[i]) continue;
    ValueFact& fact = picture.values[i];
    fact.plain = std::clamp<int64_t>(*plain.value[i], 0, value.size);
    fact.padding = value.size - *fact.plain;
  }
}

void AddTarget(const std::optional<Target>& target, Picture& picture) {
  picture.target = target;
  picture.backend =
      target ? report::BackendOfTarget(target->name) : report::GuessBackend(*picture.report);
}

std::string Count(size_t count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

void AddUnknowns(Picture& picture) {
  const report::Report& report = *picture.report;
  const auto say = [&](std::string sentence) { picture.unknown.push_back(std::move(sentence)); };
  if (!report::HasPeak(report)) {
    say("The live ranges are not known, because no file has them and there is no module to derive "
        "them from. So the peak is not known.");
  }
  if (picture.module == nullptr)
    say("There is no module, so source lines and op_names are only those in the report.");
  if (!report.has_value_list)
    say("No file lists the uses of values, so activations and loop state count as temporaries "
        "unless something else identifies them.");
  size_t shapeless = 0;
  size_t untimed = 0;
  for (size_t i = 0; i < picture.values.size(); ++i) {
    const report::Value& value = report.values[report::ValueId(i)];
    if (value.allocation.is_none()) continue;
    if (!picture.values[i].plain) ++shapeless;
    if (!value.has_range && !report.allocations[value.allocation].is_thread_local) ++untimed;
  }
  if (shapeless != 0)
    say("The shape of " + Count(shapeless, "value") +
        " is not known, so none of their bytes count as padding.");
  if (untimed != 0 && report::HasPeak(report))
    say(Count(untimed, "value") +
        " without a live range never count as live; the footprint lists them "
        "separately.");
}

}  // namespace

OpId Picture::FindOp(std::string_view name) const {
  return op_slots.empty() ? OpId() : op_slots[FindSlot(*this, name, HashOfName(name))].op;
}

Result<Picture> MakePicture(const report::Report& report, const hlo::Module* module,
                            const std::optional<Target>& target, const PictureOptions& options) {
  STOWPLAN_TRY([[maybe_unused]] const bool ok, CheckPlaces(report));
  Picture picture;
  picture.report = &report;
  picture.module = module;
  AddTarget(target, picture);
  picture.spaces = SpacesOf(report);
  AddLabels(options, picture);
  AddPadding(picture);
  if (report::HasPeak(report)) {
    STOWPLAN_TRY(report::LiveBytes bytes, report::ComputeLiveBytes(report));
    picture.peak = std::move(bytes.peak);
    picture.curves = std::move(bytes.curves);
  }
  AddKinds(picture);
  AddUnknowns(picture);
  return picture;
}

Picture MakeLabels(const report::Report& report, const hlo::Module* module,
                   const PictureOptions& options) {
  Picture picture;
  picture.report = &report;
  picture.module = module;
  AddLabels(options, picture);
  return picture;
}

std::vector<FrameId> StackOf(const Picture& picture, FrameId innermost) {
  std::vector<FrameId> stack;
  for (FrameId at = innermost; !at.is_none(); at = picture.frames[at].parent) stack.push_back(at);
  std::ranges::reverse(stack);
  return stack;
}

std::string SourceText(const Picture& picture, FrameId id) {
  if (id.is_none()) return {};
  const Frame& frame = picture.frames[id];
  if (frame.file.empty()) return std::string(frame.function);
  std::string text(frame.file);
  if (frame.line > 0) text += ":" + std::to_string(frame.line);
  return text;
}

std::string ValueName(const report::Report& report, report::ValueId id) {
  const report::Value& value = report.values[id];
  std::string text(value.instruction);
  if (!value.index.is_shown && value.index.numbers.count == 0) return text;
  text += '{';
  for (const int64_t n : report.numbers(value.index)) {
    if (text.back() != '{') text += ',';
    text += std::to_string(n);
  }
  return text + '}';
}

std::vector<report::ValueId> FindValues(const report::Report& report, std::string_view name) {
  if (name.starts_with('%')) name.remove_prefix(1);
  std::vector<report::ValueId> exact;
  std::vector<report::ValueId> similar;
  for (size_t i = 0; i < report.values.size(); ++i) {
    const report::ValueId id(i);
    if (!name.starts_with(report.values[id].instruction)) continue;
    const std::string own = ValueName(report, id);
    if (name == own || name == own + "{}") exact.push_back(id);
    if (name == report.values[id].instruction) similar.push_back(id);
  }
  return exact.empty() ? similar : exact;
}

}  // namespace stowplan::explain
