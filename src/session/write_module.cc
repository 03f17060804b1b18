// SPDX-License-Identifier: Apache-2.0
#include "session/write_module.h"

#include "hlo/print.h"
#include "proto/rewrite.h"

namespace stowplan {

Result<std::string> WriteModule(const hlo::Module& module) {
  if (module.format == hlo::Format::kProto) return WriteProtoWithSchedule(module);
  std::string text;
  hlo::PrintModule(module, module.dialect, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

Result<std::string> WriteModule(const hlo::Module& module, const ProtoOrigins& origins) {
  const bool has_copies = module.format == hlo::Format::kProto && !origins.instructions.empty();
  return has_copies ? WriteProtoWithCopies(module, origins) : WriteModule(module);
}

}  // namespace stowplan
