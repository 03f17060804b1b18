// SPDX-License-Identifier: Apache-2.0
// Iterates over the fields of a serialized message.
//
//     Message message(bytes);
//     while (message.Next()) {
//       switch (message.key()) {
//         case BytesKey(ShapeField::kLayout): layout = message.Bytes(); break;
//         default: context.Skip(MessageKind::kShape, message);
//       }
//     }
//
// After Next, exactly one of the value functions is called. Keys hold the field number and the wire
// type, so a field of an unexpected wire type is an unknown field, as in protobuf.
//
// Decoding is protozero's. Its pbf_reader is not used, because it truncates lengths to 32 bits: a
// field that claims 4 GiB + 5 bytes would read as one of 5. Malformed input throws protozero's
// exceptions, up to ParseProto; FindDamage then finds the place, so the readers need not keep track
// of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace stowplan::proto {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

template <class Field>
constexpr uint32_t VarintKey(Field field) {
  return static_cast<uint32_t>(field) << 3U | kVarint;
}
template <class Field>
constexpr uint32_t BytesKey(Field field) {
  return static_cast<uint32_t>(field) << 3U | kBytes;
}
template <class Field>
constexpr uint32_t Fixed32Key(Field field) {
  return static_cast<uint32_t>(field) << 3U | kFixed32;
}
template <class Field>
constexpr uint32_t Fixed64Key(Field field) {
  return static_cast<uint32_t>(field) << 3U | kFixed64;
}

class Message {
 public:
  explicit Message(std::string_view bytes)
      : data_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // On to the next field; false at the end.
  bool Next() {
    if (data_ == end_) return false;
    const uint64_t key = protozero::decode_varint(&data_, end_);
    if (key > std::numeric_limits<uint32_t>::max()) throw protozero::invalid_tag_exception{};
    key_ = static_cast<uint32_t>(key);
    return true;
  }

  // Field number and wire type.
  [[nodiscard]] uint32_t key() const { return key_; }
  [[nodiscard]] uint32_t number() const { return key_ >> 3U; }
  [[nodiscard]] uint32_t wire_type() const { return key_ & 7U; }
  // The first byte that is not yet read.
  [[nodiscard]] const char* position() const { return data_; }

  uint64_t Varint() { return protozero::decode_varint(&data_, end_); }
  int64_t Int64() { return static_cast<int64_t>(Varint()); }
  // Protobuf keeps the low half of longer numbers.
  int32_t Int32() { return static_cast<int32_t>(Varint()); }
  bool Bool() { return Varint() != 0; }
  uint32_t Fixed32() { return Fixed<uint32_t>(); }
  uint64_t Fixed64() { return Fixed<uint64_t>(); }
  std::string_view Bytes() {
    const uint64_t size = protozero::decode_varint(&data_, end_);
    if (size > static_cast<uint64_t>(end_ - data_)) throw protozero::end_of_buffer_exception{};
    const std::string_view bytes(data_, static_cast<size_t>(size));
    data_ += size;
    return bytes;
  }

  // Calls `add` with each number of a repeated field, packed or a single one.
  template <class Add>
  void ForEachVarint(Add add) {
    if (wire_type() != kBytes) return add(Varint());
    const std::string_view packed = Bytes();
    const char* p = packed.data();
    const char* const end = p + packed.size();
    while (p != end) add(protozero::decode_varint(&p, end));
  }
  void AppendInts(std::vector<int64_t>& out) {
    ForEachVarint([&](uint64_t n) { out.push_back(static_cast<int64_t>(n)); });
  }
  // The same for numbers of a fixed width; `T` is uint32_t or uint64_t.
  template <class T, class Add>
  void ForEachFixed(Add add) {
    if (wire_type() != kBytes) return add(Fixed<T>());
    Message packed(Bytes());
    while (packed.data_ != packed.end_) add(packed.Fixed<T>());
  }

  // Skips the value.
  void Skip() {
    if (number() == 0) throw protozero::invalid_tag_exception{};
    switch (wire_type()) {
      case kVarint:
        Varint();
        break;
      case kFixed64:
        Fixed64();
        break;
      case kBytes:
        Bytes();
        break;
      case kFixed32:
        Fixed32();
        break;
      default:
        throw protozero::unknown_pbf_wire_type_exception{};
    }
  }

 private:
  template <class T>
  T Fixed() {
    if (static_cast<size_t>(end_ - data_) < sizeof(T)) throw protozero::end_of_buffer_exception{};
    T value{};
    std::memcpy(&value, data_, sizeof(T));
    data_ += sizeof(T);
    return value;
  }

  const char* data_;
  const char* end_;
  uint32_t key_ = 0;
};

}  // namespace stowplan::proto
