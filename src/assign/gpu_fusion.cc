// SPDX-License-Identifier: Apache-2.0
#include "assign/gpu_fusion.h"

#include <algorithm>
#include <utility>

#include "assign/elementwise.h"
#include "base/checked_math.h"
#include "stowplan/hlo/element_type.h"

namespace stowplan {
namespace {

using hlo::AttributeKey;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

constexpr int64_t kWarp = 32;

std::span<const int64_t> MinorToMajor(const hlo::ShapeTable& shapes, ShapeId id) {
  const hlo::LayoutId layout = shapes[id].layout;
  if (layout.is_none()) return {};
  return shapes.layout(layout).minor_to_major;
}

bool IsRowMajor(const hlo::ShapeTable& shapes, ShapeId id) {
  const std::span<const int64_t> order = MinorToMajor(shapes, id);
  return std::ranges::is_sorted(order, std::greater());
}

// Nothing when there are more than 64 bits can count.
std::optional<int64_t> ElementCount(const hlo::ShapeTable& shapes, ShapeId id) {
  return CheckedProduct(shapes.dims(id));
}

std::span<const int64_t> Dimensions(const Module& module, InstrId id) {
  const hlo::Attribute* attribute = module.FindAttribute(id, AttributeKey::kDimensions);
  if (attribute == nullptr) return {};
  return Module::Rows(module.ints, attribute->rows());
}

bool IsPermutation(std::span<const int64_t> numbers, size_t count) {
  std::vector<uint8_t> is_there(count, 0);
  for (const int64_t number : numbers) {
    if (number < 0 || number >= static_cast<int64_t>(count)) return false;
    if (std::exchange(is_there[static_cast<size_t>(number)], 1) != 0) return false;
  }
  return numbers.size() == count;
}

// Whether the elements lie as before.
bool TransposeMovesNothing(const Module& module, InstrId id) {
  const std::span<const int64_t> permutation = Dimensions(module, id);
  const std::span<const int64_t> to = MinorToMajor(module.shapes, module.instructions[id].shape);
  const std::span<const int64_t> from =
      MinorToMajor(module.shapes, module.instructions[module.operands_of(id)[0]].shape);
  if (to.size() != from.size() || permutation.size() != to.size()) return false;
  for (size_t k = 0; k < to.size(); ++k) {
    if (permutation[static_cast<size_t>(to[k])] != from[k]) return false;
  }
  return true;
}

// Elements narrower than a word are moved several at a time, when tiles divide well.
bool IsPacked(std::vector<int64_t> dims, std::vector<int64_t> permutation, int64_t bits) {
  if (bits >= 32 || bits <= 0) return false;
  const auto insert_one = [&](size_t at) {
    for (int64_t& from : permutation) from += from >= static_cast<int64_t>(at) ? 1 : 0;
    permutation.insert(permutation.begin() + static_cast<std::ptrdiff_t>(at),
                       static_cast<int64_t>(at));
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), 1);
  };
  const auto is_moved = [&](size_t k) { return permutation[k] != static_cast<int64_t>(k); };
  if (is_moved(dims.size() - 1)) insert_one(dims.size());
  if (dims.size() >= 3 && is_moved(dims.size() - 3)) insert_one(dims.size() - 2);
  const size_t n = dims.size();
  if (n < 3) return false;
  std::vector<int64_t> operand(n);
  for (size_t k = 0; k < n; ++k) operand[static_cast<size_t>(permutation[k])] = dims[k];
  const int64_t vector = 32 / bits;
  const int64_t most = kWarp * vector;
  const int64_t t1 = std::min(operand[n - 2], most);
  const int64_t a = std::min(operand[n - 3], most / std::max<int64_t>(t1, 1));
  const int64_t full_t2 = operand[static_cast<size_t>(permutation[n - 2])];
  const int64_t t2 = std::min(full_t2, most);
  return t2 > 0 && a * t1 >= 10 * vector && t2 >= 10 * vector && operand[n - 1] == 1 &&
         t2 % vector == 0 && (a * t1) % vector == 0 && (full_t2 % t2) % vector == 0;
}

}  // namespace

std::optional<std::string_view> FindJsonField(std::string_view json, std::string_view key) {
  for (size_t at = json.find(key); at != std::string_view::npos; at = json.find(key, at + 1)) {
    if (at == 0 || json[at - 1] != '"' || !json.substr(at + key.size()).starts_with('"')) continue;
    const size_t value = json.find_first_not_of(" \t\n:", at + key.size() + 1);
    if (value == std::string_view::npos) return std::nullopt;
    return json.substr(value);
  }
  return std::nullopt;
}

const GpuFusion& GpuFusions::Of(InstrId fusion) {
  const auto [row, is_new] = known_.try_emplace(fusion);
  if (is_new) row->second = Analyze(fusion);
  return row->second;
}

bool GpuFusions::IsIntermediate(InstrId id, size_t max_operands) const {
  const std::span<const InstrId> operands = module_.operands_of(id);
  if (operands.empty() || operands.size() > max_operands) return false;
  const ShapeId shape = module_.instructions[id].shape;
  const ShapeId from = module_.instructions[operands[0]].shape;
  switch (module_.instructions[id].opcode) {
    case Opcode::kBitcast:
      return true;
    case Opcode::kCopy:
      return shape == from;
    case Opcode::kReshape:
      return IsRowMajor(module_.shapes, shape) && IsRowMajor(module_.shapes, from);
    case Opcode::kTranspose:
      return TransposeMovesNothing(module_, id);
    default:
      return IsElementwise(module_, id);
  }
}

std::optional<GpuFusions::Transpose> GpuFusions::TiledTranspose(InstrId id) const {
  if (module_.instructions[id].opcode != Opcode::kTranspose) return std::nullopt;
  const ShapeId shape = module_.instructions[id].shape;
  const ShapeId from = module_.instructions[module_.operands_of(id)[0]].shape;
  if (!IsRowMajor(module_.shapes, shape) || !IsRowMajor(module_.shapes, from)) return std::nullopt;
  const std::span<const int64_t> dims = module_.shapes.dims(shape);
  const std::span<const int64_t> permutation = Dimensions(module_, id);
  const std::span<const int64_t> from_dims = module_.shapes.dims(from);
  if (from_dims.size() != dims.size() || !IsPermutation(permutation, dims.size()))
    return std::nullopt;
  // Dimensions of one element do not count; those that stay neighbours are one.
  std::vector<int64_t> rank_of(dims.size(), -1);  // of the operand's dimensions, without ones
  int64_t rank = 0;
  for (size_t k = 0; k < from_dims.size(); ++k) {
    if (from_dims[k] != 1) rank_of[k] = rank++;
  }
  std::vector<int64_t> merged;
  std::vector<int64_t> firsts;  // of each merged dimension, its first rank in the operand
  int64_t last = -2;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k] == 1) continue;
    const int64_t source = rank_of[static_cast<size_t>(permutation[k])];
    if (source == last + 1 && !merged.empty()) {
      merged.back() = SaturatingMultiply(merged.back(), dims[k]);
    } else {
      merged.push_back(dims[k]);
      firsts.push_back(source);
    }
    last = source;
  }
  const size_t n = merged.size();
  if (n < 2) return std::nullopt;
  Transpose transpose = {.dims = merged, .permutation = {}};
  for (const int64_t first : firsts)
    transpose.permutation.push_back(
        std::ranges::count_if(firsts, [&](int64_t f) { return f < first; }));
  std::vector<int64_t> operand(n);
  for (size_t k = 0; k < n; ++k) operand[static_cast<size_t>(transpose.permutation[k])] = merged[k];
  const int64_t bits = hlo::BitWidth(module_.shapes[shape].type);
  if (IsPacked(transpose.dims, transpose.permutation, bits)) return transpose;
  if (transpose.permutation[n - 1] == static_cast<int64_t>(n - 1)) {
    const int64_t row = SaturatingMultiply(bits, merged[n - 1]);
    const int64_t rows = std::min(operand[n - 2], merged[n - 2]);
    if (row <= 64 && SaturatingMultiply(row, rows) >= 128) return transpose;
    return std::nullopt;
  }
  const int64_t a = operand[n - 1];
  const int64_t b = merged[n - 1];
  if (bits != 4 && ((a >= 16 && b >= 16) || (a >= 8 && b >= 8 && SaturatingMultiply(a, b) >= 8192)))
    return transpose;
  return std::nullopt;
}

// The one tiled transpose, or the one concatenate, on the way from `from` to the fusion's
// parameters, when all that follows it is simple; none otherwise.
InstrId GpuFusions::FindOnly(InstrId from, bool is_transpose) const {
  const hlo::Computation& body = module_.computations[module_.instructions[from].parent];
  const auto offset = [&](InstrId id) { return id.index - body.first.index; };
  std::vector<uint8_t> is_seen(body.count, 0);
  std::vector<InstrId> queue = {from};
  is_seen[offset(from)] = 1;
  InstrId found;
  for (size_t next = 0; next < queue.size(); ++next) {
    const InstrId id = queue[next];
    const bool is_hero = is_transpose ? TiledTranspose(id).has_value()
                                      : module_.instructions[id].opcode == Opcode::kConcatenate;
    if (is_hero) {
      if (!found.is_none()) return {};
      found = id;
      continue;
    }
    if (!IsIntermediate(id, 3)) continue;
    for (const InstrId operand : module_.operands_of(id)) {
      if (module_.instructions[operand].opcode == Opcode::kParameter) continue;
      if (std::exchange(is_seen[offset(operand)], 1) == 0) queue.push_back(operand);
    }
  }
  if (found.is_none()) return found;
  queue = {found};
  std::ranges::fill(is_seen, 0);
  for (size_t next = 0; next < queue.size(); ++next) {
    for (const InstrId user : orders_.users_of(queue[next])) {
      if (user == body.root && module_.instructions[user].opcode == Opcode::kTuple) continue;
      if (!IsIntermediate(user, 3)) return {};
      if (std::exchange(is_seen[offset(user)], 1) == 0) queue.push_back(user);
    }
  }
  return found;
}

InstrId GpuFusions::FindHero(InstrId root) const {
  InstrId hero = root;
  while (IsIntermediate(hero, 1) &&
         module_.instructions[module_.operands_of(hero)[0]].opcode != Opcode::kParameter)
    hero = module_.operands_of(hero)[0];
  for (const bool is_transpose : {true, false}) {
    if (const InstrId found = FindOnly(hero, is_transpose); !found.is_none()) return found;
  }
  return module_.instructions[hero].opcode == Opcode::kReduce ? hero : root;
}

std::optional<GpuFusions::Reduction> GpuFusions::RealReduction(InstrId root, InstrId hero) const {
  if (module_.instructions[hero].opcode != Opcode::kReduce) return std::nullopt;
  const ShapeId operand = module_.instructions[module_.operands_of(hero)[0]].shape;
  const std::span<const int64_t> dims = module_.shapes.dims(operand);
  std::vector<uint8_t> is_reduced(dims.size(), 0);
  for (const int64_t dim : Dimensions(module_, hero)) {
    if (dim >= 0 && dim < static_cast<int64_t>(dims.size()))
      is_reduced[static_cast<size_t>(dim)] = 1;
  }
  // Runs of kept and of reduced dimensions, as they lie in memory.
  struct Run {
    bool is_reduced;
    int64_t size;
  };
  std::vector<Run> runs;
  const std::span<const int64_t> order = MinorToMajor(module_.shapes, operand);
  for (size_t k = order.size(); k-- != 0;) {
    const auto dim = static_cast<size_t>(order[k]);
    if (dim >= dims.size()) return std::nullopt;
    const bool reduced = is_reduced[dim] != 0;
    if (runs.empty() || runs.back().is_reduced != reduced) runs.push_back({reduced, 1});
    runs.back().size = SaturatingMultiply(runs.back().size, dims[dim]);
  }
  const auto count = [&](bool reduced) {
    return std::ranges::count(runs, reduced, &Run::is_reduced);
  };
  const auto around = [&](bool middle) {  // products before, of, and behind the one middle run
    Reduction split;
    int part = 0;
    split.sizes[0] = split.sizes[1] = split.sizes[2] = 1;
    for (const Run& run : runs) {
      if (run.is_reduced == middle) {
        split.sizes[1] = run.size;
        part = 2;
      } else {
        split.sizes[part] = run.size;
      }
    }
    return split;
  };
  Reduction reduction;
  if (count(false) == 0) {
    reduction = {true, {1, 1, runs.empty() ? 1 : runs[0].size}};
  } else if (count(false) == 1) {
    const auto [major, kept, minor] = around(false).sizes;
    if (kept == 1) {
      reduction = {true, {1, 1, SaturatingMultiply(major, minor)}};
    } else if (minor == 1) {
      reduction = {false, {1, major, kept}};
    } else {
      reduction = {true, {major, kept, minor}};
    }
  } else if (count(true) == 1) {
    const auto [major, reduced, minor] = around(true).sizes;
    if (minor == 1) {
      reduction = {true, {1, major, reduced}};
    } else {
      reduction = {false, {major, reduced, minor}};
    }
  } else {
    return std::nullopt;
  }
  const auto [x, y, z] = reduction.sizes;
  if (reduction.is_row) {
    if (!(z >= kWarp || (z > 0 && kWarp % z == 0))) return std::nullopt;
    if (hero != root && !(z <= 16384 && x <= 8)) return std::nullopt;
  } else {
    if (y < 32 || (y < 64 && z < 32) || (y < 128 && z < 8) || (y < 256 && z < 3))
      return std::nullopt;
    if (hero != root && y > 4096) return std::nullopt;
  }
  return reduction;
}

InstrId GpuFusions::FindReduction(const GpuFusion& fusion) const {
  std::optional<Reduction> first;
  InstrId hero;
  for (size_t k = 0; k < fusion.roots.size() && !first; ++k) {
    first = RealReduction(fusion.roots[k], fusion.heroes[k]);
    hero = fusion.heroes[k];
  }
  if (!first) return {};
  const std::optional<int64_t> elements =
      ElementCount(module_.shapes, module_.instructions[module_.operands_of(hero)[0]].shape);
  for (size_t k = 0; k < fusion.roots.size(); ++k) {
    if (fusion.roots[k] == hero) continue;
    const std::optional<Reduction> other = RealReduction(fusion.roots[k], fusion.heroes[k]);
    if (other
            ? *other != *first
            : ElementCount(module_.shapes, module_.instructions[fusion.roots[k]].shape) != elements)
      return {};
  }
  return hero;
}

bool GpuFusions::IsTranspose(const GpuFusion& fusion) const {
  std::optional<Transpose> first;
  ShapeId operand;
  for (const InstrId hero : fusion.heroes) {
    std::optional<Transpose> transpose = TiledTranspose(hero);
    if (!transpose) continue;
    if (first && *first != *transpose) return false;
    operand = module_.instructions[module_.operands_of(hero)[0]].shape;
    first = std::move(transpose);
  }
  if (!first) return false;
  for (size_t k = 0; k < fusion.roots.size(); ++k) {
    if (TiledTranspose(fusion.heroes[k])) continue;
    const ShapeId shape = module_.instructions[fusion.roots[k]].shape;
    if (ElementCount(module_.shapes, shape) != ElementCount(module_.shapes, operand) ||
        !IsRowMajor(module_.shapes, shape))
      return false;
  }
  return true;
}

GpuFusion GpuFusions::Analyze(InstrId id) const {
  GpuFusion fusion;
  const std::span<const hlo::CompId> called = module_.called_by(id);
  if (called.empty()) return fusion;
  std::vector<InstrId> pending = {module_.computations[called[0]].root};
  while (!pending.empty()) {
    const InstrId root = pending.back();
    pending.pop_back();
    if (module_.instructions[root].opcode == Opcode::kTuple) {
      const std::span<const InstrId> operands = module_.operands_of(root);
      pending.insert(pending.end(), operands.rbegin(), operands.rend());
    } else {
      fusion.roots.push_back(root);
    }
  }
  for (const InstrId root : fusion.roots) fusion.heroes.push_back(FindHero(root));
  if (const hlo::Attribute* config = module_.FindAttribute(id, AttributeKey::kBackendConfig)) {
    const std::string_view kind =
        FindJsonField(module_.view(config->text()), "kind").value_or(std::string_view());
    if (kind.starts_with("\"__custom_fusion\"") || kind.starts_with("\"__triton") ||
        kind.starts_with("\"__cudnn$fusion\""))
      return fusion;
  }
  fusion.reduction = FindReduction(fusion);
  if (!fusion.reduction.is_none() || IsTranspose(fusion)) return fusion;
  // A plain loop computes each output by itself. Other fusions of one output have a hero, too, but
  // who asks for heroes compares those of several outputs.
  fusion.heroes = fusion.roots;
  return fusion;
}

}  // namespace stowplan
