// SPDX-License-Identifier: Apache-2.0
#include "gate/lock.h"

#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace stowplan::gate {
namespace {

constexpr std::string_view kHead = "# stowplan lock 1: ";

// A number and the blank after it, off the front.
std::optional<int64_t> TakeNumber(std::string_view& line) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  if (!line.starts_with(' ')) return std::nullopt;
  line.remove_prefix(1);
  return number;
}

Diagnostic ErrorAt(const std::string& file, uint32_t line, std::string message) {
  Diagnostic error;
  error.file = file;
  error.line = line;
  error.message = std::move(message);
  return error;
}

}  // namespace

std::string WriteLock(const std::vector<Figure>& figures, std::string_view what) {
  std::map<std::pair<std::string, int64_t>, int64_t> rows;
  for (const Figure& figure : figures) {
    if (figure.space) rows[{figure.module, *figure.space}] = figure.bytes;
  }
  std::string text = std::string(kHead) + std::string(what) +
                     "\n# bytes, memory space, module; written by "
                     "`stowplan gate --update --lock=FILE INPUT`\n";
  for (const auto& [key, bytes] : rows)
    text += std::to_string(bytes) + " " + std::to_string(key.second) + " " + key.first + "\n";
  return text;
}

Result<std::vector<Figure>> ReadLock(const std::string& file, std::string_view text,
                                     std::string_view what) {
  if (!text.starts_with(kHead))
    return Fail(file, "this is not a lock file",
                "`stowplan gate --update --lock=FILE INPUT` writes one");
  std::vector<Figure> figures;
  std::map<std::pair<std::string, int64_t>, uint32_t> lines;
  Diagnostics errors;
  for (uint32_t number = 1; !text.empty() && errors.size() < kMaxErrors; ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1 && line.substr(kHead.size()) != what) {
      return Fail(file,
                  "this lock file is for a different figure: `" +
                      std::string(line.substr(kHead.size())) + "`, not `" + std::string(what) + "`",
                  "--of chooses the figure");
    }
    if (line.empty() || line.starts_with('#')) continue;
    const std::optional<int64_t> bytes = TakeNumber(line);
    const std::optional<int64_t> space = bytes ? TakeNumber(line) : std::nullopt;
    if (!space || line.empty()) {
      errors.push_back(ErrorAt(file, number, "expected bytes, a memory space and a module"));
      continue;
    }
    const auto [row, is_new] = lines.try_emplace({std::string(line), *space}, number);
    if (!is_new) {
      errors.push_back(
          ErrorAt(file, number,
                  "line " + std::to_string(row->second) + " has the same module and memory space"));
      continue;
    }
    figures.push_back({.module = std::string(line), .space = space, .bytes = *bytes});
  }
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return figures;
}

}  // namespace stowplan::gate
