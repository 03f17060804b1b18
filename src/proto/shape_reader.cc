// SPDX-License-Identifier: Apache-2.0
#include "proto/shape_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

namespace stowplan::proto {
namespace {

using hlo::ElementType;
using hlo::Layout;
using hlo::LayoutId;
using hlo::ShapeId;
using hlo::ShapeTable;

// Elements of tuples up to this size are looked up too. Looking up longer ones at every level would
// take time quadratic in the depth of a tuple.
constexpr size_t kMaxElement = 64;
// XLA's own arrays have at most eight dimensions. Texts of constants grow with each one.
constexpr size_t kMaxRank = 10'000;

// D(D,C+): a letter a dimension, `+` when it is not unique and `~` when it is not ordered. Empty
// when all is dense.
std::string DimLevelTypes(std::span<const int64_t> types, std::span<const int64_t> unique,
                          std::span<const int64_t> ordered) {
  std::string text;
  bool is_dense = true;
  for (size_t i = 0; i < types.size(); ++i) {
    if (i != 0) text += ',';
    text += types[i] >= 0 && types[i] < 4 ? "DCSH"[types[i]] : '?';
    const bool is_plus = i < unique.size() && unique[i] == 0;
    const bool is_tilde = i < ordered.size() && ordered[i] == 0;
    if (is_plus) text += '+';
    if (is_tilde) text += '~';
    is_dense = is_dense && types[i] == 0 && !is_plus && !is_tilde;
  }
  return is_dense ? std::string() : text;
}

std::vector<int64_t> ReadTile(Context& context, std::string_view bytes) {
  std::vector<int64_t> dims;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(TileField::kDimensions):
      case BytesKey(TileField::kDimensions):
        message.AppendInts(dims);
        break;
      default:
        context.Skip(MessageKind::kTile, message);
    }
  }
  return dims;
}

Layout::Split ReadSplit(Context& context, std::string_view bytes) {
  Layout::Split split;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(SplitConfigField::kDimension):
        split.dimension = message.Int64();
        break;
      case VarintKey(SplitConfigField::kSplitIndices):
      case BytesKey(SplitConfigField::kSplitIndices):
        message.AppendInts(split.indices);
        break;
      default:
        context.Skip(MessageKind::kSplitConfig, message);
    }
  }
  return split;
}

}  // namespace

ShapeReader::ShapeReader(Context& context, size_t slots) : context_(context), slots_(slots) {}

ShapeId ShapeReader::ReadNew(std::string_view bytes) {
  frames_.clear();
  dims_.clear();
  flags_.clear();
  elements_.clear();
  Push(bytes);
  while (true) {
    Frame& top = frames_.back();
    if (top.message.Next()) {
      switch (top.message.key()) {
        case VarintKey(ShapeField::kElementType):
          top.type = top.message.Int32();
          break;
        case VarintKey(ShapeField::kDimensions):
        case BytesKey(ShapeField::kDimensions):
          top.message.AppendInts(dims_);
          break;
        case BytesKey(ShapeField::kTupleShapes):
          ReadElement(top.message.Bytes());
          break;
        case BytesKey(ShapeField::kLayout):
          top.layout = top.message.Bytes();
          top.has_layout = true;
          break;
        case VarintKey(ShapeField::kIsDynamicDimension):
        case BytesKey(ShapeField::kIsDynamicDimension):
          top.message.ForEachVarint([&](uint64_t flag) { flags_.push_back(flag != 0); });
          break;
        default:
          context_.Skip(MessageKind::kShape, top.message);
      }
      continue;
    }
    const Frame frame = top;
    const ShapeId shape = Finish(frame);
    frames_.pop_back();
    dims_.resize(frame.first_dim);
    flags_.resize(frame.first_flag);
    elements_.resize(frame.first_element);
    const std::string_view read = frame.bytes;
    if (!read.empty() && (frames_.empty() || read.size() <= kMaxElement)) {
      slots_[Hash(read) & (slots_.size() - 1)] = {read.data(), static_cast<uint32_t>(read.size()),
                                                  shape};
    }
    if (frames_.empty()) return shape;
    elements_.push_back(shape);
  }
}

ShapeId ShapeReader::ReportMissing(std::string_view owner) {
  context_.Error(owner, "there is no shape");
  return context_.module().shapes.AddOther(ElementType::kOpaque);
}

void ShapeReader::Push(std::string_view bytes) {
  frames_.push_back({.message = Message(bytes),
                     .bytes = bytes,
                     .first_dim = dims_.size(),
                     .first_flag = flags_.size(),
                     .first_element = elements_.size(),
                     .layout = {}});
}

void ShapeReader::ReadElement(std::string_view bytes) {
  if (bytes.size() <= kMaxElement) {
    const Slot& slot = slots_[Hash(bytes) & (slots_.size() - 1)];
    if (slot.size == bytes.size() && std::memcmp(slot.data, bytes.data(), bytes.size()) == 0) {
      elements_.push_back(slot.shape);
      return;
    }
  }
  if (frames_.size() >= static_cast<size_t>(ShapeTable::kMaxDepth)) {
    context_.Error(bytes,
                   "tuples nest more than " + std::to_string(ShapeTable::kMaxDepth) + " deep");
    return;
  }
  Push(bytes);
}

ShapeId ShapeReader::Finish(const Frame& frame) {
  ShapeTable& shapes = context_.module().shapes;
  const std::span<const ShapeId> elements = std::span(elements_).subspan(frame.first_element);
  const ElementType type = ReadType(frame.bytes, frame.type);
  switch (type) {
    case ElementType::kTuple:
      return shapes.AddTuple(elements);
    case ElementType::kBuffer:
      if (elements.size() == 1) return shapes.AddBuffer(elements[0]);
      context_.Error(frame.bytes,
                     "a buffer has one inner shape, not " + std::to_string(elements.size()));
      return shapes.AddOther(ElementType::kOpaque);
    case ElementType::kToken:
    case ElementType::kOpaque:
      return shapes.AddOther(type);
    case ElementType::kInvalid:
      context_.Error(frame.bytes, "the shape has no element type");
      return shapes.AddOther(ElementType::kOpaque);
    default:
      return FinishArray(frame, type);
  }
}

ShapeId ShapeReader::FinishArray(const Frame& frame, ElementType type) {
  const std::span<const int64_t> dims = std::span(dims_).subspan(frame.first_dim);
  const std::span<const uint8_t> flags = std::span(flags_).subspan(frame.first_flag);
  if (dims.size() > kMaxRank) {
    context_.Error(frame.bytes, "the shape has " + std::to_string(dims.size()) + " dimensions");
    return context_.module().shapes.AddOther(ElementType::kOpaque);
  }
  std::unique_ptr<bool[]> dynamic;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i < flags.size() && flags[i] != 0) {
      if (!dynamic) dynamic = std::make_unique<bool[]>(dims.size());
      dynamic[i] = true;
    }
    const bool is_unbounded = dims[i] == hlo::kUnboundedDimension && dynamic && dynamic[i];
    if (dims[i] < 0 && !is_unbounded) {
      context_.Error(frame.bytes, "dimension " + std::to_string(i) + " has the negative size " +
                                      std::to_string(dims[i]));
    }
  }
  const LayoutId layout = frame.has_layout ? ReadLayout(frame.layout, dims.size()) : LayoutId();
  const std::span<const bool> dynamic_span(dynamic.get(), dynamic ? dims.size() : 0);
  return context_.module().shapes.AddArray(type, dims, dynamic_span, layout);
}

LayoutId ShapeReader::ReadLayout(std::string_view bytes, size_t rank) {
  Layout layout;
  std::vector<int64_t> level_types;
  std::vector<int64_t> unique;
  std::vector<int64_t> ordered;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(LayoutField::kMinorToMajor):
      case BytesKey(LayoutField::kMinorToMajor):
        message.AppendInts(layout.minor_to_major);
        break;
      case BytesKey(LayoutField::kTiles):
        layout.tiles.push_back(ReadTile(context_, message.Bytes()));
        break;
      case VarintKey(LayoutField::kElementSizeInBits):
        layout.element_bits = message.Int64();
        break;
      case VarintKey(LayoutField::kMemorySpace):
        layout.memory_space = message.Int64();
        break;
      case VarintKey(LayoutField::kDimLevelTypes):
      case BytesKey(LayoutField::kDimLevelTypes):
        message.AppendInts(level_types);
        break;
      case BytesKey(LayoutField::kPhysicalShape):
        layout.physical_shape = ReadPhysicalShape(message.Bytes());
        break;
      case VarintKey(LayoutField::kIndexPrimitiveType):
        layout.index_type = ReadType(bytes, message.Int32());
        break;
      case VarintKey(LayoutField::kPointerPrimitiveType):
        layout.pointer_type = ReadType(bytes, message.Int32());
        break;
      case VarintKey(LayoutField::kDimUnique):
      case BytesKey(LayoutField::kDimUnique):
        message.AppendInts(unique);
        break;
      case VarintKey(LayoutField::kDimOrdered):
      case BytesKey(LayoutField::kDimOrdered):
        message.AppendInts(ordered);
        break;
      case VarintKey(LayoutField::kDynamicShapeMetadataPrefixBytes):
        layout.dynamic_prefix_bytes = message.Int64();
        break;
      case VarintKey(LayoutField::kTailPaddingAlignmentInElements):
        layout.tail_padding = std::max<int64_t>(message.Int64(), 1);
        break;
      case BytesKey(LayoutField::kSplitConfigs):
        layout.splits.push_back(ReadSplit(context_, message.Bytes()));
        break;
      default:
        context_.Skip(MessageKind::kLayout, message);
    }
  }
  layout.dim_level_types = DimLevelTypes(level_types, unique, ordered);
  if (!CheckOrder(bytes, layout.minor_to_major, rank)) return {};
  return context_.module().shapes.AddLayout(layout);
}

bool ShapeReader::CheckOrder(std::string_view at, std::span<const int64_t> order, size_t rank) {
  if (order.size() != rank) {
    context_.Error(at, "the layout orders " + std::to_string(order.size()) +
                           " dimensions, but the shape has " + std::to_string(rank));
    return false;
  }
  std::vector<bool> seen(rank, false);
  for (const int64_t dim : order) {
    if (dim < 0 || dim >= static_cast<int64_t>(rank) || seen[static_cast<size_t>(dim)]) {
      context_.Error(at, "minor_to_major is not a permutation of the dimensions");
      return false;
    }
    seen[static_cast<size_t>(dim)] = true;
  }
  return true;
}

// The shape inside a layout needs stacks of its own, since the outer shape is still on these. It
// has no such layout itself.
ShapeId ShapeReader::ReadPhysicalShape(std::string_view bytes) {
  if (in_layout_) {
    context_.Error(bytes, "a physical shape inside a physical shape");
    return {};
  }
  if (!inner_) inner_ = std::make_unique<ShapeReader>(context_, 256);
  inner_->in_layout_ = true;
  return inner_->Read(bytes);
}

ElementType ShapeReader::ReadType(std::string_view at, int64_t number) {
  if (number == 0) return ElementType::kInvalid;
  const std::optional<ElementType> type = hlo::FindElementType(number);
  if (type) return *type;
  context_.Error(at, "unknown element type " + std::to_string(number));
  return ElementType::kOpaque;
}

}  // namespace stowplan::proto
