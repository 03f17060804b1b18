// SPDX-License-Identifier: Apache-2.0
// Runs: computations, loops, branches, and what only hands values on.
#include "mutate/run.h"

namespace stowplan::mutate {

Judgement Interpreter::Run(Effort effort) {
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

void Interpreter::CheckOrder() {
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

void Interpreter::RunOnce() {
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

bool Interpreter::IsLoaded(InstrId id) const {
  if (OpcodeOf(id) != Opcode::kConstant) return false;
  const auto place = Named(id, {});
  return place && report_.allocations[report::AllocationId(static_cast<size_t>(place->allocation))]
                      .is_constant;
}

Node Interpreter::Constant(InstrId id) {
  const hlo::Attribute* literal = module_.FindAttribute(id, AttributeKey::kLiteral);
  const std::string_view text =
      literal == nullptr ? std::string_view() : module_.view(literal->text());
  Hash seed = Mix(5, id.index);
  if (!text.empty() && text.find("...") == std::string_view::npos)
    seed = Mix(std::hash<std::string_view>()(text), module_.instructions[id].shape.index);
  return Fresh(id, seed);
}

void Interpreter::RunComputation(CompId id) {
  std::vector<InstrId> order;
  const std::span<const InstrId> schedule = module_.schedule_of(id);
  order.assign(schedule.begin(), schedule.end());
  for (const InstrId instruction : order) {
    if (judgement_.opinion == Opinion::kHarmful || ++steps_ > 2'000'000) return;
    ++time_;
    Step(instruction);
  }
}

void Interpreter::Step(InstrId id) {
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
      parts.reserve(inputs.size());
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

void Interpreter::RunWhile(InstrId id, Node state) {
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

int Interpreter::PickTrips() {
  const auto turn = static_cast<Hash>(loops_++);
  return scenario_ <= kMaxTrips
             ? scenario_
             : static_cast<int>(Mix(Mix(static_cast<Hash>(scenario_), turn), 73) % (kMaxTrips + 1));
}

void Interpreter::TakePlaces(Node& node, const Node& from) {
  node.place = from.place;
  for (size_t k = 0; k < node.parts.size(); ++k) TakePlaces(node.parts[k], from.parts[k]);
}

void Interpreter::RunConditional(InstrId id, const std::vector<const Node*>& inputs) {
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

Judgement Judge(const Module& module, const report::Report& report, const Target& target,
                const std::set<Sharing>& accepted, Effort effort) {
  return Interpreter(module, report, target, accepted).Run(effort);
}

}  // namespace stowplan::mutate
