// SPDX-License-Identifier: Apache-2.0
#include "target/device.h"

#include <algorithm>
#include <array>

namespace stowplan {
namespace {

constexpr int64_t FromMiB(int64_t size) { return size << 20; }

constexpr std::array<Device, 11> kDevices = {{
    {"a100", "gpu", FromMiB(81920)},
    {"a100-40g", "gpu", FromMiB(40960)},
    {"a100-80g", "gpu", FromMiB(81920)},
    {"h100", "gpu", FromMiB(81559)},
    {"l40s", "gpu", FromMiB(46068)},
    {"a10", "gpu", FromMiB(23028)},
    {"l4", "gpu", FromMiB(23034)},
    {"t4", "gpu", FromMiB(15360)},
    {"v5e", "tpu-v5e", FromMiB(16384)},
    {"v5p", "tpu-v5p", FromMiB(97280)},
    {"v6e", "tpu-v6e", FromMiB(32768)},
}};

}  // namespace

std::optional<Device> FindDevice(std::string_view name) {
  const auto found = std::ranges::find(kDevices, name, &Device::name);
  return found == kDevices.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string_view> DeviceNames() {
  std::vector<std::string_view> names;
  names.reserve(kDevices.size());
  for (const Device& device : kDevices) names.push_back(device.name);
  return names;
}

}  // namespace stowplan
