// SPDX-License-Identifier: Apache-2.0
#include "oom/sentences.h"

#include <algorithm>
#include <array>

#include "base/checked_math.h"
#include "oom/buffers.h"
#include "oom/text.h"

namespace stowplan::oom {
namespace {

void AddDevice(Incident& incident, std::string_view name) {
  if (name.empty() || name.size() > 80) return;
  if (std::ranges::find(incident.devices, name) == incident.devices.end())
    incident.devices.emplace_back(name);
}

Backend BackendOf(std::string_view allocator) {
  const std::string lower = SmallLetters(allocator);
  if (lower.contains("gpu") || lower.contains("cuda") || lower.contains("hip"))
    return Backend::kGpu;
  if (lower.contains("cpu")) return Backend::kCpu;
  return Backend::kUnknown;
}

bool TpuSpace(Scan& scan, size_t, Head& head) {
  Incident& incident = head.incident;
  incident.kind = Kind::kCompile;
  incident.backend = Backend::kTpu;
  incident.space = SmallLetters(scan.TakeUntil(" .,:;"));
  if (incident.space.empty() || incident.space.size() > 20) return false;
  if (scan.Skip(" while allocating on stack for ")) {
    incident.kind = Kind::kScoped;
    const Label label = ReadLabel(std::string_view(scan.window.text).substr(scan.at));
    incident.instruction = label.instruction;
    incident.is_custom_kernel = label.opcode == "custom-call" || scan.Has("tpu_custom_call", 4000);
    return true;
  }
  if (scan.SkipTo("used ", 40)) {
    incident.used = scan.TakeSize();
    if (scan.Skip(" of ")) incident.limit = scan.TakeSize();
    if (scan.SkipTo("capacity by ", 60)) incident.exceeded = scan.TakeSize();
  }
  return true;
}

bool TpuScoped(Scan& scan, size_t, Head& head) {
  Incident& incident = head.incident;
  incident.kind = Kind::kScoped;
  incident.backend = Backend::kTpu;
  incident.space = "vmem";
  incident.used = scan.TakeSize();
  if (!incident.used) return false;
  if (scan.Skip(" and limit ")) incident.limit = scan.TakeSize();
  if (scan.SkipTo("limit by ", 40)) incident.exceeded = scan.TakeSize();
  head.is_addition = true;
  return true;
}

// The compiler's sum and, after some words, what is available.
bool TpuNeeds(Scan& scan, Head& head, std::string_view words) {
  Incident& incident = head.incident;
  incident.kind = Kind::kCompile;
  incident.backend = Backend::kTpu;
  incident.space = "hbm";
  incident.used = scan.TakeSize();
  if (scan.SkipTo(words, 8)) incident.limit = scan.TakeSize();
  return incident.used.has_value();
}

bool TpuEarly(Scan& scan, size_t, Head& head) { return TpuNeeds(scan, head, "has "); }

// It says temporaries, and counts arguments and outputs too.
bool TpuTotal(Scan& scan, size_t, Head& head) {
  return TpuNeeds(scan, head, "exceeds available hbm (");
}

bool TpuCores(Scan& scan, size_t, Head& head) {
  Incident& incident = head.incident;
  incident.kind = Kind::kCompile;
  incident.backend = Backend::kTpu;
  incident.space = "hbm";
  const std::optional<Size> tensor = scan.TakeSize();
  if (!tensor || !scan.SkipTo("sparsecore hbm usage", 8)) return false;
  scan.Skip(":");
  const std::optional<Size> sparse = scan.TakeSize();
  if (!sparse) return false;
  incident.used = Plus(tensor, sparse);
  incident.program.parts = {{.name = "TensorCore", .size = *tensor},
                            {.name = "SparseCore", .size = *sparse}};
  if (scan.SkipTo("available bytes:", 24)) incident.limit = scan.TakeSize();
  return true;
}

bool TpuReserve(Scan& scan, size_t, Head& head) {
  Incident& incident = head.incident;
  incident.requested = scan.TakeSize();
  if (!incident.requested || !scan.SkipTo("there are ", 80)) return false;
  incident.kind = Kind::kLoad;
  incident.backend = Backend::kTpu;
  incident.space = "hbm";
  incident.free = scan.TakeSize();
  if (scan.Skip(" free, ")) incident.reserved = scan.TakeSize();
  if (scan.Skip(" reserved, and ")) incident.largest_free = scan.TakeSize();
  return true;
}

bool TpuBuffer(Scan& scan, size_t, Head& head) {
  Incident& incident = head.incident;
  incident.requested = scan.TakeSize();
  if (!incident.requested || !scan.SkipTo("there are ", 60)) return false;
  incident.kind = Kind::kBuffer;
  incident.backend = Backend::kTpu;
  incident.space = "hbm";
  incident.free = scan.TakeSize();
  if (scan.SkipTo("(", 24)) AddDevice(incident, scan.TakeUntil(") "));
  return true;
}

bool TpuKernel(Scan& scan, size_t, Head& head) {
  Incident& incident = head.incident;
  incident.requested = scan.TakeSize();
  if (!scan.Skip(") would exceed memory (size=")) return false;
  incident.limit = scan.TakeSize();
  incident.kind = Kind::kScoped;
  incident.backend = Backend::kTpu;
  incident.space = "vmem";
  incident.used = incident.requested;
  incident.is_custom_kernel = true;
  if (const std::string_view space = Between(scan.window.lower, "space=", ",", scan.at);
      !space.empty() && space.size() < 20)
    incident.space = space;
  if (const std::string_view tag = Between(scan.window.text, "tag = '", "'", scan.at); !tag.empty())
    incident.instruction = tag.substr(0, 200);
  return true;
}

// "Out of memory while trying to allocate 3435973836 bytes.", "Out of host memory while ..."
bool Allocation(Scan& scan, size_t begin, Head& head) {
  const std::string_view before = std::string_view(scan.window.lower).substr(0, begin);
  const bool is_host = before.ends_with("out of host ");
  if (!is_host && !before.ends_with("out of ")) return false;
  Incident& incident = head.incident;
  incident.requested = scan.TakeSize();
  if (!incident.requested) return false;
  incident.kind = is_host ? Kind::kHost : Kind::kBuffer;
  incident.backend = Backend::kGpu;
  if (is_host) incident.space = "host";
  if (scan.Skip(" with allocator ")) AddDevice(incident, scan.TakeUntil(" "));
  return true;
}

bool AllocatorPool(Scan& scan, size_t begin, Head& head) {
  Incident& incident = head.incident;
  incident.requested = scan.TakeSize();
  if (!incident.requested) return false;
  incident.kind = Kind::kBuffer;
  const std::string_view before = std::string_view(scan.window.text).substr(0, begin);
  const size_t open = before.rfind('(');
  if (open != std::string_view::npos && before.ends_with(") ") && begin - open < 80) {
    const std::string_view name = before.substr(open + 1, before.size() - open - 3);
    AddDevice(incident, name);
    incident.pool.name = name;
    incident.backend = BackendOf(name);
    if (SmallLetters(name).contains("host")) {
      incident.kind = Kind::kHost;
      incident.space = "host";
    }
  }
  if (scan.Skip(" (rounded to ")) {
    const std::optional<Size> rounded = scan.TakeSize();
    // Allocators round up to 256 bytes.
    if (rounded && Agree(*rounded, {.bytes = incident.requested->bytes,
                                    .slack = incident.requested->slack + 256}))
      incident.requested = Size{.bytes = rounded->bytes, .slack = 256};
  }
  if (scan.Has("this is not a failure", 160)) incident.is_failure = false;
  if (scan.SkipTo("requested by op ", 40)) {
    const std::string_view op = scan.TakeUntil(" ");
    if (op.contains('/') || op.contains(':')) incident.instruction = op.substr(0, 200);
  }
  return true;
}

bool Request(Scan& scan, size_t, Head& head) {
  Incident& incident = head.incident;
  incident.requested = scan.TakeSize();
  if (!incident.requested) return false;
  incident.kind = Kind::kBuffer;
  incident.backend = Backend::kGpu;
  if (scan.Skip(" on device ordinal ")) AddDevice(incident, scan.TakeUntil(" .:,;)"));
  return true;
}

// "failed to allocate 7.81G (8387559424 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY", and the same
// for other memory and other drivers.
bool Driver(Scan& scan, size_t begin, Head& head) {
  Incident& incident = head.incident;
  if (scan.Skip("request for ")) return false;
  const bool is_async =
      std::string_view(scan.window.lower).substr(0, begin).ends_with("cumemallocasync ");
  std::string_view kind;
  if (!IsDigit(scan.at < scan.window.text.size() ? scan.window.text[scan.at] : ' ')) {
    // "Failed to allocate device memory of 2.50GiB (2684354560 bytes)"
    const size_t from = scan.at;
    if (!scan.SkipTo(" memory of ", 24)) return false;
    kind = std::string_view(scan.window.lower).substr(from, scan.at - from);
  }
  incident.requested = scan.TakeSize();
  if (!incident.requested) return false;
  const bool is_host = kind.contains("host") || scan.Has("host memory", 32);
  const bool is_device = is_async || kind.contains("device") || kind.contains("collective") ||
                         kind.contains("unified") || scan.Has("from device", 16) ||
                         scan.Has("unified memory", 24) || scan.Has("collective memory", 40);
  if (!is_host && !is_device) return false;
  incident.kind = is_host ? Kind::kHost : Kind::kDriver;
  incident.backend = Backend::kGpu;
  if (is_host) incident.space = "host";
  return true;
}

bool Cpu(Scan& scan, size_t, Head& head) {
  Incident& incident = head.incident;
  incident.requested = scan.TakeSize();
  incident.kind = Kind::kBuffer;
  incident.backend = Backend::kCpu;
  incident.space = "host";
  return incident.requested.has_value();
}

bool HostWarning(Scan& scan, size_t, Head& head) {
  Incident& incident = head.incident;
  incident.requested = scan.TakeSize();
  if (!incident.requested || !scan.Skip(" exceeds ") || !scan.Has("% of free system memory", 30))
    return false;
  incident.kind = Kind::kHost;
  incident.space = "host";
  incident.is_failure = false;
  return true;
}

bool HostArray(Scan& scan, size_t, Head& head) {
  Incident& incident = head.incident;
  incident.requested = scan.TakeSize();
  if (!incident.requested || !scan.Has("for an array with shape", 30)) return false;
  incident.kind = Kind::kHost;
  incident.space = "host";
  return true;
}

bool HostKilled(Scan&, size_t, Head& head) {
  head.incident.kind = Kind::kHost;
  head.incident.space = "host";
  return true;
}

// What a tensor of TensorFlow takes: "shape[32,1024,64,64] and type float".
std::optional<Size> TensorSize(std::string_view shape, std::string_view type) {
  struct Width {
    std::string_view name;
    int64_t bytes;
  };
  constexpr std::array<Width, 16> kWidths = {{{"bool", 1},
                                              {"int8", 1},
                                              {"uint8", 1},
                                              {"half", 2},
                                              {"bfloat16", 2},
                                              {"int16", 2},
                                              {"uint16", 2},
                                              {"float", 4},
                                              {"int32", 4},
                                              {"uint32", 4},
                                              {"double", 8},
                                              {"int64", 8},
                                              {"uint64", 8},
                                              {"complex64", 8},
                                              {"complex128", 16},
                                              {"float16", 2}}};
  const auto* const width = std::ranges::find(kWidths, type, &Width::name);
  if (width == kWidths.end()) return std::nullopt;
  std::optional<int64_t> bytes = width->bytes;
  while (!shape.empty()) {
    const size_t end = std::min(shape.find(','), shape.size());
    const std::optional<Size> dimension = ParseSize(Trimmed(shape.substr(0, end)));
    if (!dimension || dimension->slack != 0) return std::nullopt;
    bytes = CheckedMultiply(*bytes, dimension->bytes);
    if (!bytes) return std::nullopt;
    shape.remove_prefix(std::min(shape.size(), end + 1));
  }
  return Size{.bytes = *bytes, .slack = 0};
}

bool Tensor(Scan& scan, size_t, Head& head) {
  Incident& incident = head.incident;
  const std::string_view shape = scan.TakeUntil("]");
  if (!scan.Skip("] and type ")) return false;
  incident.requested = TensorSize(shape, scan.TakeUntil(" "));
  incident.kind = Kind::kBuffer;
  if (scan.SkipTo("by allocator ", 120)) {
    const std::string_view allocator = scan.TakeUntil(" \t[");
    AddDevice(incident, allocator);
    incident.backend = BackendOf(allocator);
    if (incident.backend == Backend::kCpu) incident.space = "host";
  }
  Buffer buffer;
  buffer.size = incident.requested;
  buffer.shape = "[" + std::string(shape.substr(0, 200)) + "]";
  incident.buffers.push_back(std::move(buffer));
  return true;
}

bool Library(Scan&, size_t, Head& head) {
  head.incident.kind = Kind::kDriver;
  head.incident.backend = Backend::kGpu;
  return true;
}

constexpr std::array<Anchor, 21> kAnchors = {{
    {"ran out of memory in memory space ", TpuSpace},
    {"scoped allocation with size ", TpuScoped},
    {"unlikely to have enough memory. requires ", TpuEarly},
    {"the total memory required for hlo temporaries (", TpuTotal},
    {"tensorcore hbm usage: ", TpuCores},
    {"attempting to reserve ", TpuReserve},
    {"attempting to allocate ", TpuBuffer},
    {"allocation (size=", TpuKernel},
    {"memory while trying to allocate ", Allocation},
    {"ran out of memory trying to allocate ", AllocatorPool},
    {"failed to allocate request for ", Request},
    {"failed to allocate ", Driver},
    {"out of memory allocating ", Cpu},
    {"allocation of ", HostWarning},
    {"unable to allocate ", HostArray},
    {"oom when allocating tensor with shape[", Tensor},
    {"out of memory: killed process", HostKilled},
    {"std::bad_alloc", HostKilled},
    {"oom killed", HostKilled},
    {"_status_alloc_failed", Library},
    {"cuda_error_out_of_memory", Library},
}};

}  // namespace

std::span<const Anchor> Anchors() { return kAnchors; }

}  // namespace stowplan::oom
