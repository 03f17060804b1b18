// SPDX-License-Identifier: Apache-2.0
#include "target/stats.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "hlo/shape_users.h"
#include "hlo/verify_complaints.h"
#include "target/size.h"

namespace stowplan {
namespace {

using hlo::CompId;
using hlo::Complaints;
using hlo::Computation;
using hlo::ElementType;
using hlo::InstrId;
using hlo::Instruction;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

constexpr size_t kTypeCount = 256;  // ElementType has eight bits

// Whether the instruction's arrays are those of its operands, or of the computations it calls.
bool PassesOn(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAddDependency:
    case Opcode::kAsyncDone:
    case Opcode::kAsyncUpdate:
    case Opcode::kBitcast:
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kCopyDone:
    case Opcode::kDomain:
    case Opcode::kGetTupleElement:
    case Opcode::kOptBarrier:
    case Opcode::kTuple:
    case Opcode::kWhile:
      return true;
    default:
      return false;
  }
}

std::vector<bool> FusedComputations(const Module& module) {
  std::vector<bool> is_fused(module.computations.size());
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    if (module.instructions[InstrId(i)].opcode != Opcode::kFusion) continue;
    for (const CompId callee : module.called_by(InstrId(i))) is_fused[callee.index] = true;
  }
  return is_fused;
}

std::vector<Stats::OpcodeCount> CountOpcodes(const Module& module) {
  std::array<int64_t, hlo::kOpcodeCount> known{};
  std::map<std::string, int64_t, std::less<>> unknown;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const Opcode opcode = module.instructions[InstrId(i)].opcode;
    if (opcode == Opcode::kUnknown) {
      ++unknown[std::string(module.opcode_name(InstrId(i)))];
    } else {
      ++known[static_cast<size_t>(opcode)];
    }
  }
  std::vector<Stats::OpcodeCount> counts;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i] != 0) counts.push_back({std::string(hlo::Name(static_cast<Opcode>(i))), known[i]});
  }
  for (const auto& [name, count] : unknown) counts.push_back({name, count});
  std::ranges::sort(counts, [](const Stats::OpcodeCount& a, const Stats::OpcodeCount& b) {
    return a.count != b.count ? a.count > b.count : a.opcode < b.opcode;
  });
  return counts;
}

// Counts bytes of arrays, and remembers the first shape that cannot be counted.
class Counter {
 public:
  Counter(const Module& module, const Target& target)
      : module_(module), users_(hlo::FirstUsers(module)), bytes_(module.shapes.size()) {
    for (size_t s = 0; s < bytes_.size(); ++s) {
      if (hlo::IsArray(module.shapes[ShapeId(s)].type))
        bytes_[s] = ByteSize(module.shapes, ShapeId(s), target);
    }
  }

  // How many arrays of each shape there are in values of which there are `values[s]` of shape s.
  // Parts have smaller ids than the whole, so one pass over the shapes does for all values
  // together, however deep they nest.
  std::vector<int64_t> CountArrays(std::vector<int64_t> values) {
    for (size_t s = values.size(); s-- > 0;) {
      if (values[s] == 0) continue;
      for (const ShapeId part : module_.shapes.elements(ShapeId(s))) {
        const auto sum = CheckedAdd(values[part.index], values[s]);
        if (!sum) Fail(s, kSumTooLarge);
        values[part.index] = sum.value_or(0);
      }
    }
    return values;
  }

  // Adds `count` arrays of this shape to `sum`; false when they have no known size.
  bool Add(size_t shape, int64_t count, int64_t& sum) {
    const ByteCount bytes = bytes_[shape];
    if (!bytes && bytes.error() == SizeError::kUnbounded) return false;
    const auto product = bytes ? CheckedMultiply(*bytes, count) : std::nullopt;
    const auto total = product ? CheckedAdd(sum, *product) : std::nullopt;
    if (!total) Fail(shape, bytes ? kSumTooLarge : hlo::Describe(bytes.error()));
    sum = total.value_or(sum);
    return true;
  }

  // The bytes of all arrays in values of which there are `values[s]` of shape s.
  int64_t Sum(std::vector<int64_t> values) {
    const std::vector<int64_t> arrays = CountArrays(std::move(values));
    int64_t sum = 0;
    for (size_t s = 0; s < arrays.size(); ++s) {
      if (arrays[s] != 0 && hlo::IsArray(module_.shapes[ShapeId(s)].type)) Add(s, arrays[s], sum);
    }
    return sum;
  }

  [[nodiscard]] int64_t bytes(size_t shape) const { return bytes_[shape].value_or(0); }

  [[nodiscard]] std::optional<Diagnostics> Failure() const {
    if (!failed_shape_) return std::nullopt;
    Complaints complaints(module_);
    std::string message(failure_);
    const InstrId user = users_[*failed_shape_];
    if (user.is_none()) {
      complaints.AtHeader(std::move(message));
    } else {
      complaints.At(user, message);
    }
    return std::move(complaints).Finish();
  }

 private:
  static constexpr std::string_view kSumTooLarge =
      "the sizes of all arrays, up to this one, do not fit in 64 bits together";

  void Fail(size_t shape, std::string_view why) {
    if (failed_shape_) return;
    failed_shape_ = shape;
    failure_ = why;
  }

  const Module& module_;
  std::vector<InstrId> users_;
  std::vector<ByteCount> bytes_;  // by shape; 0 for what is no array
  std::optional<size_t> failed_shape_;
  std::string_view failure_;
};

// What instructions make, by shape.
struct Made {
  std::vector<int64_t> values;  // how many
  std::vector<InstrId> first;   // by which instruction first
};

Made CountValues(const Module& module, const std::vector<bool>& is_fused) {
  Made made;
  made.values.resize(module.shapes.size());
  made.first.resize(module.shapes.size());
  for (size_t c = 0; c < module.computations.size(); ++c) {
    if (is_fused[c]) continue;
    const Computation& computation = module.computations[CompId(c)];
    for (uint32_t i = computation.first.index; i < computation.first.index + computation.count;
         ++i) {
      const Instruction& instruction = module.instructions[InstrId(i)];
      if (PassesOn(instruction.opcode)) continue;
      // Parameters of other computations are their callers' values.
      if (instruction.opcode == Opcode::kParameter && CompId(c) != module.entry) continue;
      ++made.values[instruction.shape.index];
      InstrId& first = made.first[instruction.shape.index];
      first = std::min(first, InstrId(i));
    }
  }
  hlo::PassToParts(module.shapes, made.first);
  return made;
}

int64_t AddUpToLimit(int64_t a, int64_t b) {
  return CheckedAdd(a, b).value_or(std::numeric_limits<int64_t>::max());
}

void CountBytes(const Module& module, Counter& counter, Made made, size_t largest, Stats& stats) {
  const std::vector<int64_t> arrays = counter.CountArrays(std::move(made.values));
  std::array<Stats::TypeBytes, kTypeCount> types{};
  for (size_t s = 0; s < arrays.size(); ++s) {
    const ElementType type = module.shapes[ShapeId(s)].type;
    if (arrays[s] == 0 || !hlo::IsArray(type)) continue;
    Stats::TypeBytes& row = types[static_cast<size_t>(type)];
    row.type = type;
    if (!counter.Add(s, arrays[s], row.bytes)) {
      stats.unbounded_arrays = AddUpToLimit(stats.unbounded_arrays, arrays[s]);
      continue;
    }
    counter.Add(s, arrays[s], stats.total_bytes);
    row.arrays = AddUpToLimit(row.arrays, arrays[s]);
    stats.largest.push_back({ShapeId(s), counter.bytes(s), arrays[s], made.first[s]});
  }
  for (const Stats::TypeBytes& row : types) {
    if (row.arrays != 0) stats.types.push_back(row);
  }
  std::ranges::sort(stats.types, [](const Stats::TypeBytes& a, const Stats::TypeBytes& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : hlo::Name(a.type) < hlo::Name(b.type);
  });
  std::ranges::sort(stats.largest, [](const Stats::ShapeBytes& a, const Stats::ShapeBytes& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes
                              : std::pair(a.first, a.shape) < std::pair(b.first, b.shape);
  });
  if (stats.largest.size() > largest) stats.largest.resize(largest);
}

// How many of `instructions` have each shape.
std::vector<int64_t> CountShapes(const Module& module, std::span<const InstrId> instructions) {
  std::vector<int64_t> values(module.shapes.size());
  for (const InstrId id : instructions) ++values[module.instructions[id].shape.index];
  return values;
}

}  // namespace

Result<Stats> ComputeStats(const Module& module, const StatsOptions& options) {
  const std::vector<bool> is_fused = FusedComputations(module);
  Stats stats;
  stats.computations = static_cast<int64_t>(module.computations.size());
  stats.fused_computations = std::ranges::count(is_fused, true);
  stats.instructions = static_cast<int64_t>(module.instructions.size());
  stats.parameters = static_cast<int64_t>(module.parameters_of(module.entry).size());
  stats.aliased_outputs = static_cast<int64_t>(module.header.aliases.size());
  stats.opcodes = CountOpcodes(module);

  Counter counter(module, options.target);
  CountBytes(module, counter, CountValues(module, is_fused), options.largest, stats);
  stats.parameter_bytes = counter.Sum(CountShapes(module, module.parameters_of(module.entry)));
  stats.result_bytes =
      counter.Sum(CountShapes(module, {&module.computations[module.entry].root, 1}));
  if (auto failure = counter.Failure()) return std::unexpected(*std::move(failure));
  return stats;
}

}  // namespace stowplan
