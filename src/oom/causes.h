// SPDX-License-Identifier: Apache-2.0
// The parts of an explanation: rules about the figures of an incident.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oom/explain.h"

namespace stowplan::oom {

// What all rules use.
struct Case {
  const Log& log;
  const Incident& incident;
  std::optional<Size> lack;
  std::optional<Size> used;   // what everything takes: in the memory space, or in the program
  std::optional<Size> limit;  // of the memory space, or of the pool
};
Case MakeCase(const Log& log, const Incident& incident);
// Whether this many more bytes would have been enough, as far as that is known.
bool Covers(const Case& one, const std::optional<Size>& bytes);

// Outputs that lie in the memory of arguments: as stated, or as implied by the sum of the parts.
std::optional<Size> SharedOutputs(const Program& program);
// Bytes that hold no data, in the temporaries or in the listed buffers.
std::optional<Size> PaddingOf(const Incident& incident);
// Free bytes of the pool, or of the memory space.
std::optional<Size> FreeOf(const Incident& incident);
// Listed buffers of one source line, or of one operation, largest group first.
struct BufferGroup {
  std::string name;  // "model.py:42", else the op_name, else the shape
  size_t count = 0;
  std::optional<Size> bytes;
  size_t first = 0;  // of Incident::buffers
};
std::vector<BufferGroup> GroupBuffers(const Incident& incident);
// "model.py:42"; empty: not said.
std::string SourceOf(const Buffer& buffer);
// Listed buffers that the forward pass makes where there is a backward pass.
std::optional<Size> ActivationsOf(const Incident& incident);
// Whether the program computes gradients.
bool IsTraining(const Incident& incident);
// Whether it is about scratch memory of instructions, not about memory for arrays.
bool IsScratch(const Incident& incident);
// Whether the instruction is a custom kernel.
bool IsKernel(const Incident& incident);
// The everyday name of the memory space: "the TPU's main memory (hbm)".
std::string SpaceWords(const Incident& incident);

std::string HeadlineOf(const Case& one);
std::vector<Figure> FiguresOf(const Case& one);
std::vector<std::string> UnknownOf(const Case& one);

// Each appends what it finds.
void FindPoolCauses(const Case& one, std::vector<Cause>& causes);
void FindProgramCauses(const Case& one, std::vector<Cause>& causes);
void FindBufferCauses(const Case& one, std::vector<Cause>& causes);

// What helps against a cause.
std::vector<Fix> FixesFor(const Case& one, const Cause& cause);

}  // namespace stowplan::oom
