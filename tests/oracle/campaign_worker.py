# SPDX-License-Identifier: Apache-2.0
"""Compiles programs of the campaign by the XLA of this process, runs them, and compares with the reference.

A process of its own, since XLA takes the dump folder from the environment and may crash. Gets jobs as a JSON list on
standard input; writes a line to the file named first when it begins a job and one when it is done with it.
"""

import importlib.metadata
import json
import os
import sys
import warnings

import numpy as np

import campaign_eager
import campaign_generate
import campaign_hlo
import campaign_names
import campaign_program
import campaign_reference

warnings.simplefilter("ignore")


def inputs(program, seed):
    """By device; all elements differ from most others, so that another value in their place shows."""
    draw = np.random.default_rng(seed)
    given = []
    for var in program.block.params:
        if var.dtype in "fb":
            value = [draw.uniform(-1, 1, var.shape).astype(np.float32) for _ in range(program.devices)]
        elif var.dtype == "c":
            value = [draw.integers(-128, 128, var.shape).astype(np.int8) for _ in range(program.devices)]
        else:
            value = [draw.integers(-1000, 1000, var.shape).astype(np.int32) for _ in range(program.devices)]
        given.append(value if var.shape else value[:1] * program.devices)
    return [[np.asarray(g[d]) for g in given] for d in range(program.devices)]


class Runner:
    """Of one platform: how to compile a program, and how to run what was compiled."""

    def __init__(self, platform):
        import jax
        from jax._src.lib import xla_client

        self.jax = jax
        self.xc = xla_client
        self.platform = platform
        self.can_run = not platform.startswith("tpu") and platform != "cuda-mock"
        jax.config.update("jax_default_matmul_precision", "highest")
        if platform == "cuda-mock":  # as many devices as a program wants, for compiling alone
            jax.config.update("jax_mock_gpu_topology", "1x4x1")
        if platform.startswith("tpu"):
            from jax.experimental import topologies

            self.topology = topologies.get_topology_desc(platform="tpu", topology_name=platform.split("-")[1] + ":2x2")
            self.devices = list(self.topology.devices)
        else:
            self.devices = jax.devices()

    def placed(self, program):
        """A sharding for arrays that differ by device, and one for scalars."""
        from jax.sharding import Mesh, NamedSharding, PartitionSpec

        mesh = Mesh(np.array(self.devices[: program.devices]), ("d",))
        return mesh, NamedSharding(mesh, PartitionSpec("d")), NamedSharding(mesh, PartitionSpec())

    def compile(self, program):
        return self.compile_jax(program) if program.level == "jax" else self.compile_hlo(program)

    def compile_jax(self, program):
        jax = self.jax
        scope = dict(campaign_names.helpers(jax), jax=jax, lax=jax.lax)
        exec(campaign_program.python_text(program), scope)  # the text is this tool's own
        function = scope["program"]
        mesh, spread, whole = self.placed(program)
        if program.devices > 1:
            function = self.shard(program, function, mesh, spread.spec, whole.spec)

        def call(*args):
            return function(*args)

        call.__name__ = program.name
        abstract = []
        for var in program.block.params:
            shape = (var.shape[0] * program.devices, *var.shape[1:]) if var.shape else ()
            abstract.append(jax.ShapeDtypeStruct(shape, campaign_program.DTYPES[var.dtype],
                                                 sharding=spread if var.shape else whole))
        places = {}
        if not self.can_run and program.devices == 1:  # else one that uses no argument would be compiled for the CPU
            places["out_shardings"] = tuple(whole for _ in program.block.results)
        compiled = jax.jit(call, donate_argnums=program.donated, **places).lower(*abstract).compile()
        return lambda args: compiled(*args)

    def shard(self, program, function, mesh, spread, whole):
        jax = self.jax

        def per_device(*args):
            return tuple(x if x.shape else x.reshape(1) for x in function(*args))

        ins = tuple(spread if v.shape else whole for v in program.block.params)
        outs = tuple(spread for _ in program.block.results)
        if hasattr(jax, "shard_map"):
            return jax.shard_map(per_device, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=False)
        from jax.experimental.shard_map import shard_map

        return shard_map(per_device, mesh=mesh, in_specs=ins, out_specs=outs, check_rep=False)

    def compile_hlo(self, program):
        code = self.stablehlo(campaign_hlo.hlo_text(program, self.asynchronous()))
        xc = self.xc
        options = xc.CompileOptions()
        options.num_replicas = options.executable_build_options.num_replicas = program.devices
        ids = np.array([[d.id] for d in self.devices[: program.devices]])
        options.device_assignment = xc.DeviceAssignment.create(ids)
        client = self.devices[0].client
        devices = xc.DeviceList(tuple(self.devices[: program.devices])) if hasattr(xc, "DeviceList") else None
        if not self.can_run:
            (client.compile_and_load if self.platform == "cuda-mock" else client.compile)(self.parsed(code), devices, options)
            return None
        if hasattr(client, "compile_and_load"):
            loaded = client.compile_and_load(code, devices, options)
        else:
            loaded = client.compile(code, options)
        return lambda args: [a for a in loaded.execute_sharded(args).disassemble_into_single_device_arrays()]

    def stablehlo(self, text):
        xla = self.xc._xla
        try:
            from jaxlib import _hlo as hlo
        except ImportError:
            hlo = xla
        proto = hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        if hasattr(xla.mlir, "hlo_to_stablehlo"):
            return xla.mlir.hlo_to_stablehlo(proto)
        return xla.mlir.xla_computation_to_mlir_module(hlo.XlaComputation(proto))

    def asynchronous(self):
        """The collectives that this platform takes as a start and an end."""
        jaxlib = tuple(map(int, importlib.metadata.version("jaxlib").split(".")[:2]))
        if self.platform.startswith("tpu"):  # an older jaxlib cannot hand them to libtpu
            return ("psum", "ppermute", "all_gather") if jaxlib >= (0, 11) else ()
        return ("psum", "ppermute", "all_gather", "all_to_all", "psum_scatter") if jaxlib >= (0, 10) else ()

    def parsed(self, code):
        from jax._src.interpreters import mlir

        with mlir.make_ir_context():
            return mlir.ir.Module.parse(code)

    def version(self):
        """As Stowplan names it."""
        if self.platform.startswith("tpu"):
            return "libtpu-" + importlib.metadata.version("libtpu")
        return "jaxlib-" + importlib.metadata.version("jaxlib")

    def run(self, program, call, given):
        """Results by device, and which parameters changed though they were not given away."""
        jax = self.jax
        _, spread, whole = self.placed(program)
        args = []
        for k, var in enumerate(program.block.params):
            value = np.concatenate([g[k] for g in given]) if var.shape and program.devices > 1 else given[0][k]
            args.append(jax.device_put(np.array(value), spread if var.shape else whole))
            args[-1].block_until_ready()
        results = call(args)
        got = []
        for result, var in zip(results, program.block.results):
            if isinstance(result, list):  # by device
                got.append([np.asarray(r) for r in result])
            else:
                whole_result = np.asarray(result)
                parts = np.split(whole_result, program.devices) if program.devices > 1 else [whole_result]
                got.append([p.reshape(var.shape) for p in parts])
        given_away = {p for _, p in program.aliases} if program.level == "hlo" else set(program.donated)
        changed = []
        for k, (arg, var) in enumerate(zip(args, program.block.params)):
            if k not in given_away and not arg.is_deleted():
                want = np.concatenate([g[k] for g in given]) if var.shape and program.devices > 1 else given[0][k]
                if not np.array_equal(np.asarray(arg), want):
                    changed.append(k)
        return [[g[d] for g in got] for d in range(program.devices)], changed


def perturbed(given, amount, seed):
    draw = np.random.default_rng(seed)
    return [[(x * (1 + amount * draw.uniform(-1, 1, x.shape))).astype(x.dtype) if x.dtype == np.float32 else x for x in row]
            for row in given]


def off_and_firm(want, got, near, tolerance):
    """Which elements are wrong, and of which one can tell: small changes of the inputs change them less."""
    with np.errstate(all="ignore"):
        want, got, *near = (x.astype(np.float64) for x in (want, got, *near))
        room = tolerance * (1 + np.abs(want))
        off = ~((np.abs(want - got) <= room) | (want == got) | (np.isnan(want) & np.isnan(got)))
        firm = np.isfinite(want)
        for other in near:
            firm &= np.abs(want - other) <= 0.2 * room
    return off, firm


def wrong_elements(program, text, given, got):
    """For each output the share of elements that are wrong. Floating point gets a tolerance; nothing is said of outputs
    a fifth of which depends on rounding."""
    evaluate = (campaign_eager if program.differentiates() else campaign_reference).evaluate
    want = evaluate(text, program.devices, given)
    floats = "float" in text or any(v.dtype in "fb" for v in program.block.params)
    narrow = "bfloat16" in text
    tolerance = (0.2 if narrow else 5e-3) if floats else 0

    def shares(near):
        found = []
        for k in range(len(program.block.results)):
            bad = total = 0
            for d in range(program.devices):
                w, g = np.asarray(want[d][k]), np.asarray(got[d][k])
                total += w.size
                if w.shape != g.shape or w.dtype != g.dtype:
                    bad += w.size
                    continue
                off, firm = off_and_firm(w, g, [np.asarray(n[d][k]) for n in near], tolerance)
                bad += int((off & firm).sum()) if firm.mean() > 0.8 else 0
            found.append(bad / max(total, 1))
        return found

    found = shares([])
    if not floats or max(found, default=0) == 0:
        return found
    amount = 4e-3 if narrow else 3e-6
    near = [evaluate(text, program.devices, perturbed(given, amount, seed)) for seed in range(3)]
    if narrow:  # XLA may leave out that a value is rounded
        near.append(evaluate(text.replace("jnp.bfloat16", "jnp.float32"), program.devices, given))
    return shares(near)


def do(runner, job):
    program = campaign_generate.generate(job["seed"], job["level"], job["devices"], job["large"], job.get("factor", 1))
    record = {"key": job["key"], "features": program.features(), "name": program.name}
    try:
        call = runner.compile(program)
    except Exception as error:
        return {**record, "run": "no compile", "why": f"{type(error).__name__}: {error}"[:300]}
    if not runner.can_run or call is None or program.devices > len(runner.devices):
        return {**record, "run": "not run"}
    return {**record, **run_and_compare(runner, program, call, job.get("times", 1), job["seed"])}


def run_and_compare(runner, program, call, times, seed):
    text = campaign_program.python_text(program)
    for time in range(times):
        given = inputs(program, seed + 1000003 * time)
        try:
            got, changed = runner.run(program, call, given)
        except Exception as error:
            return {"run": "failed", "why": f"{type(error).__name__}: {error}"[:300]}
        shares = wrong_elements(program, text, given, got)
        if changed or max(shares, default=0) > 0:
            return {"run": "wrong", "shares": shares, "changed": changed}
    return {"run": "right"}


def main():
    out = open(sys.argv[1], "a", buffering=1)
    jobs = json.load(sys.stdin)
    runner = Runner(jobs["platform"])
    print(json.dumps({"version": runner.version()}), file=out)
    for number, job in enumerate(jobs["jobs"]):
        print(json.dumps({"begin": job["key"]}), file=out)
        try:
            record = do(runner, job)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"[:300]
            record = {"key": job["key"], "name": "", "features": [], "run": "error of the tool", "why": why}
        print(json.dumps(record), file=out)
        if number % 10 == 9:
            runner.jax.clear_caches()
    out.flush()
    os._exit(0)  # no waiting for the threads of XLA


if __name__ == "__main__":
    main()
