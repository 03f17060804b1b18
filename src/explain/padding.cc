// SPDX-License-Identifier: Apache-2.0
#include "explain/padding.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/checked_math.h"
#include "base/stable_sort.h"
#include "report/shapes.h"
#include "stowplan/hlo/shape.h"
#include "target/size.h"

namespace stowplan::explain {
namespace {

using hlo::Layout;
using hlo::ShapeId;
using hlo::ShapeTable;

// Looks for shapes like one that is tiled.
class ShapeSearch {
 public:
  ShapeSearch(const ShapeTable& shapes, ShapeId id, const Target& target)
      : shapes_(shapes), id_(id), target_(target), layout_(shapes.layout(shapes[id].layout)) {
    const std::span<const int64_t> dims = shapes.dims(id);
    dims_.assign(dims.begin(), dims.end());
  }

  [[nodiscard]] std::optional<CheaperShape> Cheapest() {
    Try(dims_, layout_.minor_to_major, CheaperShape::Change::kTransposed);
    const int64_t now = best_ ? best_->bytes : INT64_MAX;
    best_.reset();
    TryTransposed();
    TryMerged();
    if (!best_ || best_->bytes >= now) {
      best_.reset();
      TryTrimmed();
    }
    if (best_ && best_->bytes >= now) best_.reset();
    return std::move(best_);
  }

  // Each dimension that a tile covers, rounded up to whole tiles.
  [[nodiscard]] std::string Filled() {
    std::vector<int64_t> dims = dims_;
    for (size_t k = 0; k < TiledCount(); ++k) {
      int64_t& dim = dims[static_cast<size_t>(layout_.minor_to_major[k])];
      dim = CheckedRoundUp(std::max<int64_t>(dim, 1), TileOf(k)).value_or(dim);
    }
    return dims == dims_ ? std::string() : Text(Make(dims, layout_.minor_to_major));
  }

 private:
  // How many dimensions, from the minor end, the first tile covers; and its size in the k-th.
  [[nodiscard]] size_t TiledCount() const {
    return std::min(layout_.tiles[0].size(), layout_.minor_to_major.size());
  }
  [[nodiscard]] int64_t TileOf(size_t k) const {
    const std::vector<int64_t>& tile = layout_.tiles[0];
    return std::max<int64_t>(1, tile[tile.size() - 1 - k]);
  }

  ShapeId Make(const std::vector<int64_t>& dims, const std::vector<int64_t>& minor_to_major) {
    Layout layout = layout_;
    layout.minor_to_major = minor_to_major;
    return shapes_.AddArray(shapes_[id_].type, dims, {}, shapes_.AddLayout(layout));
  }
  [[nodiscard]] std::string Text(ShapeId shape) const { return hlo::ToString(shapes_, shape); }

  void Try(const std::vector<int64_t>& dims, const std::vector<int64_t>& minor_to_major,
           CheaperShape::Change change) {
    const ShapeId shape = Make(dims, minor_to_major);
    const ByteCount bytes = ByteSize(shapes_, shape, target_);
    if (!bytes || (best_ && best_->bytes <= *bytes)) return;
    best_ = CheaperShape{.change = change, .shape = Text(shape), .bytes = *bytes};
  }

  // Every pair of dimensions as the two innermost; the others keep their order.
  void TryTransposed() {
    constexpr size_t kMostDimensions = 8;
    const size_t rank = dims_.size();
    if (rank < 2 || rank > kMostDimensions) return;
    std::vector<int64_t> minor_to_major(rank);
    std::iota(minor_to_major.rbegin(), minor_to_major.rend(), 0);
    for (size_t second = 0; second < rank; ++second) {
      for (size_t first = 0; first < rank; ++first) {
        if (first == second) continue;
        std::vector<int64_t> dims;
        for (size_t k = 0; k < rank; ++k) {
          if (k != first && k != second) dims.push_back(dims_[k]);
        }
        dims.push_back(dims_[second]);
        dims.push_back(dims_[first]);
        Try(dims, minor_to_major, CheaperShape::Change::kTransposed);
      }
    }
  }

  void TryMerged() {
    const size_t rank = dims_.size();
    if (rank < 3) return;
    // In the order of memory, outermost first.
    std::vector<int64_t> dims;
    for (size_t k = rank; k-- > 2;)
      dims.push_back(dims_[static_cast<size_t>(layout_.minor_to_major[k])]);
    const std::optional<int64_t> merged =
        CheckedMultiply(dims_[static_cast<size_t>(layout_.minor_to_major[1])],
                        dims_[static_cast<size_t>(layout_.minor_to_major[0])]);
    if (!merged) return;
    dims.push_back(*merged);
    std::vector<int64_t> minor_to_major(dims.size());
    std::iota(minor_to_major.rbegin(), minor_to_major.rend(), 0);
    Try(dims, minor_to_major, CheaperShape::Change::kMerged);
  }

  // One dimension cut down to whole tiles.
  void TryTrimmed() {
    for (size_t k = 0; k < TiledCount(); ++k) {
      std::vector<int64_t> dims = dims_;
      int64_t& dim = dims[static_cast<size_t>(layout_.minor_to_major[k])];
      if (dim <= TileOf(k) || dim % TileOf(k) == 0) continue;
      dim -= dim % TileOf(k);
      Try(dims, layout_.minor_to_major, CheaperShape::Change::kTrimmed);
    }
  }

  ShapeTable shapes_;
  ShapeId id_;
  const Target& target_;
  Layout layout_;
  std::vector<int64_t> dims_;
  std::optional<CheaperShape> best_;
};

bool IsPlainlyTiled(const ShapeTable& shapes, ShapeId id) {
  const hlo::Shape& shape = shapes[id];
  if (shapes.is_tuple(id) || shape.is_dynamic || shape.layout.is_none()) return false;
  const Layout& layout = shapes.layout(shape.layout);
  const std::span<const int64_t> dims = shapes.dims(id);
  if (layout.tiles.empty() || layout.tiles[0].empty()) return false;
  // Merged dimensions ("*") have no size of their own.
  if (std::ranges::any_of(layout.tiles[0], [](int64_t n) { return n <= 0; })) return false;
  if (layout.minor_to_major.size() != dims.size()) return false;
  return std::ranges::all_of(layout.minor_to_major, [&](int64_t n) {
    return n >= 0 && n < static_cast<int64_t>(dims.size());
  });
}

}  // namespace

std::string_view Name(CheaperShape::Change change) {
  if (change == CheaperShape::Change::kTransposed) return "transposed";
  return change == CheaperShape::Change::kMerged ? "merged" : "trimmed";
}

std::vector<PaddingTax> PaddingTaxes(const Picture& picture, size_t limit) {
  const report::Report& report = *picture.report;
  std::vector<PaddingTax> taxes;
  for (size_t i = 0; i < picture.values.size(); ++i) {
    const ValueFact& fact = picture.values[i];
    if (fact.padding <= 0 || fact.kind == Kind::kThreadLocal) continue;
    PaddingTax tax;
    tax.value = report::ValueId(i);
    tax.size = report.values[tax.value].size;
    tax.padding = fact.padding;
    taxes.push_back(std::move(tax));
  }
  StableSort(taxes, std::greater(), &PaddingTax::padding);
  if (limit != 0 && taxes.size() > limit) taxes.resize(limit);
  if (!picture.target || !picture.target->has_tiles) return taxes;
  for (PaddingTax& tax : taxes) {
    report::ShapeTexts shapes;
    const std::optional<ShapeId> shape = shapes.Parse(report.values[tax.value].shape);
    if (!shape || !IsPlainlyTiled(shapes.table(), *shape)) continue;
    ShapeSearch search(shapes.table(), *shape, *picture.target);
    tax.cheaper = search.Cheapest();
    tax.free_shape = search.Filled();
  }
  return taxes;
}

}  // namespace stowplan::explain
