// SPDX-License-Identifier: Apache-2.0
// Causes outside the program: pools, other processes, libraries, the machine.
#include <fmt/format.h>

#include "oom/causes.h"
#include "oom/size.h"

namespace stowplan::oom {
namespace {

// Whether the device itself has less than the pool could still take: then the pool is not to blame.
bool IsDeviceFull(const Incident& incident) {
  const std::optional<Size> rest = Minus(incident.pool.limit, incident.pool.in_use);
  return incident.device_free && rest && incident.device_free->bytes < rest->bytes;
}

void FindFragmented(const Case& one, std::vector<Cause>& causes) {
  const Incident& incident = one.incident;
  const std::optional<Size> free = FreeOf(incident);
  if (!incident.requested || !free || free->bytes < incident.requested->bytes) return;
  if (incident.largest_free && incident.largest_free->bytes >= incident.requested->bytes) return;
  Cause cause{.kind = CauseKind::kPoolFragmented,
              .what = "enough is free, but not in one piece",
              .why = fmt::format("{} were requested, {} are free", SizeText(*incident.requested),
                                 SizeText(*free)),
              .bytes = free,
              .is_sure = incident.largest_free.has_value(),
              .covers_lack = true};
  if (incident.largest_free)
    cause.why += fmt::format(", the largest free piece is {}", SizeText(*incident.largest_free));
  if (incident.pool.free_pieces > 1)
    cause.why += fmt::format(" of {} pieces", incident.pool.free_pieces);
  cause.why += ".";
  causes.push_back(std::move(cause));
}

void FindPoolSmall(const Case& one, std::vector<Cause>& causes) {
  const Incident& incident = one.incident;
  if (incident.backend != Backend::kGpu || !incident.pool.limit || !one.lack) return;
  if (IsDeviceFull(incident)) return;
  Cause cause{.kind = CauseKind::kPoolSmall,
              .what = "XLA's pool is only part of the GPU's memory",
              .why = {},
              .bytes = {},
              .is_sure = incident.device_total.has_value()};
  const Size limit = *incident.pool.limit;
  if (incident.device_total) {
    const std::optional<Size> rest = Minus(incident.device_total, limit);
    // Some hundred MiB are needed beside the pool.
    if (rest->bytes < incident.device_total->bytes / 20) return;
    cause.bytes = rest;
    cause.why = fmt::format("The device has {}, the pool may take {}.",
                            SizeText(*incident.device_total), SizeText(limit));
  } else if (one.log.framework == Framework::kTensorFlow) {
    return;  // TensorFlow takes nearly all of it
  } else {
    // Three quarters are JAX's default: as many bytes as a third of the pool are outside it. Of
    // these the context and libraries need some.
    cause.bytes = Size{.bytes = limit.bytes / 15 * 4, .slack = limit.bytes / 50};
    cause.why = fmt::format(
        "The pool may take {}. If that is JAX's default of 75% of the device, a fraction of .95 "
        "gives it about {} more.",
        SizeText(limit), SizeText(*cause.bytes));
  }
  cause.covers_lack = Covers(one, cause.bytes);
  // A guess that would not help is left out.
  if (!cause.is_sure && !cause.covers_lack) return;
  causes.push_back(std::move(cause));
}

void FindPoolFull(const Case& one, std::vector<Cause>& causes) {
  const Incident& incident = one.incident;
  const bool is_tpu = incident.backend == Backend::kTpu;
  if (incident.kind == Kind::kLoad || (is_tpu && incident.kind == Kind::kBuffer)) {
    if (!incident.free || !incident.requested) return;
    if (incident.free->bytes >= incident.requested->bytes) return;
    causes.push_back({.kind = CauseKind::kPoolFull,
                      .what = "arrays and programs that are already alive leave too little",
                      .why = fmt::format("{} were requested, {} are free.",
                                         SizeText(*incident.requested), SizeText(*incident.free)),
                      .bytes = one.lack,
                      .is_sure = true,
                      .covers_lack = true});
    return;
  }
  const std::optional<Size>& in_use = incident.pool.in_use;
  if (!in_use || !incident.requested || !one.limit || IsDeviceFull(incident)) return;
  // What the pool holds besides this program's arguments.
  std::optional<Size> others = in_use;
  std::string rest;
  if (incident.program.arguments && incident.program.arguments->bytes <= in_use->bytes) {
    others = Minus(in_use, incident.program.arguments);
    rest = fmt::format(", including {} of arguments of this program",
                       SizeText(*incident.program.arguments));
  }
  const std::optional<Size> free = FreeOf(incident);
  if (free && free->bytes >= incident.requested->bytes) return;  // there are enough, in pieces
  if (incident.requested->bytes > one.limit->bytes) return;
  if (others->bytes < in_use->bytes / 10) return;
  causes.push_back({.kind = CauseKind::kPoolFull,
                    .what = "what is already alive leaves too little",
                    .why = fmt::format("{} of {} were in use before the request{}.",
                                       SizeText(*in_use), SizeText(*one.limit), rest),
                    .bytes = others,
                    .is_sure = true,
                    .covers_lack = Covers(one, others)});
}

void FindOthers(const Case& one, std::vector<Cause>& causes) {
  const Incident& incident = one.incident;
  if (incident.device_free && incident.device_total && incident.pool.in_use) {
    const std::optional<Size> taken = Minus(incident.device_total, incident.device_free);
    const std::optional<Size> others = Minus(taken, incident.pool.in_use);
    if (others->bytes > incident.device_total->bytes / 10)
      causes.push_back(
          {.kind = CauseKind::kOtherProcess,
           .what = "other processes hold part of the GPU's memory",
           .why = fmt::format("{} of {} are taken, but this pool holds {}.", SizeText(*taken),
                              SizeText(*incident.device_total), SizeText(*incident.pool.in_use)),
           .bytes = others,
           .is_sure = false,
           .covers_lack = Covers(one, others)});
  }
  if (incident.kind != Kind::kDriver) return;
  if (!incident.requested) {
    causes.push_back(
        {.kind = CauseKind::kOutsidePool,
         .what = "nothing is left outside XLA's pool",
         .why = "Libraries (cuDNN, cuBLAS) and the driver allocate outside the pool, and failed.",
         .bytes = {},
         .is_sure = false});
    return;
  }
  if (incident.pool.in_use || incident.device_free) return;
  std::string why = fmt::format("The driver itself refused {}", SizeText(*incident.requested));
  why += incident.count > 1 ? fmt::format(", and {} smaller requests.", incident.count - 1) : ".";
  causes.push_back({.kind = CauseKind::kOtherProcess,
                    .what = "another process may hold the GPU's memory",
                    .why = std::move(why),
                    .bytes = {},
                    .is_sure = false});
}

}  // namespace

void FindPoolCauses(const Case& one, std::vector<Cause>& causes) {
  const Incident& incident = one.incident;
  if (incident.kind == Kind::kHost || incident.backend == Backend::kCpu) {
    Cause cause{.kind = CauseKind::kHost,
                .what = "the host's own memory is too small for this request",
                .why = "The message is about host memory, not about an accelerator.",
                .bytes = incident.requested,
                .is_sure = true};
    if (incident.kind != Kind::kHost) cause.why = "The program ran on the CPU.";
    causes.push_back(std::move(cause));
    return;
  }
  if (incident.kind == Kind::kCompile || incident.kind == Kind::kScoped) return;
  FindFragmented(one, causes);
  FindPoolSmall(one, causes);
  FindPoolFull(one, causes);
  FindOthers(one, causes);
}

}  // namespace stowplan::oom
