// SPDX-License-Identifier: Apache-2.0
// The kinds of machines that programs are compiled for.
#pragma once

#include <cstdint>
#include <string_view>

namespace stowplan {

enum class Backend : uint8_t { kUnknown, kCpu, kGpu, kTpu };
// "GPU"; "unknown back end"
[[nodiscard]] std::string_view Name(Backend backend);

}  // namespace stowplan
