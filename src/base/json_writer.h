// SPDX-License-Identifier: Apache-2.0
// JSON, written from front to back.
//
//     JsonWriter json(out);
//     json.BeginObject();
//     json.Field("name", "main");
//     json.BeginArray("sizes");
//     json.Value(16);
//     json.End();
//     json.End();
//
// The text is indented by two blanks and always valid: bytes that are not valid UTF-8 become
// U+FFFD. Below `indented_levels`, a value is one line.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stowplan {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out, size_t indented_levels = SIZE_MAX)
      : out_(out), indented_levels_(indented_levels) {}

  // In an object, `key` names the new value; elsewhere it must be empty.
  void BeginObject(std::string_view key = {}) { Begin(key, '{', '}'); }
  void BeginArray(std::string_view key = {}) { Begin(key, '[', ']'); }
  // Ends the innermost open object or array.
  void End();

  void Value(std::string_view text);
  void Value(const char* text) { Value(std::string_view(text)); }
  void Value(int64_t number) { Raw(std::to_string(number)); }
  void Value(double number);
  void Value(std::same_as<bool> auto value) { Raw(value ? "true" : "false"); }
  void Value(std::nullptr_t) { Raw("null"); }

  template <class T>
  void Field(std::string_view key, T value) {
    Key(key);
    Value(value);
  }

 private:
  struct Level {
    char close;
    bool is_empty;
  };

  void Begin(std::string_view key, char open, char close);
  void Key(std::string_view key);
  // Comma and indentation in front of a value or key, unless a key has been written for it.
  void Separate();
  void Indent();
  void Raw(std::string_view text);
  void AppendString(std::string_view text);

  std::string& out_;
  size_t indented_levels_;
  std::vector<Level> levels_;
  bool has_key_ = false;
};

}  // namespace stowplan
