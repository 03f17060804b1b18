// SPDX-License-Identifier: Apache-2.0
#include "fit/save_fewer.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "fit/loop_draft.h"
#include "fit/shrink_fusions.h"
#include "hlo/draft.h"
#include "order/effects.h"

namespace stowplan::fit {
namespace {

using hlo::Attribute;
using hlo::AttributeKey;
using hlo::CompId;
using hlo::Draft;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

// The largest element of its tuple that a loop's configuration mentions; -1 if none.
int64_t MentionedElement(const Module& module, InstrId loop) {
  const Attribute* config = module.FindAttribute(loop, AttributeKey::kBackendConfig);
  if (config == nullptr) return -1;
  const std::string_view text = module.view(config->text());
  int64_t most = -1;
  for (size_t at = text.find("tuple_index"); at != std::string_view::npos;
       at = text.find("tuple_index", at + 1)) {
    const size_t digits = text.find_first_of("0123456789", at);
    if (digits == std::string_view::npos) break;
    int64_t element = 0;
    std::from_chars(text.data() + digits, text.data() + text.size(), element);
    most = std::max(most, element);
  }
  return most;
}

// One of the two loops, as it is changed.
struct ChangedLoop {
  InstrId loop;
  CompId body;
  CompId condition;
  InstrId init;
  InstrId parameter;
  InstrId root;
  std::set<int64_t> dropped;            // elements
  std::vector<InstrId> added_init;      // further elements: in the parent
  std::vector<InstrId> added_elements;  // in the body
  std::vector<InstrId> added_next;      // in the body, for the next trip

  ChangedLoop(const Module& module, InstrId id)
      : loop(id),
        body(module.called_by(id)[0]),
        condition(module.called_by(id)[1]),
        init(module.operands_of(id)[0]),
        parameter(module.parameters_of(body)[0]),
        root(module.computations[body].root) {}
};

class Saver {
 public:
  Saver(const Module& module, const LoopPair& pair, const LoopValues& values,
        const SavedStacks& saved)
      : module_(module),
        pair_(pair),
        values_(values),
        saved_(saved),
        draft_(module),
        forward_(module, pair.forward),
        backward_(module, pair.backward),
        is_handed_on_(FindUnchanged(module, pair.forward)),
        is_unchanged_(FindUnchanged(module, pair.backward)),
        callers_(module.computations.size(), 0),
        effects_(order::FindEffects(module)) {
    for (const CompId callee : module.called) ++callers_[callee.index];
  }

  std::optional<SavedFewer> Run() && {
    if (!IsPossible()) return std::nullopt;
    FindTemplates();
    for (uint32_t s = 0; s < pair_.stacks.size(); ++s) {
      if (saved_.is_kept[s] != 0) continue;
      forward_.dropped.insert(pair_.stacks[s].written);
      backward_.dropped.insert(pair_.stacks[s].read);
      if (!Compute(values_.ValueOf(s))) return std::nullopt;
    }
    ReplaceReads();
    KeepOrder(forward_, is_handed_on_);
    KeepOrder(backward_, is_unchanged_);
    Change(forward_);
    Change(backward_);
    for (const CompId computation :
         {forward_.body, backward_.body, forward_.condition, backward_.condition,
          module_.instructions[pair_.forward].parent}) {
      DropUnneeded(draft_, module_, computation, effects_);
      if (ShrinkFusions(module_, computation, draft_))
        DropUnneeded(draft_, module_, computation, effects_);
    }
    SavedFewer fewer;
    std::optional<Module> built = draft_.Build(fewer.origins);
    if (!built) return std::nullopt;
    fewer.module = *std::move(built);
    fewer.repetitions = std::move(repetitions_);
    return fewer;
  }

 private:
  [[nodiscard]] bool IsPossible() const {
    int64_t written = std::numeric_limits<int64_t>::max();
    int64_t read = written;
    for (uint32_t s = 0; s < pair_.stacks.size(); ++s) {
      if (saved_.is_kept[s] != 0) continue;
      written = std::min(written, pair_.stacks[s].written);
      read = std::min(read, pair_.stacks[s].read);
    }
    // Elements that are mentioned must keep their numbers.
    return written > MentionedElement(module_, pair_.forward) &&
           read > MentionedElement(module_, pair_.backward) &&
           module_.instructions[pair_.forward].parent ==
               module_.instructions[pair_.backward].parent;
  }
  // Some get-tuple-element of each loop and of its tuple; all loops have them.
  void FindTemplates() {
    for (const CompId computation :
         {forward_.body, backward_.body, module_.instructions[pair_.forward].parent}) {
      for (const InstrId id : draft_.part(computation).rows) {
        if (module_.instructions[id].opcode != Opcode::kGetTupleElement) continue;
        const InstrId tuple = module_.operands_of(id)[0];
        if (tuple != forward_.parameter && tuple != backward_.parameter && tuple != pair_.forward)
          continue;
        elements_[{tuple, module_.NumberOr(id, AttributeKey::kIndex, -1)}] = id;
        some_element_[tuple] = id;
      }
    }
  }

  // ---- values in the backward body ----

  // The row of a value in the backward body, with all that it needs.
  bool Compute(uint32_t wanted) {
    std::vector<uint32_t> open = {wanted};
    while (!open.empty()) {
      const uint32_t v = open.back();
      if (made_.contains(v)) {
        open.pop_back();
        continue;
      }
      bool is_ready = true;
      if (KeptStackOf(v) == kNone && !IsAdded(v) &&
          values_.values()[v].kind == LoopValue::Kind::kComputed) {
        for (const uint32_t input : values_.values()[v].inputs) {
          if (made_.contains(input)) continue;
          open.push_back(input);
          is_ready = false;
        }
      }
      if (!is_ready) continue;
      const InstrId row = Make(v);
      if (row.is_none()) return false;
      made_[v] = row;
      open.pop_back();
    }
    return true;
  }
  [[nodiscard]] uint32_t KeptStackOf(uint32_t v) const {
    for (const uint32_t s : values_.values()[v].stacks) {
      if (saved_.is_kept[s] != 0) return s;
    }
    return kNone;
  }
  [[nodiscard]] bool IsAdded(uint32_t v) const {
    return std::ranges::binary_search(saved_.added, v);
  }
  InstrId Make(uint32_t v) {
    const LoopValue& value = values_.values()[v];
    if (IsAdded(v)) return AddStack(value.id);
    if (const uint32_t s = KeptStackOf(v); s != kNone) {
      const InstrId slice = SliceOf(s);
      return value.is_slice ? slice : Cast(slice, module_.instructions[value.id].shape, s);
    }
    switch (value.kind) {
      case LoopValue::Kind::kConstant:
        return draft_.AddCopyOf(value.id, backward_.body, {});
      case LoopValue::Kind::kUnchanged:
        return Unchanged(value.element);
      case LoopValue::Kind::kCounter:
        return Counter(*values_.SourceOf(value.element));
      case LoopValue::Kind::kComputed:
        return value.is_slice ? MakeSlice(pair_.stacks[value.stacks[0]]) : MakeAgain(value.id);
      case LoopValue::Kind::kOther:
        return {};
    }
    return {};
  }
  // The same bytes in another shape.
  InstrId Cast(InstrId row, ShapeId shape, uint32_t stack) {
    if (draft_.row(row).head.shape == shape) return row;
    const InstrId bitcast = values_.BitcastOf(stack);
    if (bitcast.is_none()) return {};
    return CopyAs(bitcast, shape, {row});
  }
  InstrId CopyAs(InstrId original, ShapeId shape, std::vector<InstrId> operands) {
    const InstrId row = draft_.AddCopyOf(original, backward_.body, std::move(operands));
    draft_.row(row).head.shape = shape;
    return row;
  }

  // What an instruction of the forward body reads, in the backward body.
  std::vector<InstrId> OperandsAgain(InstrId reader) {
    std::vector<InstrId> operands;
    for (InstrId operand : module_.operands_of(reader)) {
      const auto made = made_.find(values_.ValueOf(operand));
      InstrId row = made == made_.end() ? InstrId() : made->second;
      const ShapeId shape = module_.instructions[operand].shape;
      if (!row.is_none() && draft_.row(row).head.shape != shape) {
        // One of its names is a bitcast to this shape.
        while (module_.instructions[operand].opcode == Opcode::kCopy)
          operand = module_.operands_of(operand)[0];
        row = CopyAs(operand, shape, {row});
      }
      operands.push_back(row);
    }
    return operands;
  }
  InstrId MakeAgain(InstrId id) {
    InstrId reader = id;
    InstrId original = id;
    if (module_.instructions[id].opcode == Opcode::kAsyncDone) {
      reader = module_.operands_of(id)[0];
      original = OnlyInstruction(module_, module_.called_by(reader)[0]);
    }
    const InstrId row = draft_.AddCopyOf(original, backward_.body, OperandsAgain(reader));
    draft_.Separate(row);
    repetitions_.push_back(id);
    return row;
  }
  // The slice that an update has written.
  InstrId MakeSlice(const Stack& stack) {
    repetitions_.push_back(stack.update.call);
    return PartOf(stack.update, module_.operands_of(stack.update.id)[1],
                  OperandsAgain(ReadBy(module_, stack.update)));
  }
  // A fusion of the same computation that yields what `id` in it computes.
  InstrId PartOf(const Inner& inner, InstrId id, std::vector<InstrId> operands) {
    const FusionCopy copy = CopyFusion(draft_, inner.fusion, backward_.body, std::move(operands));
    SetRoot(draft_, copy, copy.Inside(id));
    Prune(draft_, copy.row, copy.part);
    return copy.row;
  }

  // The slice of a stack that is kept, as the backward body reads it.
  InstrId SliceOf(uint32_t s) {
    if (const auto found = slices_.find(s); found != slices_.end()) return found->second;
    const Stack& stack = pair_.stacks[s];
    InstrId row;
    for (const Inner& slice : stack.slices) {
      const bool is_whole =
          slice.fusion.is_none() ||
          module_.computations[module_.called_by(slice.fusion)[0]].root == slice.id;
      if (is_whole && row.is_none()) row = slice.call;
    }
    if (row.is_none()) {
      const Inner& slice = stack.slices[0];
      const auto operands = module_.operands_of(ReadBy(module_, slice));
      row = PartOf(slice, slice.id, {operands.begin(), operands.end()});
    }
    slices_[s] = row;
    return row;
  }
  InstrId Counter(const CounterSource& source) {
    if (source.element >= 0) return ElementOf(backward_.parameter, source.element);
    const Stack& stack = pair_.stacks[source.stack];
    const Inner& slice = stack.slices[source.slice];
    const InstrId start = module_.operands_of(slice.id)[1 + stack.dimension];
    if (slice.fusion.is_none()) return start;
    const auto operands = module_.operands_of(ReadBy(module_, slice));
    if (module_.instructions[start].opcode == Opcode::kParameter)
      return operands[static_cast<size_t>(
          module_.NumberOr(start, AttributeKey::kParameterNumber, 0))];
    return PartOf(slice, start, {operands.begin(), operands.end()});
  }
  // Requires an element of the given module.
  InstrId ElementOf(InstrId tuple, int64_t element) {
    if (const auto found = elements_.find({tuple, element}); found != elements_.end())
      return found->second;
    const ShapeId shape = module_.instructions[tuple].shape;
    return elements_[{tuple, element}] = NewElement(
               tuple, element, module_.shapes.elements(shape)[static_cast<size_t>(element)]);
  }
  InstrId NewElement(InstrId tuple, int64_t element, ShapeId shape) {
    const auto some = some_element_.find(tuple);
    if (some == some_element_.end()) return {};
    const InstrId row = draft_.AddCopyOf(some->second, module_.instructions[tuple].parent, {tuple});
    draft_.row(row).head.shape = shape;
    SetNumber(draft_.row(row), AttributeKey::kIndex, element);
    return row;
  }

  // ---- elements of the loops ----

  // An instruction of the forward body, as the backward body can read it from a new stack.
  InstrId AddStack(InstrId id) {
    const ShapeId shape = module_.instructions[id].shape;
    const auto pattern = FindPattern(module_, pair_, module_.shapes[shape].type);
    if (!pattern) return {};
    // A copy may be read for longer, unless it was made to be overwritten.
    for (const InstrId row : draft_.part(forward_.body).rows) {
      if (row.index < module_.instructions.size() &&
          module_.instructions[row].opcode == Opcode::kCopy &&
          module_.instructions[row].shape == shape && !IsHandedOver(row) &&
          values_.ValueOf(row) == values_.ValueOf(id)) {
        id = row;
        break;
      }
    }
    const ShapeId whole = StackedShape(draft_.shapes(), shape, pattern->trips);
    const auto written = std::ssize(is_handed_on_) + std::ssize(forward_.added_init);
    const InstrId element = NewElement(forward_.parameter, written, whole);
    const InstrId after = NewElement(pair_.forward, written, whole);
    if (element.is_none() || after.is_none()) return {};
    forward_.added_init.push_back(AddInit(draft_, module_, *pattern, shape));
    forward_.added_elements.push_back(element);
    forward_.added_next.push_back(AddUpdate(draft_, module_, *pattern, element, id));
    const InstrId read = HandIn(after);
    return read.is_none() ? read : AddSlice(draft_, module_, *pattern, read, shape);
  }
  // Whether someone may write over what the instruction of the forward body has computed.
  [[nodiscard]] bool IsHandedOver(InstrId id) const {
    return std::ranges::any_of(draft_.part(forward_.body).rows, [&](InstrId row) {
      const Draft::Row& user = draft_.row(row);
      const bool is_other =
          user.head.opcode == Opcode::kTuple || user.head.opcode == Opcode::kDynamicUpdateSlice ||
          user.head.opcode == Opcode::kCall || user.head.opcode == Opcode::kConditional;
      return is_other && std::ranges::find(user.operands, id) != user.operands.end();
    });
  }
  // A value of the parent as a further element of the backward loop, which hands it on.
  InstrId HandIn(InstrId value) {
    const auto number = std::ssize(is_unchanged_) + std::ssize(backward_.added_init);
    const InstrId row = NewElement(backward_.parameter, number, draft_.row(value).head.shape);
    if (row.is_none()) return row;
    backward_.added_init.push_back(value);
    backward_.added_elements.push_back(row);
    backward_.added_next.push_back(row);
    return row;
  }

  // What a value of the parent is a copy of.
  [[nodiscard]] InstrId SourceInParent(InstrId id) const {
    while (true) {
      const Opcode opcode = module_.instructions[id].opcode;
      const std::span<const InstrId> operands = module_.operands_of(id);
      if (opcode == Opcode::kCopy &&
          module_.instructions[id].shape == module_.instructions[operands[0]].shape) {
        id = operands[0];
        continue;
      }
      if (opcode != Opcode::kGetTupleElement || operands[0] != pair_.forward) return id;
      const int64_t element = module_.NumberOr(id, AttributeKey::kIndex, 0);
      if (is_handed_on_[static_cast<size_t>(element)] == 0) return id;
      id = module_.operands_of(forward_.init)[static_cast<size_t>(element)];
    }
  }
  // What the forward loop does not change, in the backward body.
  InstrId Unchanged(int64_t element) {
    const InstrId source =
        SourceInParent(module_.operands_of(forward_.init)[static_cast<size_t>(element)]);
    const std::span<const InstrId> theirs = module_.operands_of(backward_.init);
    for (size_t m = 0; m < theirs.size(); ++m) {
      if (is_unchanged_[m] != 0 && SourceInParent(theirs[m]) == source &&
          module_.instructions[theirs[m]].shape == module_.instructions[source].shape)
        return ElementOf(backward_.parameter, static_cast<int64_t>(m));
    }
    if (IsMadeOfConstants(source)) {
      // Made again, it need not stay in between.
      std::vector<InstrId> operands;
      for (const InstrId operand : module_.operands_of(source))
        operands.push_back(draft_.AddCopyOf(operand, backward_.body, {}));
      const InstrId row = draft_.AddCopyOf(source, backward_.body, std::move(operands));
      draft_.Separate(row);
      return row;
    }
    const InstrId after = ElementOf(pair_.forward, element);
    return after.is_none() ? after : HandIn(after);
  }
  [[nodiscard]] bool IsMadeOfConstants(InstrId id) const {
    const Opcode opcode = module_.instructions[id].opcode;
    return (opcode == Opcode::kFusion || opcode == Opcode::kBroadcast || opcode == Opcode::kIota) &&
           values_.IsPure(id) && std::ranges::all_of(module_.operands_of(id), [&](InstrId operand) {
             return module_.instructions[operand].opcode == Opcode::kConstant;
           });
  }

  // Changes shapes and numbers of elements where a loop's tuple is made or read.
  void Change(const ChangedLoop& loop) {
    std::vector<int64_t> numbers;  // by element
    std::vector<ShapeId> shapes;
    const auto old = module_.shapes.elements(module_.instructions[loop.loop].shape);
    for (int64_t k = 0; k < std::ssize(old); ++k) {
      numbers.push_back(loop.dropped.contains(k) ? -1 : std::ssize(shapes));
      if (!loop.dropped.contains(k)) shapes.push_back(old[static_cast<size_t>(k)]);
    }
    for (const InstrId row : loop.added_elements) {
      numbers.push_back(std::ssize(shapes));
      shapes.push_back(draft_.row(row).head.shape);
    }
    const ShapeId shape = draft_.shapes().AddTuple(shapes);
    const InstrId other = module_.parameters_of(loop.condition)[0];
    for (const InstrId id : {loop.loop, loop.init, loop.parameter, loop.root, other})
      draft_.row(id).head.shape = shape;
    for (const InstrId tuple : {loop.init, loop.root}) {
      std::vector<InstrId> operands;
      const std::vector<InstrId>& present = draft_.row(tuple).operands;
      for (size_t k = 0; k < present.size(); ++k) {
        if (numbers[k] >= 0) operands.push_back(present[k]);
      }
      const auto& added = tuple == loop.init ? loop.added_init : loop.added_next;
      operands.insert(operands.end(), added.begin(), added.end());
      draft_.row(tuple).operands = std::move(operands);
    }
    for (size_t i = 0; i < draft_.size(); ++i) {
      Draft::Row& row = draft_.row(InstrId(i));
      if (row.head.opcode != Opcode::kGetTupleElement) continue;
      const InstrId tuple = row.operands[0];
      if (tuple != loop.loop && tuple != loop.parameter && tuple != other) continue;
      for (Attribute& attribute : row.attributes) {
        if (attribute.key != AttributeKey::kIndex) continue;
        attribute =
            Attribute::OfNumber(attribute.key, numbers[static_cast<size_t>(attribute.number())]);
      }
    }
  }

  // ---- who has read slices ----

  void ReplaceReads() {
    std::map<InstrId, std::vector<std::pair<uint32_t, Inner>>> by_call;
    for (uint32_t s = 0; s < pair_.stacks.size(); ++s) {
      if (saved_.is_kept[s] != 0) continue;
      for (const Inner& slice : pair_.stacks[s].slices) by_call[slice.call].emplace_back(s, slice);
    }
    for (const auto& [call, slices] : by_call) {
      if (slices[0].second.fusion.is_none()) {
        draft_.Replace(backward_.body, call, RowOf(slices[0].first));
      } else {
        ReplaceIn(call, slices);
      }
    }
  }
  // The slice of a stack that is not kept.
  InstrId RowOf(uint32_t s) {
    const InstrId row = made_.at(values_.ValueOf(s));
    return Cast(row, module_.instructions[pair_.stacks[s].slices[0].id].shape, s);
  }
  void ReplaceIn(InstrId call, const std::vector<std::pair<uint32_t, Inner>>& slices) {
    const Inner& first = slices[0].second;
    CompId callee = module_.called_by(first.fusion)[0];
    InstrId row = call;
    if (ReadBy(module_, first) != call) {
      row = draft_.AddCopyOf(first.fusion, backward_.body,
                             draft_.row(ReadBy(module_, first)).operands);
      draft_.Replace(backward_.body, call, row);
    }
    std::vector<InstrId> moved = draft_.part(callee).rows;
    const std::vector<InstrId> before = moved;
    if (callers_[callee.index] != 1) {
      const CompId own = draft_.AddCopyOf(callee);
      draft_.row(row).callees[callee] = own;
      callee = own;
      moved = draft_.part(callee).rows;
    }
    const auto inside = [&](InstrId id) {
      return moved[static_cast<size_t>(std::ranges::find(before, id) - before.begin())];
    };
    for (const auto& [s, slice] : slices) {
      const InstrId parameter = inside(module_.operands_of(slice.id)[0]);
      const int64_t number =
          module_.NumberOr(module_.operands_of(slice.id)[0], AttributeKey::kParameterNumber, 0);
      draft_.row(parameter).head.shape = module_.instructions[slice.id].shape;
      draft_.Replace(callee, inside(slice.id), parameter);
      draft_.row(row).operands[static_cast<size_t>(number)] = RowOf(s);
    }
    Prune(draft_, row, callee);
    Simplify(row, callee);
  }
  // A fusion that does nothing any more.
  void Simplify(InstrId row, CompId callee) {
    const InstrId root = draft_.part(callee).root;
    const Draft::Row inner = draft_.row(root);
    const auto is_parameter = [&](InstrId id) {
      return draft_.row(id).head.opcode == Opcode::kParameter;
    };
    if (is_parameter(root)) {
      draft_.Replace(backward_.body, row, draft_.row(row).operands[0]);
    } else if (inner.head.opcode == Opcode::kBitcast && is_parameter(inner.operands[0])) {
      const InstrId bitcast =
          CopyAs(root, draft_.row(row).head.shape, {draft_.row(row).operands[0]});
      draft_.Replace(backward_.body, row, bitcast);
    }
  }

  // ---- order ----

  // GPUs write the next value of an element over the present one, so all who read that come before.
  void KeepOrder(const ChangedLoop& loop, const std::vector<uint8_t>& is_unchanged) {
    for (size_t i = module_.instructions.size(); i < draft_.size(); ++i) {
      const InstrId id(i);
      // A bitcast only names what others read.
      if (draft_.row(id).head.parent != loop.body || draft_.row(id).head.opcode == Opcode::kBitcast)
        continue;
      for (InstrId operand : draft_.row(id).operands) {
        while (draft_.row(operand).head.opcode == Opcode::kBitcast)
          operand = draft_.row(operand).operands[0];
        const Draft::Row& read = draft_.row(operand);
        if (read.head.opcode != Opcode::kGetTupleElement || read.operands[0] != loop.parameter)
          continue;
        for (const Attribute& attribute : read.attributes) {
          const auto element = static_cast<size_t>(attribute.number());
          if (attribute.key != AttributeKey::kIndex || element >= is_unchanged.size() ||
              is_unchanged[element] != 0)
            continue;
          const InstrId next = module_.operands_of(loop.root)[element];
          draft_.row(next).waits_for.push_back(id);
        }
      }
    }
  }

  static constexpr uint32_t kNone = 0xffffffffU;
  const Module& module_;
  const LoopPair& pair_;
  const LoopValues& values_;
  const SavedStacks& saved_;
  Draft draft_;
  ChangedLoop forward_;
  ChangedLoop backward_;
  const std::vector<uint8_t> is_handed_on_;  // by element of the forward loop
  const std::vector<uint8_t> is_unchanged_;  // by element of the backward loop
  std::vector<uint32_t> callers_;            // by computation
  const std::vector<uint8_t> effects_;       // by instruction
  std::map<std::pair<InstrId, int64_t>, InstrId> elements_;
  std::map<InstrId, InstrId> some_element_;  // by tuple
  std::map<uint32_t, InstrId> made_;         // by value
  std::map<uint32_t, InstrId> slices_;       // by stack that is kept
  std::vector<InstrId> repetitions_;
};

}  // namespace

std::optional<SavedFewer> SaveFewer(const Module& module, const LoopPair& pair,
                                    const LoopValues& values, const SavedStacks& saved) {
  return Saver(module, pair, values, saved).Run();
}

}  // namespace stowplan::fit
