// SPDX-License-Identifier: Apache-2.0
// The report in a compiled module's own file: a .hlo.pb of XLA's last stage has the buffer
// assignment next to the program.
//
// The proto has less than the text: no live ranges, no positions and uses, neither `(phi)` nor page
// nor address. These are absent from the report. In one respect it has more: which values XLA keeps
// in one buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/module.h"
#include "stowplan/report/report.h"

namespace stowplan::report {

// On failure: the first kMaxErrors errors, with byte offset and path. The report does not need the
// module afterwards.
//
// The shape of the program's result is kept with the allocation of the value at the entry
// computation's root. That value is traced through everything that passes it on unchanged (tuples,
// loops, ...); beyond anything else, the shape is absent.
Result<Report> ReportFromModule(const hlo::Module& module);

// Two values, by number, that must lie in the same place: XLA has one buffer for both. Sets of more
// values come as pairs that connect them.
struct SharedBuffer {
  int64_t a = 0;
  int64_t b = 0;
  friend bool operator==(const SharedBuffer&, const SharedBuffer&) = default;
};
// What the message's aliases and the heap's sharing say.
Result<std::vector<SharedBuffer>> SharedBuffersFromModule(const hlo::Module& module);

}  // namespace stowplan::report
