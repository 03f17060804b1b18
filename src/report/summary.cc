// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "base/checked_math.h"
#include "base/stable_sort.h"
#include "hlo/escape.h"

namespace stowplan::report {

AllocationKind KindOf(const Allocation& allocation) {
  if (allocation.is_thread_local) return AllocationKind::kThreadLocal;
  if (allocation.parameter) {
    return allocation.is_maybe_live_out ? AllocationKind::kAliased : AllocationKind::kParameter;
  }
  if (allocation.is_constant) return AllocationKind::kConstant;
  if (allocation.is_maybe_live_out) return AllocationKind::kOutput;
  return AllocationKind::kTemporary;
}

std::string_view Name(AllocationKind kind) {
  switch (kind) {
    case AllocationKind::kThreadLocal:
      return "thread-local";
    case AllocationKind::kAliased:
      return "aliased";
    case AllocationKind::kParameter:
      return "parameters";
    case AllocationKind::kConstant:
      return "constants";
    case AllocationKind::kOutput:
      return "outputs";
    case AllocationKind::kTemporary:
      break;
  }
  return "temporaries";
}

Backend BackendOfTarget(std::string_view target) {
  if (target == "cpu") return Backend::kCpu;
  if (target == "gpu") return Backend::kGpu;
  return target.starts_with("tpu") ? Backend::kTpu : Backend::kUnknown;
}

Backend GuessBackend(const Report& report) {
  for (const std::shared_ptr<const Source>& source : report.sources) {
    std::string_view name = source->name();
    name.remove_prefix(std::min(name.size(), name.rfind('/') + 1));
    if (name.find("cpu_after_optimizations") != std::string_view::npos) return Backend::kCpu;
    if (name.find("gpu_after_optimizations") != std::string_view::npos) return Backend::kGpu;
  }
  const bool has_tiles = std::ranges::any_of(report.values.rows(), [](const Value& value) {
    return value.shape.find(":T(") != std::string_view::npos;
  });
  return has_tiles ? Backend::kTpu : Backend::kUnknown;
}

std::string_view SpaceName(Backend backend, int64_t color) {
  // Offloaded arrays are in 5 on every back end.
  if (color == 5) return "host";
  switch (backend) {
    case Backend::kTpu: {
      // 2 holds the flags that copies signal with; only v4 has 3.
      constexpr std::array<std::string_view, 7> kNames = {"HBM", "VMEM", "sync flags", "CMEM",
                                                          "",    "host", "SMEM"};
      if (color >= 0 && color < static_cast<int64_t>(kNames.size())) {
        return kNames[static_cast<size_t>(color)];
      }
      constexpr std::array<int64_t, 5> kSparseCore = {7, 8, 10, 11, 12};
      return std::ranges::find(kSparseCore, color) != kSparseCore.end() ? "SparseCore" : "";
    }
    case Backend::kGpu:
      if (color == 0) return "device";
      if (color == 1) return "collective";
      if (color == 2) return "temporary";
      return color == 6 ? "unpinned host" : "";
    case Backend::kCpu:
    case Backend::kUnknown:
      return color == 0 ? "default" : "";
  }
  return "";
}

double Fragmentation(int64_t size, int64_t load) {
  return size <= 0 ? 0.0 : 1.0 - static_cast<double>(load) / static_cast<double>(size);
}

namespace {

using KindTotals = std::array<KindTotal, kAllocationKinds>;

// No sum of some allocations overflows when that of all of them does not.
void AddTo(KindTotals& totals, const Allocation& allocation) {
  KindTotal& total = totals[static_cast<size_t>(KindOf(allocation))];
  ++total.allocations;
  total.bytes += allocation.size;
}

std::vector<KindTotal> LargestFirst(const KindTotals& totals) {
  std::vector<KindTotal> kinds;
  for (size_t i = 0; i < totals.size(); ++i) {
    if (totals[i].allocations == 0) continue;
    kinds.push_back(totals[i]);
    kinds.back().kind = static_cast<AllocationKind>(i);
  }
  StableSort(kinds, std::greater(), &KindTotal::bytes);
  return kinds;
}

std::optional<PrintedPeak> FindPrintedPeak(const Report& report) {
  if (!report.live_ranges || !report.live_ranges->peak_time) return std::nullopt;
  PrintedPeak peak{.time = *report.live_ranges->peak_time};
  for (const PeakRow& row : report.live_ranges->peak) {
    peak.bytes = CheckedAdd(peak.bytes, row.bytes).value_or(INT64_MAX);
    ++peak.values;
  }
  return peak;
}

}  // namespace

Result<Summary> Summarize(const Report& report) {
  Summary summary;
  summary.allocations = static_cast<int64_t>(report.allocations.size());
  KindTotals all{};
  std::map<int64_t, KindTotals> spaces;
  for (const Allocation& allocation : report.allocations.rows()) {
    if (__builtin_add_overflow(summary.bytes, allocation.size, &summary.bytes)) {
      return Fail(report.sources.empty() ? report.name : report.sources[0]->name(),
                  "the bytes of its allocations do not fit in 64 bits");
    }
    summary.values += static_cast<int64_t>(allocation.values.size());
    AddTo(all, allocation);
    AddTo(spaces[allocation.color], allocation);
  }
  summary.kinds = LargestFirst(all);
  for (const auto& [color, totals] : spaces) {
    SpaceTotal space{.color = color, .kinds = LargestFirst(totals)};
    for (const KindTotal& kind : space.kinds) {
      space.allocations += kind.allocations;
      space.bytes += kind.bytes;
    }
    summary.spaces.push_back(std::move(space));
  }
  summary.printed_peak = FindPrintedPeak(report);
  if (HasPeak(report)) {
    STOWPLAN_TRY(summary.peak, ComputeTruePeak(report));
    for (size_t i = 0; i < summary.spaces.size(); ++i) {
      summary.spaces[i].peak = summary.peak->spaces[i].peak;
    }
  }
  return summary;
}

namespace {

// The value of `key="..."` in metadata, unescaped.
std::string StringField(std::string_view metadata, std::string_view key) {
  const std::string start = std::string(key) + "=\"";
  size_t at = metadata.find(start);
  if (at == std::string_view::npos) return {};
  at += start.size();
  size_t end = at;
  while (end < metadata.size() && metadata[end] != '"') end += metadata[end] == '\\' ? 2U : 1U;
  if (end >= metadata.size()) return {};
  std::string text;
  if (!hlo::AppendUnescaped(metadata.substr(at, end - at), text)) return {};
  return text;
}

std::string SourceName(std::string_view file, int64_t line) {
  if (file.empty()) return {};
  return line > 0 ? std::string(file) + ":" + std::to_string(line) : std::string(file);
}

// Compilers leave metadata that says nothing of the program: names for a scheduler, flags.
const hlo::Metadata* WordsOf(const hlo::Module& module, hlo::InstrId id) {
  const hlo::Metadata* metadata = module.metadata_of(id);
  if (metadata == nullptr || metadata->op_name.size != 0 || metadata->source_file.size != 0 ||
      metadata->stack_frame != 0)
    return metadata;
  return nullptr;
}

// Of a fusion without words of its own: those of its root, else of the last that has some.
const hlo::Metadata* MetadataInside(const hlo::Module& module, hlo::InstrId id) {
  const std::span<const hlo::CompId> called = module.called_by(id);
  if (called.empty()) return nullptr;
  const hlo::Computation& body = module.computations[called[0]];
  if (body.root.is_none()) return nullptr;
  const hlo::Metadata* metadata = WordsOf(module, body.root);
  for (uint32_t i = body.count; i-- > 0 && metadata == nullptr;) {
    metadata = WordsOf(module, hlo::InstrId(body.first.index + i));
  }
  return metadata;
}

// What only changes the form of its operand. The compiler makes these up, without words.
bool IsChangeOfForm(hlo::Opcode opcode) {
  return opcode == hlo::Opcode::kCopy || opcode == hlo::Opcode::kBitcast ||
         opcode == hlo::Opcode::kConvert || opcode == hlo::Opcode::kReshape ||
         opcode == hlo::Opcode::kTranspose || opcode == hlo::Opcode::kBroadcast ||
         opcode == hlo::Opcode::kPad || opcode == hlo::Opcode::kSlice;
}

// The same for a fusion of nothing else.
bool IsFusedChangeOfForm(const hlo::Module& module, hlo::InstrId id) {
  const std::span<const hlo::CompId> called = module.called_by(id);
  if (called.empty() || module.operands_of(id).size() != 1) return false;
  const hlo::Computation& body = module.computations[called[0]];
  for (uint32_t i = 0; i < body.count; ++i) {
    const hlo::Opcode opcode = module.instructions[hlo::InstrId(body.first.index + i)].opcode;
    const bool is_input = opcode == hlo::Opcode::kParameter || opcode == hlo::Opcode::kConstant;
    if (!is_input && !IsChangeOfForm(opcode)) return false;
  }
  return true;
}

}  // namespace

const hlo::Metadata* MetadataOf(const hlo::Module& module, hlo::InstrId id) {
  constexpr int kMostSteps = 8;
  for (int step = 0; step < kMostSteps; ++step) {
    const hlo::Metadata* metadata = WordsOf(module, id);
    const hlo::Opcode opcode = module.instructions[id].opcode;
    const bool is_fusion = opcode == hlo::Opcode::kFusion;
    if (metadata == nullptr && is_fusion) metadata = MetadataInside(module, id);
    if (metadata != nullptr) return metadata;
    if (!IsChangeOfForm(opcode) && !(is_fusion && IsFusedChangeOfForm(module, id))) break;
    if (module.operands_of(id).empty()) break;
    id = module.operands_of(id)[0];
  }
  return nullptr;
}

Origin OriginOfText(std::string_view instruction_text) {
  constexpr std::string_view kStart = "metadata={";
  const size_t start = instruction_text.find(kStart);
  if (start == std::string_view::npos) return {};
  std::string_view metadata = instruction_text.substr(start + kStart.size() - 1);
  metadata = metadata.substr(0, hlo::JsonDictionaryLength(metadata));
  int64_t line = 0;
  constexpr std::string_view kLine = "source_line=";
  if (const size_t at = metadata.rfind(kLine); at != std::string_view::npos) {
    const std::string_view digits = metadata.substr(at + kLine.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), line);
  }
  return {.op_name = StringField(metadata, "op_name"),
          .source = SourceName(StringField(metadata, "source_file"), line)};
}

}  // namespace stowplan::report
