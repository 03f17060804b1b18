// SPDX-License-Identifier: Apache-2.0
#include "proto/recovery_reader.h"

#include "hlo/print.h"
#include "proto/annotation_reader.h"
#include "proto/module_reader.h"

namespace stowplan::proto {
namespace {

// Recovery modules have no tables of their own in practice.
constexpr int kMaxModuleDepth = 4;

void AppendIndented(std::string_view text, std::string& out) {
  while (true) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (!line.empty()) out.append("    ").append(line);
    out += '\n';
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

void AppendModule(Context& context, std::string_view bytes, std::string& out) {
  Context inner = Context::Inside(context);
  if (inner.depth() > kMaxModuleDepth) {
    return context.Error(bytes,
                         "modules nest more than " + std::to_string(kMaxModuleDepth) + " deep");
  }
  const hlo::CompId entry = ReadModule(inner, bytes);
  // Printing counts on what the errors are about.
  if (context.has_errors()) return;
  AppendIndented(hlo::ToString(std::move(inner).Build(entry)), out);
}

void AppendEntry(Context& context, std::string_view bytes, std::string& out) {
  std::string from;
  std::string to;
  std::string_view module;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(RecoveryEntryField::kOldOriginalArray):
        from.clear();
        AppendOriginalArray(context, message.Bytes(), from);
        break;
      case BytesKey(RecoveryEntryField::kNewOriginalArray):
        to.clear();
        AppendOriginalArray(context, message.Bytes(), to);
        break;
      case BytesKey(RecoveryEntryField::kRecoveryModule):
        module = message.Bytes();
        break;
      default:
        context.Skip(MessageKind::kRecoveryEntry, message);
    }
  }
  out.append("  {").append(from).append("} : {").append(to).append("}");
  if (module.data() != nullptr) {
    out += ",\n  \"\n";
    AppendModule(context, module, out);
    out += "  \"";
  }
  out += '\n';
}

}  // namespace

void AppendRecoveryTable(Context& context, std::string_view bytes, std::string& out) {
  std::string entries;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(RecoveryTableField::kEntries):
        AppendEntry(context, message.Bytes(), entries);
        break;
      default:
        context.Skip(MessageKind::kRecoveryTable, message);
    }
  }
  if (!entries.empty()) out.append("origin_recovery_table={\n").append(entries).append("}\n");
}

}  // namespace stowplan::proto
