// SPDX-License-Identifier: Apache-2.0
// Attributes: what an instruction says besides its shape, opcode and operands.
//
// An attribute is a key and a value of the key's kind. A value is a number, a text, or a run of
// rows in one of the module's pools, so an attribute takes twelve bytes, and the readers of both
// formats produce the same ones. Values that equal XLA's default (is_stable=false,
// feature_group_count=1) are not kept, since XLA does not print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "stowplan/base/id.h"

namespace stowplan::hlo {

enum class AttributeKey : uint16_t {
#define STOWPLAN_ATTRIBUTE(name, text, kind) k##name,
#include "stowplan/hlo/attribute.def"
#undef STOWPLAN_ATTRIBUTE
};
inline constexpr int kAttributeKeyCount = static_cast<int>(AttributeKey::kUnknown) + 1;

// How a value is stored, and how text writes it.
enum class ValueKind : uint8_t {
  kInt,           // number                      index=3
  kBool,          // number                      is_stable=true
  kWord,          // text                        kind=kLoop, epsilon=0.001, dim_labels=b0f_0io->b0f
  kString,        // text, unescaped             custom_call_target="Sharding"
  kInts,          // rows of ints                dimensions={0,1}
  kBools,         // rows of ints                parameter_replication={false,true}
  kWords,         // rows of texts               operand_precision={highest,default}
  kIntLists,      // rows of ints: per list its length, then its numbers
                  //                             source_target_pairs={{0,1},{1,0}}
  kDeviceGroups,  // text, canonical             replica_groups={{0,1}}, [2,4]<=[8], mesh['x'=4]
                  // {'x'}
  kComputation,   // number: a CompId            to_apply=%add
  kComputations,  // rows of computations        branch_computations={%a, %b}
  kInstructions,  // rows of instructions        control-predecessors={%a, %b}
  kShape,         // number: a ShapeId           outfeed_shape=f32[2]{0}
  kShapes,        // rows of shapes              operand_layout_constraints={f32[2]{0}, s32[]}
  kWindow,        // rows of ints, seven per dimension: size, stride, padding low and high, window
                  // dilation, base dilation, reversal     window={size=3x3 pad=1_1x0_0}
  kSlices,    // rows of ints, three per dimension: start, limit, stride     slice={[0:2], [1:3]}
  kPadding,   // rows of ints, three per dimension: low, high, interior      padding=0_0x1_1
  kAliasing,  // rows of ints: per entry the output index (length first), the operand, its index
              // (length first)                      output_to_operand_aliasing={{1}: (0, {})}
  kFrontendAttributes,  // rows of texts: alternating keys and values, by key
  kSharding,            // text, canonical
  kDomain,              // text, canonical
  kOrigin,              // text, canonical
  kTree,                // text, canonical             statistics={visualizing_index=0,a=1}
  kConfig,              // text, unescaped             backend_config={"a":1} or ="escaped"
  kLiteral,             // text, canonical             what is written in constant(...)
  kLiteralAttribute,    // text, canonical             literal=s32[2] {1, 2}
  kVerbatim,            // text: `name=value` as it was written
};

std::string_view Name(AttributeKey key);
ValueKind KindOf(AttributeKey key);
// The key with this name in text. Readers look up the name of every attribute, so this is fast.
// (collective-permute's slice_sizes has a key of its own; this returns gather's.)
std::optional<AttributeKey> FindAttributeKey(std::string_view name);

// A slice of the module's text storage; Module::view returns the characters.
struct Text {
  uint32_t offset = 0;
  uint32_t size = 0;
};

struct Attribute {
  AttributeKey key = AttributeKey::kUnknown;

  static Attribute OfNumber(AttributeKey key, int64_t number) {
    return {key, static_cast<uint32_t>(number),
            static_cast<uint32_t>(static_cast<uint64_t>(number) >> 32U)};
  }
  static Attribute OfText(AttributeKey key, Text text) { return {key, text.offset, text.size}; }
  static Attribute OfRows(AttributeKey key, Range rows) { return {key, rows.begin, rows.count}; }

  [[nodiscard]] int64_t number() const {
    return static_cast<int64_t>((static_cast<uint64_t>(high_) << 32U) | low_);
  }
  [[nodiscard]] Text text() const { return {low_, high_}; }
  [[nodiscard]] Range rows() const { return {low_, high_}; }

  Attribute() = default;

 private:
  Attribute(AttributeKey k, uint32_t low, uint32_t high) : key(k), low_(low), high_(high) {}
  uint32_t low_ = 0;
  uint32_t high_ = 0;
};

}  // namespace stowplan::hlo
