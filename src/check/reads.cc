// SPDX-License-Identifier: Apache-2.0
#include "check/reads.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stowplan::check {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

namespace {

// Nodes with accesses that one walk visits; what XLA fuses takes a thousand.
constexpr size_t kMaxVisits = 50'000;

// Operands that are looked at by number.
size_t CountNeeded(Opcode opcode) {
  switch (opcode) {
    case Opcode::kDot:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kPad:
    case Opcode::kSetDimensionSize:
      return 2;
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcast:
    case Opcode::kDynamicSlice:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return 1;
    default:
      return 0;
  }
}

bool IsDimension(int64_t d, size_t rank) { return d >= 0 && static_cast<size_t>(d) < rank; }

}  // namespace

std::span<const int64_t> Reads::Numbers(const BodyNode& node, AttributeKey key) const {
  const hlo::Attribute* attribute = module_.FindAttribute(node.id, key);
  if (attribute == nullptr) return {};
  return Module::Rows(module_.ints, attribute->rows());
}

Access Reads::Moved(const Access& at, const Bodies::Source& source, std::vector<Expr> index) const {
  return {.view = bodies_.ShapeOf(source),
          .index = std::move(index),
          .constraints = at.constraints,
          .outside = at.outside,
          .is_certain = at.is_certain,
          .is_one_of_many = at.is_one_of_many};
}

void Reads::Push(Bodies::Source source, Access access) {
  if (access.index.size() != module_.shapes.dims(access.view).size()) {
    is_complete_ = false;
    return;
  }
  accesses_.push_back(std::move(access));
  PushSame(std::move(source), static_cast<uint32_t>(accesses_.size() - 1));
}

void Reads::PushSame(Bodies::Source source, uint32_t access) {
  stack_.push_back({std::move(source), access});
}

void Reads::PushWhole(Bodies::Source source) {
  const ShapeId shape = bodies_.ShapeOf(source);
  if (!source.leaf && !wholes_.emplace(source.node, source.index, 0).second) return;
  if (!hlo::IsArray(module_.shapes[shape].type)) {
    stack_.push_back({std::move(source), kWhole});
    return;
  }
  Push(std::move(source), {.view = shape,
                           .index = maps_.NewIndex(module_.shapes.dims(shape)),
                           .constraints = {},
                           .outside = {}});
}

void Reads::PushMany(Bodies::Source source, bool is_certain) {
  const ShapeId shape = bodies_.ShapeOf(source);
  if (!source.leaf && !wholes_.emplace(source.node, source.index, is_certain ? 1 : 2).second)
    return;
  if (!hlo::IsArray(module_.shapes[shape].type)) {
    stack_.push_back({std::move(source), kWhole});
    return;
  }
  Push(std::move(source), {.view = shape,
                           .index = maps_.NewIndex(module_.shapes.dims(shape)),
                           .constraints = {},
                           .outside = {},
                           .is_certain = is_certain,
                           .is_one_of_many = true});
}

void Reads::Record(const Bodies::Leaf& leaf, ShapeId shape, uint32_t access,
                   std::vector<ElementRead>& out) {
  if (access != kWhole) {
    out.push_back({leaf.operand, leaf.index, accesses_[access]});
    return;
  }
  // All arrays of a tuple.
  std::vector<std::pair<ShapeId, std::vector<int64_t>>> parts = {{shape, leaf.index}};
  while (!parts.empty()) {
    auto [part, index] = std::move(parts.back());
    parts.pop_back();
    if (hlo::IsArray(module_.shapes[part].type)) {
      out.push_back({leaf.operand,
                     std::move(index),
                     {.view = part,
                      .index = maps_.NewIndex(module_.shapes.dims(part)),
                      .constraints = {},
                      .outside = {}}});
      continue;
    }
    if (!module_.shapes.is_tuple(part)) continue;
    for (size_t k = 0; k < module_.shapes.elements(part).size(); ++k) {
      std::vector<int64_t> below = index;
      below.push_back(static_cast<int64_t>(k));
      parts.emplace_back(module_.shapes.elements(part)[k], std::move(below));
    }
  }
}

bool Reads::Walk(Bodies::Source source, Access access, std::vector<ElementRead>& out,
                 const Visitor& visitor) {
  accesses_.clear();
  stack_.clear();
  seen_.clear();
  wholes_.clear();
  views_.clear();
  same_.clear();
  is_complete_ = true;
  Push(std::move(source), std::move(access));
  size_t visits = 0;
  while (!stack_.empty()) {
    Step step = std::move(stack_.back());
    stack_.pop_back();
    if (step.source.leaf) {
      Record(*step.source.leaf, bodies_.ShapeOf(step.source), step.access, out);
      continue;
    }
    if (!seen_.emplace(step.source.node, step.source.index, step.access).second) continue;
    if (++visits > kMaxVisits) return false;
    if (visitor != nullptr && visitor(step.source.node)) continue;
    Visit(step);
    if (!is_complete_) return false;
  }
  return true;
}

void Reads::Visit(const Step& step) {
  const BodyNode& node = step.source.node;
  if (module_.operands_of(node.id).size() < CountNeeded(bodies_.opcode(node))) {
    is_complete_ = false;
    return;
  }
  if (step.access == kWhole) {
    VisitOther(node);
    return;
  }
  // A bitcast moves nothing: what it shows is looked up where an index into its operand is needed.
  if (bodies_.opcode(node) == Opcode::kBitcast) {
    PushSame(bodies_.Operand(node, 0), step.access);
    return;
  }
  if (const std::optional<uint32_t> seen = SeenAs(step.access, bodies_.ShapeOf(step.source))) {
    VisitArray(step, *seen);
  } else {
    is_complete_ = false;
  }
}

std::optional<uint32_t> Reads::SeenAs(uint32_t access, ShapeId shape) {
  if (accesses_[access].view == shape) return access;
  if (const auto row = views_.find({access, shape}); row != views_.end()) return row->second;
  Access seen = accesses_[access];
  if (!maps_.View(seen, shape)) return std::nullopt;
  accesses_.push_back(std::move(seen));
  const auto made = static_cast<uint32_t>(accesses_.size() - 1);
  views_.emplace(std::pair(access, shape), made);
  return made;
}

void Reads::VisitArray(const Step& step, uint32_t access) {
  const BodyNode& node = step.source.node;
  const Access at = accesses_[access];  // a copy: what is pushed may move the others
  switch (bodies_.opcode(node)) {
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
    case Opcode::kAfterAll:
    case Opcode::kGetDimensionSize:
      return;
    case Opcode::kBitcastConvert:
      VisitBitcastConvert(node, at);
      return;
    case Opcode::kBroadcast:
      VisitBroadcast(node, at);
      return;
    case Opcode::kConcatenate:
      VisitConcatenate(node, at);
      return;
    case Opcode::kDot:
      VisitDot(node, at);
      return;
    case Opcode::kDynamicSlice:
      VisitDynamicSlice(node, at);
      return;
    case Opcode::kDynamicUpdateSlice:
      VisitUpdate(node, at);
      return;
    case Opcode::kGather:
      VisitGather(node, at);
      return;
    case Opcode::kPad:
      VisitPad(node, at);
      return;
    case Opcode::kReduce:
      VisitReduce(node, at);
      return;
    case Opcode::kReduceWindow:
      VisitReduceWindow(node, at);
      return;
    case Opcode::kReshape:
      VisitReshape(node, at);
      return;
    case Opcode::kReverse:
      VisitReverse(node, at);
      return;
    case Opcode::kScatter:
      VisitScatter(step, at);
      return;
    case Opcode::kSetDimensionSize:
      Push(bodies_.Operand(node, 0), Moved(at, bodies_.Operand(node, 0), at.index));
      PushWhole(bodies_.Operand(node, 1));
      return;
    case Opcode::kSlice:
      VisitSlice(node, at);
      return;
    case Opcode::kSort:
      VisitSort(node, at);
      return;
    case Opcode::kTranspose:
      VisitTranspose(node, at);
      return;
    default:
      if (IsByElement(bodies_.opcode(node)) && !module_.shapes.is_tuple(bodies_.shape(node))) {
        VisitByElement(node, access);
      } else {
        VisitOther(node);
      }
      return;
  }
}

void Reads::VisitByElement(const BodyNode& node, uint32_t access) {
  const std::span<const int64_t> dims = module_.shapes.dims(bodies_.shape(node));
  for (size_t k = 0; k < module_.operands_of(node.id).size(); ++k) {
    Bodies::Source operand = bodies_.Operand(node, k);
    const ShapeId shape = bodies_.ShapeOf(operand);
    const bool is_array = hlo::IsArray(module_.shapes[shape].type);
    if (is_array && shape == accesses_[access].view) {
      PushSame(std::move(operand), access);
    } else if (is_array && std::ranges::equal(module_.shapes.dims(shape), dims)) {
      // The same index: inside a fusion nothing lies anywhere, and layouts may change.
      const auto [row, is_new] = same_.try_emplace({access, shape}, 0);
      if (is_new) {
        Access moved = Moved(accesses_[access], operand, accesses_[access].index);
        accesses_.push_back(std::move(moved));
        row->second = static_cast<uint32_t>(accesses_.size() - 1);
      }
      PushSame(std::move(operand), row->second);
    } else {
      // The predicate of a select, the bounds of a clamp, the numbers of an rng, a token.
      PushWhole(std::move(operand));
    }
  }
}

void Reads::VisitReshape(const BodyNode& node, Access at) {
  Bodies::Source operand = bodies_.Operand(node, 0);
  maps_.Reshape(at, module_.shapes.dims(at.view), DimsOf(operand));
  at.view = bodies_.ShapeOf(operand);
  Push(std::move(operand), std::move(at));
}

void Reads::VisitBitcastConvert(const BodyNode& node, Access at) {
  Bodies::Source operand = bodies_.Operand(node, 0);
  const std::span<const int64_t> from = DimsOf(operand);
  if (from.size() > at.index.size()) {
    at.index.push_back(NewVariable(from.back()));
  } else if (from.size() < at.index.size()) {
    at.index.pop_back();
  }
  Access moved = Moved(at, operand, at.index);
  Push(std::move(operand), std::move(moved));
}

void Reads::VisitBroadcast(const BodyNode& node, Access at) {
  Bodies::Source operand = bodies_.Operand(node, 0);
  const std::span<const int64_t> dims = DimsOf(operand);
  const std::span<const int64_t> to = Numbers(node, AttributeKey::kDimensions);
  std::vector<Expr> index(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    if (d >= to.size() || !IsDimension(to[d], at.index.size())) {
      is_complete_ = false;
      return;
    }
    index[d] = at.index[static_cast<size_t>(to[d])];
  }
  Access moved = Moved(at, operand, std::move(index));
  Push(std::move(operand), std::move(moved));
}

void Reads::VisitConcatenate(const BodyNode& node, const Access& at) {
  const std::span<const int64_t> along = Numbers(node, AttributeKey::kDimensions);
  const size_t d = along.empty() ? 0 : static_cast<size_t>(along[0]);
  int64_t begin = 0;
  for (size_t k = 0; k < module_.operands_of(node.id).size(); ++k) {
    Bodies::Source operand = bodies_.Operand(node, k);
    if (d >= at.index.size() || d >= DimsOf(operand).size()) {
      is_complete_ = false;
      return;
    }
    const int64_t size = DimsOf(operand)[d];
    Access moved = Moved(at, operand, at.index);
    moved.index[d].Add(Expr::Of(-begin));
    moved.constraints.push_back({moved.index[d], {0, size - 1}});
    begin += size;
    if (size > 0) Push(std::move(operand), std::move(moved));
  }
}

Expr Reads::Offset(const Bodies::Source& source, size_t element, int64_t bound) {
  if (bound <= 0) return {};
  if (const std::optional<int64_t> number = bodies_.IntegerOf(source))
    return Expr::Of(std::clamp<int64_t>(*number, 0, bound));
  const auto [row, is_new] = offsets_.try_emplace({bodies_.ValueOf(source), element, bound}, Var());
  if (is_new) row->second = variables_.Add({0, bound}, /*is_common=*/true);
  return Expr::OfVar(row->second);
}

std::vector<Expr> Reads::Starts(const BodyNode& node) {
  const bool is_update = bodies_.opcode(node) == Opcode::kDynamicUpdateSlice;
  const size_t first = is_update ? 2 : 1;
  const std::span<const int64_t> dims = DimsOf(bodies_.Operand(node, 0));
  const std::span<const int64_t> sizes =
      is_update ? DimsOf(bodies_.Operand(node, 1)) : module_.shapes.dims(bodies_.shape(node));
  const size_t count = module_.operands_of(node.id).size();
  std::vector<Expr> starts;
  for (size_t d = 0; d < dims.size() && d < sizes.size(); ++d) {
    // One operand for each dimension, or one with all of them.
    const bool is_list = count == first + 1 && DimsOf(bodies_.Operand(node, first)).size() == 1;
    if (!is_list && first + d >= count) break;
    starts.push_back(Offset(bodies_.Operand(node, is_list ? first : first + d), is_list ? d : 0,
                            dims[d] - sizes[d]));
  }
  return starts;
}

std::vector<Reads::Twins> Reads::FindTwins() const {
  std::vector<Twins> twins;
  for (auto low = offsets_.begin(); low != offsets_.end(); ++low) {
    const auto high = std::next(low);
    if (high != offsets_.end() && std::get<0>(low->first) == std::get<0>(high->first) &&
        std::get<1>(low->first) == std::get<1>(high->first))
      twins.push_back({low->second, high->second});
  }
  return twins;
}

void Reads::VisitDynamicSlice(const BodyNode& node, Access at) {
  const std::vector<Expr> starts = Starts(node);
  if (starts.size() != at.index.size()) {
    is_complete_ = false;
    return;
  }
  for (size_t d = 0; d < starts.size(); ++d) at.index[d].Add(starts[d]);
  Bodies::Source operand = bodies_.Operand(node, 0);
  Access moved = Moved(at, operand, at.index);
  Push(std::move(operand), std::move(moved));
  for (size_t k = 1; k < module_.operands_of(node.id).size(); ++k)
    PushWhole(bodies_.Operand(node, k));
}

void Reads::VisitUpdate(const BodyNode& node, const Access& at) {
  const std::vector<Expr> starts = Starts(node);
  Bodies::Source update = bodies_.Operand(node, 1);
  const std::span<const int64_t> sizes = DimsOf(update);
  if (starts.size() != at.index.size() || sizes.size() != starts.size()) {
    is_complete_ = false;
    return;
  }
  std::vector<Constraint> box;
  Access inside = Moved(at, update, at.index);
  for (size_t d = 0; d < starts.size(); ++d) {
    inside.index[d].Add(starts[d], -1);
    box.push_back({inside.index[d], {0, sizes[d] - 1}});
  }
  inside.constraints.insert(inside.constraints.end(), box.begin(), box.end());
  Push(std::move(update), std::move(inside));
  Bodies::Source base = bodies_.Operand(node, 0);
  Access around = Moved(at, base, at.index);
  around.outside.push_back(std::move(box));
  Push(std::move(base), std::move(around));
  for (size_t k = 2; k < module_.operands_of(node.id).size(); ++k)
    PushWhole(bodies_.Operand(node, k));
}

void Reads::VisitReverse(const BodyNode& node, Access at) {
  Bodies::Source operand = bodies_.Operand(node, 0);
  const std::span<const int64_t> dims = DimsOf(operand);
  for (const int64_t d : Numbers(node, AttributeKey::kDimensions)) {
    if (!IsDimension(d, std::min(at.index.size(), dims.size()))) {
      is_complete_ = false;
      return;
    }
    Expr& index = at.index[static_cast<size_t>(d)];
    index = Expr::Of(dims[static_cast<size_t>(d)] - 1).Plus(index, -1);
  }
  Access moved = Moved(at, operand, at.index);
  Push(std::move(operand), std::move(moved));
}

void Reads::VisitSlice(const BodyNode& node, Access at) {
  constexpr size_t kNumbers = 3;  // start, limit, stride
  Bodies::Source operand = bodies_.Operand(node, 0);
  const std::span<const int64_t> slice = Numbers(node, AttributeKey::kSlice);
  if (slice.size() != kNumbers * at.index.size()) {
    is_complete_ = false;
    return;
  }
  for (size_t d = 0; d < at.index.size(); ++d)
    at.index[d] = Expr::Of(slice[kNumbers * d]).Plus(at.index[d], slice[kNumbers * d + 2]);
  Access moved = Moved(at, operand, at.index);
  Push(std::move(operand), std::move(moved));
}

void Reads::VisitTranspose(const BodyNode& node, Access at) {
  Bodies::Source operand = bodies_.Operand(node, 0);
  const std::span<const int64_t> from = Numbers(node, AttributeKey::kDimensions);
  std::vector<Expr> index(at.index.size());
  is_complete_ = from.size() == at.index.size();
  for (size_t d = 0; d < from.size() && is_complete_; ++d) {
    is_complete_ = IsDimension(from[d], index.size());
    if (is_complete_) index[static_cast<size_t>(from[d])] = std::move(at.index[d]);
  }
  if (!is_complete_) return;
  Access moved = Moved(at, operand, std::move(index));
  Push(std::move(operand), std::move(moved));
}

}  // namespace stowplan::check
