// SPDX-License-Identifier: Apache-2.0
// Who is told what goes wrong, or well, while a command works: a terminal, or a program that
// gathers it.
#pragma once

#include <string>
#include <string_view>

#include "cli/speech.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan::cli {

class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  // Errors and warnings, at most `limit` of each; a line says how many more there are.
  virtual void Show(const Diagnostics& diagnostics, size_t limit) = 0;
  // A sentence for people, with its end of line.
  virtual void Note(std::string_view text) = 0;
  // Whether somebody watches, so that it is worth while to say how far the work is.
  [[nodiscard]] virtual bool is_watched() const { return false; }

  // Who chose what was told.
  [[nodiscard]] virtual std::string_view CallerName() const { return "the command line"; }
  // How options are spelled.
  [[nodiscard]] virtual Speech speech() const { return Speech::kCommandLine; }
  [[nodiscard]] std::string Option(std::string_view name, std::string_view value) const {
    return OptionText(speech(), name, value);
  }

  void Show(const Diagnostics& diagnostics) { Show(diagnostics, kMaxErrors); }
  // "stowplan: error: message"
  void ShowError(std::string_view message, std::string_view hint = {}) {
    Show(Fail("stowplan", std::string(message), std::string(hint)).error());
  }
};

}  // namespace stowplan::cli
