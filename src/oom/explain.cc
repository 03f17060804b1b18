// SPDX-License-Identifier: Apache-2.0
#include "oom/explain.h"

#include <algorithm>

#include "base/stable_sort.h"
#include "oom/causes.h"

namespace stowplan::oom {
namespace {

// What a person should read first. A cause that explains the whole shortage comes before one
// that does not; a place in the program before a sum over all of it.
int RankOf(const Cause& cause) {
  const int less = cause.covers_lack ? 0 : 40;
  switch (cause.kind) {
    case CauseKind::kOtherProcess:
    case CauseKind::kOutsidePool:
    case CauseKind::kKernel:
    case CauseKind::kHost:
      return 10;
    case CauseKind::kPoolFragmented:
      return cause.is_sure ? 12 : 25;
    case CauseKind::kTooLarge:
      return 14;
    case CauseKind::kPadding:
      return 16 + less;
    case CauseKind::kPoolSmall:
      return 18 + less;
    case CauseKind::kOneBuffer:
      return 20 + less / 4;
    case CauseKind::kPacking:
      return 22 + less;
    case CauseKind::kPoolFull:
      return 24 + less / 4;
    case CauseKind::kOutputs:
      return 26 + less / 4;
    case CauseKind::kTemporaries:
    case CauseKind::kArguments:
      return 32;
    case CauseKind::kSameBuffers:
      return 34;
    case CauseKind::kRemat:
      return 70;
  }
  return 100;
}

}  // namespace

std::string_view Word(CauseKind kind) {
  switch (kind) {
    case CauseKind::kOtherProcess:
      return "other-process";
    case CauseKind::kOutsidePool:
      return "outside-pool";
    case CauseKind::kPoolSmall:
      return "pool-small";
    case CauseKind::kPoolFragmented:
      return "pool-fragmented";
    case CauseKind::kPoolFull:
      return "pool-full";
    case CauseKind::kKernel:
      return "kernel";
    case CauseKind::kHost:
      return "host";
    case CauseKind::kPadding:
      return "padding";
    case CauseKind::kOneBuffer:
      return "one-buffer";
    case CauseKind::kSameBuffers:
      return "same-buffers";
    case CauseKind::kPacking:
      return "packing";
    case CauseKind::kArguments:
      return "arguments";
    case CauseKind::kOutputs:
      return "outputs";
    case CauseKind::kTemporaries:
      return "temporaries";
    case CauseKind::kRemat:
      return "rematerialization";
    case CauseKind::kTooLarge:
      break;
  }
  return "too-large";
}

Explanation Explain(const Log& log, size_t incident) {
  const Case one = MakeCase(log, log.incidents[incident]);
  Explanation explanation{.headline = HeadlineOf(one),
                          .figures = FiguresOf(one),
                          .lack = one.lack,
                          .causes = {},
                          .fixes = {},
                          .unknown = UnknownOf(one)};
  std::vector<Cause>& causes = explanation.causes;
  FindPoolCauses(one, causes);
  FindProgramCauses(one, causes);
  FindBufferCauses(one, causes);
  StableSort(causes, [](const Cause& a, const Cause& b) {
    const int64_t a_bytes = a.bytes ? a.bytes->bytes : 0;
    const int64_t b_bytes = b.bytes ? b.bytes->bytes : 0;
    return RankOf(a) != RankOf(b) ? RankOf(a) < RankOf(b) : a_bytes > b_bytes;
  });
  if (causes.empty())
    causes.push_back({.kind = CauseKind::kTooLarge,
                      .what = "more memory was requested than there is",
                      .why = "The log says nothing else.",
                      .bytes = one.lack,
                      .is_sure = true});
  for (const Cause& cause : causes) {
    for (Fix& fix : FixesFor(one, cause)) {
      // Said once, with the cause that matters most.
      if (std::ranges::find(explanation.fixes, fix.how, &Fix::how) == explanation.fixes.end())
        explanation.fixes.push_back(std::move(fix));
    }
  }
  StableSort(explanation.fixes, [](const Fix& a, const Fix& b) {
    return a.is_enough != b.is_enough ? a.is_enough : a.effort < b.effort;
  });
  return explanation;
}

}  // namespace stowplan::oom
