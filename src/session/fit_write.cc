// SPDX-License-Identifier: Apache-2.0
#include "session/fit_write.h"

#include "hlo/print.h"
#include "session/write_module.h"

namespace stowplan {

Result<std::string> WriteFitted(const Fitted& fitted) {
  const hlo::Module& module = *fitted.planned.module;
  if (fitted.facts.donated.empty()) return WriteModule(module, fitted.origins);
  std::string text;
  hlo::PrintModule(module, module.dialect, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

}  // namespace stowplan
