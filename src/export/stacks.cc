// SPDX-License-Identifier: Apache-2.0
#include "export/stacks.h"

#include <algorithm>

#include "explain/partition.h"
#include "export/formats.h"

namespace stowplan::exporting {
namespace {

constexpr uint32_t kNoRow = UINT32_MAX;
// Deeper stacks are no program's: they would make the file as large as the square of the input.
constexpr size_t kMostFrames = 256;

}  // namespace

StackFinder::StackFinder(const Subject& subject)
    : picture_(*subject.picture),
      stacks_(subject.stacks),
      row_of_frame_(picture_.frames.size(), kNoRow),
      depths_(picture_.frames.size(), 1) {
  for (size_t i = 0; i < picture_.frames.size(); ++i) {
    // Callers stand before what they call.
    const explain::FrameId parent = picture_.frames[explain::FrameId(i)].parent;
    if (!parent.is_none()) depths_[i] = depths_[parent.index] + 1;
  }
}

std::span<const uint32_t> StackFinder::Of(report::ValueId id) {
  using explain::By;
  stack_.clear();
  const explain::ValueFact& fact = picture_.fact(id);
  const By by = stacks_ == Stacks::kSource ? By::kStack : By::kOpName;
  const std::string_view others = explain::RowOfOthers(picture_, id, by);
  if (!others.empty()) stack_.push_back(Named(others));
  if (others.empty() && by == By::kStack) {
    AddSource(fact.frame);
  } else if (others.empty() || explain::RowOfOthers(picture_, id, By::kOpName).empty()) {
    AddParts(explain::OpNameParts(fact.op_name));
  } else if (const std::string_view path =
                 fact.is_parameter_copy ? fact.op_name : ParameterPath(picture_, id);
             !path.empty()) {
    AddParts(explain::ParameterParts(path));
  }
  return stack_;
}

std::string StackFinder::LeafText(report::ValueId id) const {
  std::string text = explain::ValueName(*picture_.report, id);
  const std::string_view shape = picture_.report->values[id].shape;
  if (!shape.empty()) text += " " + std::string(shape);
  return text;
}

uint32_t StackFinder::Named(std::string_view name) {
  if (name.empty()) name = "(no name)";
  const auto [row, is_new] =
      rows_.try_emplace(std::string(name), static_cast<uint32_t>(frames_.size()));
  if (is_new) {
    StackFrame frame;
    frame.name = name;
    frames_.push_back(std::move(frame));
  }
  return row->second;
}

void StackFinder::AddSource(explain::FrameId innermost) {
  size_t kept = Cut(depths_[innermost.index]);
  size_t at = stack_.size() + kept;
  stack_.resize(at);
  for (explain::FrameId id = innermost; kept-- > 0; id = picture_.frames[id].parent)
    stack_[--at] = RowOf(id);
}

void StackFinder::AddParts(std::span<const std::string_view> parts) {
  for (const std::string_view part : parts.last(Cut(parts.size()))) stack_.push_back(Named(part));
}

uint32_t StackFinder::RowOf(explain::FrameId id) {
  uint32_t& row = row_of_frame_[id.index];
  if (row != kNoRow) return row;
  const std::string text = explain::FrameText(picture_, id);
  row = Named(text.empty() ? "(no source)" : text);
  const explain::Frame& frame = picture_.frames[id];
  frames_[row].function = frame.function;
  frames_[row].file = frame.file;
  frames_[row].line = std::max(frame.line, 0);
  return row;
}

size_t StackFinder::Cut(size_t count) {
  if (count <= kMostFrames) return count;
  stack_.push_back(Named("(" + std::to_string(count - kMostFrames) + " more frames)"));
  return kMostFrames;
}

}  // namespace stowplan::exporting
