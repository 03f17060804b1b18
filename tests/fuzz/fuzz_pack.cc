// SPDX-License-Identifier: Apache-2.0
// Any bytes to the reader of packing problems. What it accepts is written and comes back the same;
// with a little effort it gets a plan that the checker passes, with pools or without.
#include <cstddef>
#include <cstdint>
#include <string>

#include "laws.h"
#include "pack/certificate.h"
#include "pack/csv.h"
#include "pack/svg.h"
#include "stowplan/pack.h"

namespace {

using stowplan::Source;
using stowplan::fuzz::Fail;
namespace pack = stowplan::pack;

// Larger problems take time, and show nothing that smaller ones do not.
constexpr size_t kMostToSolve = 60;

void CheckAnswer(const pack::Table& table) {
  const std::string text = pack::WriteTable(table);
  const stowplan::Result<pack::Answer> solved =
      pack::Solve(table.problem, {.effort = 200}, table.ids);
  if (!solved) Fail("the problem is refused", text, Render(solved.error()));
  const pack::Answer& answer = *solved;
  const bool fits =
      answer.status == pack::Status::kOptimal || answer.status == pack::Status::kFeasible;
  if (!fits && table.problem.pools.empty()) Fail("no plan without a capacity", text, "");
  (void)pack::WriteCertificate(table, answer, std::nullopt);
  if (!fits) return;
  for (const std::string& complaint : pack::CheckPlan(table.problem, answer.plan))
    Fail("the plan is not sound", text, complaint);
  if (answer.bound > answer.plan.height)
    Fail("the bound is above the height", text, std::to_string(answer.bound));
  (void)pack::DrawPlan(table, answer.plan);
  const auto plan =
      pack::ReadPlan(Source::FromBytes("plan", pack::WriteTable(table, answer.plan)), table);
  if (!plan) Fail("the written plan is not accepted", text, Render(plan.error()));
  if (*plan != answer.plan) Fail("the written plan differs", text, "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string input(reinterpret_cast<const char*>(bytes), size);
  for (const std::vector<pack::Pool>& pools :
       {std::vector<pack::Pool>(), {{"fast", 64}, {"slow", int64_t{1} << 62U}}}) {
    const auto table = pack::ReadTable(Source::FromBytes("input", input), pools);
    if (!table) {
      stowplan::fuzz::CheckErrors(table.error());
      continue;
    }
    if (const stowplan::Diagnostics mistakes = pack::CheckProblem(table->problem);
        !mistakes.empty())
      Fail("the problem is not sound", input, Render(mistakes));
    const std::string written = pack::WriteTable(*table);
    const auto again = pack::ReadTable(Source::FromBytes("written", written), pools);
    if (!again) Fail("the written file is not accepted", written, Render(again.error()));
    if (again->problem != table->problem) Fail("the written file differs", input, written);
    if (pack::WriteTable(*again) != written) Fail("writing twice differs", input, written);
    if (table->problem.buffers.size() <= kMostToSolve) CheckAnswer(*table);
  }
  return 0;
}
