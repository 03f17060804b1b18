// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c/guard.h"
#include "c/plan.h"

namespace c = stowplan::c;

namespace {

stowplan_status Opened(stowplan::Result<stowplan::Inputs> opened, stowplan_inputs** inputs,
                       stowplan_messages** errors) {
  if (!opened) return c::Fail(errors, std::move(opened).error());
  *inputs = new stowplan_inputs{*std::move(opened)};
  return STOWPLAN_OK;
}

}  // namespace

stowplan_status stowplan_inputs_open(const char* const* paths, size_t count,
                                     stowplan_inputs** inputs, stowplan_messages** errors) {
  return c::Guard(errors, [&] {
    if (inputs != nullptr) *inputs = nullptr;
    if (inputs == nullptr || paths == nullptr || count == 0)
      return c::FailMisuse(errors, "stowplan_inputs_open: an argument is NULL or 0");
    std::vector<std::string> names;
    for (size_t k = 0; k < count; ++k) {
      if (paths[k] == nullptr) return c::FailMisuse(errors, "stowplan_inputs_open: a path is NULL");
      names.emplace_back(paths[k]);
    }
    return Opened(stowplan::Open(names), inputs, errors);
  });
}

stowplan_status stowplan_inputs_open_bytes(const char* name, const void* bytes, size_t size,
                                           stowplan_inputs** inputs, stowplan_messages** errors) {
  return c::Guard(errors, [&] {
    if (inputs != nullptr) *inputs = nullptr;
    if (inputs == nullptr || name == nullptr || (bytes == nullptr && size != 0))
      return c::FailMisuse(errors, "stowplan_inputs_open_bytes: an argument is NULL");
    const std::string_view view(static_cast<const char*>(bytes), size);
    return Opened(stowplan::OpenBytes(name, view), inputs, errors);
  });
}

void stowplan_inputs_free(stowplan_inputs* inputs) { delete inputs; }

size_t stowplan_inputs_count(const stowplan_inputs* inputs) {
  return inputs == nullptr ? 0 : inputs->inputs.modules.size() + inputs->inputs.programs.size();
}

const char* stowplan_inputs_name(const stowplan_inputs* inputs, size_t k) {
  if (k >= stowplan_inputs_count(inputs)) return nullptr;
  const std::vector<stowplan::InputModule>& modules = inputs->inputs.modules;
  return k < modules.size() ? modules[k].name.c_str()
                            : inputs->inputs.programs[k - modules.size()].name.c_str();
}
