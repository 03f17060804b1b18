// SPDX-License-Identifier: Apache-2.0
// What `stowplan explain-oom` shows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "oom/explain.h"
#include "oom/oom.h"
#include "stowplan/base/speech.h"

namespace stowplan::page {

struct OomDump;

struct OomView {
  const oom::Log& log;
  size_t incident = 0;            // the one to explain
  std::string input = {};         // as typed, for the commands to try next; empty: none
  size_t limit = 8;               // buffers to show; 0: all
  const OomDump* dump = nullptr;  // null: no dump was given
  Speech speech = Speech::kCommandLine;
};

// One page: what happened, the figures, the largest buffers, why, what helps, what to do next.
std::string OomPage(const OomView& view);
// Schema stowplan.oom/1: the whole log, each incident with its explanation.
std::string OomJson(const OomView& view);

}  // namespace stowplan::page
