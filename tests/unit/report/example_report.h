// SPDX-License-Identifier: Apache-2.0
// The reports of a small program, and reading reports in tests.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "report/read.h"
#include "stowplan/base/source.h"

namespace stowplan::report::test {

// Two sums of a parameter, returned as a tuple. `b` is computed in the place of `a`.
inline constexpr std::string_view kAssignment =
    "BufferAssignment:\n"
    "allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:\n"
    " value: <0 p @0> (size=16,offset=0): f32[4]{0}\n"
    "allocation 1: size 16, output shape is |(f32[4], f32[])|, maybe-live-out:\n"
    " value: <4 out{} @0> (size=16,offset=0): (f32[4]{0}, f32[])\n"
    "allocation 2: size 36, preallocated-temp:\n"
    " value: <1 a @0> (size=16,offset=0): f32[4]{0}\n"
    " value: <2 b (phi) @0> (size=16,offset=0): f32[2,2]{1,0}\n"
    " value: <3 c @0> (size=4,offset=32): f32[]\n";

inline constexpr std::string_view kValueList =
    "\nTotal bytes used: 68 (68B)\n"
    "\nUsed values:\n"
    "<0 p @0>\n positions:\n  p\n uses:\n  a, operand 0\n  a, operand 1\n"
    " from instruction: %p = f32[4]{0} parameter(0)\n"
    "<1 a @0>\n positions:\n  a\n uses:\n  b, operand 0\n"
    " from instruction: %a = f32[4]{0} add(%p, %p), metadata={op_name=\"say \\\"a\\\"\"}\n"
    "<2 b (phi) @0>\n positions:\n  b\n  out {0}\n uses:\n  out, operand 0\n"
    " from instruction: %b = f32[2,2]{1,0} bitcast(%a)\n"
    "<3 c @0>\n positions:\n  c\n  out {1}\n uses:\n  out, operand 1\n"
    " from instruction: %c = f32[] constant(1)\n"
    "<4 out{} @0>\n positions:\n  out {}\n uses:\n  (none)\n"
    " from instruction: %out = (f32[4]{0}, f32[]) tuple(%b, %c)\n";

inline constexpr std::string_view kLiveRanges =
    "HloLiveRange (max 5):\n"
    "  InstructionSequence:\n"
    "    0:p\n    1:c\n    2:a\n    3:b\n    4:out\n"
    "  BufferLiveRange:\n"
    "    p{}:0-5\n    a{}:2-3\n    b{}:3-5\n    c{}:1-5\n    out{}:4-5\n"
    "  Live ranges at 4 (peak):\n"
    "    b{}: 16 bytes (cumulative: 16 bytes)\n"
    "    out{}: 16 bytes (cumulative: 32 bytes)\n"
    "    p{}: 16 bytes (cumulative: 48 bytes)\n"
    "    c{}: 4 bytes (cumulative: 52 bytes)\n"
    "  Stack trace breakdown for peak usage: 52 bytes\n"
    "    main (100.0%, total: 52 bytes, current: 0 bytes, remaining: 52 bytes)\n"
    "      └── x,\"y\" (100.0%, total: 52 bytes, current: 52 bytes, remaining: 0 bytes)\n";

inline Result<Report> Read(std::initializer_list<std::string_view> files) {
  std::vector<std::shared_ptr<const Source>> sources;
  for (const std::string_view file : files) sources.push_back(Source::FromBytes("test.txt", file));
  return ReadReport(sources);
}

// The report, or a failed test and an empty one.
inline Report MustRead(std::initializer_list<std::string_view> files) {
  Result<Report> report = Read(files);
  if (report) return std::move(*report);
  ADD_FAILURE() << Render(report.error());
  return {};
}

inline Report Example() { return MustRead({kAssignment, kValueList, kLiveRanges}); }

// `line:column: message` of each error, a line each.
inline std::string Errors(std::initializer_list<std::string_view> files) {
  const Result<Report> report = Read(files);
  std::string text;
  if (report) return text;
  for (const Diagnostic& error : report.error()) {
    text += std::to_string(error.line) + ":" + std::to_string(error.column) + ": " + error.message +
            "\n";
  }
  return text;
}

}  // namespace stowplan::report::test
