# SPDX-License-Identifier: Apache-2.0
"""Readers of the formats that `stowplan export` writes, from their public descriptions.

They share no code with the writers. Each refuses what the format's own tools would refuse or
misread, and returns the bytes and what they belong to.
"""

import csv
import gzip
import io
import json
import re


class BadFile(AssertionError):
    pass


def need(condition, *what):
    if not condition:
        raise BadFile(" ".join(str(w) for w in what))


# Protobuf's wire format.

def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        need(shift <= 70, "a varint of more than ten bytes")
        if byte < 0x80:
            return number, at


def fields(data):
    """(number, wire type, value) of each field of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        need(number > 0, "field 0")
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            size, at = varint(data, at)
            need(at + size <= len(data), "a field that ends behind its message")
            value, at = data[at:at + size], at + size
        else:
            raise BadFile(f"wire type {wire}")
        yield number, wire, value


def signed(number):
    return number - (1 << 64) if number >= 1 << 63 else number


def message(data, spec):
    """A message as a dictionary. `spec`: number -> (name, kind); kind: int, ints, text, or a spec (repeated)."""
    out = {name: [] if kind not in ("int",) else 0 for name, kind in spec.values()}
    for number, wire, value in fields(data):
        need(number in spec, "unknown field", number)
        name, kind = spec[number]
        if kind == "int":
            need(wire == 0, name, "is no varint")
            out[name] = signed(value)
        elif kind == "ints":
            if wire == 0:
                out[name].append(signed(value))
            else:
                at = 0
                while at < len(value):
                    n, at = varint(value, at)
                    out[name].append(signed(n))
        elif kind == "text":
            out[name].append(value.decode("utf-8"))  # raises on what is no UTF-8
        else:
            need(wire == 2, name, "is no message")
            out[name].append(message(value, kind))
    return out


VALUE_TYPE = {1: ("type", "int"), 2: ("unit", "int")}
LABEL = {1: ("key", "int"), 2: ("str", "int"), 3: ("num", "int"), 4: ("num_unit", "int")}
SAMPLE = {1: ("location_id", "ints"), 2: ("value", "ints"), 3: ("label", LABEL)}
MAPPING = {1: ("id", "int"), 2: ("memory_start", "int"), 3: ("memory_limit", "int"), 4: ("file_offset", "int"),
           5: ("filename", "int"), 6: ("build_id", "int"), 7: ("has_functions", "int"), 8: ("has_filenames", "int"),
           9: ("has_line_numbers", "int"), 10: ("has_inline_frames", "int")}
LINE = {1: ("function_id", "int"), 2: ("line", "int")}
LOCATION = {1: ("id", "int"), 2: ("mapping_id", "int"), 3: ("address", "int"), 4: ("line", LINE)}
FUNCTION = {1: ("id", "int"), 2: ("name", "int"), 3: ("system_name", "int"), 4: ("filename", "int"),
            5: ("start_line", "int")}
PROFILE = {1: ("sample_type", VALUE_TYPE), 2: ("sample", SAMPLE), 3: ("mapping", MAPPING), 4: ("location", LOCATION),
           5: ("function", FUNCTION), 6: ("string_table", "text"), 9: ("time_nanos", "int"),
           10: ("duration_nanos", "int"), 11: ("period_type", VALUE_TYPE), 12: ("period", "int"),
           13: ("comment", "ints"), 14: ("default_sample_type", "int")}


def by_id(rows, what):
    table = {row["id"]: row for row in rows}
    need(len(table) == len(rows) and 0 not in table, what, "ids are not unique, or 0")
    return table


def read_pprof(data):
    """[(frames from the outermost, bytes, labels)]"""
    need(data[:2] == b"\x1f\x8b", "is not gzip'ed")
    need(data[3] == 0 and data[4:8] == b"\0\0\0\0", "gzip's header has a name or a time")
    profile = message(gzip.decompress(data), PROFILE)
    texts = profile["string_table"]
    need(texts[0] == "", "the first text is not empty")
    need(len(set(texts)) == len(texts), "a text is there twice")
    need(profile["time_nanos"] == 0, "has a time")
    types = [(texts[t["type"]], texts[t["unit"]]) for t in profile["sample_type"]]
    need(types == [("inuse_objects", "count"), ("inuse_space", "bytes")], types)
    need(texts[profile["default_sample_type"]] == "inuse_space", "default")
    mappings = by_id(profile["mapping"], "mapping")
    functions = by_id(profile["function"], "function")
    locations = by_id(profile["location"], "location")
    frames = {}
    for key, location in locations.items():
        need(location["mapping_id"] in mappings, "a location without mapping")
        need(len(location["line"]) == 1, "lines of a location")
        line = location["line"][0]
        function = functions[line["function_id"]]
        need(texts[function["name"]] != "" and line["line"] >= 0, "a frame without name")
        frames[key] = (texts[function["name"]], texts[function["filename"]], line["line"])
    for comment in profile["comment"]:
        need(texts[comment] != "", "an empty comment")
    samples = []
    for sample in profile["sample"]:
        need(len(sample["value"]) == 2 and sample["value"][0] == 1 and sample["value"][1] > 0, sample["value"])
        need(sample["location_id"], "a sample without stack")
        labels = {}
        for label in sample["label"]:
            need(texts[label["key"]] not in labels, "a label is there twice")
            need(not (label["str"] and label["num"]), "a label that is text and number")
            labels[texts[label["key"]]] = texts[label["str"]] if label["str"] else (label["num"], texts[label["num_unit"]])
        stack = [frames[i] for i in reversed(sample["location_id"])]
        samples.append((stack, sample["value"][1], labels))
    return samples


def read_trace(data):
    """Chrome's trace event format: {"spans": [...], "counters": {(pid, name): [(ts, bytes)]}, "moment": event, ...}"""
    trace = json.loads(data.decode("utf-8"), parse_constant=lambda c: need(False, c))
    need(trace["displayTimeUnit"] in ("ms", "ns"), "displayTimeUnit")
    spans, counters, instants, names = [], {}, [], {}
    for event in trace["traceEvents"]:
        need(isinstance(event["name"], str) and isinstance(event["pid"], int) and isinstance(event["tid"], int), event)
        need(event["pid"] > 0 and event["tid"] >= 0 and event["ts"] >= 0, event)
        need(isinstance(event.get("args", {}), dict), event)
        phase = event["ph"]
        if phase == "M":
            need(event["name"] in ("process_name", "process_sort_index", "thread_name", "thread_sort_index"), event)
            if event["name"].endswith("_name"):
                key = (event["name"], event["pid"], event["tid"])
                need(key not in names, "named twice", key)
                names[key] = event["args"]["name"]
        elif phase == "X":
            need(event["dur"] > 0 and event["tid"] > 0, event)
            spans.append(event)
        elif phase == "C":
            need(set(event["args"]) == {"bytes"} and event["args"]["bytes"] >= 0, event)
            counters.setdefault((event["pid"], event["name"]), []).append((event["ts"], event["args"]["bytes"]))
        elif phase == "i":
            need(event["s"] in "gpt", event)
            instants.append(event)
        else:
            raise BadFile(f"phase {phase}")
    for steps in counters.values():
        need(all(a[0] < b[0] for a, b in zip(steps, steps[1:])), "a counter goes back in time")
    # Spans of one thread lie inside or beside each other; with the same start, the longer comes first.
    threads = {}
    for span in spans:
        need(("thread_name", span["pid"], span["tid"]) in names, "a thread without name", span)
        need(("process_name", span["pid"], 0) in names, "a process without name", span)
        threads.setdefault(span["tid"], set()).add(span["pid"])
    need(all(len(pids) == 1 for pids in threads.values()), "a thread of two processes")
    for thread in threads:
        around = []
        for span in sorted((s for s in spans if s["tid"] == thread), key=lambda s: s["ts"]):
            while around and around[-1] <= span["ts"]:
                around.pop()
            end = span["ts"] + span["dur"]
            need(not around or end <= around[-1], "spans lie across each other", span)
            around.append(end)
    need(len(instants) == 1, "one moment is marked")
    return {"spans": spans, "counters": counters, "moment": instants[0], "names": names, "other": trace["otherData"]}


def read_speedscope(data):
    """The rules of speedscope's JSON schema: [(frames from the outermost, bytes)]"""
    file = json.loads(data.decode("utf-8"))
    need(file["$schema"] == "https://www.speedscope.app/file-format-schema.json", "$schema")
    need(set(file) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}, set(file))
    need(set(file["shared"]) == {"frames"}, "shared")
    frames = file["shared"]["frames"]
    for frame in frames:
        need(set(frame) <= {"name", "file", "line", "col"} and isinstance(frame["name"], str) and frame["name"], frame)
        need(isinstance(frame.get("file", ""), str) and isinstance(frame.get("line", 1), int), frame)
    need(len(file["profiles"]) == 1 and file["activeProfileIndex"] == 0, "profiles")
    profile = file["profiles"][0]
    need(set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}, set(profile))
    need(profile["type"] == "sampled" and profile["unit"] == "bytes" and profile["startValue"] == 0, profile["type"])
    need(len(profile["samples"]) == len(profile["weights"]), "samples and weights")
    need(profile["endValue"] == sum(profile["weights"]), "endValue")
    for sample in profile["samples"]:
        need(sample and all(isinstance(i, int) and 0 <= i < len(frames) for i in sample), sample)
    return [([frames[i]["name"] for i in sample], weight)
            for sample, weight in zip(profile["samples"], profile["weights"])]


COLLAPSED = re.compile(r"(.*)\s+?(\d+(?:\.\d*)?)")


def read_collapsed(data):
    """As flamegraph.pl splits them: [(frames from the outermost, bytes)]"""
    text = data.decode("utf-8")
    need(text == "" or text.endswith("\n"), "the last line has no end")
    rows = []
    for line in text.split("\n")[:-1]:
        found = COLLAPSED.fullmatch(line)
        need(found, "no count:", line)
        stack, count = found.groups()
        need(not COLLAPSED.fullmatch(stack), "two counts:", line)
        need(not re.search(r"[\x00-\x1f\x7f]", line), "control characters", line)
        frames = stack.split(";")
        need(all(frames), "an empty frame:", line)
        rows.append((frames, int(count)))
    return rows


CSV_COLUMNS = ("name,space,allocation,offset,size,padding,start,end,kind,op_name,source,shape,parameter,"
               "is_live,bytes").split(",")


def read_csv(data):
    rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))
    need(rows[0] == CSV_COLUMNS, rows[0])
    for row in rows[1:]:
        need(len(row) == len(CSV_COLUMNS), row)
    return [dict(zip(CSV_COLUMNS, row)) for row in rows[1:]]


def read_json(data):
    file = json.loads(data.decode("utf-8"))
    need(file["schema"] == "stowplan.export/1", "schema")
    for i, frame in enumerate(file["frames"]):
        need(frame.get("parent", -1) < i, "a frame before its caller", frame)
    for value in file["values"]:
        need(0 <= value.get("frame", 0) < max(1, len(file["frames"])), value)
    return file
