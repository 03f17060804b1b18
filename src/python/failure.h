// SPDX-License-Identifier: Apache-2.0
// What goes wrong, on its way to Python: diagnostics become a stowplan.ParseError, or a
// stowplan.Error when they are about the call and no input.
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

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

// What was an error among these; notes and warnings have no place in an exception.
Diagnostics ErrorsOf(const Diagnostics& diagnostics);

// The value, or a Failure.
template <class T>
T Need(Result<T> result) {
  if (!result) throw Failure(ErrorsOf(result.error()));
  return *std::move(result);
}
// A Failure that is about the call.
[[noreturn]] void Refuse(std::string message, std::string hint = {});

// Notes and warnings, a text each.
std::vector<std::string> TextsOf(const Diagnostics& notes);

void RegisterFailures();

}  // namespace stowplan::python
