// SPDX-License-Identifier: Apache-2.0
#include "stowplan/pack.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/stable_sort.h"
#include "c/guard.h"
#include "stowplan/stowplan_c.h"

namespace c = stowplan::c;
namespace pack = stowplan::pack;

struct stowplan_problem {
  pack::Problem problem;
  std::vector<std::string> names;  // by buffer; empty: none was given
  bool has_names = false;
};

struct stowplan_solve_options {
  pack::SolveOptions options;
};

struct stowplan_answer {
  pack::Answer answer;
};

namespace {

constexpr size_t kMostRows = std::numeric_limits<uint32_t>::max();

// pack.h wants the tables by buffer, and gaps by time. The caller may tell them in any order.
pack::Problem Sorted(pack::Problem problem) {
  stowplan::StableSort(problem.gaps, {},
                       [](const pack::Gap& gap) { return std::pair(gap.buffer, gap.start); });
  stowplan::StableSort(problem.pins, {}, &pack::Spot::buffer);
  stowplan::StableSort(problem.hints, {}, &pack::Spot::buffer);
  stowplan::StableSort(problem.choices, {}, &pack::PoolChoice::buffer);
  return problem;
}

pack::Names NamesOf(const stowplan_problem& problem) {
  pack::Names names;
  if (!problem.has_names) return names;
  for (size_t k = 0; k < problem.problem.buffers.size(); ++k)
    names.Add(problem.names[k].empty() ? std::to_string(k) : problem.names[k]);
  return names;
}

stowplan_answer_status StatusOf(pack::Status status) {
  switch (status) {
    case pack::Status::kOptimal:
      return STOWPLAN_OPTIMAL;
    case pack::Status::kFeasible:
      return STOWPLAN_FEASIBLE;
    case pack::Status::kInfeasible:
      return STOWPLAN_INFEASIBLE;
    case pack::Status::kUndecided:
      break;
  }
  return STOWPLAN_UNDECIDED;
}

// Lets `change` work on a problem or on options.
template <class Handle, class Change>
stowplan_status Set(Handle* handle, Change change) {
  if (handle == nullptr) return STOWPLAN_MISUSE;
  return c::GuardQuietly([&] {
    change(*handle);
    return STOWPLAN_OK;
  });
}

}  // namespace

stowplan_problem* stowplan_problem_new(void) { return c::New<stowplan_problem>(); }
void stowplan_problem_free(stowplan_problem* problem) { delete problem; }

stowplan_status stowplan_problem_add_buffer(stowplan_problem* problem, int64_t size, int64_t start,
                                            int64_t end, int64_t alignment, const char* name,
                                            uint32_t* buffer) {
  if (buffer != nullptr) *buffer = 0;
  if (problem == nullptr || problem->problem.buffers.size() >= kMostRows) return STOWPLAN_MISUSE;
  return c::GuardQuietly([&] {
    std::vector<pack::Buffer>& buffers = problem->problem.buffers;
    const auto number = static_cast<uint32_t>(buffers.size());
    // If the second step fails, the name is one too many, and the next call drops it.
    problem->names.resize(number);
    problem->names.emplace_back(name == nullptr ? "" : name);
    buffers.push_back({.size = size, .start = start, .end = end, .alignment = alignment});
    if (name != nullptr) problem->has_names = true;
    if (buffer != nullptr) *buffer = number;
    return STOWPLAN_OK;
  });
}

stowplan_status stowplan_problem_add_gap(stowplan_problem* problem, uint32_t buffer, int64_t start,
                                         int64_t end, int64_t low, int64_t high) {
  return Set(problem, [&](stowplan_problem& to) {
    to.problem.gaps.push_back(
        {.buffer = buffer, .start = start, .end = end, .low = low, .high = high});
  });
}

stowplan_status stowplan_problem_pin(stowplan_problem* problem, uint32_t buffer, int64_t offset) {
  return Set(problem, [&](stowplan_problem& to) {
    to.problem.pins.push_back({.buffer = buffer, .offset = offset});
  });
}

stowplan_status stowplan_problem_hint(stowplan_problem* problem, uint32_t buffer, int64_t offset) {
  return Set(problem, [&](stowplan_problem& to) {
    to.problem.hints.push_back({.buffer = buffer, .offset = offset});
  });
}

stowplan_status stowplan_problem_alias(stowplan_problem* problem, const uint32_t* buffers,
                                       size_t count) {
  if (buffers == nullptr && count != 0) return STOWPLAN_MISUSE;
  return Set(problem, [&](stowplan_problem& to) {
    to.problem.groups.emplace_back(buffers, buffers + count);
  });
}

stowplan_status stowplan_problem_keep_apart(stowplan_problem* problem, uint32_t first,
                                            uint32_t second) {
  return Set(problem, [&](stowplan_problem& to) { to.problem.apart.emplace_back(first, second); });
}

stowplan_status stowplan_problem_add_pool(stowplan_problem* problem, const char* name,
                                          int64_t capacity, uint32_t* pool) {
  if (pool != nullptr) *pool = 0;
  if (name == nullptr || problem == nullptr || problem->problem.pools.size() >= kMostRows)
    return STOWPLAN_MISUSE;
  return Set(problem, [&](stowplan_problem& to) {
    to.problem.pools.push_back({.name = name, .capacity = capacity});
    if (pool != nullptr) *pool = static_cast<uint32_t>(to.problem.pools.size() - 1);
  });
}

stowplan_status stowplan_problem_choose_pools(stowplan_problem* problem, uint32_t buffer,
                                              const uint32_t* pools, size_t count) {
  if (pools == nullptr && count != 0) return STOWPLAN_MISUSE;
  return Set(problem, [&](stowplan_problem& to) {
    to.problem.choices.push_back({.buffer = buffer, .pools = {pools, pools + count}});
  });
}

stowplan_solve_options* stowplan_solve_options_new(void) {
  return c::New<stowplan_solve_options>();
}
void stowplan_solve_options_free(stowplan_solve_options* options) { delete options; }

stowplan_status stowplan_solve_options_set_capacity(stowplan_solve_options* options,
                                                    int64_t bytes) {
  return Set(options, [&](stowplan_solve_options& to) {
    to.options.capacity = bytes < 0 ? std::nullopt : std::optional(bytes);
  });
}

stowplan_status stowplan_solve_options_set_effort(stowplan_solve_options* options, int64_t nodes) {
  return Set(options, [&](stowplan_solve_options& to) { to.options.effort = nodes; });
}

stowplan_status stowplan_solve_options_set_threads(stowplan_solve_options* options, int threads) {
  return Set(options, [&](stowplan_solve_options& to) { to.options.threads = threads; });
}

stowplan_status stowplan_solve_options_set_seed(stowplan_solve_options* options, uint64_t seed) {
  return Set(options, [&](stowplan_solve_options& to) { to.options.seed = seed; });
}

stowplan_status stowplan_solve_options_set_should_stop(stowplan_solve_options* options,
                                                       stowplan_should_stop should_stop,
                                                       void* user) {
  return Set(options, [&](stowplan_solve_options& to) {
    to.options.should_stop = nullptr;
    if (should_stop != nullptr)
      to.options.should_stop = [should_stop, user] { return should_stop(user) != 0; };
  });
}

stowplan_status stowplan_solve(const stowplan_problem* problem,
                               const stowplan_solve_options* options, stowplan_answer** answer,
                               stowplan_messages** errors) {
  return c::Guard(errors, [&] {
    if (answer != nullptr) *answer = nullptr;
    if (problem == nullptr || answer == nullptr)
      return c::FailMisuse(errors, "stowplan_solve: an argument is NULL");
    stowplan::Result<pack::Answer> solved = pack::Solve(
        Sorted(problem->problem), options == nullptr ? pack::SolveOptions{} : options->options,
        NamesOf(*problem));
    if (!solved) return c::Fail(errors, std::move(solved).error());
    *answer = new stowplan_answer{*std::move(solved)};
    return STOWPLAN_OK;
  });
}

void stowplan_answer_free(stowplan_answer* answer) { delete answer; }

stowplan_answer_status stowplan_answer_get_status(const stowplan_answer* answer) {
  return answer == nullptr ? STOWPLAN_UNDECIDED : StatusOf(answer->answer.status);
}

size_t stowplan_answer_count(const stowplan_answer* answer) {
  return answer == nullptr ? 0 : answer->answer.plan.offsets.size();
}

const int64_t* stowplan_answer_offsets(const stowplan_answer* answer) {
  return stowplan_answer_count(answer) == 0 ? nullptr : answer->answer.plan.offsets.data();
}

const uint32_t* stowplan_answer_pools(const stowplan_answer* answer) {
  return answer == nullptr || answer->answer.plan.pools.empty() ? nullptr
                                                                : answer->answer.plan.pools.data();
}

int64_t stowplan_answer_height(const stowplan_answer* answer) {
  return answer == nullptr ? 0 : answer->answer.plan.height;
}

int64_t stowplan_answer_bound(const stowplan_answer* answer) {
  return answer == nullptr ? 0 : answer->answer.bound;
}

int64_t stowplan_answer_load(const stowplan_answer* answer) {
  return answer == nullptr ? 0 : answer->answer.load.bytes;
}

int64_t stowplan_answer_load_time(const stowplan_answer* answer) {
  return answer == nullptr ? 0 : answer->answer.load.time;
}
