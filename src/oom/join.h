// SPDX-License-Identifier: Apache-2.0
// Joins a log with the plan of its program: which value is which buffer, and whether the figures
// are those of the same program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explain/picture.h"
#include "oom/oom.h"

namespace stowplan::oom {

// How a value was found for a buffer. Sizes always agree.
enum class MatchedBy : uint8_t {
  kNothing,  // none was found
  kName,     // the log names the instruction
  kOpName,   // the same op_name and shape
  kShape,    // the same shape only: one of several that look alike
};
// "name": one word, for files
[[nodiscard]] std::string_view Word(MatchedBy matched_by);

struct Match {
  MatchedBy matched_by = MatchedBy::kNothing;
  report::ValueId value;  // none when nothing was found
};

// A figure that both have.
struct JoinedFigure {
  std::string name;
  Size log;
  int64_t plan = 0;
  bool agrees = false;
};

struct Join {
  std::vector<Match> matches;         // by the incident's buffers
  std::vector<JoinedFigure> figures;  // of the program
  report::AllocationId requested;     // the allocation that was requested; none: no such size
  bool is_same = false;               // there are figures, and all agree
};

[[nodiscard]] Join JoinPlan(const Incident& incident, const explain::Picture& picture);

}  // namespace stowplan::oom
