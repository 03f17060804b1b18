// SPDX-License-Identifier: Apache-2.0
#include "stowplan/base/source.h"

#include <cstring>
#include <utility>

#include "base/line_counter.h"

namespace stowplan {

Source::Source(std::string name, std::unique_ptr<char[]> data, size_t size)
    : name_(std::move(name)), data_(std::move(data)), size_(size) {}

std::shared_ptr<const Source> Source::FromBytes(std::string name, std::string_view bytes) {
  auto buffer = std::make_unique_for_overwrite<char[]>(bytes.size() + kPadding);
  if (!bytes.empty()) std::memcpy(buffer.get(), bytes.data(), bytes.size());
  std::memset(buffer.get() + bytes.size(), 0, kPadding);
  return Adopt(std::move(name), std::move(buffer), bytes.size());
}

std::shared_ptr<const Source> Source::Adopt(std::string name, std::unique_ptr<char[]> buffer,
                                            size_t size) {
  return std::shared_ptr<const Source>(new Source(std::move(name), std::move(buffer), size));
}

Diagnostic Source::At(size_t offset, size_t length, std::string message, std::string hint) const {
  Diagnostic diagnostic;
  diagnostic.file = name_;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  LineCounter(bytes()).Locate(offset, length, diagnostic);
  return diagnostic;
}

Diagnostic Source::AtByte(size_t offset, std::string path, std::string message) const {
  Diagnostic diagnostic;
  diagnostic.file = name_;
  diagnostic.offset = offset;
  diagnostic.path = std::move(path);
  diagnostic.message = std::move(message);
  return diagnostic;
}

}  // namespace stowplan
