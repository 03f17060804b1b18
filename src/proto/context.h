// SPDX-License-Identifier: Apache-2.0
// What the readers of all messages share: the module they build, and their errors and warnings.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/fields.h"
#include "proto/wire.h"
#include "stowplan/base/diagnostic.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/module_builder.h"

namespace stowplan::proto {

// Thrown when there are kMaxErrors errors.
struct Stop {};

class Context {
 public:
  // `root` is the kind of message that the source's bytes are.
  Context(std::shared_ptr<const Source> source, MessageKind root);
  // For a module inside another one: it has its own builder, and shares errors and warnings with
  // the outer one.
  static Context Inside(Context& outer) { return Context(&outer); }

  [[nodiscard]] hlo::ModuleBuilder& builder() { return builder_; }
  [[nodiscard]] hlo::Module& module() { return builder_.module(); }
  // How many modules this one is nested in.
  [[nodiscard]] int depth() const { return outer_ == nullptr ? 0 : outer_->depth() + 1; }

  // `at` points into the source's bytes; a message stands for its first byte.
  void Error(const char* at, std::string message);
  void Error(std::string_view at, std::string message);
  // For text of the input inside messages: quoted, and cut when long.
  static std::string Quote(std::string_view text);

  // Skips the value of a field that its reader does not need; unknown fields are counted.
  void Skip(MessageKind kind, Message& message);
  // An opcode that Stowplan does not know; reported once for each.
  void UnknownOpcode(std::string_view name);

  // A word of this program, not of the input, as a text of the module. Created once.
  hlo::Text Word(std::string_view word);

  // HloModuleProto.payloads.
  std::vector<std::string_view> payloads;

  [[nodiscard]] bool has_errors() const {
    return outer_ == nullptr ? !errors_.empty() : outer_->has_errors();
  }
  [[nodiscard]] Diagnostics TakeErrors() && { return std::move(errors_); }
  // The module, with the warnings.
  hlo::Module Build(hlo::CompId entry) &&;

 private:
  explicit Context(Context* outer);

  struct Unknown {
    const char* first = nullptr;  // where it was met
    size_t count = 0;
  };

  [[nodiscard]] Diagnostic At(const char* at, std::string message) const;

  Context* outer_ = nullptr;
  std::shared_ptr<const Source> source_;
  MessageKind root_;
  hlo::ModuleBuilder builder_;
  Diagnostics errors_;
  std::map<std::pair<MessageKind, uint32_t>, Unknown>
      unknown_fields_;  // by message and field number
  std::map<std::string_view, Unknown> unknown_opcodes_;
  std::vector<std::pair<std::string_view, hlo::Text>> words_;
};

}  // namespace stowplan::proto
