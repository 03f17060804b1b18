// SPDX-License-Identifier: Apache-2.0
// Notes: what a user should know about a result, beside the result.
#pragma once

#include <iterator>
#include <string>
#include <utility>

#include "stowplan/base/diagnostic.h"

namespace stowplan {

// A message of several lines is shown as it is; one of a single line is wrapped.
inline Diagnostic Note(std::string message, std::string hint = {}) {
  Diagnostic note;
  note.severity = Severity::kNote;
  note.message = std::move(message);
  note.hint = std::move(hint);
  return note;
}

inline void Append(Diagnostics more, Diagnostics& to) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// A failure after notes: both are told, in this order.
inline std::unexpected<Diagnostics> FailAfter(Diagnostics notes, Diagnostics errors) {
  Append(std::move(errors), notes);
  return std::unexpected(std::move(notes));
}

}  // namespace stowplan
