// SPDX-License-Identifier: Apache-2.0
// The terminal, or wherever the output goes. No other part of Stowplan writes to a terminal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stowplan/base/diagnostic.h"

namespace stowplan::cli {

// Where a command's result goes: standard output or a file.
//
// A file appears under its name only when it is complete: a temporary file beside it is written
// first, and Close renames it. On failure nothing is left behind.
class Output {
 public:
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  // Buffered. Returns false if nothing more can be written; Close says why.
  bool Write(std::string_view text);
  // Writes the rest. Returns false if not everything could be written; `error` is then the reason,
  // or empty if the reader closed the pipe, which is not an error.
  [[nodiscard]] bool Close(std::string& error);

 private:
  friend class Console;
  Output(int file, std::string path, std::string temporary);
  bool Flush();

  int file_;
  std::string path_;       // empty: standard output
  std::string temporary_;  // the file being written; empty if `path_` is written directly
  std::string buffer_;
  int error_ = 0;  // errno of the first failure
};

class Console {
 public:
  Console();

  // Writes to standard error: at most `limit` errors and at most `limit` warnings and notes, and a
  // line that says how many more there are.
  void Show(const Diagnostics& diagnostics, size_t limit = kMaxErrors);
  // "stowplan: error: message"
  void ShowError(std::string_view message, std::string_view hint = {}) {
    Show(Fail("stowplan", std::string(message), std::string(hint)).error());
  }
  // Writes a text to standard error. The text includes its newline.
  void Note(std::string_view text);
  // Whether standard error is a terminal, so that showing progress makes sense.
  [[nodiscard]] bool is_watched() const;

  // The value that a library function returned. If it failed, shows its errors and returns nothing.
  template <class T>
  std::optional<T> Take(Result<T> result) {
    if (result) return *std::move(result);
    Show(result.error());
    return std::nullopt;
  }

  // Standard output if `path` is empty or "-". If the file cannot be created, shows an error and
  // returns null.
  [[nodiscard]] std::unique_ptr<Output> Open(const std::string& path);
  // Closes the output and shows any error. Returns the exit code: `code`, or kBadUse on failure.
  int Finish(Output& output, int code);
  // Writes all of `text` to standard output.
  int Print(std::string_view text, int code);

 private:
  bool has_color_;  // on standard error
};

}  // namespace stowplan::cli
