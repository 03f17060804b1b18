// SPDX-License-Identifier: Apache-2.0
// Each condition and each number here changes the plan of some program of the corpus, except where
// a comment says otherwise; docs/assignment.md names the programs.
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

// A transposition whose dimensions that stay neighbours have become one. Dimensions of one element
// and layouts other than the default are not treated apart: no plan of the corpus depends on them.
struct Transposition {
  std::vector<int64_t> dims;         // of the result
  std::vector<int64_t> permutation;  // dims[k] is the operand's dimension permutation[k]
};

Transposition Merge(std::span<const int64_t> dims, std::span<const int64_t> permutation) {
  Transposition merged;
  std::vector<int64_t> firsts;  // of each merged dimension, its first one in the operand
  for (size_t k = 0; k < dims.size(); ++k) {
    if (k != 0 && permutation[k] == permutation[k - 1] + 1) {
      merged.dims.back() = SaturatingMultiply(merged.dims.back(), dims[k]);
    } else {
      merged.dims.push_back(dims[k]);
      firsts.push_back(permutation[k]);
    }
  }
  for (const int64_t first : firsts)
    merged.permutation.push_back(
        std::ranges::count_if(firsts, [&](int64_t f) { return f < first; }));
  return merged;
}

// Elements narrower than a word are moved several at a time, if enough of them come from side by
// side and go side by side, and none is left over.
bool IsPacked(int64_t from, int64_t to, int64_t bits) {
  if (bits >= 32 || bits <= 0) return false;
  const int64_t vector = 32 / bits;
  return std::min(from, to) >= 10 * vector && from % vector == 0 && to % vector == 0;
}

bool IsTiled(const Transposition& transposition, int64_t bits) {
  const std::vector<int64_t>& dims = transposition.dims;
  const size_t n = dims.size();
  if (n < 2) return false;
  const int64_t last = dims[n - 1];
  const auto stays = [&](size_t k) {
    return transposition.permutation[k] == static_cast<int64_t>(k);
  };
  if (stays(n - 1)) {
    const int64_t row = SaturatingMultiply(bits, last);
    return row <= 64 && SaturatingMultiply(row, dims[n - 2]) >= 128;
  }
  const auto at = std::ranges::find(transposition.permutation, static_cast<int64_t>(n - 1));
  const int64_t from = dims[static_cast<size_t>(at - transposition.permutation.begin())];
  // A dimension before the last one counts with it where it stays. No dump shows one that moves.
  if (IsPacked(stays(n - 2) ? SaturatingMultiply(from, dims[n - 2]) : from, last, bits))
    return true;
  const int64_t shorter = std::min(from, last);
  return shorter >= 16 || (shorter >= 8 && SaturatingMultiply(from, last) >= 8192);
}

bool IsTiledTransposition(const Module& module, InstrId id) {
  if (module.instructions[id].opcode != Opcode::kTranspose) return false;
  const ShapeId shape = module.instructions[id].shape;
  const std::span<const int64_t> dims = module.shapes.dims(shape);
  const std::span<const int64_t> permutation = Dimensions(module, id);
  return IsPermutation(permutation, dims.size()) &&
         IsTiled(Merge(dims, permutation), hlo::BitWidth(module.shapes[shape].type));
}

// What leaves each element in its place. Bitcasts are here for soundness: a transposition after
// one is done in tiles all the same.
bool IsIntermediate(const Module& module, InstrId id) {
  return module.instructions[id].opcode == Opcode::kBitcast || IsElementwise(module, id);
}

// Whether there is one tiled transposition, and not several, on the ways from the fusion's
// parameters to the output that are simple from there on.
bool HasTiledTransposition(const Module& module, InstrId root) {
  const hlo::Computation& body = module.computations[module.instructions[root].parent];
  const auto offset = [&](InstrId id) { return id.index - body.first.index; };
  std::vector<uint8_t> is_seen(body.count, 0);
  std::vector<InstrId> queue = {root};
  is_seen[offset(root)] = 1;
  int count = 0;
  for (size_t next = 0; next < queue.size(); ++next) {
    const InstrId id = queue[next];
    if (IsTiledTransposition(module, id)) {
      ++count;
    } else if (IsIntermediate(module, id)) {
      for (const InstrId operand : module.operands_of(id)) {
        if (std::exchange(is_seen[offset(operand)], 1) == 0) queue.push_back(operand);
      }
    }
  }
  return count == 1;
}

// The reduction that the output is, or that it is made of alone; none otherwise.
InstrId FindReduction(const Module& module, InstrId root) {
  InstrId id = root;
  while (IsIntermediate(module, id) && module.operands_of(id).size() == 1)
    id = module.operands_of(id)[0];
  return module.instructions[id].opcode == Opcode::kReduce ? id : InstrId();
}

// Triton, cuDNN and custom fusions. Nothing is known about the order in which they read and write.
// No program of the corpus has one with several outputs; soundness asks for this.
bool IsKernelOfItsOwn(const Module& module, InstrId fusion) {
  const hlo::Attribute* config = module.FindAttribute(fusion, AttributeKey::kBackendConfig);
  if (config == nullptr) return false;
  return FindJsonField(module.view(config->text()), "kind")
      .value_or(std::string_view())
      .starts_with("\"__");
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
  for (const InstrId root : fusion.roots)
    fusion.is_transposed.push_back(HasTiledTransposition(module_, root) ? 1 : 0);
  if (IsKernelOfItsOwn(module_, id)) return fusion;
  for (size_t k = 0; k < fusion.roots.size() && fusion.reduction.is_none(); ++k)
    fusion.reduction = FindReduction(module_, fusion.roots[k]);
  return fusion;
}

}  // namespace stowplan
