// SPDX-License-Identifier: Apache-2.0
// A run of a program on a concrete memory; interpreter.h says what it is for.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mutate/interpreter.h"

namespace stowplan::mutate {

using hlo::AttributeKey;
using hlo::CompId;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;
using Hash = uint64_t;

inline Hash Mix(Hash a, Hash b) {
  Hash h = (a ^ (b + 0x9E3779B97F4A7C15ULL + (a << 6U) + (a >> 2U))) * 0xBF58476D1CE4E5B9ULL;
  return h ^ (h >> 31U);
}

// A value: an array, or a tuple with its table.
struct Node {
  ShapeId shape;
  Hash hash = 0;
  Place place;
  std::vector<Node> parts;
};

class Interpreter {
 public:
  Interpreter(const Module& module, const report::Report& report, const Target& target,
              const std::set<Sharing>& accepted)
      : module_(module), report_(report), target_(target), accepted_(accepted) {
    for (size_t i = 0; i < module.instructions.size(); ++i)
      names_.emplace(module.name(InstrId(i)), static_cast<uint32_t>(i));
    ReadPlaces();
    CutMemory();
  }
  Judgement Run(Effort effort);

 private:
  // Loops run up to six times, all as often, then by chance. Branches are taken in turn, then by
  // chance, so that those inside of others run too.
  static constexpr int kScenarios = 12;
  static constexpr int kScenariosWithBranches = 40;
  static constexpr int kManyScenarios = 2000;
  static constexpr int kInTurn = 8;
  static constexpr int kMaxTrips = 6;
  void Wrong(std::string reason) {
    if (judgement_.opinion == Opinion::kHarmful) return;
    judgement_.opinion = Opinion::kHarmful;
    judgement_.reason = std::move(reason);
  }
  void Unsure(std::string reason) {
    if (judgement_.opinion != Opinion::kHarmless) return;
    judgement_.opinion = Opinion::kUnsure;
    judgement_.reason = std::move(reason);
  }
  [[nodiscard]] Opcode OpcodeOf(InstrId id) const { return module_.instructions[id].opcode; }
  [[nodiscard]] std::string NameOf(InstrId id) const { return std::string(module_.name(id)); }
  // Also of what is not run: reducers, and branches whose turn does not come.
  void CheckOrder();

  // --- The plan: places.cc ---

  int64_t SizeOf(ShapeId shape);
  [[nodiscard]] int64_t SpaceOf(ShapeId shape) const;
  std::optional<ShapeId> PartOf(ShapeId shape, const std::vector<int64_t>& index) const;
  void ReadPlaces();
  void CutMemory();
  std::optional<Place> Named(InstrId id, const std::vector<int64_t>& index) const;

  // --- Memory: memory.cc ---

  template <class Visit>
  void EachStretch(const Place& place, int64_t size, Visit visit) {
    if (place.allocation < 0 || size == 0) return;
    const std::vector<int64_t>& cuts = cuts_[static_cast<size_t>(place.allocation)];
    auto at = std::ranges::lower_bound(cuts, place.offset);
    for (; at != cuts.end() && *at < place.offset + size; ++at)
      visit(memory_[static_cast<size_t>(place.allocation)][static_cast<size_t>(at - cuts.begin())],
            static_cast<Hash>(*at - place.offset));
  }
  struct Stretch {
    Hash hash = 0;
    int64_t time = -1;
  };
  void Store(const Node& node);
  void Load(const Node& node, InstrId reader, int64_t since = -1);
  void LoadAll(const Node& node, InstrId reader, int64_t since = -1);

  // --- Values: values.cc ---

  static Hash TableHash(const Node& node);
  // A fresh value of a shape at the places of `id`; hashes from `seed`.
  Node Fresh(InstrId id, ShapeId shape, std::vector<int64_t>& index, Hash seed);
  Node Fresh(InstrId id, Hash seed);
  // Parts that lie on each other are written in no known order: what is there then, nobody knows.
  void StoreNew(const Node& node);
  void StoreAll(const Node& node);
  // The same value, seen at another instruction: places that the plan names there count.
  void MoveTo(Node& node, InstrId id, std::vector<int64_t>& index);
  Node SeenAt(Node node, InstrId id);
  // A table of the instruction's own, over parts that it got.
  Node Table(InstrId id, const std::vector<int64_t>& index, ShapeId shape, std::vector<Node> parts);
  const Node* ValueOf(InstrId id, InstrId reader);
  void Set(InstrId id, Node node);

  // --- The run: steps.cc ---

  void RunOnce();
  bool IsLoaded(InstrId id) const;
  Node Constant(InstrId id);
  void RunComputation(CompId id);
  void Step(InstrId id);
  void RunWhile(InstrId id, Node state);
  int PickTrips();
  static void TakePlaces(Node& node, const Node& from);
  void RunConditional(InstrId id, const std::vector<const Node*>& inputs);

  // --- Instructions that read and write: effects.cc ---

  void StepOther(InstrId id, const std::vector<const Node*>& inputs);
  static Hash HashOf(const Node& node);
  bool IsPlainCopy(ShapeId a, ShapeId b) const;
  void StartAsync(InstrId id, const std::vector<const Node*>& inputs);
  Node SeenAtPart(Node node, InstrId id, int64_t part);
  // The end of an asynchronous operation: nobody has touched what it works on.
  void Finish(InstrId id, const Node& chain);
  void CheckScratch(InstrId start, InstrId done);

  // --- Results over operands: sharing.cc ---

  static void Leaves(const Node& node, std::vector<const Node*>& out);
  void CheckSharing(InstrId id, const std::vector<const Node*>& inputs, const Node& result);
  // A call that moves nothing: its operands are parts of its result, where XLA put them.
  void CheckConcatenation(InstrId id, const std::vector<const Node*>& inputs, const Node& result);
  void Compare(InstrId id, size_t k, size_t r, size_t w, const Node& read, const Node& written);
  static bool IsSimple(Opcode opcode);
  [[nodiscard]] bool IsSimpleFusion(InstrId id, size_t k, ShapeId shape) const;
  [[nodiscard]] bool MovesElements(InstrId id) const;
  bool IsSimple(InstrId id) const;
  bool IsMixing(InstrId id, size_t k) const;
  bool Moves(InstrId transpose) const;

  // --- The end: the_end.cc ---

  void Finish();
  static const Node* Find(const Node& node, const std::vector<int64_t>& index);
  void Keep(const Node& node, InstrId parameter, std::vector<int64_t>& index,
            const std::set<std::pair<uint32_t, std::vector<int64_t>>>& donated);

  const Module& module_;
  const report::Report& report_;
  const Target& target_;
  const std::set<Sharing>& accepted_;
  Judgement judgement_;
  std::unordered_map<std::string_view, uint32_t> names_;
  std::unordered_map<uint32_t, int64_t> sizes_;
  std::map<Key, Place> places_;
  std::vector<std::vector<int64_t>> cuts_;
  std::vector<std::vector<Stretch>> memory_;
  std::vector<Node> env_;
  std::vector<uint8_t> is_there_;
  std::map<InstrId, Node> results_;  // of conditionals, for their places
  std::map<InstrId, int64_t> flights_;
  int64_t time_ = 0;
  int64_t steps_ = 0;
  int scenario_ = 0;
  int conditionals_ = 0;
  int loops_ = 0;
};

}  // namespace stowplan::mutate
