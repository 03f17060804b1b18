// SPDX-License-Identifier: Apache-2.0
#include "target/guess.h"

#include <algorithm>
#include <ranges>

#include "hlo/print.h"
#include "stowplan/hlo/dialect.h"

namespace stowplan {
namespace {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Opcode;

struct Traces {
  bool has_tiles = false;
  bool has_cmem = false;  // memory space 3, which only one generation has
  bool has_gpu_config = false;
  bool has_cpu_config = false;
};

Traces FindTraces(const hlo::Module& module) {
  Traces traces;
  for (const hlo::Instruction& instruction : module.instructions.rows()) {
    const hlo::LayoutId id = module.shapes[instruction.shape].layout;
    if (id.is_none()) continue;
    const hlo::Layout& layout = module.shapes.layout(id);
    traces.has_tiles |= !layout.tiles.empty();
    traces.has_cmem |= layout.memory_space == 3;
  }
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    for (const hlo::Attribute& attribute : module.attributes_of(InstrId(i))) {
      if (attribute.key != AttributeKey::kBackendConfig &&
          attribute.key != AttributeKey::kCustomCallTarget)
        continue;
      const std::string_view text = module.view(attribute.text());
      if (text.find("fusion_backend_config") != std::string_view::npos ||
          text.find("force_earliest_schedule") != std::string_view::npos ||
          text.starts_with("__cublas") || text.starts_with("__cudnn"))
        traces.has_gpu_config = true;
      if (text.find("outer_dimension_partitions") != std::string_view::npos ||
          text.starts_with("__onednn") || text.starts_with("__xla_cpu") ||
          text.starts_with("xla_ffi_python_cpu"))
        traces.has_cpu_config = true;
    }
    if (traces.has_gpu_config || traces.has_cpu_config) break;
  }
  return traces;
}

// Whether a text is what a dialect makes of its module. Printing ends at the first difference.
bool IsWrittenIn(const hlo::Module& module, const hlo::Dialect& dialect) {
  if (!module.source) return false;
  std::string_view rest = module.source->bytes();
  bool is_equal = true;
  hlo::PrintModule(module, dialect, [&](std::string_view piece) {
    is_equal = rest.starts_with(piece);
    if (is_equal) rest.remove_prefix(piece.size());
    return is_equal;
  });
  return is_equal && rest.find_first_not_of('\n') == std::string_view::npos;
}

}  // namespace

TargetGuess GuessTarget(const hlo::Module& module, std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  if (name.find("gpu_after_optimizations") != std::string_view::npos)
    return {Backend::kGpu, FindTarget("gpu"), "the file's name"};
  if (name.find("cpu_after_optimizations") != std::string_view::npos)
    return {Backend::kCpu, FindTarget("cpu"), "the file's name"};
  const Traces traces = FindTraces(module);
  if (traces.has_cmem && traces.has_tiles)
    return {Backend::kTpu, FindTarget("tpu-v4"), "memory space 3 in its layouts"};
  if (traces.has_tiles) return {Backend::kTpu, std::nullopt, "tiles in its layouts"};
  if (traces.has_gpu_config) return {Backend::kGpu, FindTarget("gpu"), "its backend_configs"};
  if (traces.has_cpu_config) return {Backend::kCpu, FindTarget("cpu"), "its backend_configs"};
  return {};
}

std::string_view GuessVersion(const hlo::Module& module, Backend backend,
                              const std::function<bool(std::string_view)>& may_be) {
  const std::span<const hlo::NamedDialect> dialects = hlo::Dialects();
  // TPU compilers write the long form whatever their age.
  const bool has_evidence = module.format == hlo::Format::kText && backend != Backend::kTpu;
  if (has_evidence || may_be) {
    for (const hlo::NamedDialect& dialect : std::views::reverse(dialects)) {
      if (dialect.dialect.single_device != module.dialect.single_device) continue;
      if (backend != Backend::kTpu && dialect.name.starts_with("libtpu-")) continue;
      if (may_be && !may_be(dialect.name)) continue;
      if (!has_evidence || IsWrittenIn(module, dialect.dialect)) return dialect.name;
    }
  }
  // Nothing shows a newer one.
  return may_be ? std::string_view() : "jaxlib-0.11.2";
}

}  // namespace stowplan
