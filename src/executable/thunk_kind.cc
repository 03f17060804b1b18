// SPDX-License-Identifier: Apache-2.0
#include "executable/thunk_kind.h"

#include <algorithm>

namespace stowplan::executable {
namespace {

using enum FieldRole;
using enum Effect;

template <class... Numbers>
constexpr uint64_t Fields(Numbers... numbers) {
  return ((uint64_t{1} << static_cast<unsigned>(numbers)) | ...);
}
constexpr FieldRule Plain(uint32_t kind, FieldPath path, uint64_t fields) {
  return {.kind = kind, .path = path, .role = kPlain, .plain = fields};
}
constexpr uint64_t kShape = Fields(1);  // beside the slice, in most messages of the CPU

constexpr ThunkKind kCpuKinds[] = {
    {3, "call", kControl},       {4, "conditional", kControl},
    {5, "sort", kPure},          {6, "xnn-fusion", kPure},
    {7, "dot", kPure},           {8, "rng-get-and-update-state", kEffect},
    {9, "top-k", kPure},         {10, "while", kControl},
    {11, "kernel", kPure},       {12, "copy", kPure},
    {13, "fft", kPure},          {14, "infeed", kEffect},
    {15, "outfeed", kEffect},    {16, "custom-call", kEffect},
    {17, "convolution", kPure},  {18, "collective", kEffect},
    {19, "partition-id", kPure}, {20, "replica-id", kPure},
    {21, "ynn-fusion", kPure},   {22, "rng-seed", kEffect},
};

constexpr FieldRule kCpuRules[] = {
    {3, {1}, kCalled},
    {4, {1}, kBranch},
    {4, {2}, kRead},
    // Sorts in place, in as many arrays as it has operands.
    {5, {5, 2}, kUpdate},
    Plain(5, {}, Fields(1, 2, 3, 4)),
    Plain(5, {5}, kShape),
    {6, {2, 2, 2}, kRead},
    {6, {2, 3, 2}, kRead},
    {6, {2, 4, 2}, kWrite},
    {6, {3, 4, 2}, kRead},
    {6, {3, 5, 2}, kRead},
    {6, {3, 6, 2}, kWrite},
    {6, {4, 1, 2}, kRead},
    {6, {4, 2, 2}, kWrite},
    Plain(6, {}, Fields(1)),
    Plain(6, {2}, Fields(1, 5)),
    Plain(6, {2, 2}, kShape),
    Plain(6, {2, 3}, kShape),
    Plain(6, {2, 4}, kShape),
    Plain(6, {3}, Fields(1, 2, 3)),
    Plain(6, {3, 4}, kShape),
    Plain(6, {3, 5}, kShape),
    Plain(6, {3, 6}, kShape),
    Plain(6, {4, 1}, kShape),
    Plain(6, {4, 2}, kShape),
    {7, {2, 2}, kRead},
    {7, {3, 2}, kRead},
    {7, {4, 2}, kWrite},
    Plain(7, {}, Fields(1)),
    Plain(7, {2}, kShape),
    Plain(7, {3}, kShape),
    Plain(7, {4}, kShape),
    {8, {2}, kWrite},
    Plain(8, {}, Fields(1)),
    {9, {4}, kRead},
    {9, {5}, kWrite},
    {9, {6}, kWrite},
    Plain(9, {}, Fields(1, 2, 3)),
    {10, {1}, kCondition},
    {10, {2}, kBody},
    {10, {4}, kRead},
    Plain(10, {}, Fields(3)),
    {11, {5}, kRead},
    {11, {6}, kWrite},
    Plain(11, {}, Fields(1, 2, 3, 4)),
    {12, {1, 2}, kRead},
    {12, {2, 2}, kWrite},
    Plain(12, {1}, kShape),
    Plain(12, {2}, kShape),
    {13, {4, 2}, kRead},
    {13, {5, 2}, kWrite},
    Plain(13, {}, Fields(1, 2, 3)),
    Plain(13, {4}, kShape),
    Plain(13, {5}, kShape),
    {14, {2, 2}, kWrite},
    Plain(14, {}, Fields(1)),
    Plain(14, {2}, kShape),
    {15, {2, 2}, kRead},
    Plain(15, {}, Fields(1)),
    Plain(15, {2}, kShape),
    {16, {4, 1, 2}, kRead},
    {16, {4, 2, 2}, kWrite},
    Plain(16, {}, Fields(1, 2, 3)),
    Plain(16, {4}, Fields(3)),
    Plain(16, {4, 1}, kShape),
    Plain(16, {4, 2}, kShape),
    {17, {4, 2}, kRead},
    {17, {5, 2}, kRead},
    {17, {6, 2}, kWrite},
    Plain(17, {}, Fields(1, 2, 3, 7)),
    Plain(17, {4}, kShape),
    Plain(17, {5}, kShape),
    Plain(17, {6}, kShape),
    {18, {2, 1, 2}, kRead},
    {18, {2, 2, 2}, kWrite},
    Plain(18, {}, Fields(1, 3, 4, 5, 6, 7, 8)),
    Plain(18, {2, 1}, kShape),
    Plain(18, {2, 2}, kShape),
    {19, {1}, kWrite},
    {20, {1}, kWrite},
    {21, {3, 2}, kRead},
    {21, {4, 2}, kWrite},
    Plain(21, {}, Fields(1, 2)),
    Plain(21, {3}, kShape),
    Plain(21, {4}, kShape),
    {22, {1}, kWrite},
};

constexpr ThunkKind kGpuKinds[] = {
    {2, "sequential", kControl},
    {3, "copy", kPure},
    {4, "device-to-host-copy", kEffect},
    {5, "host-to-device-copy", kEffect},
    {6, "conditional", kControl},
    {7, "while", kControl},
    {8, "kernel", kPure},
    {9, "gemm", kPure},
    {11, "triangular-solve", kPure},
    {12, "replica-id", kPure},
    {13, "device-to-device-copy", kPure},
    {14, "partition-id", kPure},
    {15, "cudnn", kPure},
    {19, "memzero", kPure},
    {20, "select-k", kPure},
    {21, "infeed", kEffect},
    {22, "cublas-lt-matmul", kPure},
    {23, "outfeed", kEffect},
    {24, "norm", kPure},
    {25, "convolution", kPure},
    {26, "convolution-reorder", kPure},
    {27, "fft", kPure},
    {28, "memset32", kPure},
    {30, "custom-call", kEffect},
    {36, "custom-kernel", kPure},
    {38, "all-gather", kEffect},
    {39, "all-reduce", kEffect},
    {40, "reduce-scatter", kEffect},
    {41, "all-to-all", kEffect},
    {43, "collective-permute", kEffect},
    {57, "async-start", kControl},
    {58, "async-done", kEffect},
    {60, "dynamic-slice-fusion", kPure},
    {61, "rng-seed", kEffect},
};

constexpr FieldRule kGpuRules[] = {
    // Its message is a sequence itself.
    {2, {}, kCalled},
    {3, {1}, kRead},
    {3, {2}, kWrite},
    Plain(3, {}, Fields(3)),
    {4, {1, 1}, kRead},
    {4, {1, 2}, kWrite},
    Plain(4, {1}, Fields(3)),
    {5, {1, 1}, kRead},
    {5, {1, 2}, kWrite},
    Plain(5, {1}, Fields(3)),
    {6, {1}, kRead},
    {6, {2}, kBranch},
    {7, {1}, kRead},
    {7, {2}, kCondition},
    {7, {3}, kBody},
    Plain(7, {}, Fields(4)),
    {8, {1}, kByWritten},
    {8, {2}, kWrittenList},
    Plain(8, {}, Fields(3, 4, 5, 6, 7, 8, 9, 10)),
    {9, {2}, kRead},
    {9, {3}, kRead},
    {9, {4}, kMaybeUpdate},
    {9, {5}, kWrite},
    Plain(9, {}, Fields(1, 6)),
    {11, {2}, kRead},
    {11, {3}, kUpdate},
    {11, {4}, kWrite},
    Plain(11, {}, Fields(1)),
    {12, {1}, kWrite},
    {13, {1, 1}, kRead},
    {13, {1, 2}, kWrite},
    Plain(13, {1}, Fields(3)),
    {14, {1}, kWrite},
    {15, {2}, kByWritten},
    {15, {4}, kWrittenList},
    Plain(15, {}, Fields(1, 3, 5)),
    {19, {1}, kWrite},
    {20, {1}, kMaybeUpdate},
    Plain(20, {}, Fields(3, 4, 5, 6)),
    {21, {1}, kWrite},
    {22, {5}, kRead},
    {22, {6}, kRead},
    {22, {7}, kMaybeRead},
    {22, {8}, kWrite},
    {22, {9}, kRead},
    {22, {10}, kWrite},
    {22, {11}, kRead},
    {22, {12}, kRead},
    {22, {13}, kRead},
    {22, {14}, kRead},
    {22, {15}, kWrite},
    {22, {16}, kWrite},
    {22, {18}, kRead},
    Plain(22, {}, Fields(1, 2, 3, 4, 17, 19)),
    {23, {1}, kRead},
    {24, {2}, kRead},
    {24, {3}, kRead},
    {24, {4}, kMaybeUpdate},
    {24, {5}, kRead},
    {24, {6}, kMaybeUpdate},
    {24, {7}, kMaybeUpdate},
    {24, {8}, kRead},
    {24, {9}, kWrite},
    {24, {10}, kWrite},
    {24, {11}, kWrite},
    Plain(24, {}, Fields(1)),
    {25, {2}, kRead},
    {25, {3}, kWrite},
    {25, {4}, kWrite},
    Plain(25, {}, Fields(1)),
    {26, {1}, kRead},
    {26, {2}, kWrite},
    {26, {3, 1}, kRead},
    {26, {3, 2}, kWrite},
    {27, {3}, kRead},
    {27, {4}, kWrite},
    Plain(27, {}, Fields(1, 2, 5, 6)),
    {28, {1}, kWrite},
    Plain(28, {}, Fields(2)),
    {30, {2, 1}, kRead},
    {30, {3, 1}, kWrite},
    Plain(30, {}, Fields(1, 4, 5, 6, 7, 8, 9)),
    {36, {1}, kByWritten},
    {36, {2}, kWrittenList},
    Plain(36, {}, Fields(3, 4, 5, 6)),
    {38, {3, 2}, kRead},
    {38, {3, 3}, kWrite},
    Plain(38, {}, Fields(2, 4, 5)),
    Plain(38, {3}, Fields(1, 4, 5)),
    {39, {3, 2}, kRead},
    {39, {3, 3}, kWrite},
    Plain(39, {}, Fields(2, 4, 5, 6, 7, 8, 9, 10, 11, 12)),
    Plain(39, {3}, Fields(1, 4, 5)),
    {40, {3, 2}, kRead},
    {40, {3, 3}, kWrite},
    Plain(40, {}, Fields(2, 4)),
    Plain(40, {3}, Fields(1, 4, 5)),
    {41, {3, 2}, kRead},
    {41, {3, 3}, kWrite},
    Plain(41, {}, Fields(2, 4, 5)),
    Plain(41, {3}, Fields(1, 4, 5)),
    {43, {2, 2}, kRead},
    {43, {2, 3}, kWrite},
    Plain(43, {}, Fields(3, 4, 7, 8)),
    Plain(43, {2}, Fields(1, 4, 5)),
    {57, {3}, kAsync},
    Plain(57, {}, Fields(1, 4, 5, 6)),
    Plain(58, {}, Fields(1)),
    // Thunks inside have places in slices of their own, which are not the executable's.
    {60, {3}, kRead},
    {60, {4}, kMaybeUpdate},
    Plain(60, {}, Fields(1, 2, 5, 6, 7)),
    {61, {1}, kWrite},
};

constexpr ThunkTables kCpuTables = {.kinds = kCpuKinds,
                                    .rules = kCpuRules,
                                    .info = 2,
                                    .plain_info = Fields(1, 2, 3),
                                    .plain = Fields(1)};
// Field 4 of a GPU's information puts thunks into a region in which they run at the same time.
constexpr ThunkTables kGpuTables = {
    .kinds = kGpuKinds, .rules = kGpuRules, .info = 1, .plain_info = Fields(1, 3), .plain = 0};

static_assert(std::ranges::is_sorted(kCpuRules, {}, &FieldRule::kind));
static_assert(std::ranges::is_sorted(kGpuRules, {}, &FieldRule::kind));

}  // namespace

std::string_view Name(Platform platform) { return platform == Platform::kCpu ? "cpu" : "gpu"; }

const ThunkKind* ThunkTables::Find(uint32_t number) const {
  const auto found = std::ranges::find(kinds, number, &ThunkKind::number);
  return found == kinds.end() ? nullptr : &*found;
}

std::span<const FieldRule> ThunkTables::FieldsOf(uint32_t number) const {
  const auto found = std::ranges::equal_range(rules, number, {}, &FieldRule::kind);
  return {found.begin(), found.end()};
}

const ThunkTables& TablesOf(Platform platform) {
  return platform == Platform::kCpu ? kCpuTables : kGpuTables;
}

}  // namespace stowplan::executable
