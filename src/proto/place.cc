// SPDX-License-Identifier: Apache-2.0
#include "proto/place.h"

#include <algorithm>
#include <vector>

#include "proto/wire.h"

namespace stowplan::proto {
namespace {

// Tuples may nest thousands deep; nobody reads such a path.
constexpr size_t kMaxSteps = 40;

// How many fields with this number end before `end`.
size_t CountBefore(std::string_view bytes, const char* end, uint32_t number) {
  size_t count = 0;
  Message message(bytes.substr(0, static_cast<size_t>(end - bytes.data())));
  while (message.Next()) {
    if (message.number() == number) ++count;
    message.Skip();
  }
  return count;
}

// Appends a field that begins at `begin` of the message `bytes`. False when the path is long
// enough.
bool AppendStep(std::string_view bytes, const char* begin, const FieldSchema& field, size_t steps,
                std::string& path) {
  if (!path.empty()) path += '.';
  if (steps >= kMaxSteps) {
    path += "..";
    return false;
  }
  path += field.name;
  if (field.is_list()) path += "[" + std::to_string(CountBefore(bytes, begin, field.number)) + "]";
  return true;
}

std::string Describe(const Message& message, const protozero::exception& error) {
  if (dynamic_cast<const protozero::varint_too_long_exception*>(&error) != nullptr) {
    return "a number has more than ten bytes";
  }
  if (dynamic_cast<const protozero::invalid_tag_exception*>(&error) != nullptr) {
    return "there is no field with this number";
  }
  if (dynamic_cast<const protozero::unknown_pbf_wire_type_exception*>(&error) != nullptr) {
    return "field " + std::to_string(message.number()) + " has the unknown wire type " +
           std::to_string(message.wire_type());
  }
  return "the message ends in the middle of a field";
}

// What a length-delimited field claims, when that is the trouble.
std::string DescribeLength(const char* at, const char* end) {
  try {
    const uint64_t claimed = protozero::decode_varint(&at, end);
    const auto left = static_cast<uint64_t>(end - at);
    if (claimed > left) {
      return "a field claims " + std::to_string(claimed) + " bytes, but only " +
             std::to_string(left) + " are left";
    }
    return {};
  } catch (const protozero::exception&) {
    // The length itself is damaged; the caller says so.
    return {};
  }
}

void Visit(Message& message, const FieldSchema& field) {
  switch (field.type) {
    case FieldType::kVarints:
      message.ForEachVarint([](uint64_t) {});
      break;
    case FieldType::kFixed32s:
      message.ForEachFixed<uint32_t>([](uint32_t) {});
      break;
    case FieldType::kFixed64s:
      message.ForEachFixed<uint64_t>([](uint64_t) {});
      break;
    default:
      message.Skip();
  }
}

// Walks all messages that the schema knows, with a stack of its own: nesting costs no recursion.
class DamageFinder {
 public:
  DamageFinder(std::string_view bytes, MessageKind root) : begin_(bytes.data()) {
    Push(bytes, root);
  }

  std::optional<Damage> Find() {
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      top.field_begin = top.message.position();
      top.field = nullptr;
      bool has_key = false;
      try {
        if (!top.message.Next()) {
          stack_.pop_back();
          continue;
        }
        has_key = true;
        top.value = top.message.position();
        top.field = FindField(top.kind, top.message.key());
        Enter();
      } catch (const protozero::exception& error) {
        return Report(error, has_key);
      }
    }
    return std::nullopt;
  }

 private:
  struct Frame {
    Message message;
    MessageKind kind;
    std::string_view bytes;
    const char* field_begin;             // the field being read: its key,
    const char* value;                   // what is behind the key,
    const FieldSchema* field = nullptr;  // and what it is; nullptr when unknown
  };

  void Push(std::string_view bytes, MessageKind kind) {
    const char* const begin = bytes.data();
    stack_.push_back({Message(bytes), kind, bytes, begin, begin});
  }

  // Looks at the value of the top's field, or puts it on top.
  void Enter() {
    Frame& top = stack_.back();
    if (top.field == nullptr) {
      top.message.Skip();
    } else if (top.field->child == MessageKind::kNone) {
      Visit(top.message, *top.field);
    } else {
      const MessageKind kind = top.field->child;
      Push(top.message.Bytes(), kind);
    }
  }

  [[nodiscard]] Damage Report(const protozero::exception& error, bool has_key) const {
    const Frame& top = stack_.back();
    Damage damage;
    const char* at = top.field_begin;
    if (has_key && top.message.wire_type() == kBytes) {
      damage.message = DescribeLength(top.value, top.bytes.data() + top.bytes.size());
      if (!damage.message.empty()) at = top.value;
    }
    if (damage.message.empty()) damage.message = Describe(top.message, error);
    damage.offset = static_cast<size_t>(at - begin_);
    for (size_t i = 0; i < stack_.size() && stack_[i].field != nullptr; ++i) {
      if (!AppendStep(stack_[i].bytes, stack_[i].field_begin, *stack_[i].field, i, damage.path))
        break;
    }
    return damage;
  }

  const char* begin_;
  std::vector<Frame> stack_;
};

// The field of `bytes` that `target` lies in.
struct Step {
  const FieldSchema* field = nullptr;  // nullptr when unknown
  const char* begin = nullptr;
  std::string_view child;  // the value, when it is a message
};

Step FindStep(std::string_view bytes, MessageKind kind, const char* target) {
  Message message(bytes);
  try {
    while (true) {
      Step step;
      step.begin = message.position();
      if (!message.Next()) return {};
      step.field = FindField(kind, message.key());
      if (step.field != nullptr && step.field->child != MessageKind::kNone) {
        step.child = message.Bytes();
      } else {
        message.Skip();
      }
      // Messages have their end too: that of an empty one is where it begins. The next field's
      // value is further on.
      if (target < message.position() ||
          (step.child.data() != nullptr && target == message.position()))
        return step;
    }
  } catch (const protozero::exception&) {
    return {};
  }
}

}  // namespace

std::string PathAt(std::string_view bytes, MessageKind root, size_t offset) {
  const char* const target = bytes.data() + std::min(offset, bytes.size());
  std::string path;
  MessageKind kind = root;
  // The first byte of a message stands for all of it.
  for (size_t steps = 0; kind != MessageKind::kNone && target > bytes.data(); ++steps) {
    const Step step = FindStep(bytes, kind, target);
    if (step.field == nullptr || !AppendStep(bytes, step.begin, *step.field, steps, path)) break;
    if (step.child.data() == nullptr) break;
    bytes = step.child;
    kind = step.field->child;
  }
  return path;
}

std::optional<Damage> FindDamage(std::string_view bytes, MessageKind root) {
  return DamageFinder(bytes, root).Find();
}

}  // namespace stowplan::proto
