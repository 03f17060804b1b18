// SPDX-License-Identifier: Apache-2.0
#include "fit/shrink_fusions.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "fit/loop_draft.h"

namespace stowplan::fit {
namespace {

using hlo::Attribute;
using hlo::AttributeKey;
using hlo::CompId;
using hlo::Draft;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

int64_t IndexOf(const Draft::Row& row) {
  for (const Attribute& attribute : row.attributes) {
    if (attribute.key == AttributeKey::kIndex) return attribute.number();
  }
  return -1;
}

class Shrinker {
 public:
  Shrinker(const Module& module, CompId computation, Draft& draft)
      : module_(module), computation_(computation), draft_(draft) {}

  bool Run() {
    FindReaders();
    bool is_changed = false;
    for (const auto& [fusion, elements] : readers_) {
      if (!CanShrink(fusion, elements)) continue;
      Shrink(fusion, elements);
      is_changed = true;
    }
    std::vector<InstrId> kept = draft_.part(computation_).rows;
    std::erase_if(kept, [&](InstrId id) { return gone_.contains(id); });
    draft_.KeepOnly(computation_, kept);
    return is_changed;
  }

 private:
  using Elements = std::map<int64_t, std::vector<InstrId>>;  // by element: who gets it

  // Of all fusions that yield tuples. New rows are found through those who read them.
  void FindReaders() {
    std::vector<InstrId> open = draft_.part(computation_).rows;
    std::set<InstrId> seen(open.begin(), open.end());
    other_.insert(draft_.part(computation_).root);
    for (size_t k = 0; k < open.size(); ++k) {
      const bool is_element = draft_.row(open[k]).head.opcode == Opcode::kGetTupleElement;
      for (const InstrId operand : draft_.row(open[k]).operands) {
        if (seen.insert(operand).second) open.push_back(operand);
        if (draft_.row(operand).head.opcode != Opcode::kFusion) continue;
        if (is_element) {
          readers_[operand][IndexOf(draft_.row(open[k]))].push_back(open[k]);
        } else {
          other_.insert(operand);
        }
      }
    }
  }

  [[nodiscard]] bool CanShrink(InstrId fusion, const Elements& elements) const {
    const Draft::Row& row = draft_.row(fusion);
    if (other_.contains(fusion) || !IsPlainFusion(module_, row.original) || !row.waits_for.empty())
      return false;
    const CompId part = draft_.CalledBy(fusion)[0];
    const Draft::Row& root = draft_.row(draft_.part(part).root);
    const auto count = std::ssize(root.operands);
    const bool is_aliased = std::ranges::any_of(row.attributes, [](const Attribute& attribute) {
      return attribute.key == AttributeKey::kOutputToOperandAliasing;
    });
    return !is_aliased && root.head.opcode == Opcode::kTuple && std::ssize(elements) < count &&
           elements.begin()->first >= 0 && elements.rbegin()->first < count;
  }

  void Shrink(InstrId fusion, const Elements& elements) {
    const auto callers = std::ranges::count(module_.called, draft_.CalledBy(fusion)[0]);
    if (!draft_.row(fusion).is_new && callers > 1) draft_.Separate(fusion);
    const CompId part = draft_.CalledBy(fusion)[0];
    const InstrId root = draft_.part(part).root;
    std::vector<InstrId> operands;
    std::vector<hlo::ShapeId> shapes;
    for (const auto& [element, readers] : elements) {
      for (const InstrId reader : readers)
        SetNumber(draft_.row(reader), AttributeKey::kIndex, std::ssize(operands));
      operands.push_back(draft_.row(root).operands[static_cast<size_t>(element)]);
      shapes.push_back(draft_.row(operands.back()).head.shape);
    }
    Forget(draft_.row(fusion), AttributeKey::kBackendConfig);
    if (operands.size() == 1) {
      draft_.part(part).root = operands[0];
      draft_.row(fusion).head.shape = shapes[0];
      for (const InstrId reader : elements.begin()->second) {
        draft_.Replace(computation_, reader, fusion);
        gone_.insert(reader);
      }
    } else {
      const hlo::ShapeId shape = draft_.shapes().AddTuple(shapes);
      draft_.row(root).head.shape = shape;
      draft_.row(root).operands = std::move(operands);
      draft_.row(fusion).head.shape = shape;
    }
    Prune(draft_, fusion, part);
  }

  const Module& module_;
  const CompId computation_;
  Draft& draft_;
  std::map<InstrId, Elements> readers_;  // by fusion: those that get elements of its tuple
  std::set<InstrId> other_;              // fusions that are read as a whole
  std::set<InstrId> gone_;               // elements that are the fusion itself now
};

}  // namespace

bool ShrinkFusions(const Module& module, CompId computation, Draft& draft) {
  return Shrinker(module, computation, draft).Run();
}

}  // namespace stowplan::fit
