// SPDX-License-Identifier: Apache-2.0
// Which elements of its operands an instruction reads, for which elements of its result.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "check/bodies.h"
#include "check/index_map.h"
#include "stowplan/hlo/module.h"

namespace stowplan::check {

// An element of a part of an operand.
struct ElementRead {
  uint32_t operand = 0;
  std::vector<int64_t> index;  // of the part
  Access access;
};

class Reads {
 public:
  Reads(const hlo::Module& module, hlo::InstrId user)
      : module_(module), bodies_(module, user), maps_(module.shapes, variables_) {}

  [[nodiscard]] Bodies& bodies() { return bodies_; }
  [[nodiscard]] IndexMaps& maps() { return maps_; }
  [[nodiscard]] Variables& variables() { return variables_; }

  // Where a walk may leave what it was looking for: true when the visitor takes care of the node.
  using Visitor = std::function<bool(const BodyNode& node)>;

  // All that is read for the elements `access` of `source`. False when that is too much, or not
  // known; then `out` lacks some.
  [[nodiscard]] bool Walk(Bodies::Source source, Access access, std::vector<ElementRead>& out,
                          const Visitor& visitor = nullptr);

  // Where a slice begins, in each dimension: the offsets of a dynamic-slice (from operand 1 on) or
  // of a dynamic-update-slice (from operand 2 on), moved inside as they are when it is executed.
  [[nodiscard]] std::vector<Expr> Starts(const BodyNode& node);

  // Offsets that are one number, moved into [0, low] and into [0, high], low < high.
  struct Twins {
    Var low = 0;
    Var high = 0;
  };
  [[nodiscard]] std::vector<Twins> FindTwins() const;

 private:
  struct Step {
    Bodies::Source source;
    uint32_t access = 0;
  };
  static constexpr uint32_t kWhole = UINT32_MAX;  // all of it, whatever it is

  void Push(Bodies::Source source, Access access);
  void PushSame(Bodies::Source source, uint32_t access);
  void PushWhole(Bodies::Source source);
  // The same for what is not one number of few.
  void PushMany(Bodies::Source source, bool is_certain = true);
  void Record(const Bodies::Leaf& leaf, hlo::ShapeId shape, uint32_t access,
              std::vector<ElementRead>& out);

  // What `node` reads for the element `at` of the part of its result.
  void Visit(const Step& step);
  void VisitArray(const Step& step, uint32_t access);
  // The access with an index into another array of the same bytes; nothing if there is none.
  [[nodiscard]] std::optional<uint32_t> SeenAs(uint32_t access, hlo::ShapeId shape);
  void VisitByElement(const BodyNode& node, uint32_t access);
  void VisitBitcastConvert(const BodyNode& node, Access at);
  void VisitBroadcast(const BodyNode& node, Access at);
  void VisitConcatenate(const BodyNode& node, const Access& at);
  void VisitDot(const BodyNode& node, const Access& at);
  void VisitDynamicSlice(const BodyNode& node, Access at);
  void VisitGather(const BodyNode& node, const Access& at);
  void VisitPad(const BodyNode& node, Access at);
  void VisitReduce(const BodyNode& node, const Access& at);
  void VisitReduceWindow(const BodyNode& node, const Access& at);
  void VisitReshape(const BodyNode& node, Access at);
  void VisitReverse(const BodyNode& node, Access at);
  void VisitScatter(const Step& step, const Access& at);
  void VisitSlice(const BodyNode& node, Access at);
  void VisitSort(const BodyNode& node, const Access& at);
  void VisitTranspose(const BodyNode& node, Access at);
  void VisitUpdate(const BodyNode& node, const Access& at);
  void VisitOther(const BodyNode& node);

  [[nodiscard]] std::span<const int64_t> Numbers(const BodyNode& node, hlo::AttributeKey key) const;
  [[nodiscard]] std::span<const int64_t> DimsOf(const Bodies::Source& source) const {
    return module_.shapes.dims(bodies_.ShapeOf(source));
  }
  // The access with another index, into the array `source`.
  [[nodiscard]] Access Moved(const Access& at, const Bodies::Source& source,
                             std::vector<Expr> index) const;
  // The same for one of many.
  [[nodiscard]] Access OneOfMany(const Access& at, const Bodies::Source& source,
                                 std::vector<Expr> index) const {
    Access moved = Moved(at, source, std::move(index));
    moved.is_one_of_many = true;
    return moved;
  }
  [[nodiscard]] Expr NewVariable(int64_t size) {
    return size == 1 ? Expr() : Expr::OfVar(variables_.Add({0, size - 1}));
  }
  // The offset with this value, moved into [0, bound].
  [[nodiscard]] Expr Offset(const Bodies::Source& source, size_t element, int64_t bound);

  const hlo::Module& module_;
  Bodies bodies_;
  Variables variables_;
  IndexMaps maps_;
  std::map<std::tuple<uint32_t, size_t, int64_t>, Var> offsets_;  // by value, element, bound

  // Of the walk under way.
  std::vector<Step> stack_;
  std::vector<Access> accesses_;
  std::set<std::tuple<BodyNode, std::vector<int64_t>, uint32_t>> seen_;
  std::set<std::tuple<BodyNode, std::vector<int64_t>, int>> wholes_;
  // Accesses made of others: seen as another array of the same bytes; of the same index.
  std::map<std::pair<uint32_t, hlo::ShapeId>, uint32_t> views_;
  std::map<std::pair<uint32_t, hlo::ShapeId>, uint32_t> same_;
  bool is_complete_ = true;
};

}  // namespace stowplan::check
