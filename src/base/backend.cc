// SPDX-License-Identifier: Apache-2.0
#include "base/backend.h"

namespace stowplan {

std::string_view Name(Backend backend) {
  switch (backend) {
    case Backend::kCpu:
      return "CPU";
    case Backend::kGpu:
      return "GPU";
    case Backend::kTpu:
      return "TPU";
    case Backend::kUnknown:
      break;
  }
  return "unknown back end";
}

}  // namespace stowplan
