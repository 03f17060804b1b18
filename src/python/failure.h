// SPDX-License-Identifier: Apache-2.0
// What goes wrong, on its way to Python: diagnostics become a stowplan.ParseError, or a
// stowplan.Error when they are about the call and no input.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "cli/listener.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan::python {

// The only C++ exception of the extension; nanobind turns it into a Python one.
class Failure : public std::exception {
 public:
  explicit Failure(Diagnostics diagnostics) : diagnostics_(std::move(diagnostics)) {}

  [[nodiscard]] const Diagnostics& diagnostics() const { return diagnostics_; }
  [[nodiscard]] const char* what() const noexcept override { return "stowplan failure"; }

 private:
  Diagnostics diagnostics_;
};

// The value, or a Failure.
template <class T>
T Need(Result<T> result) {
  if (!result) throw Failure(std::move(result).error());
  return *std::move(result);
}
// A Failure that is about the call.
[[noreturn]] void Refuse(std::string message, std::string hint = {});

// Gathers what the command line would print.
class Collector : public cli::Listener {
 public:
  explicit Collector(std::string caller = "the call") : caller_(std::move(caller)) {}

  using Listener::Show;
  void Show(const Diagnostics& diagnostics, size_t limit) override;
  void Note(std::string_view text) override;
  [[nodiscard]] std::string_view CallerName() const override { return caller_; }
  [[nodiscard]] cli::Speech speech() const override { return cli::Speech::kPython; }

  // The value, or a Failure with the errors that were shown.
  template <class T>
  T Need(std::optional<T> value) {
    if (!value) throw Failure(std::exchange(errors_, {}));
    return *std::move(value);
  }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const Diagnostics& errors() const { return errors_; }

 private:
  std::string caller_;
  Diagnostics errors_;
  std::vector<std::string> notes_;  // warnings too
};

void RegisterFailures();

}  // namespace stowplan::python
