// SPDX-License-Identifier: Apache-2.0
// Reading protos in tests.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "hlo/print.h"
#include "proto/parse.h"

namespace stowplan::proto::test {

inline Result<hlo::Module> Read(std::string_view bytes) {
  return ParseProto(Source::FromBytes("test.pb", bytes));
}

// The module, or a failed test and an empty one.
inline hlo::Module MustRead(std::string_view bytes) {
  Result<hlo::Module> module = Read(bytes);
  if (module) return std::move(*module);
  ADD_FAILURE() << Render(module.error());
  return {};
}

// The text of the entry computation's root.
inline std::string RootText(std::string_view bytes) {
  const hlo::Module module = MustRead(bytes);
  std::string text;
  if (module.entry.is_none()) return text;
  hlo::AppendInstruction(module, module.computations[module.entry].root, module.dialect, text);
  return text;
}

// `path: message` of each error, a line each; empty when there is none.
inline std::string Errors(std::string_view bytes) {
  const Result<hlo::Module> module = Read(bytes);
  std::string text;
  if (module) return text;
  for (const Diagnostic& error : module.error()) text += error.path + ": " + error.message + "\n";
  return text;
}

}  // namespace stowplan::proto::test
