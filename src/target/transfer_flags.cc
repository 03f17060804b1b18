// SPDX-License-Identifier: Apache-2.0
#include "target/transfer_flags.h"

#include <algorithm>
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

// A send or a recv whose flag has lost its memory space.
bool LacksFlag(const hlo::Module& module, const hlo::Instruction& instruction) {
  if (instruction.opcode != hlo::Opcode::kSend && instruction.opcode != hlo::Opcode::kRecv)
    return false;
  if (!module.shapes.is_tuple(instruction.shape)) return false;
  const std::span<const hlo::ShapeId> elements = module.shapes.elements(instruction.shape);
  return elements.size() > kFlag && IsWithoutLayout(module.shapes, elements[kFlag]);
}

}  // namespace

bool NeedsTransferFlags(const hlo::Module& module, const Target& target) {
  if (!target.name.starts_with("tpu")) return false;
  return std::ranges::any_of(module.instructions.rows(), [&](const hlo::Instruction& instruction) {
    return LacksFlag(module, instruction);
  });
}

hlo::Module WithTransferFlags(hlo::Module module, const Target& target) {
  if (!target.name.starts_with("tpu")) return module;
  for (size_t k = 0; k < module.instructions.size(); ++k) {
    hlo::Instruction& instruction = module.instructions[hlo::InstrId(k)];
    if (!LacksFlag(module, instruction)) continue;
    const std::span<const hlo::ShapeId> old = module.shapes.elements(instruction.shape);
    std::vector<hlo::ShapeId> elements(old.begin(), old.end());
    const hlo::LayoutId layout = module.shapes.AddLayout({.memory_space = kSyncFlags});
    elements[kFlag] = module.shapes.AddArray(hlo::ElementType::kU32, {}, {}, layout);
    instruction.shape = module.shapes.AddTuple(elements);
  }
  return module;
}

}  // namespace stowplan
