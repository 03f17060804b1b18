// SPDX-License-Identifier: Apache-2.0
// The terminal, or whatever the program's output goes to. The only part of Stowplan that knows one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stowplan/base/diagnostic.h"

namespace stowplan::cli {

// Where a command's result goes: standard output or a file.
//
// A file appears under its name only when it is complete: it is written beside it and renamed by
// Close. Nothing is left behind when that does not happen.
class Output {
 public:
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  // Buffered. False when nothing more can be written; Close says why.
  bool Write(std::string_view text);
  // Writes what is left. False when not everything could be written; `error` is then the reason, or
  // empty when the reader of a pipe has gone, which is no error.
  [[nodiscard]] bool Close(std::string& error);

 private:
  friend class Console;
  Output(int file, std::string path, std::string temporary);
  bool Flush();

  int file_;
  std::string path_;       // empty: standard output
  std::string temporary_;  // the file that is written; empty when `path_` is written directly
  std::string buffer_;
  int error_ = 0;  // errno of the first failure
};

class Console {
 public:
  Console();

  // All to standard error. At most `limit` errors, and as many warnings and notes; a line says how
  // many more there are.
  void Show(const Diagnostics& diagnostics, size_t limit = kMaxErrors);
  // "stowplan: error: message"
  void ShowError(std::string_view message, std::string_view hint = {}) {
    Show(Fail("stowplan", std::string(message), std::string(hint)).error());
  }
  // A sentence for people, with its end of line.
  void Note(std::string_view text);
  // Whether somebody watches, so that it is worth while to say how far the work is.
  [[nodiscard]] bool is_watched() const;

  // What a function of the library returned; nothing, and its errors, when it failed.
  template <class T>
  std::optional<T> Take(Result<T> result) {
    if (result) return *std::move(result);
    Show(result.error());
    return std::nullopt;
  }

  // Standard output when `path` is empty or "-". Null, and a message, when the file cannot be made.
  [[nodiscard]] std::unique_ptr<Output> Open(const std::string& path);
  // Closes; shows what went wrong. The exit code: `code`, or kBadUse when something did.
  int Finish(Output& output, int code);
  // Writes all of `text` to standard output.
  int Print(std::string_view text, int code);

 private:
  bool has_color_;  // on standard error
};

}  // namespace stowplan::cli
