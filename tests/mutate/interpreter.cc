// SPDX-License-Identifier: Apache-2.0
#include "mutate/interpreter.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "stowplan/hlo/element_type.h"
#include "stowplan/target/size.h"

namespace stowplan::mutate {
namespace {

using hlo::AttributeKey;
using hlo::CompId;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;
using Hash = uint64_t;

Hash Mix(Hash a, Hash b) {
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

  Judgement Run(Effort effort) {
    const bool has_branches = std::ranges::any_of(
        module_.instructions.rows(),
        [](const hlo::Instruction& row) { return row.opcode == Opcode::kConditional; });
    const int scenarios = effort == Effort::kMuch ? kManyScenarios
                          : has_branches          ? kScenariosWithBranches
                                                  : kScenarios;
    CheckOrder();
    for (int scenario = 0; scenario < scenarios && judgement_.opinion != Opinion::kHarmful;
         ++scenario) {
      scenario_ = scenario;
      steps_ = 0;
      RunOnce();
    }
    return judgement_;
  }

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
  void CheckOrder() {
    std::vector<uint8_t> is_done(module_.instructions.size(), 0);
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      for (const InstrId id : module_.schedule_of(CompId(c))) {
        is_done[id.index] = 1;
        for (const InstrId operand : module_.operands_of(id)) {
          if (is_done[operand.index] == 0 && OpcodeOf(operand) != Opcode::kConstant)
            Wrong(NameOf(id) + " comes before " + NameOf(operand));
        }
      }
    }
  }

  // --- The plan ---

  int64_t SizeOf(ShapeId shape) {
    const auto [row, is_new] = sizes_.try_emplace(shape.index, 0);
    if (is_new)
      row->second = std::max<int64_t>(0, ByteSize(module_.shapes, shape, target_).value_or(0));
    return row->second;
  }
  [[nodiscard]] int64_t SpaceOf(ShapeId shape) const {
    const hlo::LayoutId layout = module_.shapes[shape].layout;
    return layout.is_none() ? 0 : module_.shapes.layout(layout).memory_space;
  }
  std::optional<ShapeId> PartOf(ShapeId shape, const std::vector<int64_t>& index) const {
    for (const int64_t k : index) {
      if (!module_.shapes.is_tuple(shape)) return std::nullopt;
      const std::span<const ShapeId> elements = module_.shapes.elements(shape);
      if (static_cast<size_t>(k) >= elements.size()) return std::nullopt;
      shape = elements[static_cast<size_t>(k)];
    }
    return shape;
  }
  void ReadPlaces() {
    for (const report::Value& value : report_.values.rows()) {
      if (value.allocation.is_none()) continue;
      const auto name = names_.find(value.instruction);
      if (name == names_.end()) continue;
      const std::span<const int64_t> numbers = report_.numbers(value.index);
      Key key = {name->second, {numbers.begin(), numbers.end()}};
      const auto shape =
          PartOf(module_.instructions[InstrId(size_t{name->second})].shape, key.index);
      if (!shape) continue;
      const report::Allocation& allocation = report_.allocations[value.allocation];
      const bool is_table = module_.shapes.is_tuple(*shape);
      if (is_table && value.size == 0) continue;
      const int64_t size = SizeOf(*shape);
      if (size > 0 && (value.offset < 0 || value.offset + size > allocation.size))
        Wrong(std::string(value.instruction) + " lies outside");
      if (hlo::IsArray(module_.shapes[*shape].type) && SpaceOf(*shape) != allocation.color &&
          allocation.other_colors.empty())
        Wrong(std::string(value.instruction) + " lies in another space");
      places_[std::move(key)] = {static_cast<int>(value.allocation.index), value.offset};
    }
  }
  void CutMemory() {
    std::vector<std::set<int64_t>> cuts(report_.allocations.size());
    for (const auto& [key, place] : places_) {
      const auto shape =
          PartOf(module_.instructions[InstrId(size_t{key.instruction})].shape, key.index);
      cuts[static_cast<size_t>(place.allocation)].insert(place.offset);
      cuts[static_cast<size_t>(place.allocation)].insert(place.offset + SizeOf(*shape));
    }
    cuts_.clear();
    for (const std::set<int64_t>& set : cuts) cuts_.emplace_back(set.begin(), set.end());
  }
  std::optional<Place> Named(InstrId id, const std::vector<int64_t>& index) const {
    const auto place = places_.find({id.index, index});
    if (place == places_.end()) return std::nullopt;
    return place->second;
  }

  // --- Memory ---

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
  void Store(const Node& node) {
    EachStretch(node.place, SizeOf(node.shape),
                [&](Stretch& stretch, Hash offset) { stretch = {Mix(node.hash, offset), time_}; });
  }
  void Load(const Node& node, InstrId reader, int64_t since = -1) {
    EachStretch(node.place, SizeOf(node.shape), [&](const Stretch& stretch, Hash offset) {
      if (stretch.hash == Mix(node.hash, offset)) return;
      if (stretch.time >= 0 && stretch.time <= since) return;
      Wrong(NameOf(reader) + " reads wrong bytes in allocation " +
            std::to_string(node.place.allocation));
    });
  }
  void LoadAll(const Node& node, InstrId reader, int64_t since = -1) {
    Load(node, reader, since);
    for (const Node& part : node.parts) LoadAll(part, reader, since);
  }

  // --- Values ---

  static Hash TableHash(const Node& node) {
    Hash h = 17;
    for (const Node& part : node.parts)
      h = Mix(Mix(h, static_cast<Hash>(part.place.allocation)),
              static_cast<Hash>(part.place.offset));
    return h;
  }
  // A fresh value of a shape at the places of `id`; hashes from `seed`.
  Node Fresh(InstrId id, ShapeId shape, std::vector<int64_t>& index, Hash seed) {
    Node node;
    node.shape = shape;
    node.place = Named(id, index).value_or(Place{});
    node.hash = seed;
    for (const int64_t k : index) node.hash = Mix(node.hash, static_cast<Hash>(k) + 1);
    if (module_.shapes.is_tuple(shape)) {
      int64_t k = 0;
      for (const ShapeId element : module_.shapes.elements(shape)) {
        index.push_back(k++);
        node.parts.push_back(Fresh(id, element, index, seed));
        index.pop_back();
      }
      node.hash = TableHash(node);
    }
    return node;
  }
  Node Fresh(InstrId id, Hash seed) {
    std::vector<int64_t> index;
    return Fresh(id, module_.instructions[id].shape, index, seed);
  }
  // Parts that lie on each other are written in no known order: what is there then, nobody knows.
  void StoreNew(const Node& node) {
    EachStretch(node.place, SizeOf(node.shape), [&](Stretch& stretch, Hash offset) {
      const bool is_second = time_ > 0 && stretch.time == time_;
      stretch = {is_second ? Mix(static_cast<Hash>(time_), 99) : Mix(node.hash, offset), time_};
    });
  }
  void StoreAll(const Node& node) {
    StoreNew(node);
    for (const Node& part : node.parts) StoreAll(part);
  }
  // The same value, seen at another instruction: places that the plan names there count.
  void MoveTo(Node& node, InstrId id, std::vector<int64_t>& index) {
    if (const auto place = Named(id, index)) node.place = *place;
    for (size_t k = 0; k < node.parts.size(); ++k) {
      index.push_back(static_cast<int64_t>(k));
      MoveTo(node.parts[k], id, index);
      index.pop_back();
    }
  }
  Node SeenAt(Node node, InstrId id) {
    std::vector<int64_t> index;
    MoveTo(node, id, index);
    return node;
  }
  // A table of the instruction's own, over parts that it got.
  Node Table(InstrId id, const std::vector<int64_t>& index, ShapeId shape,
             std::vector<Node> parts) {
    Node node;
    node.shape = shape;
    node.parts = std::move(parts);
    node.place = Named(id, index).value_or(Place{});
    node.hash = TableHash(node);
    return node;
  }

  const Node* ValueOf(InstrId id, InstrId reader) {
    if (is_there_[id.index] == 0) {
      Wrong(NameOf(reader) + " runs before " + NameOf(id));
      return nullptr;
    }
    return &env_[id.index];
  }
  void Set(InstrId id, Node node) {
    env_[id.index] = std::move(node);
    is_there_[id.index] = 1;
  }

  // --- The run ---

  void RunOnce() {
    memory_.clear();
    for (const std::vector<int64_t>& cuts : cuts_) memory_.emplace_back(cuts.size());
    env_.assign(module_.instructions.size(), {});
    is_there_.assign(module_.instructions.size(), 0);
    flights_.clear();
    time_ = 0;
    conditionals_ = 0;
    loops_ = 0;
    for (const InstrId parameter : module_.parameters_of(module_.entry)) {
      Set(parameter, Fresh(parameter, Mix(3, parameter.index)));
      StoreAll(env_[parameter.index]);
    }
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      const InstrId id(i);
      if (OpcodeOf(id) != Opcode::kConstant) continue;
      Set(id, Constant(id));
      if (IsLoaded(id)) StoreAll(env_[i]);
    }
    RunComputation(module_.entry);
    Finish();
  }
  bool IsLoaded(InstrId id) const {
    if (OpcodeOf(id) != Opcode::kConstant) return false;
    const auto place = Named(id, {});
    return place &&
           report_.allocations[report::AllocationId(static_cast<size_t>(place->allocation))]
               .is_constant;
  }
  Node Constant(InstrId id) {
    const hlo::Attribute* literal = module_.FindAttribute(id, AttributeKey::kLiteral);
    const std::string_view text =
        literal == nullptr ? std::string_view() : module_.view(literal->text());
    Hash seed = Mix(5, id.index);
    if (!text.empty() && text.find("...") == std::string_view::npos)
      seed = Mix(std::hash<std::string_view>()(text), module_.instructions[id].shape.index);
    return Fresh(id, seed);
  }

  void RunComputation(CompId id) {
    std::vector<InstrId> order;
    const std::span<const InstrId> schedule = module_.schedule_of(id);
    order.assign(schedule.begin(), schedule.end());
    for (const InstrId instruction : order) {
      if (judgement_.opinion == Opinion::kHarmful || ++steps_ > 2'000'000) return;
      ++time_;
      Step(instruction);
    }
  }

  void Step(InstrId id) {
    const std::span<const InstrId> operands = module_.operands_of(id);
    std::vector<const Node*> inputs;
    for (const InstrId operand : operands) {
      inputs.push_back(ValueOf(operand, id));
      if (inputs.back() == nullptr) return;
    }
    switch (OpcodeOf(id)) {
      case Opcode::kParameter:
        return;
      case Opcode::kConstant:
        if (IsLoaded(id)) return;
        Set(id, Constant(id));
        StoreAll(env_[id.index]);
        return;
      case Opcode::kBitcast:
      case Opcode::kDomain:
      case Opcode::kOptBarrier:
      case Opcode::kAddDependency: {
        Node node = *inputs[0];
        node.shape = module_.instructions[id].shape;
        Set(id, SeenAt(std::move(node), id));
        return;
      }
      case Opcode::kAfterAll:
        Set(id, Fresh(id, 7));
        return;
      case Opcode::kGetTupleElement: {
        Load(*inputs[0], id);
        const auto k = static_cast<size_t>(module_.NumberOr(id, AttributeKey::kIndex, 0));
        Set(id, SeenAt(inputs[0]->parts[k], id));
        return;
      }
      case Opcode::kTuple: {
        std::vector<Node> parts;
        for (const Node* input : inputs) parts.push_back(*input);
        Set(id, Table(id, {}, module_.instructions[id].shape, std::move(parts)));
        Store(env_[id.index]);
        return;
      }
      case Opcode::kWhile:
        RunWhile(id, *inputs[0]);
        return;
      case Opcode::kConditional:
        RunConditional(id, inputs);
        return;
      case Opcode::kCall: {
        const CompId callee = module_.called_by(id)[0];
        for (size_t k = 0; k < inputs.size(); ++k)
          Set(module_.parameters_of(callee)[k],
              SeenAt(env_[operands[k].index], module_.parameters_of(callee)[k]));
        RunComputation(callee);
        if (judgement_.opinion == Opinion::kHarmful) return;
        Set(id, SeenAt(env_[module_.computations[callee].root.index], id));
        return;
      }
      default:
        StepOther(id, inputs);
        return;
    }
  }

  void RunWhile(InstrId id, Node state) {
    const CompId body = module_.called_by(id)[0];
    const CompId condition = module_.called_by(id)[1];
    const InstrId inside = module_.parameters_of(body)[0];
    state = SeenAt(std::move(state), inside);
    const Node places = state;
    const int trips = PickTrips();
    for (int trip = 0;; ++trip) {
      Set(module_.parameters_of(condition)[0], SeenAt(state, module_.parameters_of(condition)[0]));
      RunComputation(condition);
      if (judgement_.opinion == Opinion::kHarmful) return;
      Load(env_[module_.computations[condition].root.index], id);
      if (trip >= trips) break;
      Set(inside, SeenAt(state, inside));
      RunComputation(body);
      if (judgement_.opinion == Opinion::kHarmful) return;
      state = env_[module_.computations[body].root.index];
      TakePlaces(state, places);
    }
    Set(id, SeenAt(std::move(state), id));
  }
  int PickTrips() {
    const auto turn = static_cast<Hash>(loops_++);
    return scenario_ <= kMaxTrips
               ? scenario_
               : static_cast<int>(Mix(Mix(static_cast<Hash>(scenario_), turn), 73) %
                                  (kMaxTrips + 1));
  }
  static void TakePlaces(Node& node, const Node& from) {
    node.place = from.place;
    for (size_t k = 0; k < node.parts.size(); ++k) TakePlaces(node.parts[k], from.parts[k]);
  }

  void RunConditional(InstrId id, const std::vector<const Node*>& inputs) {
    const std::span<const CompId> branches = module_.called_by(id);
    Load(*inputs[0], id);
    const auto turn = static_cast<Hash>(conditionals_++);
    const auto scenario = static_cast<Hash>(scenario_);
    const size_t k =
        (scenario_ < kInTurn ? scenario + turn : Mix(Mix(scenario, turn), 71)) % branches.size();
    const InstrId parameter = module_.parameters_of(branches[k])[0];
    Set(parameter, SeenAt(*inputs[k + 1], parameter));
    RunComputation(branches[k]);
    if (judgement_.opinion == Opinion::kHarmful) return;
    Node result = SeenAt(env_[module_.computations[branches[k]].root.index], id);
    // A result has one place, whichever branch ran.
    const auto [known, is_new] = results_.try_emplace(id, result);
    if (!is_new) TakePlaces(result, known->second);
    Set(id, std::move(result));
  }

  // --- Instructions that read and write ---

  void StepOther(InstrId id, const std::vector<const Node*>& inputs) {
    const Opcode opcode = OpcodeOf(id);
    switch (opcode) {
      case Opcode::kCopyDone:
      case Opcode::kAllGatherDone:
      case Opcode::kCollectivePermuteDone:
      case Opcode::kAsyncDone:
      case Opcode::kAllReduceDone:
        Finish(id, *inputs[0]);
        return;
      case Opcode::kAsyncStart:
        StartAsync(id, inputs);
        return;
      case Opcode::kAsyncUpdate:
        Set(id, *inputs[0]);
        return;
      default:
        break;
    }
    Hash seed = Mix(11, id.index);
    for (const Node* input : inputs) {
      LoadAll(*input, id);
      seed = Mix(seed, HashOf(*input));
    }
    if (judgement_.opinion == Opinion::kHarmful) return;
    Node result = Fresh(id, seed);
    if (opcode == Opcode::kCopy && !inputs.empty()) {
      if (!inputs[0]->parts.empty()) {
        result = Table(id, {}, result.shape, inputs[0]->parts);
        Set(id, std::move(result));
        Store(env_[id.index]);
        return;
      }
      if (IsPlainCopy(inputs[0]->shape, result.shape)) result.hash = inputs[0]->hash;
    }
    if (opcode == Opcode::kCopyStart) {
      if (IsPlainCopy(inputs[0]->shape, result.parts[0].shape))
        result.parts[0].hash = inputs[0]->hash;
      result.parts[1] = *inputs[0];
      result.hash = TableHash(result);
    }
    const bool hands_on_first = opcode == Opcode::kSend || opcode == Opcode::kRecvDone;
    if (hands_on_first) {
      result.parts[0] = opcode == Opcode::kSend ? *inputs[0] : inputs[0]->parts[0];
      result.hash = TableHash(result);
    }
    if (opcode == Opcode::kAllGatherStart || opcode == Opcode::kCollectivePermuteStart) {
      if (inputs.size() == 1) result.parts[0] = *inputs[0];
      result.hash = TableHash(result);
    }
    CheckSharing(id, inputs, result);
    if (opcode == Opcode::kCustomCall) CheckConcatenation(id, inputs, result);
    if (opcode == Opcode::kCopyStart) {
      StoreNew(result);
      StoreNew(result.parts[0]);
      StoreNew(result.parts[2]);
    } else if (((opcode == Opcode::kAllGatherStart || opcode == Opcode::kCollectivePermuteStart) &&
                inputs.size() == 1) ||
               hands_on_first) {
      StoreNew(result);
      for (size_t k = 1; k < result.parts.size(); ++k) StoreAll(result.parts[k]);
    } else {
      StoreAll(result);
    }
    Set(id, std::move(result));
    flights_[id] = time_;
  }
  static Hash HashOf(const Node& node) {
    if (node.parts.empty()) return node.hash;
    Hash h = 13;
    for (const Node& part : node.parts) h = Mix(h, HashOf(part));
    return h;
  }
  bool IsPlainCopy(ShapeId a, ShapeId b) const {
    if (module_.shapes[a].type != module_.shapes[b].type) return false;
    if (!std::ranges::equal(module_.shapes.dims(a), module_.shapes.dims(b))) return false;
    hlo::Layout x;
    hlo::Layout y;
    if (!module_.shapes[a].layout.is_none()) x = module_.shapes.layout(module_.shapes[a].layout);
    if (!module_.shapes[b].layout.is_none()) y = module_.shapes.layout(module_.shapes[b].layout);
    x.memory_space = y.memory_space = 0;
    return x == y;
  }

  void StartAsync(InstrId id, const std::vector<const Node*>& inputs) {
    std::vector<Node> given;
    for (const Node* input : inputs) {
      LoadAll(*input, id);
      given.push_back(*input);
    }
    const CompId callee = module_.called_by(id)[0];
    for (size_t k = 0; k < given.size(); ++k)
      Set(module_.parameters_of(callee)[k], SeenAt(given[k], module_.parameters_of(callee)[k]));
    RunComputation(callee);
    if (judgement_.opinion == Opinion::kHarmful) return;
    ++time_;
    const ShapeId shape = module_.instructions[id].shape;
    Node result = Fresh(id, Mix(11, id.index));
    result.parts[0] = Table(id, {0}, module_.shapes.elements(shape)[0], std::move(given));
    const Node root = env_[module_.computations[callee].root.index];
    const bool is_own_table = !root.parts.empty();
    result.parts[1] = SeenAtPart(root, id, 1);
    result.hash = TableHash(result);
    StoreNew(result);
    StoreNew(result.parts[0]);
    if (is_own_table) StoreNew(result.parts[1]);
    for (size_t k = 2; k < result.parts.size(); ++k) StoreAll(result.parts[k]);
    Set(id, std::move(result));
    flights_[id] = time_;
  }
  Node SeenAtPart(Node node, InstrId id, int64_t part) {
    std::vector<int64_t> index = {part};
    MoveTo(node, id, index);
    return node;
  }

  // The end of an asynchronous operation: nobody has touched what it works on.
  void Finish(InstrId id, const Node& chain) {
    InstrId start = module_.operands_of(id)[0];
    while (OpcodeOf(start) == Opcode::kAsyncUpdate) start = module_.operands_of(start)[0];
    LoadAll(chain, id, flights_.contains(start) ? flights_[start] : -1);
    const Opcode opcode = OpcodeOf(id);
    if (OpcodeOf(start) == Opcode::kAsyncStart) CheckScratch(start, id);
    Node node = opcode == Opcode::kAllReduceDone ? chain
                : opcode == Opcode::kCopyDone    ? chain.parts[0]
                                                 : chain.parts[1];
    const bool is_table = !node.parts.empty() && opcode != Opcode::kAllReduceDone;
    Node seen = SeenAt(std::move(node), id);
    if (is_table) {
      seen = Table(id, {}, seen.shape, std::move(seen.parts));
      Store(seen);
    }
    Set(id, std::move(seen));
  }
  void CheckScratch(InstrId start, InstrId done) {
    const hlo::Computation& callee = module_.computations[module_.called_by(start)[0]];
    for (uint32_t k = 0; k < callee.count; ++k) {
      const InstrId id(size_t{callee.first.index} + k);
      if (OpcodeOf(id) == Opcode::kParameter || is_there_[id.index] == 0 ||
          !Named(id, {}).has_value() || IsLoaded(id))
        continue;
      EachStretch(env_[id.index].place, SizeOf(env_[id.index].shape),
                  [&](const Stretch& stretch, Hash) {
                    if (stretch.time > flights_[start])
                      Wrong(NameOf(done) + " finds its scratch changed");
                  });
    }
  }

  // --- Results over operands ---

  static void Leaves(const Node& node, std::vector<const Node*>& out) {
    out.push_back(&node);
    for (const Node& part : node.parts) Leaves(part, out);
  }
  void CheckSharing(InstrId id, const std::vector<const Node*>& inputs, const Node& result) {
    std::vector<const Node*> written;
    Leaves(result, written);
    for (size_t k = 0; k < inputs.size(); ++k) {
      std::vector<const Node*> read;
      Leaves(*inputs[k], read);
      for (size_t r = 0; r < read.size(); ++r) {
        for (size_t w = 0; w < written.size(); ++w) {
          // What a start hands on, it does not write.
          if (OpcodeOf(id) == Opcode::kCopyStart && w == 2) continue;
          if ((OpcodeOf(id) == Opcode::kAllGatherStart ||
               OpcodeOf(id) == Opcode::kCollectivePermuteStart) &&
              inputs.size() == 1 && w == 1)
            continue;
          if ((OpcodeOf(id) == Opcode::kSend || OpcodeOf(id) == Opcode::kRecvDone) && w == 1)
            continue;
          Compare(id, k, r, w, *read[r], *written[w]);
        }
      }
    }
  }
  // A call that moves nothing: its operands are parts of its result, where XLA put them.
  void CheckConcatenation(InstrId id, const std::vector<const Node*>& inputs, const Node& result) {
    const hlo::Attribute* target = module_.FindAttribute(id, AttributeKey::kCustomCallTarget);
    if (target == nullptr || module_.view(target->text()) != "ConcatBitcast" || accepted_.empty())
      return;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int64_t distance = result.place.offset - inputs[k]->place.offset;
      if (inputs[k]->place.allocation != result.place.allocation ||
          !accepted_.contains({id.index, k, 0, 0, distance}))
        Wrong(NameOf(id) + " is not made of its operands");
    }
  }
  void Compare(InstrId id, size_t k, size_t r, size_t w, const Node& read, const Node& written) {
    const int64_t read_size = SizeOf(read.shape);
    const int64_t written_size = SizeOf(written.shape);
    if (read.place.allocation < 0 || read.place.allocation != written.place.allocation ||
        read_size == 0 || written_size == 0 ||
        read.place.offset >= written.place.offset + written_size ||
        written.place.offset >= read.place.offset + read_size)
      return;
    const int64_t distance = written.place.offset - read.place.offset;
    const Sharing sharing = {id.index, k, r, w, distance};
    judgement_.sharing.insert(sharing);
    if (accepted_.contains(sharing)) return;
    if (distance != 0) {
      Wrong(NameOf(id) + " writes into the middle of an operand");
      return;
    }
    if (read.shape == written.shape && IsSimple(OpcodeOf(id))) return;
    if (OpcodeOf(id) == Opcode::kCopy && IsPlainCopy(read.shape, written.shape)) return;
    Unsure(NameOf(id) + " writes over an operand");
  }
  static bool IsSimple(Opcode opcode) {
    switch (opcode) {
      case Opcode::kAdd:
      case Opcode::kSubtract:
      case Opcode::kMultiply:
      case Opcode::kDivide:
      case Opcode::kNegate:
      case Opcode::kExp:
      case Opcode::kTanh:
      case Opcode::kSin:
      case Opcode::kCos:
      case Opcode::kMaximum:
      case Opcode::kMinimum:
      case Opcode::kAbs:
      case Opcode::kAnd:
      case Opcode::kOr:
        return true;
      default:
        return false;
    }
  }

  // --- The end ---

  void Finish() {
    if (judgement_.opinion == Opinion::kHarmful) return;
    const InstrId root = module_.computations[module_.entry].root;
    const Node& result = env_[root.index];
    LoadAll(result, root);
    std::vector<const Node*> leaves;
    Leaves(result, leaves);
    std::set<Place> seen;
    for (const Node* leaf : leaves) {
      if (!leaf->parts.empty() || module_.shapes.is_tuple(leaf->shape) ||
          leaf->place.allocation < 0 || SizeOf(leaf->shape) == 0)
        continue;
      if (!seen.insert(leaf->place).second) Wrong("two outputs in one place");
    }
    std::set<std::pair<uint32_t, std::vector<int64_t>>> donated;
    const std::span<const InstrId> parameters = module_.parameters_of(module_.entry);
    for (const hlo::InputOutputAlias& alias : module_.header.aliases) {
      const InstrId parameter = parameters[static_cast<size_t>(alias.parameter)];
      donated.insert({parameter.index, alias.parameter_index});
      const Node* in = Find(env_[parameter.index], alias.parameter_index);
      const Node* out = Find(result, alias.output_index);
      if (in == nullptr || out == nullptr || SizeOf(out->shape) == 0) continue;
      if (in->place.allocation >= 0 && out->place.allocation >= 0 && in->place != out->place)
        Wrong("an output is not where it was promised");
    }
    for (const InstrId parameter : parameters) {
      std::vector<int64_t> index;
      Keep(env_[parameter.index], parameter, index, donated);
    }
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      if (IsLoaded(InstrId(i))) LoadAll(env_[i], InstrId(i));
    }
  }
  static const Node* Find(const Node& node, const std::vector<int64_t>& index) {
    const Node* at = &node;
    for (const int64_t k : index) {
      if (static_cast<size_t>(k) >= at->parts.size()) return nullptr;
      at = &at->parts[static_cast<size_t>(k)];
    }
    return at;
  }
  void Keep(const Node& node, InstrId parameter, std::vector<int64_t>& index,
            const std::set<std::pair<uint32_t, std::vector<int64_t>>>& donated) {
    if (!donated.contains({parameter.index, index})) Load(node, parameter);
    for (size_t k = 0; k < node.parts.size(); ++k) {
      index.push_back(static_cast<int64_t>(k));
      Keep(node.parts[k], parameter, index, donated);
      index.pop_back();
    }
  }

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

}  // namespace

Judgement Judge(const Module& module, const report::Report& report, const Target& target,
                const std::set<Sharing>& accepted, Effort effort) {
  return Interpreter(module, report, target, accepted).Run(effort);
}

}  // namespace stowplan::mutate
