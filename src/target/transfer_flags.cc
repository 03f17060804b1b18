// SPDX-License-Identifier: Apache-2.0
#include "target/transfer_flags.h"

#include <span>
#include <vector>

namespace stowplan {
namespace {

constexpr int64_t kSyncFlags = 2;
constexpr size_t kFlag = 1;  // (data, flag, token)

bool IsWithoutLayout(const hlo::ShapeTable& shapes, hlo::ShapeId id) {
  return shapes[id].type == hlo::ElementType::kU32 && shapes.dims(id).empty() &&
         shapes[id].layout.is_none();
}

}  // namespace

hlo::Module WithTransferFlags(hlo::Module module, const Target& target) {
  if (!target.name.starts_with("tpu")) return module;
  for (size_t k = 0; k < module.instructions.size(); ++k) {
    hlo::Instruction& instruction = module.instructions[hlo::InstrId(k)];
    if (instruction.opcode != hlo::Opcode::kSend && instruction.opcode != hlo::Opcode::kRecv)
      continue;
    const std::span<const hlo::ShapeId> old = module.shapes.elements(instruction.shape);
    if (!module.shapes.is_tuple(instruction.shape) || old.size() <= kFlag ||
        !IsWithoutLayout(module.shapes, old[kFlag]))
      continue;
    std::vector<hlo::ShapeId> elements(old.begin(), old.end());
    const hlo::LayoutId layout = module.shapes.AddLayout({.memory_space = kSyncFlags});
    elements[kFlag] = module.shapes.AddArray(hlo::ElementType::kU32, {}, {}, layout);
    instruction.shape = module.shapes.AddTuple(elements);
  }
  return module;
}

}  // namespace stowplan
