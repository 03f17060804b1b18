// SPDX-License-Identifier: Apache-2.0
// Your own buffers in, offsets out: plans the memory of a small network, first in one memory, then
// in a small fast one with a large one behind it.
//
//     embed_buffers [OFFSET]      where the weights must lie; 4096 by default
//
// Exits with 1 if nothing fits, and with 2 if the problem makes no sense: try an OFFSET of 100.
#include <charconv>
#include <cstdint>
#include <iostream>
#include <string_view>

#include "stowplan/pack.h"

namespace pack = stowplan::pack;

namespace {

// The numbers of the buffers, in the order in which MakeProblem adds them.
enum : uint32_t { kWeights, kInput, kHidden, kScratch, kSum, kOutput };
const pack::Names kNames = {"weights", "input", "hidden", "scratch", "sum", "output"};

pack::Problem MakeProblem(int64_t weights_offset) {
  pack::Problem problem;
  // A buffer is alive in [start, end). Time is any number that grows: here, the steps of a program.
  problem.buffers = {
      {.size = 65536, .start = 0, .end = 6, .alignment = 4096},
      {.size = 16384, .start = 0, .end = 2, .alignment = 64},
      {.size = 32768, .start = 1, .end = 4, .alignment = 64},
      {.size = 24000, .start = 2, .end = 5, .alignment = 64},
      {.size = 8192, .start = 4, .end = 6, .alignment = 64},
      {.size = 8192, .start = 5, .end = 6, .alignment = 64},
  };
  // Something else has put the weights where they are.
  problem.pins = {{.buffer = kWeights, .offset = weights_offset}};
  // The last step works in place: its result shares the memory of its operand.
  problem.groups = {{kSum, kOutput}};
  // Between its two uses nobody needs what is in the scratch memory, so others may use it.
  problem.gaps = {{.buffer = kScratch, .start = 3, .end = 4, .low = 0, .high = 0}};
  return problem;
}

// Prints the plan and what is proved about it; returns the exit code.
int Report(const pack::Problem& problem, const stowplan::Result<pack::Answer>& answer) {
  if (!answer) {
    std::cerr << stowplan::Render(answer.error());
    return 2;
  }
  std::cout << Name(answer->status);
  if (!problem.pools.empty()) {
    // With pools, what matters is that every buffer has a place.
    std::cout << '\n';
    if (answer->plan.offsets.empty()) return 1;
  } else {
    std::cout << ": " << answer->plan.height << " bytes, and no plan takes less than "
              << answer->bound << '\n';
  }
  for (uint32_t b = 0; b < problem.buffers.size(); ++b) {
    const int64_t offset = answer->plan.offsets[b];
    std::cout << "  " << kNames[b] << ": " << offset << " to " << offset + problem.buffers[b].size;
    if (!problem.pools.empty()) std::cout << " of " << problem.pools[answer->plan.pools[b]].name;
    std::cout << '\n';
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t weights_offset = 4096;
  if (argc > 1) {
    const std::string_view text = argv[1];
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), weights_offset);
    if (argc > 2 || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
      std::cerr << "usage: embed_buffers [OFFSET]\n";
      return 2;
    }
  }
  pack::Problem problem = MakeProblem(weights_offset);

  // The names are only for messages. The options limit the search: by the work it may do, which
  // gives the same answer every time, or by `should_stop`, which may look at a clock.
  if (const int code = Report(problem, pack::Solve(problem, {.effort = 100'000}, kNames)))
    return code;

  // The same buffers in two memories. The weights must be in the large one; the others may be in
  // either, and prefer the first.
  problem.pools = {{.name = "SRAM", .capacity = 49152}, {.name = "DRAM", .capacity = 1 << 20}};
  problem.choices = {{.buffer = kWeights, .pools = {1}}};
  return Report(problem, pack::Solve(problem, {}, kNames));
}
