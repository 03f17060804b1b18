// SPDX-License-Identifier: Apache-2.0
// What follows from an incident's figures by arithmetic.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/stable_sort.h"
#include "oom/causes.h"
#include "oom/size.h"

namespace stowplan::oom {
namespace {

// A difference that rounding cannot explain.
std::optional<Size> IfPositive(const std::optional<Size>& size) {
  return size && size->bytes > size->slack ? size : std::nullopt;
}

// The same in all layers: "jit(f)/layers_*/dot_general".
std::string WithoutNumbers(std::string_view op_name) {
  std::string name;
  for (const char c : op_name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) name += c;
    if (is_digit && !name.ends_with('*')) name += '*';
  }
  return name;
}

}  // namespace

std::optional<Size> FreeOf(const Incident& incident) {
  if (incident.free) return incident.free;
  // What the pool may still take from the device counts, as far as the device has it.
  const Pool& pool = incident.pool;
  std::optional<Size> free = pool.free;
  if (pool.limit && pool.in_use) free = Minus(pool.limit, pool.in_use);
  if (!free || (incident.device_free && incident.device_free->bytes < free->bytes))
    return incident.device_free ? incident.device_free : free;
  return free;
}

std::optional<Size> LackOf(const Incident& incident) {
  if (incident.exceeded) return incident.exceeded;
  if (incident.used && incident.limit) return IfPositive(Minus(incident.used, incident.limit));
  if (!incident.requested) return std::nullopt;
  const std::optional<Size> in_one_piece =
      incident.largest_free ? IfPositive(Minus(incident.requested, incident.largest_free))
                            : std::nullopt;
  const std::optional<Size> in_all = IfPositive(Minus(incident.requested, FreeOf(incident)));
  return in_all ? in_all : in_one_piece;
}

bool Covers(const Case& one, const std::optional<Size>& bytes) {
  return one.lack && bytes && bytes->bytes >= one.lack->bytes;
}

Case MakeCase(const Log& log, const Incident& incident) {
  Case one{.log = log,
           .incident = incident,
           .lack = LackOf(incident),
           .used = incident.used,
           .limit = incident.limit};
  if (!one.used) one.used = incident.program.total;
  if (!one.limit) one.limit = incident.device_total;
  return one;
}

std::optional<Size> SharedOutputs(const Program& program) {
  if (program.shared) return program.shared;
  const std::optional<Size> sum =
      Plus(Plus(program.arguments, program.outputs), Plus(program.constants, program.temporaries));
  const std::optional<Size> twice = Minus(sum, program.total);
  if (!twice) return std::nullopt;
  // Each part is rounded; such a small difference means nothing.
  if (twice->bytes <= twice->slack) return Size{.bytes = 0, .slack = twice->slack};
  // Both cannot share more than either has: then the parts are not what they seem.
  const int64_t most = std::min(program.arguments->bytes, program.outputs->bytes);
  if (twice->bytes - twice->slack > most) return std::nullopt;
  return twice;
}

std::optional<Size> PaddingOf(const Incident& incident) {
  const Program& program = incident.program;
  if (program.padded && program.unpadded)
    return IfPositive(Minus(program.padded, program.unpadded));
  std::optional<Size> sum;
  for (const Buffer& buffer : incident.buffers) {
    std::optional<Size> padding = buffer.padding;
    if (!padding) padding = IfPositive(Minus(buffer.size, buffer.unpadded));
    if (!padding) continue;
    sum = sum ? Plus(sum, padding) : padding;
    if (!sum) return std::nullopt;
  }
  return sum;
}

std::string SourceOf(const Buffer& buffer) {
  if (buffer.source_file.empty()) return {};
  const std::string_view file = buffer.source_file;
  const size_t slash = file.find_last_of("/\\");
  const std::string name(slash == std::string_view::npos ? file : file.substr(slash + 1));
  return buffer.source_line > 0 ? fmt::format("{}:{}", name, buffer.source_line) : name;
}

std::vector<BufferGroup> GroupBuffers(const Incident& incident) {
  std::map<std::string, BufferGroup> groups;
  for (size_t i = 0; i < incident.buffers.size(); ++i) {
    const Buffer& buffer = incident.buffers[i];
    if (!buffer.size || buffer.is_parameter) continue;
    std::string name = SourceOf(buffer);
    if (name.empty()) name = WithoutNumbers(buffer.op_name);
    if (name.empty()) name = buffer.shape;
    if (name.empty()) continue;
    BufferGroup& group = groups[name];
    if (group.count == 0) group = {.name = name, .count = 0, .bytes = Size{}, .first = i};
    ++group.count;
    group.bytes = Plus(group.bytes, buffer.size);
  }
  std::vector<BufferGroup> sorted;
  for (auto& [name, group] : groups)
    if (group.bytes) sorted.push_back(std::move(group));
  StableSort(sorted, [](const BufferGroup& a, const BufferGroup& b) {
    return a.bytes->bytes != b.bytes->bytes ? a.bytes->bytes > b.bytes->bytes : a.first < b.first;
  });
  return sorted;
}

std::optional<Size> ActivationsOf(const Incident& incident) {
  std::optional<Size> sum;
  for (const Buffer& buffer : incident.buffers) {
    if (!buffer.op_name.contains("jvp(") || buffer.op_name.contains("transpose(") || !buffer.size)
      continue;
    sum = sum ? Plus(sum, buffer.size) : buffer.size;
    if (!sum) return std::nullopt;
  }
  return sum;
}

bool IsTraining(const Incident& incident) {
  return std::ranges::any_of(incident.buffers, [](const Buffer& buffer) {
    return buffer.op_name.contains("jvp(") || buffer.op_name.contains("transpose(");
  });
}

bool IsScratch(const Incident& incident) {
  return incident.kind == Kind::kScoped ||
         (incident.kind == Kind::kCompile && incident.space != "hbm");
}

bool IsKernel(const Incident& incident) {
  return incident.is_custom_kernel ||
         std::ranges::any_of(incident.buffers, [](const Buffer& buffer) {
           return buffer.op_name.contains("pallas_call") ||
                  buffer.label.contains("tpu_custom_call");
         });
}

std::string SpaceWords(const Incident& incident) {
  if (incident.kind == Kind::kHost || incident.backend == Backend::kCpu) return "the host's memory";
  if (incident.space == "hbm") return "the TPU's main memory (hbm)";
  if (incident.space == "vmem") return "the TPU's vector memory (vmem)";
  if (incident.space == "smem") return "the TPU's scalar memory (smem)";
  if (!incident.space.empty()) return fmt::format("the memory space {}", incident.space);
  if (incident.backend == Backend::kGpu) return "the GPU's memory";
  return "memory";
}

}  // namespace stowplan::oom
