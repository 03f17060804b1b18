// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "oom/fixes.h"

namespace stowplan::oom {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

bool IsJax(const Case& one) {
  return one.log.framework == Framework::kJax || one.log.framework == Framework::kUnknown;
}

}  // namespace

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

Fix Judged(const Case& one, Fix fix) {
  fix.is_enough = Covers(one, fix.saves);
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
       .note =
           IsJax(one) ? "This helps only if an argument has the shape and type of a result." : "",
       .saves = saves,
       .effort = 1});
}

Fix SmallerBatch(const Case& one, CauseKind cause) {
  Fix fix{.cause = cause,
          .what = "use a smaller batch, or work through it in pieces",
          .how = Words(one, {"jax.lax.map(f, xs, batch_size=N)"},
                       {"a smaller batch in the DataLoader"}, {"dataset.batch(N)"}),
          .note = {},
          .effort = 3};
  const std::optional<Size>& temporaries = one.incident.program.temporaries;
  if (IsTraining(one.incident) && IsJax(one))
    fix.how = {"accumulate gradients over smaller batches (optax.MultiSteps, jax.lax.scan)"};
  if (one.lack && temporaries && temporaries->bytes > one.lack->bytes) {
    // Percent, rounded down so as not to promise too much.
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
      one, {.cause = cause,
            .what = place.empty() ? std::string("recompute values in the backward pass instead of "
                                                "keeping them")
                                  : fmt::format("recompute the values of {} in the backward pass "
                                                "instead of keeping them",
                                                place),
            .how = Words(one,
                         {"@jax.checkpoint on each layer, inside the scan over layers",
                          "jax.checkpoint(layer, policy=jax.checkpoint_policies.nothing_saveable)"},
                         {"torch_xla.utils.checkpoint.checkpoint(layer, x)"},
                         {"tf.recompute_grad(layer)"}),
            .note = "This costs about one more forward pass.",
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
                       .what = "find out what holds the GPU's memory, and end or shrink it",
                       .how = {"nvidia-smi --query-compute-apps=pid,used_memory --format=csv"},
                       .note = "On AMD: rocm-smi --showpids.",
                       .saves = cause.bytes}),
          {.cause = cause.kind,
           .what = "limit each of several JAX processes to a share, or to what it needs",
           .how = Words(
               one, {"XLA_PYTHON_CLIENT_MEM_FRACTION=.40", "XLA_PYTHON_CLIENT_PREALLOCATE=false"},
               {"PJRT_ALLOCATOR_FRACTION=.40", "PJRT_ALLOCATOR_PREALLOCATE=false"},
               {"TF_FORCE_GPU_ALLOW_GROWTH=true"}),
           .note = "TensorFlow in the same process takes GPU memory too: "
                   "tf.config.set_visible_devices([], 'GPU')."}};
    case CauseKind::kOutsidePool:
      return {
          {.cause = cause.kind,
           .what = "leave more memory outside XLA's pool",
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
                 .what = "load the program before small arrays fragment the memory, and "
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
             .note = "This helps if the request was for the temporaries of a program."});
      return fixes;
    }
    case CauseKind::kPoolFull:
      return {{.cause = cause.kind,
               .what = "drop arrays that are alive but not needed",
               .how = Words(one,
                            {"for a in jax.live_arrays(): print(a.nbytes, a.shape, a.dtype)",
                             "del old_state; jax.clear_caches()"},
                            {"del old_tensors; torch_xla.sync()"},
                            {"del old_tensors; tf.keras.backend.clear_session()"}),
               .note = is_tpu ? "Loaded programs count too: keep fewer jitted functions."
                              : "Often it is a second copy of the parameters or optimizer state.",
               .saves = cause.bytes,
               .is_enough = Covers(one, cause.bytes),
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
             .note = "Tables of pages and lengths are in scalar memory: use shorter or fewer "
                     "sequences.",
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
           .what = "allow this kernel more memory",
           .how = {fmt::format(
               "pl.pallas_call(..., compiler_params=pltpu.CompilerParams(vmem_limit_bytes={}))",
               mib * kMiB)},
           .note = "The chip's memory is the limit.",
           .effort = 1});
    fixes.push_back(
        {.cause = cause.kind,
         .what = "allow all instructions more scratch memory",
         .how = {fmt::format("LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib={}", mib * 1024)},
         .note = "This leaves less fast memory for other values.",
         .effort = 1});
  }
  if (!is_kernel)
    fixes.push_back({.cause = cause.kind,
                     .what = "report it to XLA: an instruction that nobody wrote as a kernel "
                             "should always fit",
                     .how = {"XLA_FLAGS=\"--xla_dump_to=dump --xla_dump_hlo_as_text\""},
                     .note = "Until then, different operand sizes may help.",
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
                     .what = "let XLA take more of the host's memory for the GPU",
                     .how = {fmt::format("XLA_PJRT_GPU_HOST_MEMORY_LIMIT_GB={}",
                                         incident.requested->bytes / (kMiB * 1024) + 65)},
                     .note = "64 is the default. Values offloaded to pinned_host are there."});
  fixes.push_back({.cause = cause.kind,
                   .what = "keep less data in the host's memory at once",
                   .how = {"numpy.load(path, mmap_mode='r')",
                           "fewer data loader workers, smaller shuffle buffers"},
                   .note = "A container may have a smaller limit than the machine.",
                   .effort = 2});
  return fixes;
}

}  // namespace stowplan::oom
