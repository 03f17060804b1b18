// SPDX-License-Identifier: Apache-2.0
// Why memory ran out, and what would help, from the figures of a log alone.
//
// Every cause says which figures it follows from. A cause that is sure follows from them alone; one
// that is not is the usual reason for such figures, and says "may". Savings are upper bounds from
// the log; only a plan of the program gives them exactly (advise/advice.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oom/oom.h"

namespace stowplan::oom {

enum class CauseKind : uint8_t {
  kOtherProcess,    // another process has the device's memory
  kOutsidePool,     // XLA's pool left nothing for libraries
  kPoolSmall,       // the pool is only a part of the device's memory
  kPoolFragmented,  // enough is free, but not in one piece
  kPoolFull,        // what is alive already leaves too little
  kKernel,          // scratch memory of one kernel
  kHost,            // the machine's own memory
  kPadding,         // tiles that are not filled
  kOneBuffer,       // one buffer takes a large part of everything
  kSameBuffers,     // many buffers from one place in the source
  kPacking,         // holes in the program's own plan
  kArguments,       // parameters
  kOutputs,         // results that do not lie in the memory of arguments
  kTemporaries,     // intermediate results of the program
  kRemat,           // the compiler tried to recompute values instead of keeping them, and failed
  kTooLarge,        // more than there is, and the log has no details
};
// "padding": one word, for files
[[nodiscard]] std::string_view Word(CauseKind kind);

struct Cause {
  CauseKind kind = CauseKind::kTooLarge;
  std::string what;           // a sentence
  std::string why;            // the figures it follows from
  std::optional<Size> bytes;  // that it accounts for
  bool is_sure = true;        // it follows from the figures
  bool covers_lack = false;   // without it, there would be enough
};

struct Fix {
  CauseKind cause = CauseKind::kTooLarge;
  std::string what;              // a sentence without the full stop
  std::vector<std::string> how;  // what to write or type, one line each
  std::string note;              // what it costs, or when it does not help
  std::optional<Size> saves;     // at most
  bool is_enough = false;        // if everything in `saves` is saved
  // 0: a setting; 1: a line of code; 2: the program computes differently; 3: it does something
  // different.
  int effort = 0;
};

// A row of the sum: what there is, what is requested, what it consists of.
struct Figure {
  std::string name;
  Size size;
  std::string note;
  int depth = 0;  // parts of a row are one level deeper
};

struct Explanation {
  std::string headline;  // one sentence
  std::vector<Figure> figures;
  std::optional<Size> lack;          // bytes that were missing
  std::vector<Cause> causes;         // most important first
  std::vector<Fix> fixes;            // largest effect for the least effort first
  std::vector<std::string> unknown;  // what the log does not say, one sentence each
};

// Requires incident < log.incidents.size().
[[nodiscard]] Explanation Explain(const Log& log, size_t incident);

// What is lacking. Absent if the log does not say.
[[nodiscard]] std::optional<Size> LackOf(const Incident& incident);

}  // namespace stowplan::oom
