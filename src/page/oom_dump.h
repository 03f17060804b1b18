// SPDX-License-Identifier: Apache-2.0
// The log of a program that ran out of memory, joined with a dump of the program.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advise/advice.h"
#include "base/json_writer.h"
#include "oom/join.h"
#include "oom/oom.h"
#include "stowplan/session.h"

namespace stowplan::page {

struct OomDumpOptions {
  std::vector<std::string> paths;  // of the dump
  PlanOptions plan;
  std::function<bool()> should_stop = {};  // ends the search for advice
  size_t limit = 8;                        // buffers to show; 0: all
};

struct OomDump {
  OomDumpOptions options;
  PlannedModule planned;
  oom::Join join;
  std::optional<advise::AdviceReport> advice;
  std::string no_advice;  // why there is no advice
};

// Uses the module of the dump that the log names, else the one whose figures match the log, else
// the largest. Fails if there is no plan.
Result<OomDump> JoinDump(const oom::Incident& incident, OomDumpOptions options);

// The part of the page about the dump.
std::string OomDumpPage(const oom::Incident& incident, const OomDump& dump);
// The member "dump" of stowplan.oom/1.
void WriteOomDump(const OomDump& dump, JsonWriter& json);

}  // namespace stowplan::page
