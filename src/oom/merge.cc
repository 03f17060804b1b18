// SPDX-License-Identifier: Apache-2.0
#include "oom/merge.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checked_math.h"

namespace stowplan::oom {
namespace {

bool CanAgree(const std::optional<Size>& a, const std::optional<Size>& b) {
  return !a || !b || Agree(*a, *b);
}

// Allocators round what they are asked for up to 256 bytes, and say either.
bool IsSameRequest(const Incident& a, const Incident& b) {
  if (!a.requested || !b.requested) return false;
  const Size wide = {.bytes = a.requested->bytes, .slack = SaturatingAdd(a.requested->slack, 256)};
  return Agree(wide, *b.requested);
}

// XLA's allocator, the driver below it and the program above it speak of the same bytes.
bool IsAllocation(Kind kind) { return kind == Kind::kBuffer || kind == Kind::kDriver; }

bool IsBackoff(const Incident& before, const Incident& next) {
  // A driver that refuses is asked for a tenth less, again and again.
  return before.kind == Kind::kDriver && next.kind == Kind::kDriver && before.requested &&
         next.requested && next.requested->bytes < before.requested->bytes &&
         before.buffers.empty();
}

bool IsSame(const Incident& a, const Incident& b) {
  if (a.is_failure != b.is_failure || a.space != b.space) return false;
  if (a.backend != b.backend && a.backend != Backend::kUnknown && b.backend != Backend::kUnknown)
    return false;
  if (!a.executable.empty() && !b.executable.empty() && a.executable != b.executable) return false;
  if (IsAllocation(a.kind) && IsAllocation(b.kind)) {
    if (a.requested && b.requested) return IsSameRequest(a, b);
    return a.kind == b.kind && !a.requested && !b.requested && a.message == b.message;
  }
  if (a.kind != b.kind) return false;
  if (a.requested || b.requested)
    return a.requested && b.requested && Agree(*a.requested, *b.requested);
  if (a.used || b.used)
    return a.used && b.used && Agree(*a.used, *b.used) && CanAgree(a.limit, b.limit);
  return a.instruction == b.instruction && a.message == b.message;
}

template <class T>
void FillIfEmpty(T& into, const T& from) {
  if (into == T{}) into = from;
}

// Of two sizes the exact one.
void FillSize(std::optional<Size>& into, const std::optional<Size>& from) {
  if (!into || (from && from->slack < into->slack)) into = from;
}

void MergeInto(const Incident& from, Incident& into) {
  constexpr std::array<std::optional<Size> Incident::*, 9> kSizes = {
      &Incident::requested, &Incident::used,        &Incident::limit,
      &Incident::exceeded,  &Incident::free,        &Incident::largest_free,
      &Incident::reserved,  &Incident::device_free, &Incident::device_total};
  into.count += from.count;
  for (const auto size : kSizes) FillSize(into.*size, from.*size);
  constexpr size_t kMostDevices = 64;
  for (const std::string& device : from.devices) {
    if (into.devices.size() < kMostDevices &&
        std::ranges::find(into.devices, device) == into.devices.end())
      into.devices.push_back(device);
  }
  FillIfEmpty(into.code, from.code);
  FillIfEmpty(into.executable, from.executable);
  FillIfEmpty(into.instruction, from.instruction);
  if (into.backend == Backend::kUnknown) into.backend = from.backend;
  // What the program's own error says counts; the driver's is one of its reasons.
  if (into.kind == Kind::kDriver && from.kind == Kind::kBuffer) into.kind = Kind::kBuffer;
  if (!into.program.total && !into.program.temporaries) {
    std::vector<Part> parts = std::move(into.program.parts);
    into.program = from.program;
    if (into.program.parts.empty()) into.program.parts = std::move(parts);
  }
  // Several devices: the first one's pool.
  if (!into.pool.limit && !into.pool.in_use) into.pool = from.pool;
  if (into.buffers.size() < from.buffers.size()) into.buffers = from.buffers;
}

}  // namespace

void AddIncident(Incident incident, Log& log) {
  // The newest first: what belongs together stands together.
  for (size_t i = log.incidents.size(); i-- > 0;) {
    if (IsSame(log.incidents[i], incident)) {
      MergeInto(incident, log.incidents[i]);
      return;
    }
  }
  if (!log.incidents.empty() && IsBackoff(log.incidents.back(), incident)) {
    log.incidents.back().count += incident.count;
    return;
  }
  if (log.incidents.size() >= kMostIncidents) {
    ++log.left_out;
    return;
  }
  log.incidents.push_back(std::move(incident));
}

void AddRemat(const Remat& remat, Log& log) {
  for (Remat& known : log.remats) {
    if (known.limit == remat.limit && known.reached == remat.reached) {
      ++known.count;
      return;
    }
  }
  if (log.remats.size() < kMostIncidents) log.remats.push_back(remat);
}

}  // namespace stowplan::oom
