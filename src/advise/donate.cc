// SPDX-License-Identifier: Apache-2.0
// As XLA does it: everything is copied, parameters out of and outputs into the shared memory; then
// unnecessary copies are removed, and the program is scheduled.
#include "advise/donate.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "advise/breadth_first.h"
#include "advise/elide.h"
#include "hlo/rewriter.h"
#include "report/summary.h"

namespace stowplan::advise {
namespace {

using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;

struct Copied {
  Module module;
  std::vector<InstrId> copies;              // all that may go, in XLA's order
  std::map<InstrId, int64_t> of_parameter;  // new ones, and whose
  std::map<InstrId, int64_t> of_output;
  std::vector<InstrId> old_rows;  // by row of the new module; none: a new instruction
};

// Copies of parameters into outputs that XLA made last of all, for want of a donation. They are the
// parameters themselves when it decides about copies.
std::vector<InstrId> FindPassedThrough(const Module& module, const Pairing& pairing) {
  const InstrId root = module.computations[module.entry].root;
  std::map<InstrId, int64_t> readers;
  for (const InstrId operand : module.operands) ++readers[operand];
  const auto is_donated = [&](InstrId parameter) {
    return std::ranges::any_of(pairing.pairs, [&](const DonatedPair& pair) {
      return module.parameters_of(module.entry)[static_cast<size_t>(pair.parameter)] == parameter;
    });
  };
  const auto is_taken = [&](int64_t output) {
    return std::ranges::find(pairing.pairs, output, &DonatedPair::output) != pairing.pairs.end();
  };
  const auto passes = [&](InstrId copy, int64_t output, int64_t most_readers) {
    if (module.instructions[copy].opcode != Opcode::kCopy || readers[copy] != most_readers)
      return false;
    const InstrId source = module.operands_of(copy)[0];
    return module.instructions[source].opcode == Opcode::kParameter &&
           module.instructions[source].shape == module.instructions[copy].shape &&
           (is_donated(source) || is_taken(output));
  };
  std::vector<InstrId> found;
  if (passes(root, -1, 0)) found.push_back(root);
  if (module.instructions[root].opcode != Opcode::kTuple) return found;
  const std::span<const InstrId> operands = module.operands_of(root);
  // A parameter becomes part of the result once; further occurrences stay copies.
  std::set<InstrId> returned(operands.begin(), operands.end());
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!passes(operands[k], static_cast<int64_t>(k), 1)) continue;
    if (returned.insert(module.operands_of(operands[k])[0]).second ||
        is_taken(static_cast<int64_t>(k)))
      found.push_back(operands[k]);
  }
  return found;
}

// The program with a copy at both ends of every new alias.
class CopyAdder {
 public:
  CopyAdder(const Module& module, const Pairing& pairing)
      : module_(module),
        pairing_(pairing),
        root_(module.computations[module.entry].root),
        through_(FindPassedThrough(module, pairing)),
        rewriter_(module) {
    rewriter_.header().aliases = pairing.aliases;
    rewriter_.header().donors = pairing.donors;
  }

  Copied Run() && {
    CopyParameters();
    if (module_.shapes.is_tuple(module_.instructions[root_].shape)) {
      CopyElements();
    } else {
      rewriter_.SetRoot(module_.entry, CopyOutput(root_, root_, pairing_.pairs[0].parameter));
    }
    SetOrder();
    return Finish();
  }

 private:
  using Copies = std::vector<std::pair<InstrId, int64_t>>;  // with the parameter each is for

  [[nodiscard]] bool IsThrough(InstrId id) const {
    return std::ranges::find(through_, id) != through_.end();
  }
  // What replaces an instruction of the old program.
  [[nodiscard]] InstrId Now(InstrId id) const {
    if (IsThrough(id)) id = module_.operands_of(id)[0];
    const auto found = replaced_.find(id);
    return found == replaced_.end() ? id : found->second;
  }

  void CopyParameters() {
    std::vector<DonatedPair> pairs = pairing_.pairs;
    std::ranges::sort(pairs, {}, &DonatedPair::parameter);
    for (const DonatedPair& pair : pairs) {
      const InstrId parameter =
          module_.parameters_of(module_.entry)[static_cast<size_t>(pair.parameter)];
      const InstrId copy = rewriter_.AddCopy(parameter, parameter);
      rewriter_.Replace(parameter, copy);
      replaced_[parameter] = copy;
      of_parameter_.emplace_back(copy, pair.parameter);
    }
    for (const InstrId copy : through_) {
      rewriter_.Replace(copy, module_.operands_of(copy)[0]);
      rewriter_.Remove(copy);
    }
  }

  InstrId CopyOutput(InstrId element, InstrId anchor, int64_t parameter) {
    const InstrId copy = rewriter_.AddCopy(Now(element), anchor);
    rewriter_.AddControlPredecessor(
        copy, std::ranges::find(of_parameter_, parameter, &Copies::value_type::second)->first);
    of_output_.emplace_back(copy, parameter);
    return copy;
  }

  void CopyElements() {
    // A tuple that nobody else reads is changed; any other root is taken apart.
    const bool is_plain = module_.instructions[root_].opcode == Opcode::kTuple &&
                          std::ranges::find(module_.operands, root_) == module_.operands.end();
    const hlo::ShapeId shape = module_.instructions[root_].shape;
    for (size_t k = 0; !is_plain && k < module_.shapes.elements(shape).size(); ++k)
      parts_.push_back(rewriter_.AddElement(root_, static_cast<int64_t>(k), root_));
    const std::span<const InstrId> operands = module_.operands_of(root_);
    std::vector<InstrId> elements =
        is_plain ? std::vector<InstrId>(operands.begin(), operands.end()) : parts_;
    std::vector<DonatedPair> pairs = pairing_.pairs;
    std::ranges::sort(pairs, {}, &DonatedPair::output);
    for (const DonatedPair& pair : pairs) {
      const auto k = static_cast<size_t>(pair.output);
      elements[k] = CopyOutput(elements[k], is_plain ? elements[k] : root_, pair.parameter);
      if (is_plain) rewriter_.ReplaceOperand(root_, k, elements[k]);
    }
    last_ = is_plain ? root_ : rewriter_.AddTuple(elements, shape, root_);
    rewriter_.SetRoot(module_.entry, last_);
  }

  // Outputs are copied at the end: their parameters have been copied by then.
  void SetOrder() {
    std::vector<InstrId> order;
    for (const InstrId id : module_.schedule_of(module_.entry)) {
      if (id == last_) continue;
      if (!IsThrough(id)) order.push_back(id);
      if (const auto copy = replaced_.find(id); copy != replaced_.end())
        order.push_back(copy->second);
      if (id == root_) order.insert(order.end(), parts_.begin(), parts_.end());
    }
    for (const auto& [copy, p] : of_output_) order.push_back(copy);
    if (!last_.is_none()) order.push_back(last_);
    rewriter_.SetSchedule(module_.entry, std::move(order));
  }

  Copied Finish() const {
    std::vector<InstrId> ids;
    Copied copied{.module = rewriter_.Build(&ids)};
    copied.old_rows.resize(copied.module.instructions.size());
    for (size_t i = 0; i < module_.instructions.size(); ++i) {
      if (!ids[i].is_none()) copied.old_rows[ids[i].index] = InstrId(i);
    }
    // Old copies of donated parameters come first; XLA made them earlier.
    for (const InstrId id : module_.listed(module_.entry)) {
      if (module_.instructions[id].opcode == Opcode::kCopy && !ids[id.index].is_none() &&
          replaced_.contains(module_.operands_of(id)[0]))
        copied.copies.push_back(ids[id.index]);
    }
    for (const auto& [copy, p] : of_parameter_) {
      copied.copies.push_back(ids[copy.index]);
      copied.of_parameter[ids[copy.index]] = p;
    }
    for (const auto& [copy, p] : of_output_) {
      copied.copies.push_back(ids[copy.index]);
      copied.of_output[ids[copy.index]] = p;
    }
    return copied;
  }

  const Module& module_;
  const Pairing& pairing_;
  InstrId root_;
  std::vector<InstrId> through_;
  hlo::Rewriter rewriter_;
  std::map<InstrId, InstrId> replaced_;  // parameters by their copies
  Copies of_parameter_;
  Copies of_output_;
  std::vector<InstrId> parts_;  // of a root that is taken apart
  InstrId last_;                // the tuple of all outputs; none when there is none
};

// An output that no donated parameter takes must not lie in one.
void KeepOutputs(const Analysis& analysis, Copied& copied) {
  std::erase_if(copied.copies, [&](InstrId copy) {
    if (copied.of_output.contains(copy)) return false;
    return std::ranges::any_of(analysis.flow.at(analysis.flow.positions.top(copy)),
                               [&](ValueId value) { return analysis.flow.is_live_out(value); });
  });
}

// Removes unnecessary copies. `ranks`: the order among users, by row of the result.
Module Without(const Module& module, std::span<const InstrId> removed, std::vector<InstrId>& ids) {
  hlo::Rewriter rewriter(module);
  for (const InstrId copy : removed) {
    rewriter.Replace(copy, module.operands_of(copy)[0]);
    rewriter.Remove(copy);
  }
  // get-tuple-elements of the root and the tuple of them, when no copy stands between.
  const InstrId root = module.computations[module.entry].root;
  const auto element = [&](InstrId id) {
    while (std::ranges::find(removed, id) != removed.end()) id = module.operands_of(id)[0];
    return id;
  };
  const std::span<const InstrId> operands = module.operands_of(root);
  if (module.instructions[root].opcode == Opcode::kTuple && !operands.empty()) {
    InstrId whole;
    bool is_whole = true;
    for (size_t k = 0; k < operands.size() && is_whole; ++k) {
      const InstrId id = element(operands[k]);
      is_whole = module.instructions[id].opcode == Opcode::kGetTupleElement &&
                 module.NumberOr(id, hlo::AttributeKey::kIndex, -1) == static_cast<int64_t>(k) &&
                 (k == 0 || module.operands_of(id)[0] == whole);
      if (is_whole) whole = module.operands_of(id)[0];
    }
    if (is_whole && module.instructions[whole].shape == module.instructions[root].shape) {
      rewriter.SetRoot(module.entry, whole);
      rewriter.Remove(root);
      for (const InstrId id : operands) rewriter.Remove(element(id));
    }
  }
  return rewriter.Build(&ids);
}

Module WithOrder(const Module& module, std::vector<InstrId> order) {
  hlo::Rewriter rewriter(module);
  rewriter.SetSchedule(module.entry, std::move(order));
  return rewriter.Build();
}

}  // namespace

Result<Donated> Donate(const Module& module, std::span<const int64_t> parameters,
                       const Setting& setting) {
  Donated donated;
  donated.pairing = PairDonations(module, parameters, setting.rules.target);
  if (donated.pairing.pairs.empty())
    return Fail(
        {}, "no output takes a donated parameter",
        donated.pairing.refused.empty() ? std::string() : donated.pairing.refused[0].reason);
  if (!module.computations[module.entry].is_scheduled())
    return Fail({}, "the program has no schedule");
  Copied copied = CopyAdder(module, donated.pairing).Run();
  STOWPLAN_TRY(const Analysis analysis, Analyze(copied.module, setting.rules.analysis));
  KeepOutputs(analysis, copied);
  const KnownOrder known = report::BackendOfTarget(setting.rules.target.name) == Backend::kTpu
                               ? KnownOrder::kSchedule
                               : KnownOrder::kDependencies;
  const Elision elision = ElideCopies(copied.module, analysis, setting.rules, known, copied.copies);
  for (const InstrId copy : elision.removed) {
    if (!copied.of_parameter.contains(copy) && !copied.of_output.contains(copy))
      ++donated.copies_removed;
  }
  // In the program's own names: a new copy is named after what it copies.
  const auto name = [&](InstrId id) {
    while (!id.is_none() && (copied.of_output.contains(id) || copied.of_parameter.contains(id)))
      id = copied.module.operands_of(id)[0];
    return id.is_none() ? std::string() : std::string(copied.module.name(id));
  };
  for (const Elision::Kept& kept : elision.kept) {
    const bool is_output = copied.of_output.contains(kept.copy);
    if (!is_output && !copied.of_parameter.contains(kept.copy)) continue;
    ++donated.copies_added;
    donated.clashes.push_back(
        {.parameter = (is_output ? copied.of_output : copied.of_parameter)[kept.copy],
         .is_of_output = is_output,
         .reader = name(kept.reader),
         .writer = name(kept.writer)});
  }
  std::vector<InstrId> ids;
  donated.module = Without(copied.module, elision.removed, ids);
  // Copies that were judged by the schedule hold for that schedule alone.
  if (known == KnownOrder::kSchedule || !IsBreadthFirst(module, module.entry)) return donated;
  // Users keep their order; new copies come after them.
  std::vector<int64_t> ranks(donated.module.instructions.size(), 0);
  const std::vector<int64_t> old_ranks = RanksOf(module, module.entry);
  int64_t next = static_cast<int64_t>(module.instructions.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i].is_none()) continue;
    const InstrId old = copied.old_rows[i];
    ranks[ids[i].index] = old.is_none() ? next++ : old_ranks[old.index];
  }
  donated.module =
      WithOrder(donated.module, BreadthFirst(donated.module, donated.module.entry, ranks));
  donated.is_rescheduled = true;
  return donated;
}

}  // namespace stowplan::advise
