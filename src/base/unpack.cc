// SPDX-License-Identifier: Apache-2.0
#include "base/unpack.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/growing_buffer.h"

namespace stowplan {
namespace {

// What a packed file says about its unpacked size is believed only so far: a lie must not allocate
// gigabytes.
size_t BelievableSize(uint64_t claimed, size_t packed_size, size_t max_size) {
  constexpr size_t kRatio = 256;
  const size_t most = std::min(max_size, (size_t{1} << 20U) + packed_size * kRatio);
  return static_cast<size_t>(std::min<uint64_t>(claimed, most));
}

std::unexpected<Diagnostics> FailAt(const std::string& name, size_t offset, std::string message,
                                    std::string hint = {}) {
  Diagnostic diagnostic;
  diagnostic.file = name;
  diagnostic.offset = offset;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return Fail(std::move(diagnostic));
}

constexpr std::string_view kIncompleteHint =
    "the file is incomplete; was it copied while it was being written?";

// Makes room for more output. The size may equal max_size exactly, so the buffer may become one
// byte larger than that; only a byte that really arrives there is too much.
std::optional<Diagnostics> MakeRoom(GrowingBuffer& out, const std::string& name, size_t max_size) {
  if (out.size() > max_size) return FailTooLarge(name, max_size).error();
  if (!out.Grow(max_size + 1)) return Fail(name, "not enough memory to unpack").error();
  return std::nullopt;
}

class Inflater {
 public:
  Inflater() {
    // 15: the largest window; 16: with gzip's header and checksum.
    is_ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  ~Inflater() {
    if (is_ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  [[nodiscard]] bool is_ready() const { return is_ready_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool is_ready_ = false;
};

// zlib counts in unsigned int.
unsigned Clamp(size_t size) {
  return static_cast<unsigned>(std::min<size_t>(size, std::numeric_limits<unsigned>::max() / 2));
}

uint64_t GzipClaimedSize(std::string_view bytes) {
  if (bytes.size() < 18) return 0;
  uint64_t size = 0;
  for (size_t i = 0; i < 4; ++i) {
    size |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[bytes.size() - 4 + i]))
            << (8 * i);
  }
  return size;
}

Result<std::shared_ptr<const Source>> UnpackGzip(std::string name, std::string_view bytes,
                                                 size_t max_size) {
  Inflater inflater;
  if (!inflater.is_ready()) return Fail(std::move(name), "not enough memory to unpack");
  z_stream& stream = inflater.stream();
  GrowingBuffer out;
  // One byte more than needed lets inflate say "end" without another round.
  if (!out.Reserve(BelievableSize(GzipClaimedSize(bytes), bytes.size(), max_size) + 1)) {
    return Fail(std::move(name), "not enough memory to unpack");
  }
  size_t consumed = 0;
  for (;;) {
    if (auto failed = MakeRoom(out, name, max_size)) return std::unexpected(*std::move(failed));
    const unsigned in = Clamp(bytes.size() - consumed);
    const unsigned room = Clamp(out.free_size());
    // zlib's interface takes a pointer to non-const for historical reasons and does not write
    // through it.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + consumed));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(out.free_begin());
    stream.avail_out = room;
    const int status = inflate(&stream, Z_NO_FLUSH);
    consumed += in - stream.avail_in;
    out.Advance(room - stream.avail_out);
    if (status == Z_STREAM_END) {
      // Archives pad with zeros; another member may follow.
      const size_t next = bytes.find_first_not_of('\0', consumed);
      if (next == std::string_view::npos) break;
      if (FindPacking(bytes.substr(next)) != Packing::kGzip) {
        return FailAt(name, next, "bytes that are not gzip follow the gzip stream");
      }
      consumed = next;
      inflateReset(&stream);
      continue;
    }
    if (status == Z_MEM_ERROR) return Fail(std::move(name), "not enough memory to unpack");
    if (status != Z_OK && status != Z_BUF_ERROR) {
      const std::string reason = stream.msg != nullptr ? stream.msg : "bad data";
      return FailAt(name, consumed, "the gzip stream is corrupt: " + reason);
    }
    if (consumed == bytes.size() && stream.avail_out != 0) {
      return FailAt(name, consumed, "the gzip stream ends early", std::string(kIncompleteHint));
    }
  }
  if (out.size() > max_size) return FailTooLarge(std::move(name), max_size);
  return std::move(out).ToSource(std::move(name));
}

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Result<std::shared_ptr<const Source>> UnpackZstd(std::string name, std::string_view bytes,
                                                 size_t max_size) {
  const std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  if (context == nullptr) return Fail(std::move(name), "not enough memory to unpack");
  const unsigned long long claimed = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  const bool is_known = claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != ZSTD_CONTENTSIZE_ERROR;
  GrowingBuffer out;
  if (!out.Reserve(BelievableSize(is_known ? claimed : 0, bytes.size(), max_size) + 1)) {
    return Fail(std::move(name), "not enough memory to unpack");
  }
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t left = 1;  // 0 at the end of a frame
  while (in.pos < in.size || left != 0) {
    if (auto failed = MakeRoom(out, name, max_size)) return std::unexpected(*std::move(failed));
    ZSTD_outBuffer room{out.free_begin(), out.free_size(), 0};
    const size_t before = in.pos;
    left = ZSTD_decompressStream(context.get(), &room, &in);
    out.Advance(room.pos);
    if (ZSTD_isError(left) != 0) {
      return FailAt(name, in.pos,
                    std::string("the zstd stream is corrupt: ") + ZSTD_getErrorName(left));
    }
    if (left != 0 && in.pos == in.size && in.pos == before && room.pos == 0) {
      return FailAt(name, in.pos, "the zstd stream ends early", std::string(kIncompleteHint));
    }
  }
  if (out.size() > max_size) return FailTooLarge(std::move(name), max_size);
  return std::move(out).ToSource(std::move(name));
}

std::unexpected<Diagnostics> FailUnknown(std::string name, std::string_view kind,
                                         std::string_view command) {
  return Fail(std::move(name),
              "packed with " + std::string(kind) + ", which Stowplan does not unpack",
              "unpack it first: " + std::string(command));
}

}  // namespace

Packing FindPacking(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\x1f\x8b"sv)) return Packing::kGzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv)) return Packing::kZstd;
  if (bytes.starts_with("\xfd"
                        "7zXZ\0"sv)) {
    return Packing::kXz;
  }
  if (bytes.starts_with("BZh"sv) && bytes.substr(4).starts_with("1AY&SY"sv)) return Packing::kBzip2;
  if (bytes.starts_with("PK\x03\x04"sv)) return Packing::kZip;
  return Packing::kNone;
}

Result<std::shared_ptr<const Source>> Unpack(std::string name, std::string_view bytes,
                                             Packing packing, size_t max_size) {
  switch (packing) {
    case Packing::kGzip:
      return UnpackGzip(std::move(name), bytes, max_size);
    case Packing::kZstd:
      return UnpackZstd(std::move(name), bytes, max_size);
    case Packing::kXz:
      return FailUnknown(std::move(name), "xz", "xz -d");
    case Packing::kBzip2:
      return FailUnknown(std::move(name), "bzip2", "bzip2 -d");
    case Packing::kZip:
      return FailUnknown(std::move(name), "zip", "unzip");
    case Packing::kNone:
      break;
  }
  return Fail(std::move(name), "not packed");
}

std::unexpected<Diagnostics> FailTooLarge(std::string name, size_t max_size) {
  return Fail(std::move(name), "larger than the limit of " + std::to_string(max_size) + " bytes");
}

}  // namespace stowplan
