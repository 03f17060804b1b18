// SPDX-License-Identifier: Apache-2.0
// Causes inside the program: what its memory is for, and single buffers.
#include <algorithm>

#include <fmt/format.h>

#include "oom/causes.h"
#include "oom/size.h"
#include "oom/tiles.h"

namespace stowplan::oom {
namespace {

std::string Share(const Size& part, const Size& whole) {
  return whole.bytes <= 0 ? std::string("all")
                          : fmt::format("{:.0f}%", 100.0 * static_cast<double>(part.bytes) /
                                                       static_cast<double>(whole.bytes));
}

bool IsAtLeast(const std::optional<Size>& part, const std::optional<Size>& whole, int64_t percent) {
  return part && whole && part->bytes > 0 && part->bytes / percent >= whole->bytes / 100;
}

void FindPadding(const Case& one, std::vector<Cause>& causes) {
  const std::optional<Size> padding = PaddingOf(one.incident);
  if (!padding || !(IsAtLeast(padding, one.used, 5) || Covers(one, padding))) return;
  const bool is_all = one.incident.program.padded.has_value();
  Cause cause{.kind = CauseKind::kPadding,
              .what = "part of the memory holds no data: tiles are not full",
              .why = fmt::format("{}{} are padding", SizeText(*padding),
                                 is_all ? " of the temporaries" : " of the listed buffers"),
              .bytes = padding,
              .is_sure = true,
              .covers_lack = Covers(one, padding)};
  // The worst one, and why.
  const Buffer* worst = nullptr;
  for (const Buffer& buffer : one.incident.buffers) {
    if (buffer.padding && (worst == nullptr || worst->padding->bytes < buffer.padding->bytes))
      worst = &buffer;
  }
  if (worst != nullptr) {
    cause.why += fmt::format("; the worst is {} with {}", worst->shape, SizeText(*worst->padding));
    if (const std::optional<TiledShape> shape = ParseShape(worst->shape)) {
      const std::string words = WasteWords(*shape);
      if (!words.empty()) cause.why += ": " + words;
    }
  }
  cause.why += ".";
  causes.push_back(std::move(cause));
}

void FindTemporaries(const Case& one, std::vector<Cause>& causes) {
  const Program& program = one.incident.program;
  if (!IsAtLeast(program.temporaries, one.used, 30)) return;
  Cause cause{.kind = CauseKind::kTemporaries,
              .what = "most of the memory is for intermediate values",
              .why = fmt::format("Temporaries are {} of {}, {}.", SizeText(*program.temporaries),
                                 SizeText(*one.used), Share(*program.temporaries, *one.used)),
              .bytes = program.temporaries,
              .is_sure = true,
              .covers_lack = Covers(one, program.temporaries)};
  if (!IsAtLeast(program.temporaries, one.used, 50))
    cause.what = "much of the memory is for intermediate values";
  if (IsTraining(one.incident))
    cause.why +=
        " Names with jvp( and transpose( show that gradients are computed: the forward "
        "pass keeps values for the backward pass.";
  causes.push_back(std::move(cause));
}

void FindArguments(const Case& one, std::vector<Cause>& causes) {
  const Program& program = one.incident.program;
  if (!IsAtLeast(program.arguments, one.used, 30)) return;
  causes.push_back({.kind = CauseKind::kArguments,
                    .what = "the arguments themselves are large",
                    .why = fmt::format("Arguments are {} of {}, {}.", SizeText(*program.arguments),
                                       SizeText(*one.used), Share(*program.arguments, *one.used)),
                    .bytes = program.arguments,
                    .is_sure = true,
                    .covers_lack = Covers(one, program.arguments)});
}

void FindOutputs(const Case& one, std::vector<Cause>& causes) {
  const Program& program = one.incident.program;
  const std::optional<Size> shared = SharedOutputs(program);
  if (!program.outputs || !shared || !program.arguments) return;
  const std::optional<Size> own = Minus(program.outputs, shared);
  const std::optional<Size> free = Minus(program.arguments, shared);
  // At most what both have.
  const std::optional<Size> most = own->bytes < free->bytes ? own : free;
  if (most->bytes <= most->slack || !(IsAtLeast(most, one.used, 2) || Covers(one, most))) return;
  causes.push_back({.kind = CauseKind::kOutputs,
                    .what = "results do not reuse the memory of arguments",
                    .why = fmt::format("Outputs are {}, of which {} share memory with arguments "
                                       "({} in total).",
                                       SizeText(*program.outputs), SizeText(*shared),
                                       SizeText(*program.arguments)),
                    .bytes = most,
                    .is_sure = true,
                    .covers_lack = Covers(one, most)});
}

void FindPacking(const Case& one, std::vector<Cause>& causes) {
  const std::optional<Size>& holes = one.incident.program.fragmentation;
  if (!holes || holes->bytes == 0) return;
  if (!IsAtLeast(holes, one.used, 5) && !Covers(one, holes)) return;
  causes.push_back({.kind = CauseKind::kPacking,
                    .what = "the compiler's plan has holes",
                    .why = fmt::format("{} between the values are unused.", SizeText(*holes)),
                    .bytes = holes,
                    .is_sure = true,
                    .covers_lack = Covers(one, holes)});
}

void FindRematCause(const Case& one, std::vector<Cause>& causes) {
  // The last one before the incident, or the first one at all.
  const Remat* remat = nullptr;
  for (const Remat& each : one.log.remats)
    if (remat == nullptr || each.line <= one.incident.line) remat = &each;
  if (remat == nullptr || one.incident.kind == Kind::kHost) return;
  Cause cause{.kind = CauseKind::kRemat,
              .what =
                  "XLA tried to recompute values instead of keeping them, but could not "
                  "save enough",
              .why = fmt::format("Rematerialization aimed for {} and reached {}",
                                 SizeText(remat->limit), SizeText(remat->reached)),
              .bytes = Minus(remat->reached, remat->limit),
              .is_sure = true};
  if (remat->original) cause.why += fmt::format(", from {}", SizeText(*remat->original));
  cause.why += ". These are estimates made before planning.";
  causes.push_back(std::move(cause));
}

std::string BufferName(const Buffer& buffer) {
  std::string name = buffer.shape.empty() ? std::string("a buffer") : buffer.shape;
  const std::string source = SourceOf(buffer);
  if (!source.empty()) {
    name += " of " + source;
  } else if (!buffer.op_name.empty()) {
    name += " of " + buffer.op_name;
  }
  return name;
}

}  // namespace

void FindProgramCauses(const Case& one, std::vector<Cause>& causes) {
  const Incident& incident = one.incident;
  if (IsScratch(incident)) {
    causes.push_back({.kind = CauseKind::kKernel,
                      .what = IsKernel(incident) ? "the blocks of a kernel are too large"
                                                 : "one instruction needs too much scratch memory",
                      .why = incident.used && incident.limit
                                 ? fmt::format("It needs {}, the limit is {}.",
                                               SizeText(*incident.used), SizeText(*incident.limit))
                                 : std::string("This limit is for scratch memory, not for arrays."),
                      .bytes = one.lack,
                      .is_sure = true,
                      .covers_lack = true});
    return;
  }
  if (incident.requested && one.limit && incident.requested->bytes > one.limit->bytes)
    causes.push_back(
        {.kind = CauseKind::kTooLarge,
         .what = "one piece is larger than the whole memory",
         .why = fmt::format("{} were requested in one piece, and the limit is {}: this "
                            "does not fit even with nothing else alive.",
                            SizeText(*incident.requested), SizeText(*one.limit)),
         .bytes = incident.requested,
         .is_sure = true,
         .covers_lack = true});
  FindPadding(one, causes);
  FindTemporaries(one, causes);
  FindArguments(one, causes);
  FindOutputs(one, causes);
  FindPacking(one, causes);
  FindRematCause(one, causes);
}

void FindBufferCauses(const Case& one, std::vector<Cause>& causes) {
  const Incident& incident = one.incident;
  if (IsScratch(incident) || incident.buffers.empty()) return;
  const Buffer* largest = nullptr;
  for (const Buffer& buffer : incident.buffers) {
    if (buffer.size && (largest == nullptr || largest->size->bytes < buffer.size->bytes))
      largest = &buffer;
  }
  if (largest == nullptr) return;
  const std::optional<Size> whole = one.used ? one.used : incident.requested;
  if (IsAtLeast(largest->size, whole, 25) || IsAtLeast(largest->size, one.limit, 25))
    causes.push_back(
        {.kind = CauseKind::kOneBuffer,
         .what = "one buffer takes much of the memory",
         .why = fmt::format("{} takes {}.", BufferName(*largest), SizeText(*largest->size)),
         .bytes = largest->size,
         .is_sure = true,
         .covers_lack = Covers(one, largest->size)});
  const std::vector<BufferGroup> groups = GroupBuffers(incident);
  if (!groups.empty() && groups[0].count >= 3 && IsAtLeast(groups[0].bytes, whole, 10))
    causes.push_back(
        {.kind = CauseKind::kSameBuffers,
         .what = "many buffers come from one place",
         .why = fmt::format("{} of the {} listed ones come from {}, {} together.", groups[0].count,
                            incident.buffers.size(), groups[0].name, SizeText(*groups[0].bytes)),
         .bytes = groups[0].bytes,
         .is_sure = true,
         .covers_lack = Covers(one, groups[0].bytes)});
}

}  // namespace stowplan::oom
