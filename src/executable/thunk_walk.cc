// SPDX-License-Identifier: Apache-2.0
#include "executable/thunk_walk.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "executable/field_reader.h"
#include "executable/numbers.h"

namespace stowplan::executable {
namespace {

// BufferAllocationSliceProto.
constexpr uint32_t kOffset = 1;
constexpr uint32_t kSize = 2;
constexpr uint32_t kAllocation = 3;
constexpr uint32_t kElementType = 4;
// ShapedSliceProto, in which newer releases wrap it.
constexpr uint32_t kSliceOfShaped = 1;
constexpr uint32_t kShapeOfShaped = 2;

bool Has(uint64_t set, uint32_t number) { return number < 64 && (set >> number & 1U) != 0; }

size_t LengthOf(const FieldPath& path) {
  return static_cast<size_t>(std::ranges::find(path, 0) - path.begin());
}

bool IsSequence(FieldRole role) { return role >= FieldRole::kCalled; }

class Walk {
 public:
  Walk(const ThunkTables& tables, const ThunkVisitor& visitor)
      : tables_(tables), visitor_(visitor) {}

  void Thunk(std::string_view bytes, std::string* out) {
    FieldReader fields(bytes);
    while (fields.Next()) {
      const Field& field = fields.field();
      if (field.number == tables_.info && field.is_bytes()) {
        Info(field.bytes);
        if (visitor_.keeps_info) KeepInfo(field, out);
      } else if (Has(tables_.plain, field.number)) {
        Copy(field, out);
      } else if (field.is_bytes() && result_.kind == 0) {
        result_.kind = field.number;
        Kind(field, out);
      } else {
        // A second kind, or none: XLA would read only one of them.
        result_.is_understood = false;
        Copy(field, out);
      }
    }
    if (!fields.ok()) result_.is_well_formed = false;
    if (result_.kind == 0) result_.is_understood = false;
  }

  [[nodiscard]] const WalkResult& result() const { return result_; }

 private:
  static void Copy(const Field& field, std::string* out) {
    if (out != nullptr) *out += field.raw;
  }
  static void Append(uint32_t number, std::string_view bytes, std::string* out) {
    if (out != nullptr) AppendBytesField(number, bytes, *out);
  }

  void Info(std::string_view bytes) {
    FieldReader fields(bytes);
    while (fields.Next()) {
      const Field& field = fields.field();
      if (field.number == kNameOfThunk && field.is_bytes()) result_.name = field.bytes;
      if (tables_.has_numbers && field.number == kNumberOfThunk && field.is_varint())
        result_.number = field.value;
      if (!Has(tables_.plain_info, field.number)) result_.is_understood = false;
    }
    if (!fields.ok()) result_.is_well_formed = false;
  }

  void KeepInfo(const Field& field, std::string* out) {
    std::string replacement;
    const WalkAnswer answer =
        visitor_.on_info ? visitor_.on_info(field.bytes, replacement) : WalkAnswer::kKeep;
    if (answer == WalkAnswer::kKeep) return Copy(field, out);
    Append(field.number, replacement, out);
  }

  void Kind(const Field& field, std::string* out) {
    rules_ = tables_.FieldsOf(field.number);
    if (tables_.Find(field.number) == nullptr) {
      result_.is_understood = false;
      return Copy(field, out);
    }
    FindWritten(field.bytes);
    std::string made;
    if (const FieldRule* const whole = FindRule({}, 0); whole != nullptr) {
      return Sequence(field, whole->role, out);
    }
    const bool is_kept = Message(field.bytes, {}, 0, out == nullptr ? nullptr : &made);
    if (is_kept) return Copy(field, out);
    Append(field.number, made, out);
  }

  // The rule for the field at `path`, whose length is given.
  const FieldRule* FindRule(const FieldPath& path, size_t length) const {
    for (const FieldRule& rule : rules_) {
      if (rule.role != FieldRole::kPlain && LengthOf(rule.path) == length &&
          std::equal(path.begin(), path.begin() + length, rule.path.begin())) {
        return &rule;
      }
    }
    return nullptr;
  }
  [[nodiscard]] bool HasRuleBelow(const FieldPath& path, size_t length) const {
    return std::ranges::any_of(rules_, [&](const FieldRule& rule) {
      return rule.role != FieldRole::kPlain && LengthOf(rule.path) > length &&
             std::equal(path.begin(), path.begin() + length, rule.path.begin());
    });
  }
  [[nodiscard]] bool IsPlain(const FieldPath& path, size_t length, uint32_t number) const {
    return std::ranges::any_of(rules_, [&](const FieldRule& rule) {
      return rule.role == FieldRole::kPlain && LengthOf(rule.path) == length &&
             std::equal(path.begin(), path.begin() + length, rule.path.begin()) &&
             Has(rule.plain, number);
    });
  }

  // Which arguments a kernel writes.
  void FindWritten(std::string_view kernel) {
    written_.clear();
    next_argument_ = 0;
    const auto list = std::ranges::find(rules_, FieldRole::kWrittenList, &FieldRule::role);
    if (list == rules_.end()) return;
    FieldReader fields(kernel);
    while (fields.Next()) {
      const Field& field = fields.field();
      if (field.number != list->path[0]) continue;
      if (field.is_varint()) written_.push_back(field.value != 0);
      // Each is one byte: protobuf packs what are bools.
      for (const char byte : field.bytes) written_.push_back(byte != 0);
    }
  }

  // A message inside the thunk, whose path has `length` numbers; true if it can stay as it is.
  // Goes no deeper than the tables' paths.
  bool Message(std::string_view bytes, FieldPath path, size_t length, std::string* out) {
    bool is_kept = true;
    FieldReader fields(bytes);
    while (fields.Next()) {
      const Field& field = fields.field();
      const bool fits = length < kMaxThunkPath && field.number < 256;
      FieldPath inner = path;
      if (fits) inner[length] = static_cast<uint8_t>(field.number);
      const FieldRule* const rule = fits ? FindRule(inner, length + 1) : nullptr;
      if (rule != nullptr && rule->role == FieldRole::kWrittenList) {
        Copy(field, out);
      } else if (rule != nullptr && field.is_bytes()) {
        const size_t before = changes_;
        if (IsSequence(rule->role)) {
          Sequence(field, rule->role, out);
        } else {
          SliceField(field, rule->role, out);
        }
        is_kept = is_kept && changes_ == before;
      } else if (fits && field.is_bytes() && HasRuleBelow(inner, length + 1)) {
        std::string made;
        const bool is_field_kept =
            Message(field.bytes, inner, length + 1, out == nullptr ? nullptr : &made);
        if (is_field_kept) {
          Copy(field, out);
        } else {
          Append(field.number, made, out);
        }
        is_kept = is_kept && is_field_kept;
      } else {
        if (!IsPlain(path, length, field.number)) result_.is_understood = false;
        Copy(field, out);
      }
    }
    if (!fields.ok()) result_.is_well_formed = false;
    return is_kept;
  }

  void Sequence(const Field& field, FieldRole role, std::string* out) {
    std::string replacement;
    const WalkAnswer answer = visitor_.on_sequence
                                  ? visitor_.on_sequence(field.bytes, role, replacement)
                                  : WalkAnswer::kKeep;
    Answer(answer, field, replacement, out);
  }

  void Answer(WalkAnswer answer, const Field& field, std::string_view replacement,
              std::string* out) {
    if (answer == WalkAnswer::kKeep) return Copy(field, out);
    ++changes_;
    Append(field.number, answer == WalkAnswer::kReplace ? replacement : std::string_view(), out);
  }

  Access AccessOf(FieldRole role) {
    switch (role) {
      case FieldRole::kRead:
        return Access::kRead;
      case FieldRole::kWrite:
        return Access::kWrite;
      case FieldRole::kByWritten: {
        const size_t argument = next_argument_++;
        const bool is_written = argument < written_.size() && written_[argument];
        if (argument >= written_.size()) result_.is_understood = false;
        return is_written ? Access::kMaybeUpdate : Access::kRead;
      }
      case FieldRole::kMaybeRead:
        return Access::kMaybeRead;
      case FieldRole::kMaybeUpdate:
        return Access::kMaybeUpdate;
      default:
        return Access::kUpdate;
    }
  }

  // A slice, alone or with the shape of what it holds.
  void SliceField(const Field& field, FieldRole role, std::string* out) {
    std::optional<std::string_view> shaped;
    bool has_shape = false;
    FieldReader fields(field.bytes);
    while (fields.Next()) {
      if (!fields.field().is_bytes()) continue;
      if (fields.field().number == kSliceOfShaped) shaped = fields.field().bytes;
      if (fields.field().number == kShapeOfShaped) has_shape = true;
    }
    if (!fields.ok()) result_.is_well_formed = false;
    if (!shaped && has_shape) shaped = "";
    Slice slice;
    const std::string others = ReadSlice(shaped.value_or(field.bytes), slice);
    const Access access = AccessOf(role);
    const WalkAnswer answer =
        visitor_.on_slice ? visitor_.on_slice(slice, access) : WalkAnswer::kKeep;
    std::string replacement;
    if (answer == WalkAnswer::kReplace) replacement = WriteSlice(slice, others);
    if (answer != WalkAnswer::kKeep && shaped)
      replacement = WithBytes(field.bytes, kSliceOfShaped, replacement);
    Answer(answer == WalkAnswer::kDrop ? WalkAnswer::kReplace : answer, field, replacement, out);
  }

  // Returns the fields that say nothing about the place, as they stand.
  std::string ReadSlice(std::string_view bytes, Slice& slice) {
    std::string others;
    FieldReader fields(bytes);
    while (fields.Next()) {
      const Field& field = fields.field();
      if (field.number == kOffset && field.is_varint()) {
        slice.offset = field.signed_value();
      } else if (field.number == kSize && field.is_varint()) {
        slice.size = field.signed_value();
      } else if (field.number == kAllocation && field.is_varint()) {
        slice.allocation = field.signed_value();
      } else {
        if (field.number != kElementType) result_.is_understood = false;
        others += field.raw;
      }
    }
    if (!fields.ok()) result_.is_well_formed = false;
    return others;
  }

  static std::string WriteSlice(const Slice& slice, std::string_view others) {
    std::string out;
    const auto add = [&](uint32_t number, int64_t value) {
      if (value != 0) AppendVarintField(number, static_cast<uint64_t>(value), out);
    };
    add(kOffset, slice.offset);
    add(kSize, slice.size);
    add(kAllocation, slice.allocation);
    out += others;
    return out;
  }

  const ThunkTables& tables_;
  const ThunkVisitor& visitor_;
  std::span<const FieldRule> rules_;
  std::vector<bool> written_;
  size_t next_argument_ = 0;
  size_t changes_ = 0;
  WalkResult result_ = {.is_well_formed = true, .is_understood = true};
};

}  // namespace

WalkResult WalkThunk(std::string_view bytes, const ThunkTables& tables, const ThunkVisitor& visitor,
                     std::string* out) {
  Walk walk(tables, visitor);
  walk.Thunk(bytes, out);
  return walk.result();
}

}  // namespace stowplan::executable
