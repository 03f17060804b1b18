# SPDX-License-Identifier: Apache-2.0
"""The data in a page of `stowplan view`, read as docs/view-format.md says."""

import base64
import gzip
import json
import re
import struct

NONE = 0xFFFFFFFF
TYPES = {"u8": "B", "u16": "H", "u32": "I", "i32": "i", "f64": "d"}


class Bundle:
    def __init__(self, page):
        data = re.search(rb'<script type="application/octet-stream" id="stowplan-data">([^<]*)</script>', page)[1]
        packed = gzip.decompress(base64.b64decode(data, validate=True))
        assert packed[:8] == b"STOWVIEW"
        size, = struct.unpack_from("<I", packed, 8)
        self.header = json.loads(packed[12:12 + size])
        self.area = packed[(12 + size + 7) // 8 * 8:]
        self.modules = [Module(self, header) for header in self.header["modules"]]

    def column(self, places, name):
        place = places[name]
        assert place["at"] % 8 == 0
        return struct.unpack_from(f"<{place['count']}{TYPES[place['type']]}", self.area, place["at"])


class Module:
    def __init__(self, bundle, header):
        self.header = header
        self.column = lambda name: bundle.column(header["columns"], name)
        ends, text = self.column("string.ends"), bytes(self.column("string.bytes"))
        self.strings = [text[begin:end].decode() for begin, end in zip((0, *ends), ends)]

    def owned_at(self, time):
        """Bytes by value, of those that own some."""
        begins, times, steps = (self.column(f"share.{name}") for name in ("begins", "times", "bytes"))
        owned = {}
        for value, (begin, end) in enumerate(zip(begins, begins[1:])):
            now = [steps[k] for k in range(begin, end) if times[k] <= time]
            if now and now[-1] > 0:
                owned[value] = int(now[-1])
        return owned

    def curve_at(self, which, time):
        begins, times, steps = (self.column(f"curve.{name}") for name in ("begins", "times", "bytes"))
        now = [steps[k] for k in range(begins[which], begins[which + 1]) if times[k] <= time]
        return int(now[-1]) if now else 0
