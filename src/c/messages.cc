// SPDX-License-Identifier: Apache-2.0
#include "c/messages.h"

#include <cstdlib>
#include <utility>

#include "c/guard.h"
#include "stowplan/version.h"

namespace stowplan::c {
namespace {

// To say that there is no memory must not need any. This one is never freed.
stowplan_messages no_memory;
constexpr const char* kNoMemory = "out of memory";

}  // namespace

stowplan_messages MessagesOf(Diagnostics diagnostics) {
  std::string text = Render(diagnostics);
  return {.rows = std::move(diagnostics), .text = std::move(text)};
}

stowplan_status Fail(stowplan_messages** errors, Diagnostics diagnostics) {
  if (errors != nullptr) *errors = new stowplan_messages(MessagesOf(std::move(diagnostics)));
  return STOWPLAN_FAILED;
}

stowplan_status FailMisuse(stowplan_messages** errors, std::string_view what) {
  Fail(errors, {{.file = "stowplan", .message = std::string(what)}});
  return STOWPLAN_MISUSE;
}

stowplan_status FailNoMemory(stowplan_messages** errors) noexcept {
  if (errors != nullptr) *errors = &no_memory;
  return STOWPLAN_NO_MEMORY;
}

stowplan_status FailInternal(stowplan_messages** errors, const char* what) noexcept {
  return Guard(errors, [&] {
    Fail(errors, {{.file = "stowplan",
                   .message = std::string("internal error: ") + what,
                   .hint = "this is an error of Stowplan"}});
    return STOWPLAN_INTERNAL;
  });
}

}  // namespace stowplan::c

using stowplan::Diagnostic;
namespace c = stowplan::c;

int stowplan_c_version(void) { return STOWPLAN_C_VERSION; }

const char* stowplan_version(void) {
  static_assert(stowplan::kVersion.data()[stowplan::kVersion.size()] == '\0');
  return stowplan::kVersion.data();
}

const char* stowplan_messages_text(const stowplan_messages* messages) {
  if (messages == &c::no_memory) return "stowplan: error: out of memory\n";
  return messages == nullptr ? "" : messages->text.c_str();
}

size_t stowplan_messages_count(const stowplan_messages* messages) {
  if (messages == &c::no_memory) return 1;
  return messages == nullptr ? 0 : messages->rows.size();
}

stowplan_status stowplan_messages_get(const stowplan_messages* messages, size_t k,
                                      stowplan_message* message) {
  if (k >= stowplan_messages_count(messages)) return STOWPLAN_MISUSE;
  if (messages == &c::no_memory) {
    return c::Fill({.size = 0,
                    .severity = STOWPLAN_ERROR,
                    .line = 0,
                    .column = 0,
                    .file = "stowplan",
                    .text = c::kNoMemory,
                    .hint = ""},
                   message);
  }
  const Diagnostic& row = messages->rows[k];
  return c::Fill({.size = 0,
                  .severity = static_cast<stowplan_severity>(row.severity),
                  .line = row.line,
                  .column = row.column,
                  .file = row.file.c_str(),
                  .text = row.message.c_str(),
                  .hint = row.hint.c_str()},
                 message);
}

void stowplan_messages_free(stowplan_messages* messages) {
  if (messages != &c::no_memory) delete messages;
}

// The texts come from std::malloc (plan_texts.cc).
void stowplan_free(char* text) { std::free(text); }
