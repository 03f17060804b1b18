// SPDX-License-Identifier: Apache-2.0
// What helps against each cause, spelled as it is typed. Environment variables and flags are those
// that JAX and XLA document.
#include <algorithm>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "oom/causes.h"
#include "oom/size.h"
#include "oom/tiles.h"

namespace stowplan::oom {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

bool IsEnough(const Case& one, const std::optional<Size>& saves) {
  return one.lack && saves && saves->bytes >= one.lack->bytes;
}

// What to write in each framework; unknown ones get JAX's words.
std::vector<std::string> Words(const Case& one, std::vector<std::string> jax,
                               std::vector<std::string> torch,
                               std::vector<std::string> tensorflow) {
  switch (one.log.framework) {
    case Framework::kTorch:
      return torch;
    case Framework::kTensorFlow:
      return tensorflow;
    case Framework::kJax:
    case Framework::kUnknown:
      break;
  }
  return jax;
}

bool IsJax(const Case& one) {
  return one.log.framework == Framework::kJax || one.log.framework == Framework::kUnknown;
}

// With whether that alone would be enough.
Fix Judged(const Case& one, Fix fix) {
  fix.is_enough = IsEnough(one, fix.saves);
  return fix;
}

Fix Donate(const Case& one, CauseKind cause, const std::optional<Size>& saves) {
  return Judged(
      one,
      {.cause = cause,
       .what = "donate arguments that are not needed after the call, so that "
               "results take their memory",
       .how = Words(
           one, {"jax.jit(step, donate_argnums=(0,))", "jax.jit(step, donate_argnames=('state',))"},
           {"update tensors in place: PyTorch/XLA then aliases them"},
           {"tf.Variable.assign: variables are updated in place"}),
       .note = IsJax(one) ? "Only an argument with the shape and type of a result helps." : "",
       .saves = saves,
       .effort = 1});
}

Fix SmallerBatch(const Case& one, CauseKind cause) {
  Fix fix{.cause = cause,
          .what = "use a smaller batch, or work through it in pieces",
          .how = Words(one, {"jax.lax.map(f, xs, batch_size=N)"},
                       {"a smaller batch of the DataLoader"}, {"dataset.batch(N)"}),
          .note = {},
          .effort = 3};
  const std::optional<Size>& temporaries = one.incident.program.temporaries;
  if (IsTraining(one.incident) && IsJax(one))
    fix.how = {"accumulate gradients over smaller batches (optax.MultiSteps, jax.lax.scan)"};
  if (one.lack && temporaries && temporaries->bytes > one.lack->bytes) {
    // Percent, rounded down: promises are kept.
    const int64_t percent = (temporaries->bytes - one.lack->bytes) / (temporaries->bytes / 100 + 1);
    fix.note =
        fmt::format("If all temporaries grow with the batch, about {}% of it fits.", percent);
    fix.saves = one.lack;
    fix.is_enough = true;
  }
  return fix;
}

Fix Checkpoint(const Case& one, CauseKind cause, const std::string& place,
               const std::optional<Size>& saves) {
  return Judged(
      one,
      {.cause = cause,
       .what = place.empty() ? std::string("compute values again in the backward pass instead of "
                                           "keeping them")
                             : fmt::format("compute what {} makes again in the backward pass "
                                           "instead of keeping it",
                                           place),
       .how =
           Words(one,
                 {"@jax.checkpoint on each layer, inside of the scan over layers",
                  "jax.checkpoint(layer, policy=jax.checkpoint_policies.nothing_saveable)"},
                 {"torch_xla.utils.checkpoint.checkpoint(layer, x)"}, {"tf.recompute_grad(layer)"}),
       .note = "Costs about one more forward pass.",
       .saves = saves,
       .effort = 2});
}

std::vector<Fix> PoolFixes(const Case& one, const Cause& cause) {
  const Incident& incident = one.incident;
  const bool is_tpu = incident.backend == Backend::kTpu;
  switch (cause.kind) {
    case CauseKind::kOtherProcess:
      return {
          Judged(one, {.cause = cause.kind,
                       .what = "see who has the GPU's memory, and end or shrink it",
                       .how = {"nvidia-smi --query-compute-apps=pid,used_memory --format=csv"},
                       .note = "On AMD: rocm-smi --showpids.",
                       .saves = cause.bytes}),
          {.cause = cause.kind,
           .what = "let each of several JAX processes take a part, or only what it needs",
           .how = Words(
               one, {"XLA_PYTHON_CLIENT_MEM_FRACTION=.40", "XLA_PYTHON_CLIENT_PREALLOCATE=false"},
               {"PJRT_ALLOCATOR_FRACTION=.40", "PJRT_ALLOCATOR_PREALLOCATE=false"},
               {"TF_FORCE_GPU_ALLOW_GROWTH=true"}),
           .note = "TensorFlow beside JAX takes the GPU too: "
                   "tf.config.set_visible_devices([], 'GPU')."}};
    case CauseKind::kOutsidePool:
      return {
          {.cause = cause.kind,
           .what = "leave more memory outside of XLA's pool",
           .how = Words(
               one, {"XLA_PYTHON_CLIENT_MEM_FRACTION=.60", "XLA_PYTHON_CLIENT_PREALLOCATE=false"},
               {"PJRT_ALLOCATOR_FRACTION=.60"}, {"TF_FORCE_GPU_ALLOW_GROWTH=true"}),
           .note = IsJax(one) ? "Newer JAX calls the first one XLA_CLIENT_MEM_FRACTION." : ""}};
    case CauseKind::kPoolSmall:
      return {Judged(
          one, {.cause = cause.kind,
                .what = "give XLA's pool more of the GPU",
                .how = Words(one, {"XLA_PYTHON_CLIENT_MEM_FRACTION=.95"},
                             {"PJRT_ALLOCATOR_FRACTION=.95"}, {"TF_FORCE_GPU_ALLOW_GROWTH=true"}),
                .note = IsJax(one) ? "Newer JAX calls it XLA_CLIENT_MEM_FRACTION." : "",
                .saves = cause.bytes})};
    case CauseKind::kPoolFragmented: {
      if (is_tpu)
        return {{.cause = cause.kind,
                 .what = "load the program before small arrays cut the memory into pieces, and "
                         "drop arrays that are not needed",
                 .how = {"step.lower(*args).compile() first",
                         "for a in jax.live_arrays(): print(a.nbytes, a.shape, a.dtype)"},
                 .note = {},
                 .effort = 1}};
      std::vector<Fix> fixes = {
          {.cause = cause.kind,
           .what = "use an allocator that can join free pieces",
           .how = Words(one, {"XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"},
                        {"PJRT_ALLOCATOR_CUDA_ASYNC=true"}, {"TF_GPU_ALLOCATOR=cuda_malloc_async"}),
           .note = {},
           .saves = one.lack,
           .is_enough = one.lack.has_value()}};
      if (incident.largest_free && incident.largest_free->bytes > kMiB)
        fixes.push_back(
            {.cause = cause.kind,
             .what = "let XLA split the temporaries into pieces that fit",
             .how = {fmt::format("XLA_FLAGS=--xla_multiheap_size_constraint_per_heap={}",
                                 incident.largest_free->bytes / kMiB * kMiB)},
             .note = "Helps when the request is for temporaries of a program."});
      return fixes;
    }
    case CauseKind::kPoolFull:
      return {{.cause = cause.kind,
               .what = "drop arrays that are alive and not needed",
               .how = Words(one,
                            {"for a in jax.live_arrays(): print(a.nbytes, a.shape, a.dtype)",
                             "del old_state; jax.clear_caches()"},
                            {"del old_tensors; torch_xla.sync()"},
                            {"del old_tensors; tf.keras.backend.clear_session()"}),
               .note = is_tpu ? "Loaded programs count too: fewer jitted functions at a time."
                              : "A second copy of parameters or optimizer state is the usual find.",
               .saves = cause.bytes,
               .is_enough = IsEnough(one, cause.bytes),
               .effort = 1},
              Donate(one, cause.kind, {})};
    default:
      return {};
  }
}

std::vector<Fix> KernelFixes(const Case& one, const Cause& cause) {
  const Incident& incident = one.incident;
  std::vector<Fix> fixes;
  const bool is_kernel = IsKernel(incident);
  if (incident.space == "smem")
    return {{.cause = cause.kind,
             .what = "give the kernel fewer or shorter scalar operands",
             .how = {"pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=...)"},
             .note = "Tables of pages and lengths lie in scalar memory: shorter sequences, fewer "
                     "of them.",
             .effort = 2}};
  if (is_kernel)
    fixes.push_back({.cause = cause.kind,
                     .what = "make the kernel's blocks smaller",
                     .how = {"pl.BlockSpec((block_q // 2, ...), index_map)"},
                     .note = "Blocks that are loaded ahead count twice.",
                     .effort = 1});
  if (incident.used && incident.space == "vmem") {
    // Whole MiB, rounded up.
    const int64_t mib = incident.used->bytes / kMiB + 1;
    if (is_kernel)
      fixes.push_back(
          {.cause = cause.kind,
           .what = "let this kernel have more",
           .how = {fmt::format(
               "pl.pallas_call(..., compiler_params=pltpu.CompilerParams(vmem_limit_bytes={}))",
               mib * kMiB)},
           .note = "As far as the chip has it.",
           .effort = 1});
    fixes.push_back(
        {.cause = cause.kind,
         .what = "let all instructions have more scratch memory",
         .how = {fmt::format("LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib={}", mib * 1024)},
         .note = "What is left for other values in fast memory shrinks.",
         .effort = 1});
  }
  if (!is_kernel)
    fixes.push_back({.cause = cause.kind,
                     .what = "report it to XLA: an instruction that nobody wrote as a kernel "
                             "should always fit",
                     .how = {"XLA_FLAGS=\"--xla_dump_to=dump --xla_dump_hlo_as_text\""},
                     .note = "Until then, other sizes of the operands may help.",
                     .effort = 2});
  return fixes;
}

std::vector<Fix> HostFixes(const Case& one, const Cause& cause) {
  const Incident& incident = one.incident;
  if (incident.backend == Backend::kCpu) {
    std::vector<Fix> fixes = {SmallerBatch(one, cause.kind), Donate(one, cause.kind, {})};
    fixes.push_back(Checkpoint(one, cause.kind, {}, ActivationsOf(incident)));
    return fixes;
  }
  std::vector<Fix> fixes;
  if (incident.backend == Backend::kGpu && incident.requested)
    fixes.push_back({.cause = cause.kind,
                     .what = "let XLA take more of the machine's memory for the GPU",
                     .how = {fmt::format("XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB={}",
                                         incident.requested->bytes / (kMiB * 1024) + 65)},
                     .note = "64 is the default. What is offloaded to pinned_host lies there."});
  fixes.push_back({.cause = cause.kind,
                   .what = "keep less data in the machine's memory at once",
                   .how = {"numpy.load(path, mmap_mode='r')",
                           "fewer workers of the data loader, smaller shuffle buffers"},
                   .note = "A container may have a smaller limit than the machine.",
                   .effort = 2});
  return fixes;
}

Fix PaddingFix(const Case& one, const Cause& cause) {
  Fix fix{.cause = cause.kind,
          .what = "choose shapes that fill the tiles",
          .how = {},
          .note = "The innermost dimension comes in steps of 128, the next one of 8.",
          .saves = cause.bytes,
          .effort = 2};
  std::vector<const Buffer*> worst;
  for (const Buffer& buffer : one.incident.buffers)
    if (buffer.padding && buffer.padding->bytes > 0) worst.push_back(&buffer);
  std::ranges::stable_sort(worst, [](const Buffer* a, const Buffer* b) {
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
                           {"an attention that works in blocks"}),
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
                     .what = "use 16 bits for it, where precision allows",
                     .how = Words(one, {"x.astype(jnp.bfloat16)"}, {"x.to(torch.bfloat16)"},
                                  {"tf.cast(x, tf.bfloat16)"}),
                     .note = "Changes results.",
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
                      ? "A shape that is as large as the whole batch or model was not sharded."
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
                     .note = "Costs time, of the compiler or of each step.",
                     .effort = 1});
  } else {
    fixes.push_back({.cause = cause.kind,
                     .what = "let XLA aim lower, or hide less latency",
                     .how = {"XLA_FLAGS=--xla_gpu_memory_limit_slop_factor=80",
                             "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=false"},
                     .note = "Without flags the first is 95, the second false.",
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
      if (groups.empty()) return fixes;
      fixes = ShapeFixes(one, cause, incident.buffers[groups[0].first]);
      if (IsTraining(incident))
        fixes.push_back(Checkpoint(one, cause.kind, groups[0].name, cause.bytes));
      return fixes;
    }
    case CauseKind::kPacking:
      return {Judged(one, {.cause = cause.kind,
                           .what = "see how much a better packing of the same program would save",
                           .how = {"stowplan assign --policy=best MODULE"},
                           .note = "XLA has no option for it; another order or batch packs "
                                   "otherwise.",
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
                           .note = "16 bits change results, the host costs time.",
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
