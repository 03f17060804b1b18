// SPDX-License-Identifier: Apache-2.0
// Why memory ran out, and what would help: from the figures of a log, and from nothing else.
//
// Every cause says which figures it follows from. A cause that is sure follows from them alone; one
// that is not is the usual reason for such figures, and says "may". Savings are what the log allows
// at most; only a plan of the program tells them exactly (advise/advice.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oom/oom.h"

namespace stowplan::oom {

enum class CauseKind : uint8_t {
  kOtherProcess,    // somebody else has the device's memory
  kOutsidePool,     // XLA's pool left nothing for libraries
  kPoolSmall,       // the pool is only a part of the device's memory
  kPoolFragmented,  // enough is free, but not in one piece
  kPoolFull,        // what is alive already leaves too little
  kKernel,          // scratch memory of one kernel
  kHost,            // the machine's own memory
  kPadding,         // tiles that are not filled
  kOneBuffer,       // one buffer takes a good part of all
  kSameBuffers,     // many buffers of one place in the source
  kPacking,         // holes in the program's own plan
  kArguments,       // parameters
  kOutputs,         // results that do not lie in the memory of arguments
  kTemporaries,     // what the program computes in between
  kRemat,           // the compiler tried to compute again instead of keeping, and failed
  kTooLarge,        // more than there is, and the log says no more
};
// "padding": one word, for files
[[nodiscard]] std::string_view Word(CauseKind kind);

struct Cause {
  CauseKind kind = CauseKind::kTooLarge;
  std::string what;           // a sentence
  std::string why;            // the figures that it follows from
  std::optional<Size> bytes;  // that it accounts for
  bool is_sure = true;        // it follows from the figures
  bool covers_lack = false;   // without it, there would be enough
};

struct Fix {
  CauseKind cause = CauseKind::kTooLarge;
  std::string what;              // a sentence without its full stop
  std::vector<std::string> how;  // what to write or type, a line each
  std::string note;              // what it costs, when it does not help
  std::optional<Size> saves;     // at most
  bool is_enough = false;        // if all of that is saved
  // 0: a setting; 1: a line of code; 2: the program computes otherwise; 3: it does something else.
  int effort = 0;
};

// A row of the sum: what there is, what is wanted, what it is made of.
struct Figure {
  std::string name;
  Size size;
  std::string note;
  int depth = 0;  // parts of the row above stand deeper
};

struct Explanation {
  std::string headline;  // one sentence
  std::vector<Figure> figures;
  std::optional<Size> lack;          // bytes that would have had to be there
  std::vector<Cause> causes;         // what matters most first
  std::vector<Fix> fixes;            // what helps most, for the least, first
  std::vector<std::string> unknown;  // what the log does not say, a sentence each
};

// Needs incident < log.incidents.size().
[[nodiscard]] Explanation Explain(const Log& log, size_t incident);

// What is lacking. Absent when the log does not tell.
[[nodiscard]] std::optional<Size> LackOf(const Incident& incident);

}  // namespace stowplan::oom
