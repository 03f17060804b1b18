// SPDX-License-Identifier: Apache-2.0
// What helps against each cause, spelled as it is typed. Environment variables and flags are those
// that JAX and XLA document.
#include "oom/fixes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/stable_sort.h"
#include "oom/causes.h"
#include "oom/size.h"
#include "oom/tiles.h"

namespace stowplan::oom {
namespace {

Fix PaddingFix(const Case& one, const Cause& cause) {
  Fix fix{.cause = cause.kind,
          .what = "choose shapes that fill the tiles",
          .how = {},
          .note = "The innermost dimension is padded to a multiple of 128, the next one to 8.",
          .saves = cause.bytes,
          .effort = 2};
  std::vector<const Buffer*> worst;
  for (const Buffer& buffer : one.incident.buffers)
    if (buffer.padding && buffer.padding->bytes > 0) worst.push_back(&buffer);
  StableSort(worst, [](const Buffer* a, const Buffer* b) {
    return a->padding->bytes > b->padding->bytes;
  });
  std::vector<std::string> seen;
  for (const Buffer* buffer : worst) {
    if (fix.how.size() == 3) break;
    const std::optional<TiledShape> shape = ParseShape(buffer->shape);
    if (!shape || std::ranges::find(seen, buffer->shape) != seen.end()) continue;
    seen.push_back(buffer->shape);
    const std::optional<CheaperOrder> order = FindCheaperOrder(*shape);
    const std::string place = SourceOf(*buffer);
    std::string line = buffer->shape.substr(0, buffer->shape.find('{'));
    if (!place.empty()) line += " (" + place + ")";
    if (order && buffer->size) {
      line += fmt::format(": {} -> {} with {},{} last", HumanBytes(buffer->size->bytes),
                          HumanBytes(static_cast<int64_t>(static_cast<double>(buffer->size->bytes) *
                                                          order->factor)),
                          shape->dimensions[static_cast<size_t>(order->second)],
                          shape->dimensions[static_cast<size_t>(order->minor)]);
    } else {
      line += ": merge its innermost dimensions with another one";
    }
    fix.how.push_back(std::move(line));
  }
  if (fix.how.empty()) fix.how = {"jnp.transpose, reshape: a long dimension innermost"};
  return Judged(one, std::move(fix));
}

// What is known to help for arrays of a certain look.
std::vector<Fix> ShapeFixes(const Case& one, const Cause& cause, const Buffer& buffer) {
  std::vector<Fix> fixes;
  const std::optional<TiledShape> shape = ParseShape(buffer.shape);
  if (!shape) return fixes;
  const std::vector<int64_t>& dimensions = shape->dimensions;
  const size_t rank = dimensions.size();
  if (rank >= 3 && dimensions[rank - 1] == dimensions[rank - 2] && dimensions[rank - 1] >= 512)
    fixes.push_back(Judged(
        one, {.cause = cause.kind,
              .what = fmt::format("do not keep an array of {} by {} for each head, if that is "
                                  "attention",
                                  dimensions[rank - 2], dimensions[rank - 1]),
              .how = Words(one,
                           {one.incident.backend == Backend::kTpu
                                ? "jax.experimental.pallas.ops.tpu.flash_attention"
                                : "jax.nn.dot_product_attention(q, k, v, implementation='cudnn')"},
                           {"torch_xla.experimental.custom_kernel.flash_attention(q, k, v)"},
                           {"an attention implementation that works in blocks"}),
              .note = "It grows with the square of the sequence.",
              .saves = cause.bytes,
              .effort = 2}));
  const auto vocabulary = std::ranges::find_if(dimensions, [](int64_t size) {
    return size >= 30000 && size <= 300000 && (size & (size - 1)) != 0;
  });
  if (rank >= 2 && vocabulary != dimensions.end())
    fixes.push_back(Judged(
        one,
        {.cause = cause.kind,
         .what = fmt::format("compute the loss in pieces, if the {} are a vocabulary", *vocabulary),
         .how = Words(one, {"jax.lax.map(jax.checkpoint(loss), token_blocks)"},
                      {"checkpoint(loss, block) for blocks of tokens"},
                      {"tf.map_fn(tf.recompute_grad(loss), token_blocks)"}),
         .note = {},
         .saves = cause.bytes,
         .effort = 2}));
  if (shape->type == "f32")
    fixes.push_back(
        Judged(one, {.cause = cause.kind,
                     .what = "use 16 bits for it, if the precision suffices",
                     .how = Words(one, {"x.astype(jnp.bfloat16)"}, {"x.to(torch.bfloat16)"},
                                  {"tf.cast(x, tf.bfloat16)"}),
                     .note = "This changes results.",
                     .saves = cause.bytes ? std::optional(Size{.bytes = cause.bytes->bytes / 2,
                                                               .slack = cause.bytes->slack / 2})
                                          : std::nullopt,
                     .effort = 3}));
  return fixes;
}

Fix Shard(const Case& one, const Cause& cause) {
  return {.cause = cause.kind,
          .what = "spread large arrays over more devices",
          .how = Words(one,
                       {"jax.device_put(params, NamedSharding(mesh, PartitionSpec('data')))",
                        "jax.lax.with_sharding_constraint(x, sharding)  for values in between"},
                       {"torch_xla.distributed.spmd.mark_sharding(x, mesh, spec)"},
                       {"tf.distribute, DTensor"}),
          .note = one.incident.kind == Kind::kCompile
                      ? "A shape as large as the whole batch or model was not sharded."
                      : "",
          .effort = 3};
}

std::vector<Fix> RematFixes(const Case& one, const Cause& cause) {
  std::vector<Fix> fixes = {Checkpoint(one, cause.kind, {}, ActivationsOf(one.incident))};
  if (one.incident.backend == Backend::kTpu) {
    fixes.push_back({.cause = cause.kind,
                     .what = "let XLA try harder, or hide less latency",
                     .how = {"LIBTPU_INIT_ARGS=--xla_tpu_rematerialization_algo=PEAK_PRIORITY",
                             "LIBTPU_INIT_ARGS=--xla_latency_hiding_scheduler_rerun=5",
                             "LIBTPU_INIT_ARGS=--xla_tpu_enable_latency_hiding_scheduler=false"},
                     .note = "This costs time, in the compiler or in each step.",
                     .effort = 1});
  } else {
    fixes.push_back({.cause = cause.kind,
                     .what = "let XLA aim lower, or hide less latency",
                     .how = {"XLA_FLAGS=--xla_gpu_memory_limit_slop_factor=80",
                             "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=false"},
                     .note = "By default, the first is 95 and the second false.",
                     .effort = 1});
  }
  return fixes;
}

}  // namespace

std::vector<Fix> FixesFor(const Case& one, const Cause& cause) {
  const Incident& incident = one.incident;
  switch (cause.kind) {
    case CauseKind::kOtherProcess:
    case CauseKind::kOutsidePool:
    case CauseKind::kPoolSmall:
    case CauseKind::kPoolFragmented:
    case CauseKind::kPoolFull:
      return PoolFixes(one, cause);
    case CauseKind::kKernel:
      return KernelFixes(one, cause);
    case CauseKind::kHost:
      return HostFixes(one, cause);
    case CauseKind::kPadding:
      return {PaddingFix(one, cause)};
    case CauseKind::kOneBuffer: {
      const auto largest = std::ranges::max_element(incident.buffers, {}, [](const Buffer& buffer) {
        return buffer.size ? buffer.size->bytes : 0;
      });
      std::vector<Fix> fixes;
      if (largest != incident.buffers.end()) fixes = ShapeFixes(one, cause, *largest);
      fixes.push_back(Shard(one, cause));
      return fixes;
    }
    case CauseKind::kSameBuffers: {
      const std::vector<BufferGroup> groups = GroupBuffers(incident);
      std::vector<Fix> fixes;
      if (!groups.empty()) fixes = ShapeFixes(one, cause, incident.buffers[groups[0].first]);
      if (!groups.empty() && IsTraining(incident)) {
        fixes.push_back(Checkpoint(one, cause.kind, groups[0].name, cause.bytes));
      } else {
        fixes.push_back(SmallerBatch(one, cause.kind));
      }
      return fixes;
    }
    case CauseKind::kPacking:
      return {Judged(one, {.cause = cause.kind,
                           .what = "see how much a better packing of the same program would save",
                           .how = {"stowplan assign --policy=best MODULE"},
                           .note = "XLA has no option for it; a different order or batch packs "
                                   "differently.",
                           .saves = cause.bytes,
                           .effort = 2})};
    case CauseKind::kArguments:
      return {Shard(one, cause),
              Judged(one, {.cause = cause.kind,
                           .what = "keep parameters or optimizer state in 16 bits, or on the host",
                           .how = Words(
                               one,
                               {"params = jax.tree.map(lambda x: x.astype(jnp.bfloat16), params)",
                                "sharding.with_memory_kind('pinned_host')"},
                               {"model.to(torch.bfloat16)"},
                               {"tf.keras.mixed_precision.set_global_policy('mixed_bfloat16')"}),
                           .note = "16 bits change results; the host costs time.",
                           .saves = Size{.bytes = cause.bytes ? cause.bytes->bytes / 2 : 0,
                                         .slack = cause.bytes ? cause.bytes->slack : 0},
                           .effort = 3})};
    case CauseKind::kOutputs:
      return {Donate(one, cause.kind, cause.bytes)};
    case CauseKind::kTemporaries: {
      std::vector<Fix> fixes;
      if (IsTraining(incident) || incident.buffers.empty())
        fixes.push_back(Checkpoint(one, cause.kind, {}, ActivationsOf(incident)));
      fixes.push_back(SmallerBatch(one, cause.kind));
      return fixes;
    }
    case CauseKind::kRemat:
      return RematFixes(one, cause);
    case CauseKind::kTooLarge:
      return {Checkpoint(one, cause.kind, {}, ActivationsOf(incident)),
              SmallerBatch(one, cause.kind), Donate(one, cause.kind, {})};
  }
  return {};
}

}  // namespace stowplan::oom
