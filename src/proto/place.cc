// SPDX-License-Identifier: Apache-2.0
#include "proto/place.h"

#include <algorithm>
#include <vector>

#include "proto/wire.h"

namespace stowplan::proto {
namespace {

// Tuples may nest thousands deep; nobody reads such a path.
constexpr int kMaxSteps = 40;

// The field of `bytes` that `target` lies in: its schema (nullptr when unknown) and, when its value can be read and is
// a message, that.
struct Step {
  const FieldSchema* field = nullptr;
  size_t index = 0;  // among the fields with the same number
  std::string_view child;
};

Step FindStep(std::string_view bytes, MessageKind kind, const char* target) {
  Step step;
  const char* begin = bytes.data();
  Message message(bytes);
  try {
    while (message.Next()) {
      step.field = FindField(kind, message.key());
      const bool is_message = step.field != nullptr && step.field->child != MessageKind::kNone;
      if (is_message) step.child = message.Bytes();
      else message.Skip();
      if (target < message.position()) break;
      begin = message.position();
      step = Step();
    }
  } catch (const protozero::exception&) {
    // The value cannot be read: the target is in it, since all fields before it end before the target.
    step.child = {};
  }
  if (step.field == nullptr) return step;
  Message before(std::string_view(bytes.data(), static_cast<size_t>(begin - bytes.data())));
  while (before.Next()) {
    if (before.number() == step.field->number) ++step.index;
    before.Skip();
  }
  return step;
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
      return "a field claims " + std::to_string(claimed) + " bytes, but only " + std::to_string(left) + " are left";
    }
  } catch (const protozero::exception&) {
    // The length itself is damaged; the caller says so.
  }
  return {};
}

void Visit(Message& message, const FieldSchema& field) {
  switch (field.type) {
    case FieldType::kVarints: message.ForEachVarint([](uint64_t) {}); break;
    case FieldType::kFixed32s: message.ForEachFixed<uint32_t>([](uint32_t) {}); break;
    case FieldType::kFixed64s: message.ForEachFixed<uint64_t>([](uint64_t) {}); break;
    default: message.Skip();
  }
}

}  // namespace

std::string PathAt(std::string_view bytes, MessageKind root, size_t offset) {
  const char* const target = bytes.data() + std::min(offset, bytes.size());
  std::string path;
  MessageKind kind = root;
  for (int steps = 0; kind != MessageKind::kNone; ++steps) {
    const Step step = FindStep(bytes, kind, target);
    if (step.field == nullptr) break;
    if (!path.empty()) path += '.';
    if (steps == kMaxSteps) return path + "..";
    path += step.field->name;
    if (step.field->is_repeated()) path += "[" + std::to_string(step.index) + "]";
    if (step.child.data() == nullptr || target < step.child.data()) break;
    bytes = step.child;
    kind = step.field->child;
  }
  return path;
}

std::optional<Damage> FindDamage(std::string_view bytes, MessageKind root) {
  struct Frame {
    Message message;
    MessageKind kind;
    const char* end;
  };
  std::vector<Frame> stack = {{Message(bytes), root, bytes.data() + bytes.size()}};
  while (!stack.empty()) {
    Frame& top = stack.back();
    const char* at = top.message.position();
    bool has_key = false;
    try {
      if (!top.message.Next()) {
        stack.pop_back();
        continue;
      }
      has_key = true;
      at = top.message.position();
      const FieldSchema* field = FindField(top.kind, top.message.key());
      if (field == nullptr) {
        top.message.Skip();
      } else if (field->child != MessageKind::kNone) {
        const std::string_view child = top.message.Bytes();
        stack.push_back({Message(child), field->child, child.data() + child.size()});
      } else {
        Visit(top.message, *field);
      }
    } catch (const protozero::exception& error) {
      Damage damage{static_cast<size_t>(at - bytes.data()), {}};
      if (has_key && top.message.wire_type() == kBytes) damage.message = DescribeLength(at, top.end);
      if (damage.message.empty()) damage.message = Describe(top.message, error);
      return damage;
    }
  }
  return std::nullopt;
}

}  // namespace stowplan::proto
