// SPDX-License-Identifier: Apache-2.0
#include "proto/context.h"

#include "hlo/escape.h"
#include "proto/place.h"

namespace stowplan::proto {
namespace {

// Different unknown fields or opcodes that are told of. Real inputs have a handful.
constexpr size_t kMaxUnknown = 100;

std::string Times(size_t count) { return count == 1 ? "once" : std::to_string(count) + " times"; }

}  // namespace

Context::Context(std::shared_ptr<const Source> source, MessageKind root)
    : source_(source), root_(root), builder_(std::move(source), hlo::Format::kProto) {}

Context::Context(Context* outer)
    : outer_(outer),
      source_(outer->source_),
      root_(outer->root_),
      builder_(outer->source_, hlo::Format::kProto) {}

Diagnostic Context::At(const char* at, std::string message) const {
  // A missing field has no place of its own; its owner may be at the very end.
  const bool is_inside = at >= source_->begin() && at <= source_->end();
  const auto offset = is_inside ? static_cast<size_t>(at - source_->begin()) : 0;
  return source_->AtByte(offset, PathAt(source_->bytes(), root_, offset), std::move(message));
}

void Context::Error(const char* at, std::string message) {
  if (outer_ != nullptr) return outer_->Error(at, std::move(message));
  errors_.push_back(At(at, std::move(message)));
  if (errors_.size() >= kMaxErrors) throw Stop{};
}

void Context::Error(std::string_view at, std::string message) {
  const char* const begin = at.data();
  Error(begin, std::move(message));
}

std::string Context::Quote(std::string_view text) {
  constexpr size_t kMaxQuoted = 80;
  std::string quoted = "\"";
  hlo::AppendEscaped(text.substr(0, kMaxQuoted), quoted);
  quoted += text.size() > kMaxQuoted ? "...\"" : "\"";
  return quoted;
}

void Context::Skip(MessageKind kind, Message& message) {
  if (outer_ != nullptr) return outer_->Skip(kind, message);
  const char* const at = message.position();
  const bool is_known = FindField(kind, message.key()) != nullptr;
  message.Skip();
  if (is_known) return;
  const std::pair key(kind, message.number());
  const auto found = unknown_fields_.find(key);
  if (found != unknown_fields_.end()) {
    ++found->second.count;
  } else if (unknown_fields_.size() < kMaxUnknown) {
    unknown_fields_.emplace(key, Unknown{at, 1});
  }
}

void Context::UnknownOpcode(std::string_view name) {
  if (outer_ != nullptr) return outer_->UnknownOpcode(name);
  const auto found = unknown_opcodes_.find(name);
  if (found != unknown_opcodes_.end()) {
    ++found->second.count;
  } else if (unknown_opcodes_.size() < kMaxUnknown) {
    const char* const at = name.data();
    unknown_opcodes_.emplace(name, Unknown{at, 1});
  }
}

hlo::Text Context::Word(std::string_view word) {
  for (const auto& [known, text] : words_) {
    if (known.data() == word.data() && known.size() == word.size()) return text;
  }
  return words_.emplace_back(word, builder_.AddText(word)).second;
}

hlo::Module Context::Build(hlo::CompId entry) && {
  Diagnostics& warnings = builder_.module().warnings;
  for (const auto& [name, unknown] : unknown_opcodes_) {
    warnings.push_back(
        At(unknown.first, "unknown opcode " + Quote(name) + ", met " + Times(unknown.count)));
  }
  for (const auto& [key, unknown] : unknown_fields_) {
    warnings.push_back(At(unknown.first, "unknown field " + std::to_string(key.second) + " of " +
                                             std::string(Name(key.first)) + ", met " +
                                             Times(unknown.count)));
  }
  for (Diagnostic& warning : warnings) warning.severity = Severity::kWarning;
  return std::move(builder_).Build(entry);
}

}  // namespace stowplan::proto
