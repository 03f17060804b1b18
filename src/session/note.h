// SPDX-License-Identifier: Apache-2.0
// Notes: what a user should know about a result.
#pragma once

#include <iterator>
#include <string>
#include <utility>

#include "stowplan/base/diagnostic.h"

namespace stowplan {

// A single-line message is wrapped when shown; a message of several lines is shown as it is.
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

// A failure that carries the notes as well, before the errors.
inline std::unexpected<Diagnostics> FailAfter(Diagnostics notes, Diagnostics errors) {
  Append(std::move(errors), notes);
  return std::unexpected(std::move(notes));
}

}  // namespace stowplan
