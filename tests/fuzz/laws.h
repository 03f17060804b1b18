// SPDX-License-Identifier: Apache-2.0
// What holds for everything that a reader returns, whatever bytes it was given.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "hlo/print.h"
#include "hlo/verify.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/hlo/dialect.h"
#include "stowplan/hlo/module.h"
#include "stowplan/target/target.h"
#include "target/stats.h"

namespace stowplan::fuzz {

[[noreturn]] inline void Fail(const char* what, const std::string& a, const std::string& b = {}) {
  std::fprintf(stderr, "law broken: %s\n<<<\n%s\n>>>\n%s\n", what, a.c_str(), b.c_str());
  std::abort();
}

// A reader that fails says why, at most kMaxErrors times, in messages that can be shown.
inline void CheckErrors(const Diagnostics& errors) {
  if (errors.empty()) Fail("no error is given", "");
  const std::string text = Render(errors);
  if (errors.size() > kMaxErrors) Fail("too many errors", text);
  for (const Diagnostic& error : errors) {
    if (error.message.empty()) Fail("an error without words", text);
    if (error.severity != Severity::kError) Fail("a warning among the errors", text);
  }
}

// A module can be printed in every dialect, verified and counted.
inline void CheckReadable(const hlo::Module& module) {
  (void)Render(module.warnings);
  (void)Render(hlo::Verify(module));
  for (const hlo::NamedDialect& named : hlo::Dialects()) {
    (void)hlo::ToString(module, named.dialect);
  }
  for (const Target& target : Targets()) {
    (void)ComputeStats(module, {.target = target});
  }
}

}  // namespace stowplan::fuzz
