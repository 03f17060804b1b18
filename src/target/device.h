// SPDX-License-Identifier: Apache-2.0
// Devices by name, and how much memory they have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stowplan {

struct Device {
  std::string_view name;    // "a100-80g"
  std::string_view target;  // as FindTarget takes it: "gpu"
  int64_t memory = 0;       // bytes, all of it: drivers and runtimes keep some for themselves
};

// docs/devices.md has the table, and where the figures come from.
[[nodiscard]] std::optional<Device> FindDevice(std::string_view name);
[[nodiscard]] std::vector<std::string_view> DeviceNames();

}  // namespace stowplan
