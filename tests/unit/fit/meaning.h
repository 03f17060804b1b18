// SPDX-License-Identifier: Apache-2.0
// What a program computes, as a number: two modules whose results are the same function of their
// parameters, instruction by instruction, have the same one, whatever the names and the order, and
// however often something is computed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan {

class Meaning {
 public:
  explicit Meaning(const hlo::Module& module)
      : module_(module), computations_(module.computations.size(), 0) {}

  // Callees precede their callers, and operands their readers.
  uint64_t Find() {
    for (size_t c = 0; c < computations_.size(); ++c) {
      const hlo::Computation& row = module_.computations[hlo::CompId(c)];
      std::vector<uint64_t> values(row.count, 0);
      std::vector<uint8_t> is_done(row.count, 0);
      std::vector<uint32_t> stack = {row.root.index - row.first.index};
      while (!stack.empty()) {
        const uint32_t k = stack.back();
        const hlo::InstrId id(size_t{row.first.index} + k);
        bool is_ready = true;
        for (const hlo::InstrId operand : module_.operands_of(id)) {
          const uint32_t o = operand.index - row.first.index;
          if (is_done[o] == 0) {
            stack.push_back(o);
            is_ready = false;
          }
        }
        if (!is_ready) continue;
        stack.pop_back();
        if (is_done[k] != 0) continue;
        values[k] = ValueOf(id, row.first, values);
        is_done[k] = 1;
      }
      computations_[c] = values[row.root.index - row.first.index];
    }
    return computations_[module_.entry.index];
  }

 private:
  static uint64_t Join(uint64_t a, uint64_t b) {
    return (a ^ (b + 0x9E3779B97F4A7C15ULL + (a << 6U) + (a >> 2U))) * 0xBF58476D1CE4E5B9ULL;
  }
  static uint64_t OfText(std::string_view text) { return std::hash<std::string_view>()(text); }

  uint64_t ValueOf(hlo::InstrId id, hlo::InstrId first, const std::vector<uint64_t>& values) const {
    uint64_t hash = Join(OfText(module_.opcode_name(id)),
                         OfText(hlo::ToString(module_.shapes, module_.instructions[id].shape)));
    if (module_.instructions[id].opcode == hlo::Opcode::kParameter) {
      const auto parameters = module_.parameters_of(module_.instructions[id].parent);
      for (size_t k = 0; k < parameters.size(); ++k) {
        if (parameters[k] == id) hash = Join(hash, k);
      }
    }
    for (const hlo::Attribute& attribute : module_.attributes_of(id))
      hash = Join(hash, OfAttribute(attribute));
    for (const hlo::CompId callee : module_.called_by(id))
      hash = Join(hash, computations_[callee.index]);
    for (const hlo::InstrId operand : module_.operands_of(id))
      hash = Join(hash, values[operand.index - first.index]);
    return hash;
  }

  uint64_t OfAttribute(const hlo::Attribute& attribute) const {
    uint64_t hash = static_cast<uint64_t>(attribute.key);
    switch (hlo::KindOf(attribute.key)) {
      case hlo::ValueKind::kInt:
      case hlo::ValueKind::kBool:
        return Join(hash, static_cast<uint64_t>(attribute.number()));
      case hlo::ValueKind::kInts:
      case hlo::ValueKind::kBools:
      case hlo::ValueKind::kIntLists:
      case hlo::ValueKind::kWindow:
      case hlo::ValueKind::kSlices:
      case hlo::ValueKind::kPadding:
      case hlo::ValueKind::kAliasing:
        for (const int64_t number : hlo::Module::Rows(module_.ints, attribute.rows()))
          hash = Join(hash, static_cast<uint64_t>(number));
        return hash;
      case hlo::ValueKind::kWords:
      case hlo::ValueKind::kFrontendAttributes:
        for (const hlo::Text text : hlo::Module::Rows(module_.texts, attribute.rows()))
          hash = Join(hash, OfText(module_.view(text)));
        return hash;
      case hlo::ValueKind::kComputation:
      case hlo::ValueKind::kComputations:
      case hlo::ValueKind::kInstructions:
      case hlo::ValueKind::kShape:
      case hlo::ValueKind::kShapes:
        return 0;  // callees are counted by themselves
      default:
        return Join(hash, OfText(module_.view(attribute.text())));
    }
  }

  const hlo::Module& module_;
  std::vector<uint64_t> computations_;
};

inline uint64_t MeaningOf(const hlo::Module& module) { return Meaning(module).Find(); }

}  // namespace stowplan
