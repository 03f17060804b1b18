// SPDX-License-Identifier: Apache-2.0
// Steps of counting bytes that all targets share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "hlo/size.h"

namespace stowplan::hlo {

ByteCount OrOverflow(std::optional<int64_t> number);
ByteCount Product(std::span<const int64_t> factors);
// Bytes of `count` elements of `bits` each.
ByteCount BytesOfBits(int64_t count, int64_t bits);
// Elements of a type narrower than a byte take a byte each, unless the layout packs them.
int64_t ElementBits(ElementType type, const Layout* layout);
// The answer, if it needs no counting: the shape cannot be counted, or has no elements.
std::optional<ByteCount> TrivialSize(std::span<const int64_t> dims, const Layout* layout);
// Elements with the padding of tiles and tail.
ByteCount PaddedElements(std::span<const int64_t> dims, const Layout& layout);
// nullptr for none.
const Layout* LayoutOf(const ShapeTable& shapes, ShapeId id);

}  // namespace stowplan::hlo
