# SPDX-License-Identifier: Apache-2.0
"""libstowplan_c.so exports the functions of its header and nothing else, and needs only the C and C++ runtime.

symbols_test.py LIBRARY HEADER
"""

import pathlib
import re
import subprocess
import sys
import unittest

LIBRARY, HEADER = sys.argv[1:3]
# A sanitized build by g++ also needs the sanitizers.
RUNTIME = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|libasan|libubsan|ld-linux[-\w]*)\.so\.\d+")


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


class Symbols(unittest.TestCase):
    maxDiff = None

    def test_exports_are_those_of_the_header(self):
        header = re.sub(r"/\*.*?\*/", "", pathlib.Path(HEADER).read_text(), flags=re.DOTALL)
        declared = set(re.findall(r"\b(stowplan_\w+)\s*\([^;{}]*\)\s*;", re.sub(r"typedef [^;{]*;", "", header)))
        self.assertGreater(len(declared), 60)
        # Weak ones too: a weak symbol of another library must not take the place of ours.
        exported = {line.split()[-1] for line in run("nm", "-D", "--defined-only", LIBRARY).splitlines()}
        self.assertEqual(sorted(exported), sorted(declared))

    def test_it_needs_only_the_runtime(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", LIBRARY))
        self.assertIn("libc.so.6", needed)
        self.assertEqual([name for name in needed if not RUNTIME.fullmatch(name)], [])

    def test_its_name_has_the_number_of_the_abi(self):
        self.assertIn("[libstowplan_c.so.0]", run("readelf", "-d", LIBRARY))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
