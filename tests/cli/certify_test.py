# SPDX-License-Identifier: Apache-2.0
"""stowplan-certify: certificates hold, and tampered ones do not."""

import os
import pathlib
import random
import re
import subprocess
import unittest

from cli_case import BINARY, Answer, CliCase

CERTIFY = str(pathlib.Path(os.path.realpath(BINARY)).with_name("stowplan-certify"))
PROBLEM = ("id,lower,upper,size,alignment,gaps,group,apart,offset\n"
           "a,0,4,8,4,1-3@0:4,,d,-1\nb,1,3,4,1,,,,-1\nc,0,2,4,2,,g,,-1\nd,2,5,4,1,,g,,-1\ne,0,5,4,4,,,,16\n")
# Needs 17 bytes, though never more than 16 are alive.
GAP = "lower,upper,size\n2,3,2\n0,3,7\n1,2,3\n1,4,3\n1,2,3\n2,5,4\n0,1,9\n3,4,9\n4,5,12\n"
POOLS = "id,lower,upper,size,pools\na,0,4,8,fast slow\nb,0,2,8,fast slow\nc,2,4,8,fast slow\nd,0,4,8,\ne,1,3,8,slow\n"


class Certify(CliCase):
    def certify(self, text, *options):
        process = subprocess.run([CERTIFY, *options, "-"], input=text.encode(), capture_output=True, timeout=60, check=False)
        return Answer(process)

    def certificate_of(self, problem, *options):
        path = self.folder / "certificate"
        answer = self.run_cli("pack", self.write("p.csv", problem), f"--certificate={path}", *options)
        self.assertIn(answer.code, (0, 1), answer)
        return path.read_text()

    def assert_certified(self, text, *words):
        answer = self.certify(text)
        self.assertEqual((answer.code, answer.err), (0, ""), answer)
        for word in words:
            self.assertIn(word, answer.out)

    def assert_not(self, text, before, after, words):
        """The text with one replacement is refused (2) or denied (1) with these words."""
        changed, count = re.subn(before, after, text, count=1, flags=re.MULTILINE)
        self.assertEqual(count, 1, before)
        self.assertNotEqual(changed, text)
        answer = self.certify(changed)
        self.assertIn(answer.code, (1, 2), answer)
        self.assertIn(words, answer.out + answer.err)

    def test_certificates_hold(self):
        self.assert_certified(self.certificate_of(PROBLEM), "certified: 5 buffers")
        self.assert_certified(self.certificate_of(GAP), "optimal, height 17, bound 17", "proved again")
        self.assert_certified(self.certificate_of(GAP, "--capacity=16"), "infeasible, bound 17")
        self.assert_certified(self.certificate_of(GAP, "--capacity=15"), "infeasible, bound 16: the load at time")
        self.assert_certified(self.certificate_of("id,lower,upper,size\n"), "optimal, height 0, bound 0")
        self.assert_certified(self.certificate_of("id,lower,upper,size,offset\nx,0,1,4,100\n"), "optimal, height 104")
        self.assert_certified(self.certificate_of("lower,upper,size,alignment\n0,1,3,8\n0,1,3,8\n"), "height 11")

    def test_pools(self):
        for pools, words in ((("fast:16", "slow:16"), "feasible, height 16, bound 16"),
                             (("fast:100", "slow:100"), "optimal, height 8, bound 8"),
                             (("fast:8", "slow:16"), "infeasible"), (("fast:31", "slow:7"), "infeasible")):
            text = self.certificate_of(POOLS, *(f"--pool={pool}" for pool in pools))
            self.assert_certified(text, words)
        text = self.certificate_of(POOLS, "--pool=fast:16", "--pool=slow:16")
        self.assert_not(text, r"^pool 16 fast", "pool 12 fast", "above its pool's capacity")
        self.assert_not(text, r"^choice 4 1", "choice 4 0", "where it may not be")
        text = self.certificate_of(POOLS, "--pool=fast:8", "--pool=slow:16")
        self.assert_not(text, r"^pool 16 slow", "pool 24 slow", "not above the capacity")

    def test_tampered_plans_do_not(self):
        text = self.certificate_of(PROBLEM)
        for before, after, words in (
                (r"^(buffer 0 4 8 4) \d+", r"\1 2", "is not aligned"),
                (r"^(buffer 0 5 4 4) \d+", r"\1 20", "is not at its pin"),
                (r"^(buffer 0 2 4 2) \d+", r"\1 100", "where the rest of its group is"),
                (r"^(buffer 1 3 4 1) \d+", r"\1 16", "overlaps another at time 1"),
                (r"^height \d+", "height 19", "high"),
                (r"^status \w+", "status optimum", "no status"),
                (r"^(buffer .*) b$", r"\1 a", "the id appears twice"),
                (r"^apart 0 3", "apart 1 4\napart 0 9", "no such number"),
                (r"^end\n", "", "the end is missing"),
                (r"^end\n", "end\nheight 3\n", "something follows"),
                (r"^stowplan-certificate 1", "stowplan-certificate 2", "not a certificate"),
                (r"^gap .*\n", "gap 0 1 3 0 9\n", "not within the buffer"),
                (r"^pin 4 16", "pin 4 x", "expected a number"),
                (r"^(buffer 1 3) 4", r"\1 9223372036854775807", "64 bits")):
            with self.subTest(before=before, after=after):
                self.assert_not(text, before, after, words)

    def test_tampered_bounds_do_not(self):
        text = self.certificate_of(GAP)
        self.assert_not(text, r"^bound 17", "bound 16", "the height is not the bound")
        self.assert_not(text, r"^bound 17", "bound 18", "above the height")
        self.assert_not(text, r"^witness buffers .*", "witness load 0", "the bound is above the load")
        self.assert_not(text, r"^witness buffers .*", "witness buffers 0 1 2 3", "a plan below the bound")
        self.assert_not(text, r"^witness buffers .*", "witness buffers 0 0", "twice")
        self.assert_not(text, r"^witness buffers .*", "witness buffers 9", "no such number")
        self.assert_not(text, r"^witness .*\n", "", "missing")
        text = self.certificate_of("id,lower,upper,size\na,0,2,4\nb,1,3,4\n")
        self.assert_not(text, r"^witness load \d+", "witness load 2", "the bound is above the load at time 2")
        text = self.certificate_of(GAP, "--capacity=16")
        self.assert_not(text, r"^capacity 16", "capacity 17", "not above the capacity")
        self.assert_not(text, r"^bound 17", "bound 18", "a plan below the bound")

    def test_gives_up_honestly(self):
        answer = self.certify(self.certificate_of(GAP), "--nodes=1")
        self.assertEqual(answer.code, 1, answer)
        self.assertIn("not re-proved", answer.out)

    def test_files_and_streams(self):
        def run(*words, **options):
            return subprocess.run([CERTIFY, *words], capture_output="stdout" not in options, timeout=60, check=False, **options)

        for path, words in ((str(self.folder), b"cannot read"), ("/nonexistent", b"cannot read"), ("/dev/null", b"is empty")):
            process = run(path)
            self.assertEqual((process.returncode, process.stdout), (2, b""), process)
            self.assertIn(words, process.stderr)
        process = run("--help")
        self.assertEqual((process.returncode, process.stdout[:6]), (0, b"usage:"))
        path = self.write("c", self.certificate_of(PROBLEM))
        self.assertEqual(run(path).returncode, 0)
        with open("/dev/full", "wb") as full:
            self.assertEqual(run(path, stdout=full, stderr=subprocess.DEVNULL).returncode, 2)

    def test_bad_use(self):
        for text in ("", "nothing", "stowplan-certificate 1\n", "stowplan-certificate 1\nbuffer\nend\n", "\0" * 1000):
            answer = self.certify(text)
            self.assertEqual((answer.code, answer.out), (2, ""), answer)
        self.assertEqual(subprocess.run([CERTIFY], capture_output=True, check=False).returncode, 2)
        self.assertEqual(subprocess.run([CERTIFY, "/nonexistent"], capture_output=True, check=False).returncode, 2)

    def test_agrees_with_the_validator(self):
        """Two checkers that share no code say the same of plans with one offset changed."""
        chance = random.Random(1)
        sound = 0
        for _ in range(60):
            rows = ["id,lower,upper,size,gaps,group,apart"]
            for b in range(6):
                start = chance.randrange(6)
                end = start + 2 + chance.randrange(5)
                gap = f"{start}-{start + 1}@1:2" if chance.random() < 0.3 else ""
                group = "g" if chance.random() < 0.3 else ""
                apart = "0" if b > 0 and not group and chance.random() < 0.2 else ""
                rows.append(f"{b},{start},{end},{2 + chance.randrange(4)},{gap},{group},{apart}")
            problem = "\n".join(rows) + "\n"
            if re.search(r",g,0", problem):
                continue
            text = self.certificate_of(problem)
            self.assert_certified(text)
            offsets = [int(line.split()[5]) for line in text.splitlines() if line.startswith("buffer ")]
            changed = chance.randrange(6)
            offsets[changed] = chance.randrange(12)
            plan = self.write("plan.csv", "id,offset\n" + "".join(f"{b},{o}\n" for b, o in enumerate(offsets)))
            checked = self.run_cli("pack", "--check", self.write("p.csv", problem), plan)
            height = re.search(r"(\d+)B high", checked.out)[1]
            lines = text.splitlines()
            first = next(k for k, line in enumerate(lines) if line.startswith("buffer "))
            words = lines[first + changed].split()
            words[5] = str(offsets[changed])
            lines[first + changed] = " ".join(words)
            text = re.sub(r"^status \w+", "status feasible", "\n".join(lines) + "\n", flags=re.MULTILINE)
            text = re.sub(r"^height \d+", f"height {height}", text, flags=re.MULTILINE)
            self.assertEqual(self.certify(text).code, checked.code, text + checked.out)
            sound += checked.code == 0
        self.assertGreater(sound, 3)


if __name__ == "__main__":
    unittest.main()
