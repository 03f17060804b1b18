// SPDX-License-Identifier: Apache-2.0
// Packs one problem and prints what came when, as a line of JSON.
//
//     stowplan_bench_pack [--capacity=N] [--time-limit=S] [--seed=N] [--shuffle=N] FILE.csv
//
// All times are CPU seconds of the process. A plan counts from the moment the solver reports it, so
// nothing that it does in silence is in the trajectory.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "cpu_seconds.h"
#include "pack/csv.h"
#include "stowplan/base/source.h"
#include "stowplan/pack.h"

namespace {

using namespace stowplan;

struct Options {
  std::optional<int64_t> capacity;
  std::optional<double> time_limit;
  uint64_t seed = 1;
  uint64_t shuffle = 0;  // 0: rows stay as they are
  std::string file;
};

template <class T>
bool Take(std::string_view argument, std::string_view name, T& value) {
  if (!argument.starts_with(name)) return false;
  argument.remove_prefix(name.size());
  const char* const end = argument.data() + argument.size();
  const auto [rest, error] = std::from_chars(argument.data(), end, value);
  return error == std::errc() && rest == end;
}

std::optional<Options> ReadOptions(std::span<char* const> arguments) {
  Options options;
  for (const std::string_view argument : arguments) {
    int64_t capacity = 0;
    double time_limit = 0;
    if (Take(argument, "--capacity=", capacity)) {
      options.capacity = capacity;
    } else if (Take(argument, "--time-limit=", time_limit)) {
      options.time_limit = time_limit;
    } else if (Take(argument, "--seed=", options.seed) ||
               Take(argument, "--shuffle=", options.shuffle)) {
      continue;
    } else if (options.file.empty() && !argument.starts_with("--")) {
      options.file = argument;
    } else {
      return std::nullopt;
    }
  }
  if (options.file.empty()) return std::nullopt;
  return options;
}

bool IsBuffersAlone(const pack::Problem& problem) {
  return problem == pack::Problem{.buffers = problem.buffers};
}

struct Moment {
  double seconds = 0;
  int64_t height = 0;
};

std::string Print(const std::vector<Moment>& moments) {
  std::string text;
  for (const Moment& moment : moments) {
    text += fmt::format("{}[{:.6f}, {}]", text.empty() ? "" : ", ", moment.seconds, moment.height);
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options =
      ReadOptions(std::span(argv, static_cast<size_t>(argc)).subspan(1));
  if (!options) {
    fmt::print(stderr,
               "usage: stowplan_bench_pack [--capacity=N] [--time-limit=S] [--seed=N] "
               "[--shuffle=N] FILE.csv\n");
    return 2;
  }
  const double read_start = CpuSeconds();
  auto source = ReadSource(options->file);
  if (!source) {
    fmt::print(stderr, "{}", Render(source.error()));
    return 2;
  }
  auto table = pack::ReadTable(std::move(*source));
  if (!table) {
    fmt::print(stderr, "{}", Render(table.error()));
    return 2;
  }
  const double read_s = CpuSeconds() - read_start;

  pack::Problem& problem = table->problem;
  if (options->shuffle != 0) {
    if (!IsBuffersAlone(problem)) {
      fmt::print(stderr, "{}: --shuffle is for problems of buffers alone\n", options->file);
      return 2;
    }
    std::mt19937_64 chance(options->shuffle);
    std::ranges::shuffle(problem.buffers, chance);
  }

  pack::SolveOptions solve = {.capacity = options->capacity, .seed = options->seed};
  std::vector<Moment> moments;
  const double start = CpuSeconds();
  if (options->time_limit) {
    const double end = start + *options->time_limit;
    solve.effort = std::numeric_limits<int64_t>::max();
    solve.should_stop = [end] { return CpuSeconds() >= end; };
  }
  solve.on_plan = [&](const pack::Plan& plan, int64_t /*bound*/) {
    moments.push_back({.seconds = CpuSeconds() - start, .height = plan.height});
  };
  const stowplan::Result<pack::Answer> solved = pack::Solve(problem, solve);
  if (!solved) {
    fmt::print(stderr, "{}", stowplan::Render(solved.error()));
    return 2;
  }
  const pack::Answer& answer = *solved;
  const double solve_s = CpuSeconds() - start;
  if (moments.empty() || answer.plan.height < moments.back().height) {
    moments.push_back({.seconds = solve_s, .height = answer.plan.height});
  }

  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::vector<std::string> complaints = pack::CheckPlan(problem, answer.plan);
  if (!complaints.empty()) fmt::print(stderr, "{}: {}\n", options->file, complaints.front());
  fmt::print(
      "{{\"buffers\": {}, \"load\": {}, \"bound\": {}, \"height\": {}, \"status\": \"{}\", "
      "\"valid\": {}, \"read_s\": {:.6f}, \"solve_s\": {:.6f}, \"peak_bytes\": {}, "
      "\"trajectory\": [{}]}}\n",
      problem.buffers.size(), answer.load.bytes, answer.bound, answer.plan.height,
      pack::Name(answer.status), complaints.empty(), read_s, solve_s,
      int64_t{usage.ru_maxrss} * 1024, Print(moments));
  return complaints.empty() ? 0 : 1;
}
