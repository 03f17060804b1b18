// SPDX-License-Identifier: Apache-2.0
#include "page/pack_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

// The highest end in each pool.
std::vector<int64_t> PoolHeights(const pack::Problem& problem, const pack::Plan& plan) {
  std::vector<int64_t> heights(problem.pools.size());
  for (size_t b = 0; b < plan.pools.size(); ++b) {
    int64_t& height = heights[plan.pools[b]];
    height = std::max(height, plan.offsets[b] + problem.buffers[b].size);
  }
  return heights;
}

// How many bytes are not in their preferred pool.
int64_t SpilledBytes(const pack::Problem& problem, const pack::Plan& plan) {
  int64_t bytes = 0;
  for (uint32_t b = 0; b < plan.pools.size(); ++b) {
    const auto choice = std::ranges::lower_bound(problem.choices, b, {}, &pack::PoolChoice::buffer);
    const bool is_chosen = choice != problem.choices.end() && choice->buffer == b;
    if (plan.pools[b] != (is_chosen ? choice->pools.front() : 0)) bytes += problem.buffers[b].size;
  }
  return bytes;
}

// What the bound follows from.
std::string BoundText(const pack::Answer& answer) {
  if (answer.bound <= answer.load.bytes) {
    return fmt::format("{} are alive at time {}", HumanAndExactBytes(answer.bound),
                       answer.load.time);
  }
  return fmt::format(
      "{} cannot lie in less than {}",
      answer.witness.empty() ? "the buffers" : CountOf(std::ssize(answer.witness), "buffer"),
      HumanAndExactBytes(answer.bound));
}

// With pools.
std::string SpillText(const pack::Table& table, const pack::Answer& answer) {
  switch (answer.status) {
    case pack::Status::kOptimal:
      return "optimal: all buffers are in the pools that they prefer";
    case pack::Status::kFeasible:
      return fmt::format("feasible: {} are not in the pools that they prefer",
                         HumanAndExactBytes(SpilledBytes(table.problem, answer.plan)));
    case pack::Status::kInfeasible:
      return fmt::format(
          "infeasible: the pools are too small for {}",
          answer.witness.empty()
              ? fmt::format("the {} at time {}", HumanAndExactBytes(answer.load.bytes),
                            answer.load.time)
              : CountOf(std::ssize(answer.witness), "buffer") + " that can go nowhere else");
    case pack::Status::kUndecided:
      return "undecided: no plan within the pools was found, nor a proof that there is none";
  }
  return {};
}

std::string StatusText(const pack::Table& table, const pack::Answer& answer,
                       std::optional<int64_t> capacity) {
  if (!table.problem.pools.empty()) return SpillText(table, answer);
  const std::string bound = BoundText(answer);
  const std::string room = capacity ? HumanAndExactBytes(*capacity) : "any memory";
  switch (answer.status) {
    case pack::Status::kOptimal:
      return "optimal: " + bound;
    case pack::Status::kFeasible:
      if (answer.bound == 0) return "feasible: " + bound;
      return fmt::format("feasible, at most {:.3f} % above optimum: {}",
                         100.0 * static_cast<double>(answer.plan.height - answer.bound) /
                             static_cast<double>(answer.bound),
                         bound);
    case pack::Status::kInfeasible:
      return fmt::format("infeasible: no plan fits {}: {}", room, bound);
    case pack::Status::kUndecided:
      return fmt::format(
          "undecided: no plan within {} was found, nor a proof that there is none; the least "
          "height "
          "is between {} and {}: {}",
          room, HumanAndExactBytes(answer.bound), HumanAndExactBytes(answer.plan.height), bound);
  }
  return {};
}

}  // namespace

bool HasFit(const pack::Answer& answer) {
  return answer.status == pack::Status::kOptimal || answer.status == pack::Status::kFeasible;
}

std::string PackText(const pack::Table& table, const pack::Answer& answer,
                     std::optional<int64_t> capacity) {
  const pack::Problem& problem = table.problem;
  const std::string count = CountOf(std::ssize(problem.buffers), "buffer");
  std::string out;
  if (problem.pools.empty()) {
    out = fmt::format("{} in {}\n", count, HumanAndExactBytes(answer.plan.height));
  } else {
    out = fmt::format("{} in {}\n", count, CountOf(std::ssize(problem.pools), "pool"));
    const std::vector<int64_t> heights = PoolHeights(problem, answer.plan);
    if (answer.plan.pools.empty()) return StatusText(table, answer, capacity) + "\n";
    TextTable rows({TextTable::kLeft, TextTable::kRight, TextTable::kRight, TextTable::kLeft});
    for (uint32_t p = 0; p < heights.size(); ++p) {
      rows.Add({"  " + Printable(problem.pools[p].name), HumanAndExactBytes(heights[p]),
                "of " + HumanAndExactBytes(problem.pools[p].capacity),
                CountOf(std::ranges::count(answer.plan.pools, p), "buffer")});
    }
    rows.Append(out);
  }
  return out + StatusText(table, answer, capacity) + "\n";
}

std::string PackJson(const pack::Table& table, const pack::Answer& answer,
                     std::optional<int64_t> capacity) {
  const pack::Problem& problem = table.problem;
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("schema", "stowplan.pack/1");
  json.Field("status", pack::Name(answer.status));
  json.Field("height", answer.plan.height);
  json.Field("bound", answer.bound);
  if (capacity) json.Field("capacity", *capacity);
  json.BeginObject("load");
  json.Field("bytes", answer.load.bytes);
  json.Field("time", answer.load.time);
  json.End();
  json.BeginArray("witness");
  for (const uint32_t b : answer.witness) json.Value(std::string_view(IdOf(table, b)));
  json.End();
  if (!problem.pools.empty()) {
    const std::vector<int64_t> heights = PoolHeights(problem, answer.plan);
    json.BeginArray("pools");
    for (size_t p = 0; p < problem.pools.size(); ++p) {
      json.BeginObject();
      json.Field("name", std::string_view(problem.pools[p].name));
      json.Field("capacity", problem.pools[p].capacity);
      json.Field("height", heights[p]);
      json.End();
    }
    json.End();
  }
  // If the pools are too small, there is no plan.
  json.BeginArray("buffers");
  for (size_t b = 0; b < answer.plan.offsets.size(); ++b) {
    json.BeginObject();
    json.Field("id", std::string_view(IdOf(table, b)));
    json.Field("offset", answer.plan.offsets[b]);
    if (!answer.plan.pools.empty())
      json.Field("pool", std::string_view(problem.pools[answer.plan.pools[b]].name));
    json.End();
  }
  json.End();
  json.End();
  out += '\n';
  return out;
}

}  // namespace stowplan::page
