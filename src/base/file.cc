// SPDX-License-Identifier: Apache-2.0
// The only place of the library that opens files.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <sys/stat.h>

#include "base/growing_buffer.h"
#include "base/unpack.h"
#include "stowplan/base/source.h"

namespace stowplan {
namespace {

class FileDescriptor {
 public:
  FileDescriptor(int number, bool is_owned) : number_(number), is_owned_(is_owned) {}
  ~FileDescriptor() {
    if (is_owned_ && number_ >= 0) close(number_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
  bool is_owned_;
};

std::unexpected<Diagnostics> FailErrno(const std::string& name, const char* doing, int error) {
  std::string hint;
  if (error == ENOENT && name.find_first_of("*?[") != std::string::npos) {
    hint = "the shell found no file for this pattern";
  }
  return Fail(name, std::string(doing) + ": " + std::strerror(error), std::move(hint));
}

// Reads to the end of the file. One byte of room is kept beyond the size that is expected, so that
// the read that finds the end needs no larger buffer.
std::optional<Diagnostics> ReadAll(int file, const std::string& name, size_t max_size,
                                   GrowingBuffer& buffer) {
  for (;;) {
    if (buffer.size() > max_size) return FailTooLarge(name, max_size).error();
    if (!buffer.Grow(max_size + 1)) return Fail(name, "not enough memory to read").error();
    const ssize_t count = read(file, buffer.free_begin(), buffer.free_size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FailErrno(name, "cannot read", errno).error();
    if (count == 0) return std::nullopt;
    buffer.Advance(static_cast<size_t>(count));
  }
}

}  // namespace

Result<std::shared_ptr<const Source>> ReadSource(const std::string& path, size_t max_size) {
  max_size = std::min(max_size, Source::kMaxSize);
  const bool is_stdin = path == "-";
  const std::string name = is_stdin ? "<stdin>" : path;
  const FileDescriptor file(is_stdin ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC),
                            !is_stdin);
  if (file.number() < 0) return FailErrno(name, "cannot open", errno);
  struct stat status{};
  if (fstat(file.number(), &status) != 0) return FailErrno(name, "cannot read", errno);
  if (S_ISDIR(status.st_mode)) return Fail(name, "is a directory, not a file");
  GrowingBuffer buffer;
  if (S_ISREG(status.st_mode)) {
    const auto size = static_cast<size_t>(status.st_size);
    if (size > max_size) return FailTooLarge(name, max_size);
    if (!buffer.Reserve(size + 1)) return Fail(name, "not enough memory to read");
  }
  if (auto failed = ReadAll(file.number(), name, max_size, buffer))
    return std::unexpected(*std::move(failed));
  const Packing packing = FindPacking(buffer.bytes());
  if (packing != Packing::kNone) return Unpack(name, buffer.bytes(), packing, max_size);
  return std::move(buffer).ToSource(name);
}

Result<std::shared_ptr<const Source>> UnpackSource(std::string name, std::string_view bytes,
                                                   size_t max_size) {
  max_size = std::min(max_size, Source::kMaxSize);
  const Packing packing = FindPacking(bytes);
  if (packing != Packing::kNone) return Unpack(std::move(name), bytes, packing, max_size);
  if (bytes.size() > max_size) return FailTooLarge(std::move(name), max_size);
  return Source::FromBytes(std::move(name), bytes);
}

}  // namespace stowplan
