// SPDX-License-Identifier: Apache-2.0
// Any bytes to the proto reader.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "laws.h"
#include "proto/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const auto source = stowplan::Source::FromBytes("input", input);
  (void)stowplan::LooksLikeProto(*source);
  const auto module = stowplan::ParseProto(source);
  if (module) {
    stowplan::fuzz::CheckReadable(*module);
  } else {
    stowplan::fuzz::CheckErrors(module.error());
  }
  return 0;
}
