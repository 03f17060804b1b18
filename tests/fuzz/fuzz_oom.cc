// SPDX-License-Identifier: Apache-2.0
// Any bytes as a log. What is found has a place and can be explained, and no figure is negative.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "laws.h"
#include "oom/explain.h"
#include "oom/oom.h"

namespace {

namespace oom = stowplan::oom;

void CheckSize(const std::optional<oom::Size>& size, std::string_view input) {
  if (size && (size->bytes < 0 || size->slack < 0))
    stowplan::fuzz::Fail("a size below zero", std::string(input));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const oom::Log log = oom::ReadLog(input);
  for (size_t i = 0; i < log.incidents.size(); ++i) {
    const oom::Incident& incident = log.incidents[i];
    if (incident.count < 1 || incident.line < 1 || incident.line > log.lines)
      stowplan::fuzz::Fail("an incident without a place", std::string(input));
    for (const auto& figure : {incident.requested, incident.used, incident.limit, incident.exceeded,
                               incident.free, incident.largest_free, incident.pool.in_use})
      CheckSize(figure, input);
    for (const oom::Buffer& buffer : incident.buffers) CheckSize(buffer.size, input);
    const oom::Explanation explanation = oom::Explain(log, i);
    CheckSize(explanation.lack, input);
    if (explanation.headline.empty() || explanation.causes.empty() || explanation.fixes.empty())
      stowplan::fuzz::Fail("an incident without an explanation", std::string(input));
    for (const oom::Fix& fix : explanation.fixes)
      if (fix.what.empty() || fix.how.empty())
        stowplan::fuzz::Fail("a fix without words", std::string(input));
  }
  if (oom::WorstIncident(log).has_value() == log.incidents.empty())
    stowplan::fuzz::Fail("the worst of none, or none of some", std::string(input));
  return 0;
}
