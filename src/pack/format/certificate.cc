// SPDX-License-Identifier: Apache-2.0
#include "pack/certificate.h"

#include <algorithm>

#include <fmt/format.h>

namespace stowplan::pack {
namespace {

// A name ends its line, so only what would end the line matters.
std::string OneLine(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return text;
}

void AppendProblem(const Table& table, const Answer& answer, bool has_plan, std::string& out) {
  const auto to = std::back_inserter(out);
  const Problem& problem = table.problem;
  for (const Pool& pool : problem.pools)
    fmt::format_to(to, "pool {} {}\n", pool.capacity, OneLine(pool.name));
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    fmt::format_to(to, "buffer {} {} {} {} {} {} {}\n", buffer.start, buffer.end, buffer.size,
                   buffer.alignment, has_plan ? answer.plan.offsets[b] : -1,
                   has_plan && !answer.plan.pools.empty() ? answer.plan.pools[b] : 0,
                   OneLine(IdOf(table, b)));
  }
  for (const Gap& gap : problem.gaps)
    fmt::format_to(to, "gap {} {} {} {} {}\n", gap.buffer, gap.start, gap.end, gap.low, gap.high);
  for (const Spot& pin : problem.pins) fmt::format_to(to, "pin {} {}\n", pin.buffer, pin.offset);
  for (const std::vector<uint32_t>& group : problem.groups)
    fmt::format_to(to, "group {}\n", fmt::join(group, " "));
  for (const auto& [a, b] : problem.apart) fmt::format_to(to, "apart {} {}\n", a, b);
  for (const PoolChoice& choice : problem.choices)
    fmt::format_to(to, "choice {} {}\n", choice.buffer, fmt::join(choice.pools, " "));
}

}  // namespace

std::string WriteCertificate(const Table& table, const Answer& answer,
                             std::optional<int64_t> capacity) {
  std::string out = "stowplan-certificate 1\n";
  const auto to = std::back_inserter(out);
  const bool has_plan = answer.status == Status::kOptimal || answer.status == Status::kFeasible;
  if (capacity) fmt::format_to(to, "capacity {}\n", *capacity);
  AppendProblem(table, answer, has_plan, out);
  if (has_plan) fmt::format_to(to, "height {}\n", answer.plan.height);
  fmt::format_to(to, "status {}\nbound {}\n", Name(answer.status), answer.bound);
  const bool is_load =
      answer.witness.empty() && (!table.problem.pools.empty() || answer.bound <= answer.load.bytes);
  if (is_load) {
    fmt::format_to(to, "witness load {}\n", answer.load.time);
  } else if (!answer.witness.empty()) {
    fmt::format_to(to, "witness buffers {}\n", fmt::join(answer.witness, " "));
  } else {
    // All of them together need as much.
    out += "witness buffers";
    for (size_t b = 0; b < table.problem.buffers.size(); ++b) fmt::format_to(to, " {}", b);
    out += '\n';
  }
  out += "end\n";
  return out;
}

}  // namespace stowplan::pack
