// SPDX-License-Identifier: Apache-2.0
#include "oom/buffers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "oom/size.h"
#include "oom/text.h"

namespace stowplan::oom {
namespace {

constexpr size_t kMostBuffers = 1000;
constexpr size_t kLongestField = 4000;
constexpr int kMostWrapped = 24;

// key="value" of a line of metadata; quotes in the value have a backslash.
std::string_view Quoted(std::string_view text, std::string_view key) {
  const size_t begin = text.find(key);
  if (begin == std::string_view::npos) return {};
  size_t end = begin + key.size();
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? size_t{2} : size_t{1};
  end = std::min(end, text.size());
  return text.substr(begin + key.size(), end - begin - key.size());
}

void ReadOperator(std::string_view text, Buffer& buffer) {
  buffer.op_name = Quoted(text, "op_name=\"");
  buffer.source_file = Quoted(text, "source_file=\"");
  const size_t line = text.find("source_line=");
  buffer.source_line = 0;
  if (line == std::string_view::npos) return;
  for (size_t at = line + 12; at < text.size() && IsDigit(text[at]); ++at) {
    if (buffer.source_line > 100'000'000) break;
    buffer.source_line = buffer.source_line * 10 + (text[at] - '0');
  }
}

// The length of a shape with its layout at the front: "(f32[2]{0}, s32[])", "f32[2]{0:T(8,128)}".
size_t ShapeLength(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ' ' && depth <= 0) return i;
  }
  return text.size();
}

}  // namespace

Label ReadLabel(std::string_view text) {
  Label label;
  text = Trimmed(text);
  const size_t equal = text.substr(0, 400).find(" = ");
  if (equal == std::string_view::npos) {
    // An opcode, or words: "register allocator spill slots".
    if (!text.contains(' ') && text.size() < 60) label.opcode = text;
    return label;
  }
  std::string_view name = text.substr(0, equal);
  if (name.starts_with('%')) name.remove_prefix(1);
  if (!name.contains(' ')) label.instruction = name;
  std::string_view rest = text.substr(equal + 3);
  const size_t open = rest.find('(');
  const bool has_shape = rest.starts_with('(') || rest.substr(0, open).contains('[');
  if (has_shape) rest = Trimmed(rest.substr(std::min(rest.size(), ShapeLength(rest))));
  const std::string_view opcode = rest.substr(0, rest.find('('));
  if (!opcode.empty() && !opcode.contains(' ') && opcode.size() < 60) label.opcode = opcode;
  return label;
}

void BufferReader::Begin() {
  Close();
  is_open_ = true;
}

Buffer& BufferReader::Current() {
  if (!has_current_) {
    // There are more than anybody reads: the last one is overwritten.
    if (buffers_.size() < kMostBuffers) {
      buffers_.emplace_back();
    } else {
      buffers_.back() = {};
    }
    has_current_ = true;
  }
  return buffers_.back();
}

void BufferReader::Close() {
  Set(Field::kNone, {});
  has_current_ = false;
}

// Ends the previous field and begins one.
void BufferReader::Set(Field field, std::string_view value) {
  if (last_ != Field::kNone && has_current_) {
    Buffer& buffer = buffers_.back();
    const std::string_view words = words_;
    if (last_ == Field::kOperator) ReadOperator(words, buffer);
    if (last_ == Field::kShape) buffer.shape = words;
    if (last_ == Field::kLabel) {
      const Label label = ReadLabel(words);
      buffer.instruction = label.instruction;
      buffer.opcode = label.opcode;
      if (words != label.opcode) buffer.label = words.substr(0, 400);
    }
  }
  last_ = field;
  wrapped_ = 0;
  words_ = value.substr(0, kLongestField);
}

bool BufferReader::Read(std::string_view text, std::string_view lower) {
  if (!is_open_) return false;
  if (text.empty()) return true;
  if (lower.starts_with("=====")) {
    Close();
    return true;
  }
  // "Buffer 12:", "12. Size: 2.00G"
  size_t number = lower.starts_with("buffer ") ? 7 : 0;
  const size_t digits = number;
  while (number < text.size() && IsDigit(text[number])) ++number;
  if (number > digits && digits == 7 && text.substr(number) == ":") {
    Close();
    Current();
    return true;
  }
  if (number > digits && digits == 0 && lower.substr(number).starts_with(". ")) {
    Close();
    text.remove_prefix(number + 2);
    lower.remove_prefix(number + 2);
  }
  const auto value = [&](std::string_view name) -> std::optional<std::string_view> {
    if (!lower.starts_with(name)) return std::nullopt;
    return Trimmed(text.substr(name.size()));
  };
  const auto size_of = [](std::string_view words) {
    size_t at = 0;
    return ReadSize(words, at);
  };
  if (const auto size = value("size:")) {
    if (has_current_ && buffers_.back().size) Close();
    Set(Field::kNone, {});
    Current().size = size_of(*size);
  } else if (const auto operation = value("operator:")) {
    Set(Field::kOperator, *operation);
    Current();
  } else if (const auto subshape = value("entry parameter subshape:")) {
    Set(Field::kShape, *subshape);
    Current().is_parameter = true;
  } else if (const auto shape = value("shape:")) {
    Set(Field::kShape, *shape);
    Current();
  } else if (const auto unpadded = value("unpadded size:")) {
    Set(Field::kNone, {});
    Current().unpadded = size_of(*unpadded);
  } else if (const auto padding = value("extra memory due to padding:")) {
    Set(Field::kNone, {});
    Current().padding = size_of(*padding);
  } else if (const auto label = value("xla label:")) {
    // Old lists have neither sizes nor lines between their items.
    if (has_current_ && (last_ == Field::kLabel || !buffers_.back().type.empty())) Close();
    Set(Field::kLabel, *label);
    Current();
  } else if (const auto type = value("allocation type:")) {
    Set(Field::kNone, {});
    Current().type = type->substr(0, 60);
  } else if (const auto tag = value("tag:")) {
    Set(Field::kNone, {});
    Current().tag = tag->substr(0, 200);
  } else if (has_current_ && last_ != Field::kNone && wrapped_ < kMostWrapped &&
             words_.size() < kLongestField) {
    ++wrapped_;
    words_ += ' ';
    words_ += text.substr(0, kLongestField);
  } else {
    Close();
    is_open_ = false;
    return false;
  }
  return true;
}

std::vector<Buffer> BufferReader::Take() {
  Close();
  is_open_ = false;
  return std::move(buffers_);
}

}  // namespace stowplan::oom
