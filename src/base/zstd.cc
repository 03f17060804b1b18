// SPDX-License-Identifier: Apache-2.0
#include "base/zstd.h"

#include <zstd.h>

namespace stowplan {

Result<std::string> Zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size =
      ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size) != 0) return Fail("stowplan", "not enough memory to pack");
  out.resize(size);
  return out;
}

}  // namespace stowplan
