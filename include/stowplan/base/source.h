// SPDX-License-Identifier: Apache-2.0
// The bytes of one input and its name.
//
// The bytes are followed by at least kPadding zero bytes, so that a reader may look ahead (and load
// eight bytes at once) without testing for the end. Sources are immutable and shared: modules keep
// views into them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "stowplan/base/diagnostic.h"

namespace stowplan {

class Source {
 public:
  static constexpr size_t kPadding = 16;
  // Texts have 32-bit offsets, and text created while reading is stored after the input's bytes.
  static constexpr size_t kMaxSize = 0x7fff'0000U;

  // Copies `bytes`.
  static std::shared_ptr<const Source> FromBytes(std::string name, std::string_view bytes);
  // Takes a buffer of `size` bytes that is followed by kPadding zero bytes.
  static std::shared_ptr<const Source> Adopt(std::string name, std::unique_ptr<char[]> buffer,
                                             size_t size);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string_view bytes() const { return {data_.get(), size_}; }
  [[nodiscard]] const char* begin() const { return data_.get(); }
  [[nodiscard]] const char* end() const { return data_.get() + size_; }
  [[nodiscard]] size_t size() const { return size_; }

  // A diagnostic at `offset` of text: computes the line, the column and the line's text.
  [[nodiscard]] Diagnostic At(size_t offset, size_t length, std::string message,
                              std::string hint = {}) const;
  // A diagnostic at `offset` of a binary input, in the field named by `path`.
  [[nodiscard]] Diagnostic AtByte(size_t offset, std::string path, std::string message) const;

 private:
  Source(std::string name, std::unique_ptr<char[]> data, size_t size);

  std::string name_;
  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
};

// Reads a file ("-" is standard input); gzip and zstd contents are decompressed, whatever the file
// is called. `max_size` bounds the unpacked size, so that a small hostile file cannot fill the
// memory.
Result<std::shared_ptr<const Source>> ReadSource(const std::string& path,
                                                 size_t max_size = Source::kMaxSize);

// The same for bytes already in memory.
Result<std::shared_ptr<const Source>> UnpackSource(std::string name, std::string_view bytes,
                                                   size_t max_size = Source::kMaxSize);

}  // namespace stowplan
