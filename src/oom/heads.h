// SPDX-License-Identifier: Apache-2.0
// The sentences that say that memory ran out, and the figures in them. A sentence may span lines; a
// line may have several.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oom/oom.h"

namespace stowplan::oom {

// Clean text: one blank between words, also where a line ended.
struct Window {
  std::string text;
  std::string lower;      // the same in lower case
  size_t first_line = 0;  // where the first line ends: only what begins before belongs to it
  int64_t number = 0;     // of that line
};

struct Head {
  Incident incident;
  size_t begin = 0;          // in the window
  bool is_addition = false;  // adds to the incident before it
};

// Whether anything below begins in the first line. The window need not extend beyond the second
// line.
bool MayBegin(const Window& window);

// In the order of the text.
std::vector<Head> FindHeads(const Window& window);

// The warning of rematerialization that begins in the first line, if there is one.
std::optional<Remat> FindRemat(const Window& window);

// "E1000" of "RESOURCE_EXHAUSTED: E1000: ..."; empty when the first line has none.
std::string FindCode(const Window& window);
// "jit_step" of "[executable_name='jit_step']", "Error loading program 'jit_step'".
std::string FindExecutable(const Window& window);

}  // namespace stowplan::oom
