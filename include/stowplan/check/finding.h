// SPDX-License-Identifier: Apache-2.0
// What is wrong with a plan, as a counterexample: who wrote where, and who reads there afterwards.
//
//     unsound: overwritten: exp.2 reads mul.1 at 7, and finds add.3 there
//       add.3 wrote allocation 4, bytes 1024 to 4096, at 6   (jit(f)/add, model.py:12)
//       exp.2 needs mul.1, which is at 0 to 4096 of it        (jit(f)/exp, model.py:14)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stowplan {
class JsonWriter;
}

namespace stowplan::check {

// docs/check.md explains each code; its name there is also its name in JSON.
enum class Code : uint8_t {
  // A read gets wrong bytes.
  kOverwritten,        // it finds what another instruction wrote
  kNeverWritten,       // it finds nothing
  kInPlace,            // an instruction writes over an operand before it has read all of it
  kSlicesApart,        // slices that become one array do not lie side by side in its place
  kInFlight,           // something writes to memory that an asynchronous operation is using
  kOutside,            // a value ends beyond its allocation
  kWrongSpace,         // a value is not in the memory space that its layout names
  kParameterChanged,   // a parameter that was not donated is overwritten
  kConstantChanged,    // a constant is overwritten
  kOutputChanged,      // a part of the result is overwritten before the end
  kOutputElsewhere,    // an output does not lie on the parameter that was donated for it
  kOutputsShareBytes,  // two parts of the result overlap
  kAliveTogether,      // report alone: two values share bytes while both are alive
  // The report contradicts itself or the program; no read is known to be wrong.
  kUnknownValue,   // the program has no such instruction or part
  kNoPlace,        // a value of the program has no place
  kTwoPlaces,      // a value has two
  kSize,           // a value's size is not that of its shape
  kAlignment,      // a value does not begin at a multiple of what its memory space demands
  kColor,          // a value's color differs from its allocation's
  kFlag,           // an allocation's flags do not match what lies in it
  kOrder,          // the report's order is not the program's schedule
  kRange,          // a live range does not fit its positions, uses or the schedule
  kContradiction,  // anything else that report/check.h finds
};

std::string_view Name(Code code);
[[nodiscard]] bool IsUnsound(Code code);

// A value, named by where it is defined.
struct ValueName {
  std::string instruction;
  std::string index;  // "{1,0}"; empty when the instruction returns no tuple
  [[nodiscard]] std::string text() const { return instruction + index; }
  friend auto operator<=>(const ValueName&, const ValueName&) = default;
};

// Something that happens at a point in time, and what the user calls it.
struct Event {
  std::string instruction;  // empty: the begin or end of the program
  int64_t time = -1;        // on the time line of the schedule; -1: not on it
  std::string op_name;
  std::string source;  // "model.py:14"
};

struct Finding {
  Code code = Code::kOverwritten;
  ValueName wanted;         // the value that is read, or that the finding is about
  ValueName found;          // what lies there instead; may be empty
  int64_t allocation = -1;  // XLA's number; -1: none
  int64_t begin = 0;        // the bytes of it that are wrong
  int64_t end = 0;
  Event write;          // who overwrites them
  Event read;           // who needs them
  std::string message;  // the first line
};
using Findings = std::vector<Finding>;

// Three lines, or one if there is neither a writer nor a reader.
[[nodiscard]] std::string Describe(const Finding& finding);
void WriteJson(const Finding& finding, JsonWriter& json);

}  // namespace stowplan::check
