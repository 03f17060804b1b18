// SPDX-License-Identifier: Apache-2.0
// How large each buffer is, and in which memory space.
#include <algorithm>

#include <fmt/format.h>

#include "assign/assigner.h"
#include "base/checked_math.h"
#include "stowplan/target/size.h"

namespace stowplan {

std::optional<Diagnostics> Assigner::Measure() {
  const ValueFlow& flow = analysis_.flow;
  const BufferSet& buffers = analysis_.buffers;
  const std::string file = module_.source ? module_.source->name() : std::string();
  // Few shapes, many values.
  std::vector<std::optional<ByteCount>> known(module_.shapes.size());
  sizes_.assign(buffers.size(), 0);
  colors_.assign(flow.values.size(), 0);
  buffer_colors_.assign(buffers.size(), 0);
  // Offsets never exceed the sum of everything, aligned; when that fits, no later sum overflows.
  int64_t sum = 0;
  for (size_t b = 0; b < buffers.size(); ++b) {
    ValueId first;
    for (const ValueId id : buffers.values_of(BufferId(b))) {
      const hlo::InstrId instruction = flow.instruction(id);
      if (analysis_.calls.is_fused[module_.instructions[instruction].parent.index] != 0) continue;
      const hlo::ShapeId shape = flow.shape(id);
      std::optional<ByteCount>& size = known[shape.index];
      if (!size) size = ByteSize(module_.shapes, shape, rules_.target);
      if (!size->has_value()) {
        return Fail(file,
                    fmt::format("{}: {}", module_.name(instruction), hlo::Describe(size->error())))
            .error();
      }
      sizes_[b] = std::max(sizes_[b], **size);
      const hlo::LayoutId layout = module_.shapes[shape].layout;
      colors_[id.index] = layout.is_none() ? 0 : module_.shapes.layout(layout).memory_space;
      if (!first.is_none() && colors_[first.index] != colors_[id.index]) {
        return Fail(file,
                    fmt::format("{} and {} must share a buffer, but are in the memory "
                                "spaces {} and {}",
                                module_.name(flow.instruction(first)), module_.name(instruction),
                                colors_[first.index], colors_[id.index]))
            .error();
      }
      first = id;
    }
    if (first.is_none()) continue;
    buffer_colors_[b] = colors_[first.index];
    const std::optional<int64_t> step =
        CheckedAdd(sizes_[b], 2 * rules_.AlignmentOf(colors_[first.index]));
    const std::optional<int64_t> next = step ? CheckedAdd(sum, *step) : std::nullopt;
    if (!next) return Fail(file, "the sizes of all buffers together do not fit in 64 bits").error();
    sum = *next;
  }
  return std::nullopt;
}

}  // namespace stowplan
