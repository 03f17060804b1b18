// SPDX-License-Identifier: Apache-2.0
#include "hlo/source_line.h"

#include <string_view>

namespace stowplan::hlo {

std::string SourceLine(const Module& module, const Metadata& metadata) {
  const StackFrames& stack = module.stack_frames;
  const auto row = [](const auto& table, int32_t number) {
    return number > 0 && static_cast<size_t>(number) <= table.size()
               ? &table[static_cast<size_t>(number) - 1]
               : nullptr;
  };
  std::string_view file = module.view(metadata.source_file);
  int32_t line = metadata.source_line;
  if (const auto* frame = row(stack.frames, metadata.stack_frame)) {
    if (const auto* location = row(stack.locations, frame->location)) {
      if (const auto* text = row(stack.files, location->file)) {
        file = module.view(*text);
        line = location->line;
      }
    }
  }
  if (file.empty() || line == 0) return {};
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
  return std::string(file) + ":" + std::to_string(line);
}

}  // namespace stowplan::hlo
