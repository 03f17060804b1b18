// SPDX-License-Identifier: Apache-2.0
#include "executable/container.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "executable/field_reader.h"
#include "executable/numbers.h"
#include "executable/riegeli.h"
#include "stowplan/base/source.h"

namespace stowplan::executable {
namespace {

constexpr size_t kTimeSize = 4;
bool LooksLikeZlib(std::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] != '\x78') return false;
  const auto second = static_cast<unsigned char>(bytes[1]);
  return (0x78U * 256U + second) % 31 == 0 && (second & 0x20U) == 0;
}

std::optional<std::string> Inflate(std::string_view bytes, size_t max_size) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  std::string out;
  std::array<char, 65536> piece{};
  int status = Z_OK;
  size_t consumed = 0;
  while (status == Z_OK && out.size() <= max_size) {
    const size_t in = std::min<size_t>(bytes.size() - consumed, 1U << 30U);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + consumed));
    stream.avail_in = static_cast<unsigned>(in);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<unsigned>(piece.size());
    status = inflate(&stream, Z_NO_FLUSH);
    consumed += in - stream.avail_in;
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || out.size() > max_size) return std::nullopt;
  return out;
}

std::optional<std::string> Deflate(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(out.data()), &size,
               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) != Z_OK) {
    return std::nullopt;
  }
  out.resize(size);
  return out;
}

// Whether the fields that make a result are there.
bool LooksLikeResult(std::string_view bytes) {
  bool has_module = false;
  bool has_assignment = false;
  FieldReader fields(bytes);
  while (fields.Next()) {
    const Field& field = fields.field();
    if (field.number == kModuleWithConfig && field.is_bytes()) {
      const std::optional<std::string_view> module = FindBytes(field.bytes, kModuleOfConfig);
      has_module = module && FindBytes(*module, kModuleName) && FindBytes(*module, kComputations);
    }
    has_assignment = has_assignment || (field.number == kAssignmentOfResult && field.is_bytes());
  }
  return fields.ok() && has_module && has_assignment;
}

// Whether a message holds an executable and options.
bool LooksLikeOptions(std::string_view bytes) {
  std::optional<std::string_view> serialized;
  bool has_options = false;
  FieldReader fields(bytes);
  while (fields.Next()) {
    const Field& field = fields.field();
    if (field.number > 16) return false;
    if (field.number == kSerialized && field.is_bytes()) serialized = field.bytes;
    has_options = has_options || (field.number == kCompileOptions && field.is_bytes());
  }
  if (!fields.ok() || !serialized || !has_options) return false;
  return IsRiegeli(*serialized) || LooksLikeResult(*serialized);
}

bool LooksLikeBody(std::string_view bytes) { return IsRiegeli(bytes) || LooksLikeOptions(bytes); }

// Takes the header off the front; nothing if there is none.
std::optional<std::string_view> TakeHeader(std::string_view& bytes) {
  const char* at = bytes.data();
  uint64_t size = 0;
  try {
    size = protozero::decode_varint(&at, bytes.data() + bytes.size());
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  const auto before = static_cast<size_t>(at - bytes.data());
  if (size > bytes.size() - before) return std::nullopt;
  const std::string_view header = bytes.substr(before, static_cast<size_t>(size));
  // The first version is 0, which is not written.
  if (!FindBytes(header, kHeaderRuntime)) return std::nullopt;
  bytes.remove_prefix(before + header.size());
  return header;
}

struct Envelope {
  std::optional<std::string_view> compile_time;
  std::optional<std::string_view> header;
  std::string_view body;
};

std::optional<Envelope> FindEnvelope(std::string_view bytes) {
  for (const size_t skipped : {size_t{0}, kTimeSize}) {
    if (bytes.size() <= skipped) break;
    Envelope envelope;
    if (skipped != 0) envelope.compile_time = bytes.substr(0, skipped);
    envelope.body = bytes.substr(skipped);
    if (LooksLikeBody(envelope.body)) return envelope;
    envelope.header = TakeHeader(envelope.body);
    if (envelope.header && LooksLikeBody(envelope.body)) return envelope;
  }
  return std::nullopt;
}

struct Found {
  Envelope envelope;
  bool is_pickled = false;
};

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;)
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return value;
}

// An executable inside a pickle is the operand of an opcode for bytes: `B` with four bytes of
// length, `\x8e` with eight. Pickles inside pickles are such operands too, so looking for what
// looks like one finds it at any depth, and nothing is unpickled.
std::optional<Envelope> FindInPickle(std::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] != '\x80' || bytes[1] < 2 || bytes[1] > 5) return std::nullopt;
  constexpr uint64_t kSmallest = 64;
  int tries = 1000;
  for (size_t at = bytes.find_first_of("B\x8e"); at != std::string_view::npos && tries > 0;
       at = bytes.find_first_of("B\x8e", at + 1)) {
    const size_t width = bytes[at] == 'B' ? 4 : 8;
    if (bytes.size() - at - 1 < width) break;
    const uint64_t size = LittleEndian(bytes.substr(at + 1, width));
    const std::string_view rest = bytes.substr(at + 1 + width);
    if (size < kSmallest || size > rest.size()) continue;
    --tries;
    if (auto envelope = FindEnvelope(rest.substr(0, static_cast<size_t>(size)))) return envelope;
  }
  return std::nullopt;
}

std::optional<Found> Find(std::string_view bytes) {
  if (const auto envelope = FindEnvelope(bytes)) return Found{.envelope = *envelope};
  if (const auto envelope = FindInPickle(bytes))
    return Found{.envelope = *envelope, .is_pickled = true};
  return std::nullopt;
}

// What the first record of a split message says about the others.
std::optional<std::vector<uint32_t>> ReadManifest(std::string_view manifest) {
  std::vector<uint32_t> out = {0};
  FieldReader fields(manifest);
  while (fields.Next()) {
    if (fields.field().number != kManifestRecords || !fields.field().is_bytes()) continue;
    const std::string_view record = fields.field().bytes;
    if (FindBytes(record, kMergeRecord)) {
      out.push_back(0);
      continue;
    }
    const std::optional<std::string_view> override_record = FindBytes(record, kOverrideRecord);
    if (!override_record) return std::nullopt;
    const std::optional<std::string_view> path = FindBytes(*override_record, kOverridePath);
    const std::optional<uint64_t> number = path ? FindVarint(*path, kPathNumber) : std::nullopt;
    if (!number || *number == 0 || *number > 0xffff) return std::nullopt;
    out.push_back(static_cast<uint32_t>(*number));
  }
  return fields.ok() ? std::optional(std::move(out)) : std::nullopt;
}

Result<SplitMessage> ReadSplit(const std::string& name, std::string_view bytes,
                               std::deque<std::string>& storage) {
  if (!IsRiegeli(bytes)) return SplitMessage{.records = {bytes}, .fields = {0}};
  STOWPLAN_TRY(std::vector<std::string> records, ReadRiegeli(name, bytes));
  if (records.empty()) return Fail(name, "the Riegeli file has no records");
  std::optional<std::vector<uint32_t>> fields = ReadManifest(records[0]);
  if (!fields || fields->size() != records.size())
    return Fail(name, "the first record does not say what the others are");
  SplitMessage message{.is_split = true, .records = {}, .fields = *std::move(fields)};
  for (std::string& record : records)
    message.records.push_back(storage.emplace_back(std::move(record)));
  return message;
}

// The record that has the serialized executable, or that is it.
std::optional<size_t> RecordOfSerialized(const SplitMessage& options) {
  for (size_t i = options.is_split ? 1 : 0; i < options.records.size(); ++i) {
    if (options.fields[i] == kSerialized) return i;
    if (options.fields[i] == 0 && FindBytes(options.records[i], kSerialized)) return i;
  }
  return std::nullopt;
}

bool IsResult(const SplitMessage& result) {
  return std::ranges::any_of(result.records,
                             [](std::string_view record) { return LooksLikeResult(record); });
}

}  // namespace

bool LooksLikeExecutable(std::string_view bytes) {
  if (LooksLikeZlib(bytes)) {
    const std::optional<std::string> unpacked = Inflate(bytes, Source::kMaxSize);
    return unpacked && Find(*unpacked).has_value();
  }
  return Find(bytes).has_value();
}

Result<Container> OpenContainer(const std::string& name, std::string_view bytes) {
  Container container;
  container.storage = std::make_shared<std::deque<std::string>>();
  std::deque<std::string>& storage = *container.storage;
  if (LooksLikeZlib(bytes)) {
    std::optional<std::string> unpacked = Inflate(bytes, Source::kMaxSize);
    if (unpacked) {
      container.is_zlib = true;
      bytes = storage.emplace_back(*std::move(unpacked));
    }
  }
  const std::optional<Found> found = Find(bytes);
  if (!found) return Fail(name, "this is not a serialized executable that Stowplan can read");
  container.is_pickled = found->is_pickled;
  container.compile_time = found->envelope.compile_time;
  container.header = found->envelope.header;
  STOWPLAN_TRY(container.options, ReadSplit(name, found->envelope.body, storage));
  const std::optional<size_t> record = RecordOfSerialized(container.options);
  if (!record) return Fail(name, "the executable's options hold no executable");
  std::string_view serialized = container.options.records[*record];
  if (container.options.fields[*record] == 0)
    serialized = FindBytes(serialized, kSerialized).value_or("");
  container.platform = IsRiegeli(serialized) ? Platform::kGpu : Platform::kCpu;
  STOWPLAN_TRY(container.result, ReadSplit(name, serialized, storage));
  if (!IsResult(container.result))
    return Fail(name, "the executable holds no program with a buffer assignment");
  return container;
}

Result<std::string> CloseContainer(const Container& container, std::vector<std::string> result) {
  if (container.is_pickled) {
    return Fail("stowplan", "the executable is inside a pickle, which Stowplan does not write",
                "stowplan.repack does it from Python");
  }
  std::string inner = container.result.is_split ? WriteRiegeli(result) : std::move(result.at(0));
  const SplitMessage& options = container.options;
  const std::optional<size_t> at = RecordOfSerialized(options);
  if (!at) return Fail("stowplan", "the executable's options hold no executable");
  std::vector<std::string> records(options.records.begin(), options.records.end());
  records[*at] = options.fields[*at] == kSerialized
                     ? std::move(inner)
                     : WithBytes(options.records[*at], kSerialized, inner);
  std::string out;
  if (container.compile_time) out += *container.compile_time;
  if (container.header) {
    AppendVarint(container.header->size(), out);
    out += *container.header;
  }
  out += options.is_split ? WriteRiegeli(records) : records[0];
  if (!container.is_zlib) return out;
  std::optional<std::string> packed = Deflate(out);
  if (!packed) return Fail("stowplan", "not enough memory to pack the executable");
  return *std::move(packed);
}

}  // namespace stowplan::executable
