# SPDX-License-Identifier: Apache-2.0
"""Random programs, compiled by XLA now, against `stowplan assign`. Skipped where jaxlib is not installed."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
BINARY = os.environ.get("STOWPLAN") or str(HERE.parents[1] / "build" / "stowplan")
COUNT = int(os.environ.get("STOWPLAN_ORACLE_COUNT", "200"))
SEED = int(os.environ.get("STOWPLAN_ORACLE_SEED", "1"))
# ./run test --all makes this environment.
PYTHON = next((p for p in (str(HERE.parents[1] / "build/bench-venv/bin/python"),) if os.path.exists(p)), sys.executable)
ENDINGS = ("-buffer-assignment.txt", "-live-range.txt", "-memory-usage-report.txt")
VERSIONS = {"0.10.2": "jaxlib-0.10.2", "0.11.2": "jaxlib-0.11.2"}


def compile_programs(first, count):
    """Runs in a process of its own: the dump folder is a flag of XLA."""
    import jax

    import random_programs

    for seed in range(first, first + count):
        program = random_programs.Program(seed)
        function = lambda *a: program(*a)
        function.__name__ = f"program_{seed}"
        with contextlib.suppress(TypeError, ValueError):  # some make no sense to JAX
            jax.jit(function, donate_argnums=program.donated).lower(*program.arguments).compile()


class LiveOracle(unittest.TestCase):
    def test_random_programs(self):
        probe = subprocess.run([PYTHON, "-c", "import jaxlib, jax; print(jaxlib.__version__)"],
                               capture_output=True, text=True)
        version = VERSIONS.get(probe.stdout.strip())
        if version is None:
            self.skipTest("no jaxlib whose reports are known is installed")
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3",
                               XLA_FLAGS=f"--xla_dump_to={folder}/xla --xla_dump_hlo_as_proto --xla_dump_hlo_as_text")
            subprocess.run([PYTHON, __file__, "--compile", str(SEED), str(COUNT)], env=environment, check=True,
                           capture_output=True)
            modules = sorted(pathlib.Path(folder, "xla").glob("*program_*cpu_after_optimizations.hlo.pb"))
            self.assertGreater(len(modules), COUNT // 2)
            different = []
            for module in modules:
                subprocess.run([BINARY, "assign", "--target=cpu", f"--xla-version={version}", "-o", f"{folder}/ours",
                                module], check=True, capture_output=True)
                stem = module.name.removesuffix(".hlo.pb")
                for ending in ENDINGS:
                    theirs = module.with_name(stem + ending).read_bytes()
                    if theirs != pathlib.Path(folder, "ours", stem + ending).read_bytes():
                        different.append(stem + ending)
            print(f"{version}: equal {len(modules) * len(ENDINGS) - len(different)} of {len(modules) * len(ENDINGS)} files")
            self.assertEqual(different, [])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compile"]:
        sys.path.insert(0, str(HERE))
        compile_programs(int(sys.argv[2]), int(sys.argv[3]))
    else:
        unittest.main()
