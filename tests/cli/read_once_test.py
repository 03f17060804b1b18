# SPDX-License-Identifier: Apache-2.0
"""Each file of a dump is opened once, however many questions a command asks of it."""

import collections
import ctypes
import os
import pathlib
import shutil
import struct
import unittest

from cli_case import CliCase

CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR", "/nonexistent"))
IN_OPEN = 0x20
IN_ISDIR = 0x40000000
EVENT = struct.Struct("iIII")


class Opens:
    """Counts how often each file of a folder is opened, as the kernel sees it."""

    def __init__(self, folder):
        libc = ctypes.CDLL(None, use_errno=True)
        self.file = libc.inotify_init1(os.O_NONBLOCK)
        if self.file < 0 or libc.inotify_add_watch(self.file, os.fsencode(folder), IN_OPEN) < 0:
            raise unittest.SkipTest("inotify cannot be used here")

    def counts(self):
        counts = collections.Counter()
        while True:
            try:
                data = os.read(self.file, 1 << 20)
            except BlockingIOError:
                return counts
            at = 0
            while at < len(data):
                _, mask, _, size = EVENT.unpack_from(data, at)
                at += EVENT.size
                name = data[at:at + size].rstrip(b"\0").decode()
                at += size
                if not mask & IN_ISDIR and name:
                    counts[name] += 1

    def close(self):
        os.close(self.file)


class ReadOnce(CliCase):
    def dump(self, *programs):
        """Programs of the corpus as modules of one dump."""
        folder = self.folder / "dump"
        folder.mkdir()
        for number, program in enumerate(programs):
            for file in (CORPUS / "cpu" / program).iterdir():
                shutil.copy(file, folder / f"module_{number:04}.jit_{program}.{file.name}")
        return folder

    def assert_once(self, folder, *words):
        opens = Opens(folder)
        self.addCleanup(opens.close)
        answer = self.run_cli(*words)
        self.assertEqual(answer.code, 0, answer)
        counts = opens.counts()
        self.assertTrue(counts, "nothing was read")
        self.assertEqual({name: count for name, count in counts.items() if count > 1}, {}, words)

    def test_a_directory_of_one_module(self):
        folder = self.dump("mlp_train_sgd")
        for words in (("report",), ("report", "--reconcile"), ("report", "--format=json"), ("explain",),
                      ("explain", "--by=kind"), ("export", "--to=json"), ("check",),
                      ("view", "-o", str(self.folder / "view.html"))):
            with self.subTest(words=words):
                self.assert_once(folder, words[0], str(folder), *words[1:])

    def test_a_directory_of_several(self):
        folder = self.dump("mlp_train_sgd", "mlp_train_adam_scan", "lm_train_scan")
        for words in (("report",), ("report", "--module=mlp"), ("explain",), ("export", "--to=json"), ("check",),
                      ("view", "-o", str(self.folder / "view.html")), ("view", "-o", str(self.folder / "pages/"))):
            with self.subTest(words=words):
                self.assert_once(folder, words[0], str(folder), *words[1:])


if __name__ == "__main__":
    unittest.main()
