// SPDX-License-Identifier: Apache-2.0
#include "proto/literal_reader.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/checked_math.h"
#include "hlo/literal.h"
#include "hlo/number.h"
#include "proto/float_text.h"

namespace stowplan::proto {
namespace {

using hlo::ElementType;
using hlo::ShapeId;
using hlo::ShapeTable;

// XLA's tuple literals are a few deep.
constexpr int kMaxTupleDepth = 64;

enum class Storage : uint8_t { kVarints, kFixed32s, kFixed64s, kBytes };

struct ElementStorage {
  LiteralField field;
  Storage storage;
  int bits;        // of one number
  bool is_signed;  // of integers
  bool is_float;
  int numbers;       // an element: two for complex ones
  ElementType part;  // the type of each
};

std::optional<ElementStorage> StorageOf(ElementType type) {
  const auto integer = [&](LiteralField field, int bits, bool is_signed) {
    return ElementStorage{field, Storage::kBytes, bits, is_signed, false, 1, type};
  };
  const auto number = [&](LiteralField field, int bits) {
    return ElementStorage{field, Storage::kBytes, bits, false, true, 1, type};
  };
  switch (type) {
    case ElementType::kPred:
      return ElementStorage{LiteralField::kPreds, Storage::kVarints, 8, false, false, 1, type};
    case ElementType::kS32:
      return ElementStorage{LiteralField::kS32s, Storage::kVarints, 32, true, false, 1, type};
    case ElementType::kS64:
      return ElementStorage{LiteralField::kS64s, Storage::kVarints, 64, true, false, 1, type};
    case ElementType::kU32:
      return ElementStorage{LiteralField::kU32s, Storage::kVarints, 32, false, false, 1, type};
    case ElementType::kU64:
      return ElementStorage{LiteralField::kU64s, Storage::kVarints, 64, false, false, 1, type};
    case ElementType::kF32:
      return ElementStorage{LiteralField::kF32s, Storage::kFixed32s, 32, false, true, 1, type};
    case ElementType::kF64:
      return ElementStorage{LiteralField::kF64s, Storage::kFixed64s, 64, false, true, 1, type};
    case ElementType::kC64:
      return ElementStorage{LiteralField::kC64s, Storage::kFixed32s, 32, false, true, 2,
                            ElementType::kF32};
    case ElementType::kC128:
      return ElementStorage{LiteralField::kC128s, Storage::kFixed64s, 64, false, true, 2,
                            ElementType::kF64};
    case ElementType::kS1:
      return integer(LiteralField::kS1s, 1, true);
    case ElementType::kU1:
      return integer(LiteralField::kU1s, 1, false);
    case ElementType::kS2:
      return integer(LiteralField::kS2s, 2, true);
    case ElementType::kU2:
      return integer(LiteralField::kU2s, 2, false);
    case ElementType::kS4:
      return integer(LiteralField::kS4s, 4, true);
    case ElementType::kU4:
      return integer(LiteralField::kU4s, 4, false);
    case ElementType::kS8:
      return integer(LiteralField::kS8s, 8, true);
    case ElementType::kU8:
      return integer(LiteralField::kU8s, 8, false);
    case ElementType::kS16:
      return integer(LiteralField::kS16s, 16, true);
    case ElementType::kU16:
      return integer(LiteralField::kU16s, 16, false);
    case ElementType::kF16:
      return number(LiteralField::kF16s, 16);
    case ElementType::kBf16:
      return number(LiteralField::kBf16s, 16);
    case ElementType::kF8e5m2:
      return number(LiteralField::kF8e5m2s, 8);
    case ElementType::kF8e4m3:
      return number(LiteralField::kF8e4m3s, 8);
    case ElementType::kF8e4m3fn:
      return number(LiteralField::kF8e4m3fns, 8);
    case ElementType::kF8e4m3b11fnuz:
      return number(LiteralField::kF8e4m3b11fnuzs, 8);
    case ElementType::kF8e5m2fnuz:
      return number(LiteralField::kF8e5m2fnuzs, 8);
    case ElementType::kF8e4m3fnuz:
      return number(LiteralField::kF8e4m3fnuzs, 8);
    case ElementType::kF8e3m4:
      return number(LiteralField::kF8e3m4s, 8);
    case ElementType::kF8e8m0fnu:
      return number(LiteralField::kF8e8m0fnus, 8);
    case ElementType::kF6e3m2fn:
      return number(LiteralField::kF6e3m2fns, 6);
    case ElementType::kF6e2m3fn:
      return number(LiteralField::kF6e2m3fns, 6);
    case ElementType::kF4e2m1fn:
      return number(LiteralField::kF4e2m1fns, 4);
    default:
      return std::nullopt;
  }
}

// The fields of a LiteralProto, as far as an array with this storage needs them.
struct LiteralParts {
  std::vector<uint64_t> numbers;
  std::vector<int64_t> dynamic_sizes;
};

// Numbers of fewer than eight bits are packed, the first in the low bits; some versions of XLA give
// each a byte.
void Unpack(std::string_view bytes, int bits, size_t count, std::vector<uint64_t>& out) {
  const size_t width = bits < 8 ? 1 : static_cast<size_t>(bits) / 8;
  const bool is_packed = bits < 8 && bytes.size() != count;
  const size_t stored =
      is_packed ? bytes.size() * 8 / static_cast<size_t>(bits) : bytes.size() / width;
  const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(bytes[i])}; };
  const uint64_t mask = bits < 8 ? (uint64_t{1} << bits) - 1 : ~uint64_t{0};
  for (size_t i = 0; i < std::min(stored, count); ++i) {
    uint64_t number = 0;
    if (is_packed) {
      const size_t first = i * static_cast<size_t>(bits);
      number = byte(first / 8) >> (first % 8);
      // Six-bit numbers may reach into the next byte.
      if (first % 8 + static_cast<size_t>(bits) > 8)
        number |= byte(first / 8 + 1) << (8 - first % 8);
    } else {
      for (size_t b = 0; b < width; ++b) number |= byte(i * width + b) << (8 * b);
    }
    out.push_back(number & mask);
  }
}

// Keeps at most one number more than `count` elements have: enough to see that there are too many.
LiteralParts ReadParts(Context& context, std::string_view bytes, const ElementStorage& storage,
                       size_t count) {
  LiteralParts parts;
  const size_t limit = count * static_cast<size_t>(storage.numbers);
  const auto add = [&](uint64_t number) {
    if (parts.numbers.size() <= limit) parts.numbers.push_back(number);
  };
  std::string_view packed;
  Message message(bytes);
  while (message.Next()) {
    const bool is_data = message.number() == static_cast<uint32_t>(storage.field) &&
                         FindField(MessageKind::kLiteral, message.key()) != nullptr;
    if (is_data && storage.storage == Storage::kBytes) {
      packed = message.Bytes();
    } else if (is_data && storage.storage == Storage::kVarints) {
      message.ForEachVarint(add);
    } else if (is_data && storage.storage == Storage::kFixed32s) {
      message.ForEachFixed<uint32_t>(add);
    } else if (is_data) {
      message.ForEachFixed<uint64_t>(add);
    } else if (message.key() == BytesKey(LiteralField::kDynamicSizes) ||
               message.key() == VarintKey(LiteralField::kDynamicSizes)) {
      message.AppendInts(parts.dynamic_sizes);
    } else {
      context.Skip(MessageKind::kLiteral, message);
    }
  }
  if (storage.storage == Storage::kBytes) Unpack(packed, storage.bits, count, parts.numbers);
  return parts;
}

std::string_view ReadShapeField(Context& context, std::string_view bytes,
                                std::vector<std::string_view>* elements) {
  std::string_view shape;
  Message message(bytes);
  while (message.Next()) {
    if (message.key() == BytesKey(LiteralField::kShape)) {
      shape = message.Bytes();
    } else if (elements != nullptr && message.key() == BytesKey(LiteralField::kTupleLiterals)) {
      elements->push_back(message.Bytes());
    } else {
      context.Skip(MessageKind::kLiteral, message);
    }
  }
  return shape;
}

void AppendNumberOf(const ElementStorage& storage, uint64_t number, bool is_scalar,
                    std::string& out) {
  if (storage.is_float) return AppendFloat(storage.part, number, out);
  if (storage.part == ElementType::kPred) {
    const bool value = number != 0;
    out += is_scalar ? (value ? "true" : "false") : (value ? "1" : "0");
    return;
  }
  const int unused = 64 - storage.bits;
  if (storage.is_signed) {
    hlo::AppendNumber(static_cast<int64_t>(number << unused) >> unused, out);
  } else {
    out += std::to_string(number << unused >> unused);
  }
}

// How far apart in memory the elements along each dimension are: in elements, since literals are
// not tiled. Needs an array with elements.
std::vector<int64_t> Strides(const ShapeTable& shapes, ShapeId shape) {
  const std::span<const int64_t> dims = shapes.dims(shape);
  std::vector<int64_t> strides(dims.size(), 0);
  int64_t stride = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const hlo::LayoutId layout = shapes[shape].layout;
    const size_t dim = layout.is_none()
                           ? dims.size() - 1 - i
                           : static_cast<size_t>(shapes.layout(layout).minor_to_major[i]);
    strides[dim] = stride;
    stride *= dims[dim];
  }
  return strides;
}

// The elements of an array of `count` elements with their braces.
void AppendElements(Context& context, std::string_view bytes, ShapeId shape, int64_t count,
                    std::string& out) {
  const ShapeTable& shapes = context.module().shapes;
  const std::optional<ElementStorage> storage = StorageOf(shapes[shape].type);
  if (!storage) return context.Error(bytes, "a literal cannot have elements of this type");
  const LiteralParts parts = ReadParts(context, bytes, *storage, static_cast<size_t>(count));
  const auto numbers = static_cast<size_t>(storage->numbers);
  if (parts.numbers.size() != static_cast<size_t>(count) * numbers) {
    return context.Error(bytes, "the literal has " +
                                    std::to_string(parts.numbers.size() / numbers) +
                                    " elements, but its shape " + std::to_string(count));
  }
  // Of a dynamic array only the elements that are in use are printed.
  const std::span<const int64_t> dims = shapes.dims(shape);
  std::vector<int64_t> printed(dims.begin(), dims.end());
  for (size_t i = 0; i < dims.size() && i < parts.dynamic_sizes.size(); ++i) {
    if (shapes.is_dynamic(shape, i) && parts.dynamic_sizes[i] >= 0 &&
        parts.dynamic_sizes[i] < dims[i]) {
      printed[i] = parts.dynamic_sizes[i];
    }
  }
  const std::vector<int64_t> strides = count == 0 ? std::vector<int64_t>() : Strides(shapes, shape);
  const auto append = [&](int64_t index, std::string& text) {
    int64_t place = 0;
    for (size_t d = printed.size(); d-- > 0;) {
      place += index % printed[d] * strides[d];
      index /= printed[d];
    }
    const uint64_t* number = &parts.numbers[static_cast<size_t>(place) * numbers];
    if (numbers == 1) return AppendNumberOf(*storage, *number, dims.empty(), text);
    text += '(';
    AppendNumberOf(*storage, number[0], dims.empty(), text);
    text += ", ";
    AppendNumberOf(*storage, number[1], dims.empty(), text);
    text += ')';
  };
  hlo::AppendNested(printed, append, out);
}

void AppendWhole(Context& context, ShapeReader& shapes, std::string_view bytes, int depth,
                 std::string& out) {
  if (depth > kMaxTupleDepth) {
    return context.Error(
        bytes, "tuple literals nest more than " + std::to_string(kMaxTupleDepth) + " deep");
  }
  std::vector<std::string_view> elements;
  const ShapeId shape = shapes.Read(ReadShapeField(context, bytes, &elements), bytes);
  const ShapeTable& table = context.module().shapes;
  switch (table[shape].type) {
    case ElementType::kTuple:
      out += "( ";
      for (size_t i = 0; i < elements.size(); ++i) {
        if (i != 0) out += ", ";
        AppendWhole(context, shapes, elements[i], depth + 1, out);
      }
      out += " )";
      return;
    case ElementType::kToken:
      out += "token";
      return;
    case ElementType::kOpaque:
    case ElementType::kBuffer:
      return context.Error(bytes, "a literal cannot have this shape");
    default:
      break;
  }
  hlo::AppendShape(table, shape, {}, out);
  out += ' ';
  const std::optional<int64_t> count = CheckedProduct(table.dims(shape));
  if (!count) return context.Error(bytes, "the literal is too large");
  if (*count == 0 && hlo::HasTooManyRows(table.dims(shape))) {
    out += "{...}";
    return;
  }
  AppendElements(context, bytes, shape, *count, out);
}

}  // namespace

void AppendConstant(Context& context, ShapeReader& shapes, std::string_view bytes, ShapeId shape,
                    std::string& out) {
  const ShapeTable& table = context.module().shapes;
  constexpr std::string_view kElided = "{...}";
  if (!hlo::IsArray(table[shape].type)) {
    out += kElided;
    return;
  }
  const std::optional<int64_t> count = CheckedProduct(table.dims(shape));
  const bool is_printed = count && *count <= hlo::kMaxPrintedElements;
  if (!is_printed || (*count == 0 && hlo::HasTooManyRows(table.dims(shape)))) {
    out += kElided;
    return;
  }
  // The order of the elements in memory is that of the literal's own layout.
  const std::string_view own = ReadShapeField(context, bytes, nullptr);
  const ShapeId literal_shape = own.data() == nullptr ? shape : shapes.Read(own);
  if (literal_shape != shape &&
      !hlo::Equal(table, literal_shape, table, shape, /*layouts=*/false)) {
    return context.Error(bytes, "the literal's shape is not the instruction's");
  }
  AppendElements(context, bytes, literal_shape, *count, out);
}

void AppendWholeLiteral(Context& context, ShapeReader& shapes, std::string_view bytes,
                        std::string& out) {
  AppendWhole(context, shapes, bytes, 0, out);
}

}  // namespace stowplan::proto
