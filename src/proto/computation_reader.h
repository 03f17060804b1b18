// SPDX-License-Identifier: Apache-2.0
// HloComputationProto and its instructions, which make up nearly all of a module's bytes.
//
// Each instruction is read in one pass over its fields: what every instruction has is read at once,
// the rest is kept until the opcode is known (KeptFields). Names and texts stay views of the
// source.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/attribute_reader.h"
#include "proto/context.h"
#include "proto/id_map.h"
#include "proto/kept_fields.h"
#include "proto/shape_reader.h"
#include "stowplan/hlo/module.h"

namespace stowplan::proto {

class ComputationReader {
 public:
  ComputationReader(Context& context, ShapeReader& shapes);

  // HloScheduleProto: orders are attached to the computations read later. `bytes` must outlive the
  // reader.
  void ReadSchedule(std::string_view bytes);
  // Adds the computation to the module. Those that it calls must have been read before.
  void Read(std::string_view bytes);

  // None when there is no computation with this id.
  [[nodiscard]] hlo::CompId Find(int64_t id) const;

 private:
  void ReadInstruction(std::string_view bytes);
  void ReadOperand(int64_t id, const char* at);
  hlo::Opcode ReadOpcode(std::string_view at, std::string_view name);
  void SetSchedule(hlo::CompId computation, int64_t id);

  Context& context_;
  ShapeReader& shapes_;
  IdMap computations_;
  IdMap instructions_;  // of the computation being read
  IdMap sequences_;     // computation ids to rows of sequence_bytes_
  std::vector<std::string_view> sequence_bytes_;
  AttributeReader attributes_;

  // Of the instruction being read; members to save allocations.
  KeptFields fields_;
  std::vector<hlo::InstrId> operands_;
  std::vector<hlo::InstrId> sequence_;
};

}  // namespace stowplan::proto
