// SPDX-License-Identifier: Apache-2.0
// What Stowplan reports about an input: errors, warnings, complaints.
//
// A diagnostic is self-contained (file, place, source line), so it can outlive the input and be
// rendered anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace stowplan {

enum class Severity : uint8_t { kError, kWarning, kNote };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string file;
  uint32_t line = 0;    // 1-based; 0 when the input is not text
  uint32_t column = 0;  // 1-based, in bytes
  uint64_t offset = 0;  // of the first byte concerned
  std::string path;     // for protos: hlo_module.computations[3].instructions[17].shape
  std::string message;
  std::string hint;           // what would help; may be empty
  std::string excerpt;        // the source line, or the part of a long one around the place
  uint32_t caret = 0;         // position of the place in `excerpt`, 0-based
  uint32_t caret_length = 0;  // 0: no excerpt

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

using Diagnostics = std::vector<Diagnostic>;

// Readers stop after this many errors.
inline constexpr size_t kMaxErrors = 20;

template <class T>
using Result = std::expected<T, Diagnostics>;

// An error without a place in the file: it cannot be opened, an option is wrong, ...
[[nodiscard]] std::unexpected<Diagnostics> Fail(std::string file, std::string message,
                                                std::string hint = {});
[[nodiscard]] std::unexpected<Diagnostics> Fail(Diagnostic diagnostic);

// `file:line:column: error: message`, the source line, a caret, the hint. Ends with a newline.
[[nodiscard]] std::string Render(const Diagnostic& diagnostic, bool color = false);
[[nodiscard]] std::string Render(const Diagnostics& diagnostics, bool color = false);

}  // namespace stowplan

#define STOWPLAN_CONCAT_(a, b) a##b
#define STOWPLAN_CONCAT(a, b) STOWPLAN_CONCAT_(a, b)
#define STOWPLAN_TRY_(temporary, left, expression)                                  \
  auto temporary = (expression);                                                    \
  if (!temporary.has_value()) return std::unexpected(std::move(temporary).error()); \
  left = *std::move(temporary)
// STOWPLAN_TRY(const T x, F()): x = F()'s value, or return F()'s diagnostics.
#define STOWPLAN_TRY(left, expression) \
  STOWPLAN_TRY_(STOWPLAN_CONCAT(stowplan_try_, __COUNTER__), left, expression)
