// SPDX-License-Identifier: Apache-2.0
#include "base/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace stowplan {

Result<std::string> Gzip(std::string_view bytes) {
  z_stream stream{};
  // 15: the largest window; 16: with gzip's header and checksum; 8: zlib's usual memory.
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return Fail({}, "not enough memory to compress");
  }
  std::string out;
  std::array<char, 1U << 16U> room{};
  // zlib counts in 32 bits.
  constexpr size_t kMostAtOnce = size_t{1} << 30U;
  int state = Z_OK;
  while (state == Z_OK) {
    const size_t count = std::min(bytes.size(), kMostAtOnce);
    // zlib only reads it.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(count);
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = static_cast<uInt>(room.size());
    state = deflate(&stream, count == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    bytes.remove_prefix(count - stream.avail_in);
    out.append(room.data(), room.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  if (state != Z_STREAM_END) return Fail({}, "zlib cannot compress this");
  return out;
}

}  // namespace stowplan
