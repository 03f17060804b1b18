// SPDX-License-Identifier: Apache-2.0
// Instructions that read many elements for one, or elements that only data tells.
#include <algorithm>
#include <utility>

#include "check/reads.h"

namespace stowplan::check {

using hlo::AttributeKey;
using hlo::Opcode;

void Reads::VisitDot(const BodyNode& node, const Access& at) {
  // Batch dimensions, then what is left of the first operand, then of the second.
  const std::span<const int64_t> batch[] = {Numbers(node, AttributeKey::kLhsBatchDims),
                                            Numbers(node, AttributeKey::kRhsBatchDims)};
  const std::span<const int64_t> contracted[] = {Numbers(node, AttributeKey::kLhsContractingDims),
                                                 Numbers(node, AttributeKey::kRhsContractingDims)};
  size_t next = batch[0].size();
  for (size_t k = 0; k < 2; ++k) {
    Bodies::Source operand = bodies_.Operand(node, k);
    const std::span<const int64_t> dims = DimsOf(operand);
    std::vector<Expr> index(dims.size());
    for (size_t d = 0; d < dims.size(); ++d) {
      const auto in_batch = std::ranges::find(batch[k], static_cast<int64_t>(d));
      size_t from = at.index.size();
      if (in_batch != batch[k].end()) {
        from = static_cast<size_t>(in_batch - batch[k].begin());
      } else if (std::ranges::find(contracted[k], static_cast<int64_t>(d)) == contracted[k].end()) {
        from = next++;
      } else {
        index[d] = NewVariable(dims[d]);
        continue;
      }
      if (from >= at.index.size()) {
        is_complete_ = false;
        return;
      }
      index[d] = at.index[from];
    }
    Access moved = OneOfMany(at, operand, std::move(index));
    Push(std::move(operand), std::move(moved));
  }
}

void Reads::VisitGather(const BodyNode& node, const Access& at) {
  // The offsets are data: any element may be meant.
  PushMany(bodies_.Operand(node, 0));
  Bodies::Source indices = bodies_.Operand(node, 1);
  const std::span<const int64_t> dims = DimsOf(indices);
  const std::span<const int64_t> offsets = Numbers(node, AttributeKey::kOffsetDims);
  const int64_t vector = module_.NumberOr(node.id, AttributeKey::kIndexVectorDim, 0);
  std::vector<Expr> index(dims.size());
  size_t next = 0;  // dimension of the result
  for (size_t d = 0; d < dims.size(); ++d) {
    if (static_cast<int64_t>(d) == vector) {
      index[d] = NewVariable(dims[d]);
      continue;
    }
    while (std::ranges::find(offsets, static_cast<int64_t>(next)) != offsets.end()) ++next;
    if (next >= at.index.size()) {
      is_complete_ = false;
      return;
    }
    index[d] = at.index[next++];
  }
  Access moved = Moved(at, indices, std::move(index));
  Push(std::move(indices), std::move(moved));
}

void Reads::VisitPad(const BodyNode& node, Access at) {
  constexpr size_t kNumbers = 3;  // low, high, interior
  Bodies::Source operand = bodies_.Operand(node, 0);
  const std::span<const int64_t> dims = DimsOf(operand);
  const std::span<const int64_t> padding = Numbers(node, AttributeKey::kPadding);
  if (dims.size() != at.index.size()) {
    is_complete_ = false;
    return;
  }
  PushWhole(bodies_.Operand(node, 1));
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0) return;
    if (padding.size() < kNumbers * (d + 1)) continue;  // none
    const int64_t low = padding[kNumbers * d];
    const int64_t step = padding[kNumbers * d + 2] + 1;
    at.index[d].Add(Expr::Of(-low));
    if (step != 1) {
      // Between two elements there are others.
      const Expr number = NewVariable(dims[d]);
      at.constraints.push_back({at.index[d].Plus(number, -step), {0, 0}});
      at.index[d] = number;
    } else {
      at.constraints.push_back({at.index[d], {0, dims[d] - 1}});
    }
  }
  Access moved = Moved(at, operand, at.index);
  Push(std::move(operand), std::move(moved));
}

void Reads::VisitReduce(const BodyNode& node, const Access& at) {
  const std::span<const int64_t> reduced = Numbers(node, AttributeKey::kDimensions);
  const size_t count = module_.operands_of(node.id).size();
  for (size_t k = 0; k < count; ++k) {
    Bodies::Source operand = bodies_.Operand(node, k);
    if (k >= count / 2) {
      PushWhole(std::move(operand));
      continue;
    }
    const std::span<const int64_t> dims = DimsOf(operand);
    std::vector<Expr> index;
    size_t next = 0;
    bool is_empty = false;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (std::ranges::find(reduced, static_cast<int64_t>(d)) != reduced.end()) {
        is_empty = is_empty || dims[d] == 0;
        index.push_back(NewVariable(dims[d]));
      } else if (next < at.index.size()) {
        index.push_back(at.index[next++]);
      } else {
        is_complete_ = false;
        return;
      }
    }
    if (is_empty) continue;
    Access moved = OneOfMany(at, operand, std::move(index));
    Push(std::move(operand), std::move(moved));
  }
}

void Reads::VisitReduceWindow(const BodyNode& node, const Access& at) {
  constexpr size_t kNumbers =
      7;  // size, stride, low, high, window dilation, base dilation, reversal
  const std::span<const int64_t> window = Numbers(node, AttributeKey::kWindow);
  const size_t count = module_.operands_of(node.id).size();
  for (size_t k = 0; k < count; ++k) {
    Bodies::Source operand = bodies_.Operand(node, k);
    if (k >= count / 2) {
      PushWhole(std::move(operand));
      continue;
    }
    const std::span<const int64_t> dims = DimsOf(operand);
    if (window.size() != kNumbers * dims.size() || at.index.size() != dims.size()) {
      is_complete_ = false;
      return;
    }
    Access moved = OneOfMany(at, operand, {});
    for (size_t d = 0; d < dims.size(); ++d) {
      const std::span<const int64_t> w = window.subspan(kNumbers * d, kNumbers);
      Expr place = at.index[d].Times(w[1]);
      place.Add(NewVariable(w[0]), w[4]);
      place.Add(Expr::Of(-w[2]));
      if (w[5] != 1) {
        const Expr number = NewVariable(dims[d]);
        moved.constraints.push_back({place.Plus(number, -w[5]), {0, 0}});
        place = number;
      } else {
        moved.constraints.push_back({place, {0, dims[d] - 1}});
      }
      moved.index.push_back(std::move(place));
    }
    Push(std::move(operand), std::move(moved));
  }
}

void Reads::VisitScatter(const Step& step, const Access& at) {
  // What is updated, where it is; and where the updates go is data.
  const BodyNode& node = step.source.node;
  const size_t count = module_.operands_of(node.id).size();
  const size_t part = step.source.index.empty() ? 0 : static_cast<size_t>(step.source.index[0]);
  for (size_t k = 0; k < count; ++k) {
    Bodies::Source operand = bodies_.Operand(node, k);
    if (k != part && k < count / 2) continue;
    if (k == part) {
      Access moved = Moved(at, operand, at.index);
      Push(std::move(operand), std::move(moved));
    } else {
      PushMany(std::move(operand));
    }
  }
}

void Reads::VisitSort(const BodyNode& node, const Access& at) {
  const std::span<const int64_t> along = Numbers(node, AttributeKey::kDimensions);
  for (size_t k = 0; k < module_.operands_of(node.id).size(); ++k) {
    Bodies::Source operand = bodies_.Operand(node, k);
    Access moved = OneOfMany(at, operand, at.index);
    const size_t d = along.empty() ? 0 : static_cast<size_t>(along[0]);
    if (d < moved.index.size()) moved.index[d] = NewVariable(DimsOf(operand)[d]);
    Push(std::move(operand), std::move(moved));
  }
}

void Reads::VisitOther(const BodyNode& node) {
  // A convolution reads a part, and it is not said which.
  const Opcode opcode = bodies_.opcode(node);
  const bool is_certain = opcode != Opcode::kConvolution && opcode != Opcode::kSelectAndScatter;
  for (size_t k = 0; k < module_.operands_of(node.id).size(); ++k)
    PushMany(bodies_.Operand(node, k), is_certain);
}

}  // namespace stowplan::check
