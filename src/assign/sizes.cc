// SPDX-License-Identifier: Apache-2.0
#include "assign/sizes.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "target/size.h"

namespace stowplan {

Result<BufferSizes> MeasureBuffers(const hlo::Module& module, const Analysis& analysis,
                                   const Rules& rules) {
  const ValueFlow& flow = analysis.flow;
  const BufferSet& buffers = analysis.buffers;
  const std::string file = module.source ? module.source->name() : std::string();
  // Few shapes, many values.
  std::vector<std::optional<ByteCount>> known(module.shapes.size());
  const auto size_of = [&](hlo::ShapeId shape) {
    std::optional<ByteCount>& size = known[shape.index];
    if (!size) size = ByteSize(module.shapes, shape, rules.target);
    return *size;
  };
  BufferSizes found = {.sizes = std::vector<int64_t>(buffers.size()),
                       .buffer_colors = std::vector<int64_t>(buffers.size()),
                       .colors = std::vector<int64_t>(flow.values.size())};
  // Offsets never exceed the sum of everything, aligned; when that fits, no later sum overflows.
  int64_t sum = 0;
  for (size_t b = 0; b < buffers.size(); ++b) {
    ValueId first;
    for (const ValueId id : buffers.values_of(BufferId(b))) {
      const hlo::InstrId instruction = flow.instruction(id);
      if (analysis.calls.is_fused[module.instructions[instruction].parent.index] != 0) continue;
      const hlo::ShapeId shape = flow.shape(id);
      const ByteCount size = size_of(shape);
      if (!size.has_value()) {
        return Fail(file,
                    fmt::format("{}: {}", module.name(instruction), hlo::Describe(size.error())));
      }
      found.sizes[b] = std::max(found.sizes[b], *size);
      const hlo::LayoutId layout = module.shapes[shape].layout;
      found.colors[id.index] = layout.is_none() ? 0 : module.shapes.layout(layout).memory_space;
      if (found.colors[id.index] == rules.preset_space) {
        // A bitcast may see an array without tiles in tiles, and with these their padding.
        for (const PositionId position : flow.positions_of(id)) {
          if (const ByteCount seen = size_of(flow.positions.shape(position)))
            found.sizes[b] = std::max(found.sizes[b], *seen);
        }
      }
      if (!first.is_none() && found.colors[first.index] != found.colors[id.index]) {
        return Fail(file,
                    fmt::format("{} and {} must share a buffer, but are in the memory "
                                "spaces {} and {}",
                                module.name(flow.instruction(first)), module.name(instruction),
                                found.colors[first.index], found.colors[id.index]));
      }
      first = id;
    }
    if (first.is_none()) continue;
    found.buffer_colors[b] = found.colors[first.index];
    const std::optional<int64_t> step =
        CheckedAdd(found.sizes[b], 2 * rules.AlignmentOf(found.buffer_colors[b]));
    const std::optional<int64_t> next = step ? CheckedAdd(sum, *step) : std::nullopt;
    if (!next) return Fail(file, "the sizes of all buffers together do not fit in 64 bits");
    sum = *next;
  }
  return found;
}

}  // namespace stowplan
