// SPDX-License-Identifier: Apache-2.0
// `stowplan explain-oom LOG --dump=DIR`: the log beside the program that it is about.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "advise/advice.h"
#include "base/json_writer.h"
#include "cli/listener.h"
#include "cli/plan_input.h"
#include "oom/join.h"
#include "oom/oom.h"

namespace stowplan::cli {

struct OomDumpOptions {
  PlanInputOptions input;
  double time_limit = 30;                  // of the advice, in seconds
  std::function<bool()> should_stop = {};  // ends the advice in place of the limit
  size_t limit = 8;                        // buffers that are shown; 0: all
  Speech speech = Speech::kCommandLine;
};

struct OomDump {
  OomDumpOptions options;
  PlanInput input;
  oom::Join join;
  std::optional<advise::AdviceReport> advice;
  std::string no_advice;  // why there is none
};

// Of a dump's modules the one that the log names, else the one whose figures are the log's, else
// the largest. Nothing, and messages, when there is no plan.
std::optional<OomDump> JoinDump(const oom::Incident& incident, OomDumpOptions options,
                                Listener& listener);

// More of the page.
std::string OomDumpPage(const oom::Incident& incident, const OomDump& dump);
// The member "dump" of stowplan.oom/1.
void WriteOomDump(const OomDump& dump, JsonWriter& json);

}  // namespace stowplan::cli
