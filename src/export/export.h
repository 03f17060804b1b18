// SPDX-License-Identifier: Apache-2.0
// What is live at a moment, as files that other tools open (docs/export.md).
//
// In each file the bytes of all values add up exactly to those of the moment. Files do not depend
// on when or where they are written. Names may hold any bytes; what a format cannot represent is
// replaced.
//
// (`export` is a C++ keyword, so the namespace is not named after the folder.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "explain/moment.h"
#include "explain/picture.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan::exporting {

enum class Format : uint8_t {
  kPprof,       // a gzip-compressed profile.proto
  kPerfetto,    // trace events, the JSON of Chrome's tracing
  kSpeedscope,  // speedscope's own JSON
  kCollapsed,   // one line for each value, for flame graphs: frame;frame;frame bytes
  kCsv,         // one row for each value
  kJson,        // the same and more; schema stowplan.export/1
};
inline constexpr size_t kFormats = 6;
[[nodiscard]] std::string_view Name(Format format);  // "pprof"
[[nodiscard]] std::optional<Format> FindFormat(std::string_view name);
// Whether the format is about a moment; the others also list values whose live ranges are unknown.
[[nodiscard]] bool NeedsMoment(Format format);

// What a value's stack is made of.
enum class Stacks : uint8_t {
  kSource,  // calls in the source; if there are none, the parts of op_name below "(no source)"
  kOpName,  // the parts of op_name
};
[[nodiscard]] std::string_view Name(Stacks stacks);  // "op_name"
// Source, if a value of the moment has some.
[[nodiscard]] Stacks BestStacks(const explain::Picture& picture, const explain::Moment& moment);

struct Subject {
  const explain::Picture* picture = nullptr;
  std::string name;                       // of the module
  std::optional<explain::Moment> moment;  // needs report::HasPeak
  bool is_peak = false;                   // the moment is its memory space's peak
  Stacks stacks = Stacks::kSource;
  size_t top = 0;  // kPerfetto: spans of the largest values; 0: of all
};

// Fails when the subject has no moment and the format needs one, or when the file would be
// unreasonably large.
[[nodiscard]] Result<std::string> Write(const Subject& subject, Format format);

}  // namespace stowplan::exporting
