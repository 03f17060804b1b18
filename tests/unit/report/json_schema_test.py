#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON of reports against docs/report.schema.json, and that against its documentation."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[3]
SCHEMA = json.loads((TOP / "docs/report.schema.json").read_text())
CORPUS = pathlib.Path(os.environ.get("STOWPLAN_CORPUS_DIR", TOP / "build/corpus"))
PARTS = ("buffer-assignment.txt", "buffer-assignment-values.txt", "live-range.txt",
         "memory-usage-report.txt")
WRITER = None  # the program that writes JSON: the first argument
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}


def resolve(schema):
    if "$ref" not in schema:
        return schema
    return SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]


def complaints(value, schema, path="$"):
    """What is wrong with a value, by the part of JSON Schema that our schema uses."""
    schema = resolve(schema)
    if "oneOf" in schema:
        tries = [list(complaints(value, choice, path)) for choice in schema["oneOf"]]
        if sum(not found for found in tries) != 1:
            yield f"{path}: not exactly one choice fits: {tries}"
        return
    if "const" in schema and (type(value) is not type(schema["const"]) or value != schema["const"]):
        yield f"{path}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is none of {schema['enum']}"
    if "type" in schema and type(value) is not KINDS[schema["type"]]:
        yield f"{path}: {value!r} is no {schema['type']}"
        return
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{path}: {value} is below {schema['minimum']}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{path}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from complaints(item, schema.get("items", {}), f"{path}[{i}]")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                yield f"{path}: {name} is missing"
        for name, others in schema.get("dependentRequired", {}).items():
            for other in others:
                if name in value and other not in value:
                    yield f"{path}: {name} without {other}"
        for name, item in value.items():
            if name in properties:
                yield from complaints(item, properties[name], f"{path}.{name}")
            elif schema.get("additionalProperties") is False:
                yield f"{path}: {name} is not in the schema"


def json_of(*files):
    done = subprocess.run([WRITER, *map(str, files)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def property_names(schema):
    """The names of all properties in a schema and what it refers to."""
    if isinstance(schema, list):
        for part in schema:
            yield from property_names(part)
    elif isinstance(schema, dict):
        yield from schema.get("properties", {})
        for part in schema.values():
            yield from property_names(part)


class JsonSchemaTest(unittest.TestCase):
    def check(self, report):
        self.assertEqual(list(complaints(report, SCHEMA)), [])
        # Rows refer to rows that are there, and both ways.
        values = report["values"]
        allocations = report.get("allocations", [])
        for i, allocation in enumerate(allocations):
            for row in allocation["values"]:
                self.assertEqual(values[row]["allocation"], i)
        self.assertEqual(sum(len(a["values"]) for a in allocations),
                         sum("allocation" in value for value in values))
        for row in report.get("live_ranges", {}).get("values", []):
            self.assertIn("live_range", values[row])
        self.assertEqual(report.get("total_bytes", 0), sum(a["size"] for a in allocations))

    def test_corpus(self):
        count = 0
        # Every form of every year, and one module in five of the large archives.
        for i, file in enumerate(sorted(CORPUS.rglob("*-buffer-assignment.txt"))):
            if "dialects" not in file.parts and i % 5 != 0 or "scale" in file.parts:
                continue
            prefix = str(file).removesuffix("buffer-assignment.txt")
            files = [prefix + part for part in PARTS if os.path.exists(prefix + part)]
            with self.subTest(file=file.parent.name):
                self.check(json_of(*files))
                count += 1
        print(f"{count} reports fit the schema")
        self.assertGreater(count, 100)

    def test_one_file_at_a_time(self):
        prefix = str(sorted(CORPUS.rglob("*-memory-usage-report.pb"))[0])
        prefix = prefix.removesuffix("memory-usage-report.pb")
        for part in PARTS:
            with self.subTest(part=part):
                self.check(json_of(prefix + part))
        self.assertFalse(json_of(prefix + PARTS[3])["usage"]["is_computed"])
        self.assertNotIn("total_bytes", json_of(prefix + PARTS[2]))

    def test_proto(self):
        for file in sorted(CORPUS.rglob("*.hlo.pb"))[::25]:
            with self.subTest(file=file.parent.name):
                self.check(json_of(file))

    @unittest.skipUnless("STOWPLAN" in os.environ, "needs the command line")
    def test_command_line(self):
        files = sorted(CORPUS.rglob("*-buffer-assignment.txt"))[::20]
        for file in [str(f) for f in files]:
            ranges = file.replace("-buffer-assignment.txt", "-live-range.txt")
            with self.subTest(file=file):
                done = subprocess.run(
                    [os.environ["STOWPLAN"], "report", "--format=json", file]
                    + [ranges] * os.path.exists(ranges), capture_output=True, check=True)
                report = json.loads(done.stdout)
                self.check(report)
                self.assertEqual(sum(report["summary"]["kinds"].values()), report["total_bytes"])

    def test_without_live_ranges(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("HloLiveRange not available (finalized or constructed from proto)")
            file.flush()
            report = json_of(file.name)
            self.check(report)
            self.assertEqual(report["live_ranges"], {"is_unavailable": True})

    def test_the_checker_checks(self):
        good = {"schema": "stowplan.report/1", "values": [],
                "dialect": {"address": False, "page": True, "human_total": True,
                            "from_instruction": "line", "none_uses": True,
                            "peak_line": "cumulative", "stack_tree": True,
                            "separate_files": True, "parameter_parts": True, "usage": "spaces"}}
        self.assertEqual(list(complaints(good, SCHEMA)), [])
        for change in ({"schema": "stowplan.report/2"}, {"more": 1}, {"values": {}},
                       {"total_bytes": 1.0}, {"total_bytes": True}, {"allocations": []},
                       {"values": [{"instruction": "a"}]},
                       {"values": [{"instruction": "a", "index": [-1]}]},
                       {"values": [{"instruction": "a", "index": [], "size": 4}]},
                       {"live_ranges": {}}, {"usage": {"is_computed": 1, "tables": []}}):
            with self.subTest(change=change):
                self.assertNotEqual(list(complaints(good | change, SCHEMA)), [])

    def test_every_field_is_documented(self):
        text = (TOP / "docs/report-schema.md").read_text()
        for name in sorted(set(property_names(SCHEMA))):
            self.assertIn(f"`{name}`", text)
        # And the example is well-formed JSON.
        json.loads(text.split("```json\n")[1].split("```")[0])


if __name__ == "__main__":
    WRITER = sys.argv.pop(1)
    unittest.main()
