// SPDX-License-Identifier: Apache-2.0
// Small protos for tests, written with protozero. All functions return serialized messages.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_builder.hpp>

#include "proto/fields.h"
#include "stowplan/hlo/element_type.h"

namespace stowplan::proto::test {

template <class Field>
using Writer = protozero::pbf_builder<Field>;

// A message of `Field`s, filled by `fill`.
template <class Field>
std::string Bytes(const std::function<void(Writer<Field>&)>& fill) {
  std::string bytes;
  Writer<Field> writer(bytes);
  fill(writer);
  return bytes;
}

using Ints = std::vector<int64_t>;

template <class Field>
void AddInts(Writer<Field>& writer, Field field, const Ints& numbers) {
  writer.add_packed_int64(field, numbers.begin(), numbers.end());
}

// An array in the default layout, as XLA writes it.
inline std::string Array(hlo::ElementType type, const Ints& dims) {
  return Bytes<ShapeField>([&](auto& shape) {
    shape.add_enum(ShapeField::kElementType, static_cast<int32_t>(type));
    AddInts(shape, ShapeField::kDimensions, dims);
    shape.add_message(ShapeField::kLayout, Bytes<LayoutField>([&](auto& layout) {
                        AddInts(layout, LayoutField::kMinorToMajor, [&] {
                          Ints order;
                          for (size_t i = dims.size(); i-- > 0;)
                            order.push_back(static_cast<int64_t>(i));
                          return order;
                        }());
                      }));
  });
}
inline std::string F32(const Ints& dims) { return Array(hlo::ElementType::kF32, dims); }

inline std::string Tuple(const std::vector<std::string>& elements) {
  return Bytes<ShapeField>([&](auto& shape) {
    shape.add_enum(ShapeField::kElementType, static_cast<int32_t>(hlo::ElementType::kTuple));
    for (const std::string& element : elements)
      shape.add_message(ShapeField::kTupleShapes, element);
  });
}

struct Instruction {
  std::string name;
  std::string opcode;
  std::string shape;
  int64_t id = 0;
  Ints operands;
  std::function<void(Writer<InstructionField>&)> more;  // further fields

  [[nodiscard]] std::string bytes() const {
    return Bytes<InstructionField>([&](auto& writer) {
      writer.add_string(InstructionField::kName, name);
      writer.add_string(InstructionField::kOpcode, opcode);
      writer.add_message(InstructionField::kShape, shape);
      if (more) more(writer);
      writer.add_int64(InstructionField::kId, id);
      AddInts(writer, InstructionField::kOperandIds, operands);
    });
  }
};

inline Instruction Parameter(std::string name, std::string shape, int64_t id, int64_t number) {
  return {std::move(name), "parameter", std::move(shape), id, {}, [number](auto& writer) {
            writer.add_int64(InstructionField::kParameterNumber, number);
          }};
}

struct Computation {
  std::string name;
  int64_t id = 0;
  int64_t root = 0;
  std::vector<Instruction> instructions;
  std::function<void(Writer<ComputationField>&)> more;

  [[nodiscard]] std::string bytes() const {
    return Bytes<ComputationField>([&](auto& writer) {
      writer.add_string(ComputationField::kName, name);
      for (const Instruction& instruction : instructions) {
        writer.add_message(ComputationField::kInstructions, instruction.bytes());
      }
      writer.add_int64(ComputationField::kId, id);
      writer.add_int64(ComputationField::kRootId, root);
      if (more) more(writer);
    });
  }
};

// The last computation is the entry.
inline std::string Module(const std::vector<Computation>& computations,
                          const std::function<void(Writer<ModuleField>&)>& more = {}) {
  return Bytes<ModuleField>([&](auto& writer) {
    writer.add_string(ModuleField::kName, "m");
    for (const Computation& computation : computations) {
      writer.add_message(ModuleField::kComputations, computation.bytes());
    }
    if (!computations.empty())
      writer.add_int64(ModuleField::kEntryComputationId, computations.back().id);
    if (more) more(writer);
  });
}

// The running example of the headers:
//
//     ENTRY main {
//       p = f32[4]{0} parameter(0)
//       add = f32[4]{0} add(p, p)
//       ROOT mul = f32[4]{0} multiply(add, p)
//     }
inline Computation Example() {
  return {"main",
          7,
          3,
          {Parameter("p", F32({4}), 1, 0),
           {"add", "add", F32({4}), 2, {1, 1}, {}},
           {"mul", "multiply", F32({4}), 3, {2, 1}, {}}},
          {}};
}

// A module that computes one instruction from parameters with the given shapes (ids 100, 101, ...).
inline std::string One(const Instruction& instruction,
                       const std::vector<std::string>& parameters = {},
                       std::vector<Computation> called = {}) {
  Computation entry{"main", 99, instruction.id, {}, {}};
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    entry.instructions.push_back(
        Parameter("p" + std::to_string(i), parameters[i], 100 + number, number));
  }
  entry.instructions.push_back(instruction);
  called.push_back(entry);
  return Module(called);
}

}  // namespace stowplan::proto::test
