# SPDX-License-Identifier: Apache-2.0
"""Programs, made at random or by hand, compiled by XLA now, against `stowplan assign`. Skipped where jaxlib is not installed."""

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
TEXT_SHARE = 0.85
VERSIONS = {"0.10.2": "jaxlib-0.10.2", "0.11.2": "jaxlib-0.11.2"}


def compile_programs(what):
    """Runs in a process of its own: the dump folder is a flag of XLA."""
    import warnings

    import all_programs

    warnings.simplefilter("ignore")
    for name, lower in all_programs.programs_of(what):
        try:
            lower().compile()
        except Exception as error:  # some make no sense to this JAX
            print(f"{name}: {type(error).__name__}")


class LiveOracle(unittest.TestCase):
    def compare(self, what, pattern, at_least):
        """Compiles programs and compares all that is written from their protos; the texts' share is returned."""
        probe = subprocess.run([PYTHON, "-c", "import jaxlib, jax; print(jaxlib.__version__)"],
                               capture_output=True, text=True)
        version = VERSIONS.get(probe.stdout.strip())
        if version is None:
            self.skipTest("no jaxlib whose reports are known is installed")
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3",
                               XLA_FLAGS=f"--xla_dump_to={folder}/xla --xla_dump_hlo_as_proto --xla_dump_hlo_as_text "
                                         "--xla_force_host_platform_device_count=4")
            subprocess.run([PYTHON, __file__, "--compile", what], env=environment, check=True, capture_output=True)
            modules = sorted(pathlib.Path(folder, "xla").glob(f"*{pattern}*cpu_after_optimizations.hlo.pb"))
            self.assertGreater(len(modules), at_least)
            different, texts = [], 0
            for module in modules:
                stem = module.name.removesuffix(".hlo.pb")
                for source, out in ((module, "ours"), (module.with_name(stem + ".txt"), "from_text")):
                    subprocess.run([BINARY, "assign", "--target=cpu", f"--xla-version={version}", "-o", f"{folder}/{out}",
                                    source], check=True, capture_output=True)
                for ending in ENDINGS:
                    theirs = module.with_name(stem + ending).read_bytes()
                    if theirs != pathlib.Path(folder, "ours", stem + ending).read_bytes():
                        different.append(stem + ending)
                theirs = module.with_name(stem + ENDINGS[0]).read_bytes()
                texts += theirs == pathlib.Path(folder, "from_text", stem + ENDINGS[0]).read_bytes()
            print(f"{version}: equal {len(modules) * len(ENDINGS) - len(different)} of {len(modules) * len(ENDINGS)} files, "
                  f"from texts {texts} of {len(modules)} assignments")
            self.assertEqual(different, [])
            return texts / len(modules)

    def test_random_programs(self):
        self.compare(f"random:{SEED}:{COUNT}", "program_", COUNT // 2)

    def test_more_programs(self):
        # Names of computations tell nearly all orders that a text does not have.
        self.assertGreater(self.compare("more", "jit_", 45), TEXT_SHARE)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compile"]:
        sys.path.insert(0, str(HERE))
        compile_programs(sys.argv[2])
    else:
        unittest.main()
