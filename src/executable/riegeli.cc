// SPDX-License-Identifier: Apache-2.0
#include "executable/riegeli.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "executable/field_reader.h"
#include "executable/highway_hash.h"
#include "executable/snappy.h"
#include "stowplan/base/source.h"

namespace stowplan::executable {
namespace {

constexpr size_t kBlock = 65536;
constexpr size_t kBlockHeader = 24;
constexpr size_t kChunkHeader = 40;
constexpr char kSignatureChunk = 's';
constexpr char kMetadataChunk = 'm';
constexpr char kPaddingChunk = 'p';
constexpr char kSimpleChunk = 'r';

// "Riegeli/records\n", twice.
constexpr HighwayKey kKey = {0x2f696c6567656952U, 0x0a7364726f636572U, 0x2f696c6567656952U,
                             0x0a7364726f636572U};

uint64_t Hash(std::string_view bytes) { return HighwayHash64(bytes, kKey); }

uint64_t Load64(std::string_view bytes, size_t at) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

void Append64(uint64_t value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string ChunkHeader(std::string_view data, char type, uint64_t records, uint64_t decoded) {
  std::string rest;
  Append64(data.size(), rest);
  Append64(Hash(data), rest);
  Append64(static_cast<unsigned char>(type) | records << 8U, rest);
  Append64(decoded, rest);
  std::string header;
  Append64(Hash(rest), header);
  return header + rest;
}

// Where a chunk that begins at `begin` ends, if it has `size` bytes of its own.
size_t EndOf(size_t begin, size_t size) {
  size_t at = begin;
  while (size > 0) {
    if (at % kBlock == 0) at += kBlockHeader;
    const size_t part = std::min(size, kBlock - at % kBlock);
    at += part;
    size -= part;
  }
  return at;
}

void AppendChunk(std::string_view chunk, std::string& out) {
  const size_t begin = out.size();
  const size_t end = EndOf(begin, chunk.size());
  while (!chunk.empty()) {
    if (out.size() % kBlock == 0) {
      std::string positions;
      Append64(out.size() - begin, positions);
      Append64(end - out.size(), positions);
      Append64(Hash(positions), out);
      out += positions;
    }
    const size_t part = std::min(chunk.size(), kBlock - out.size() % kBlock);
    out += chunk.substr(0, part);
    chunk.remove_prefix(part);
  }
}

const std::string& Signature() {
  static const std::string kSignature = [] {
    std::string out;
    AppendChunk(ChunkHeader({}, kSignatureChunk, 0, 0), out);
    return out;
  }();
  return kSignature;
}

// The bytes of a file without its block headers.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] size_t position() const { return at_; }
  [[nodiscard]] bool is_at_end() const { return at_ >= bytes_.size(); }

  std::optional<std::string> Take(uint64_t size) {
    if (size > bytes_.size()) return std::nullopt;
    std::string out;
    out.reserve(static_cast<size_t>(size));
    while (out.size() < size) {
      if (at_ % kBlock == 0) at_ += kBlockHeader;
      const size_t part =
          std::min<size_t>(static_cast<size_t>(size) - out.size(), kBlock - at_ % kBlock);
      if (at_ > bytes_.size() || part > bytes_.size() - at_) return std::nullopt;
      out += bytes_.substr(at_, part);
      at_ += part;
    }
    return out;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

std::optional<uint64_t> TakeVarint(std::string_view& in) {
  const char* at = in.data();
  try {
    const uint64_t value = protozero::decode_varint(&at, in.data() + in.size());
    in.remove_prefix(static_cast<size_t>(at - in.data()));
    return value;
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
}

std::optional<std::string> Unzstd(std::string_view bytes, uint64_t size, size_t max_size) {
  // What zstd can make of the input at the very most, so that a false size allocates little.
  if (size > max_size || size / 4096 > bytes.size() + 1024) return std::nullopt;
  std::string out(static_cast<size_t>(size), '\0');
  const size_t made = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(made) != 0 || made != out.size()) return std::nullopt;
  return out;
}

// Packed bytes have their unpacked size before them, Snappy's too, which begin with it once more.
std::optional<std::string> Decompress(char compression, std::string_view bytes, size_t max_size) {
  if (compression == '\0') return std::string(bytes);
  const std::optional<uint64_t> size = TakeVarint(bytes);
  if (!size || *size > max_size) return std::nullopt;
  if (compression == 'z') return Unzstd(bytes, *size, max_size);
  std::optional<std::string> out = Unsnappy(bytes, max_size);
  return out && out->size() == *size ? out : std::nullopt;
}

struct Chunk {
  size_t at = 0;
  char type = 0;
  uint64_t records = 0;
  uint64_t decoded_size = 0;
  std::string data;
};

class ChunkReader {
 public:
  ChunkReader(const std::string& name, std::string_view bytes) : name_(name), reader_(bytes) {}

  [[nodiscard]] bool is_at_end() const { return reader_.is_at_end(); }

  Result<Chunk> Next() {
    const size_t at = reader_.position();
    const std::optional<std::string> header = reader_.Take(kChunkHeader);
    if (!header) return FailAt(at, "the chunk is incomplete");
    if (Hash(std::string_view(*header).substr(8)) != Load64(*header, 0))
      return FailAt(at, "the chunk's header does not match its checksum");
    const uint64_t size = Load64(*header, 8);
    Chunk chunk{.at = at,
                .type = (*header)[24],
                .records = Load64(*header, 24) >> 8U,
                .decoded_size = Load64(*header, 32)};
    std::optional<std::string> data = reader_.Take(size);
    if (!data) return FailAt(at, "the chunk is incomplete");
    if (Hash(*data) != Load64(*header, 16))
      return FailAt(at, "the chunk's data do not match their checksum");
    chunk.data = *std::move(data);
    // A chunk has at least as many bytes as records, so that each has a position of its own.
    if (chunk.records > size && !reader_.Take(chunk.records - size))
      return FailAt(at, "the chunk is incomplete");
    return chunk;
  }

  std::unexpected<Diagnostics> FailAt(size_t at, std::string message) const {
    Diagnostic diagnostic;
    diagnostic.file = name_;
    diagnostic.offset = at;
    diagnostic.path = "riegeli";
    diagnostic.message = std::move(message);
    return Fail(std::move(diagnostic));
  }

 private:
  const std::string& name_;
  Reader reader_;
};

// The records of a simple chunk: their sizes, then their bytes.
std::optional<std::vector<std::string>> RecordsOf(const Chunk& chunk, size_t max_size) {
  std::string_view data = chunk.data;
  if (data.empty()) return std::nullopt;
  const char compression = data.front();
  data.remove_prefix(1);
  const std::optional<uint64_t> sizes_size = TakeVarint(data);
  if (!sizes_size || *sizes_size > data.size()) return std::nullopt;
  const auto split = static_cast<size_t>(*sizes_size);
  const std::optional<std::string> sizes = Decompress(compression, data.substr(0, split), max_size);
  const std::optional<std::string> values = Decompress(compression, data.substr(split), max_size);
  if (!sizes || !values || values->size() != chunk.decoded_size) return std::nullopt;
  std::vector<std::string> records;
  std::string_view rest_of_sizes = *sizes;
  std::string_view rest = *values;
  if (chunk.records > rest_of_sizes.size()) return std::nullopt;
  for (uint64_t i = 0; i < chunk.records; ++i) {
    const std::optional<uint64_t> size = TakeVarint(rest_of_sizes);
    if (!size || *size > rest.size()) return std::nullopt;
    records.emplace_back(rest.substr(0, static_cast<size_t>(*size)));
    rest.remove_prefix(static_cast<size_t>(*size));
  }
  return rest.empty() && rest_of_sizes.empty() ? std::optional(std::move(records)) : std::nullopt;
}

}  // namespace

bool IsRiegeli(std::string_view bytes) { return bytes.starts_with(Signature()); }

Result<std::vector<std::string>> ReadRiegeli(const std::string& name, std::string_view bytes) {
  ChunkReader reader(name, bytes);
  std::vector<std::string> records;
  size_t room = Source::kMaxSize;
  while (!reader.is_at_end()) {
    STOWPLAN_TRY(const Chunk chunk, reader.Next());
    if (chunk.type == kSignatureChunk || chunk.type == kMetadataChunk ||
        chunk.type == kPaddingChunk) {
      continue;
    }
    if (chunk.type != kSimpleChunk) {
      return reader.FailAt(chunk.at, fmt::format("chunks of type {:#04x} are not supported",
                                                 static_cast<unsigned char>(chunk.type)));
    }
    if (const char packing = chunk.data.empty() ? '\0' : chunk.data.front();
        packing != '\0' && packing != 's' && packing != 'z') {
      return reader.FailAt(chunk.at, fmt::format("chunks packed in way {:#04x} are not supported",
                                                 static_cast<unsigned char>(packing)));
    }
    std::optional<std::vector<std::string>> found = RecordsOf(chunk, room);
    if (!found) return reader.FailAt(chunk.at, "the chunk is damaged or too large");
    for (std::string& record : *found) {
      room -= std::min(room, record.size());
      records.push_back(std::move(record));
    }
  }
  return records;
}

std::string WriteRiegeli(std::span<const std::string> records) {
  std::string out = Signature();
  for (const std::string& record : records) {
    std::string sizes;
    AppendVarint(record.size(), sizes);
    std::string data(1, '\0');
    AppendVarint(sizes.size(), data);
    data += sizes;
    data += record;
    AppendChunk(ChunkHeader(data, kSimpleChunk, 1, record.size()) + data, out);
  }
  return out;
}

}  // namespace stowplan::executable
