// SPDX-License-Identifier: Apache-2.0
// As XLA does it: everything is copied, the parameters away and the outputs into them; then the
// copies that are not needed go, and the program is scheduled.
#include "stowplan/advise/donate.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "advise/breadth_first.h"
#include "advise/elide.h"
#include "advise/rewriter.h"
#include "stowplan/report/summary.h"

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
  // A parameter is a part of the result once; further ones stay copies.
  std::set<InstrId> returned(operands.begin(), operands.end());
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!passes(operands[k], static_cast<int64_t>(k), 1)) continue;
    if (returned.insert(module.operands_of(operands[k])[0]).second ||
        is_taken(static_cast<int64_t>(k)))
      found.push_back(operands[k]);
  }
  return found;
}

// The program with a copy at every new alias' both ends.
Copied AddCopies(const Module& module, const Pairing& pairing) {
  Rewriter rewriter(module);
  rewriter.header().aliases = pairing.aliases;
  rewriter.header().donors = pairing.donors;
  const InstrId root = module.computations[module.entry].root;
  const std::span<const InstrId> parameters = module.parameters_of(module.entry);
  const std::vector<InstrId> through = FindPassedThrough(module, pairing);
  std::map<InstrId, InstrId> replaced;
  std::vector<std::pair<InstrId, int64_t>> of_parameter;
  std::vector<DonatedPair> by_parameter = pairing.pairs;
  std::ranges::sort(by_parameter, {}, &DonatedPair::parameter);
  for (const DonatedPair& pair : by_parameter) {
    const InstrId parameter = parameters[static_cast<size_t>(pair.parameter)];
    const InstrId copy = rewriter.AddCopy(parameter, parameter);
    rewriter.Replace(parameter, copy);
    replaced[parameter] = copy;
    of_parameter.emplace_back(copy, pair.parameter);
  }
  for (const InstrId copy : through) {
    rewriter.Replace(copy, module.operands_of(copy)[0]);
    rewriter.Remove(copy);
  }
  const auto now = [&](InstrId id) {
    if (std::ranges::find(through, id) != through.end()) id = module.operands_of(id)[0];
    const auto found = replaced.find(id);
    return found == replaced.end() ? id : found->second;
  };
  std::vector<InstrId> parts;  // of a root that is no tuple instruction
  InstrId last;                // the tuple of all outputs
  std::vector<std::pair<InstrId, int64_t>> of_output;
  std::vector<DonatedPair> by_output = pairing.pairs;
  std::ranges::sort(by_output, {}, &DonatedPair::output);
  const auto copy_of = [&](int64_t p) {
    return std::ranges::find(of_parameter, p, &std::pair<InstrId, int64_t>::second)->first;
  };
  if (!module.shapes.is_tuple(module.instructions[root].shape)) {
    const InstrId copy = rewriter.AddCopy(now(root), root);
    rewriter.AddControlPredecessor(copy, copy_of(by_output[0].parameter));
    rewriter.SetRoot(module.entry, copy);
    of_output.emplace_back(copy, by_output[0].parameter);
  } else {
    // A tuple that nobody else reads is changed; any other root is taken apart.
    const bool is_plain = module.instructions[root].opcode == Opcode::kTuple &&
                          std::ranges::find(module.operands, root) == module.operands.end();
    std::vector<InstrId> elements;
    if (is_plain) {
      const std::span<const InstrId> operands = module.operands_of(root);
      elements.assign(operands.begin(), operands.end());
    } else {
      const size_t count = module.shapes.elements(module.instructions[root].shape).size();
      for (size_t k = 0; k < count; ++k)
        parts.push_back(rewriter.AddElement(root, static_cast<int64_t>(k), root));
      elements = parts;
    }
    for (const DonatedPair& pair : by_output) {
      const auto k = static_cast<size_t>(pair.output);
      const InstrId element = now(elements[k]);
      // Before the root in every order: behind what it copies, or behind the elements.
      const InstrId copy = rewriter.AddCopy(element, is_plain ? elements[k] : root);
      rewriter.AddControlPredecessor(copy, copy_of(pair.parameter));
      elements[k] = copy;
      of_output.emplace_back(copy, pair.parameter);
      if (is_plain) rewriter.ReplaceOperand(root, k, copy);
    }
    last = root;
    if (!is_plain) {
      last = rewriter.AddTuple(elements, module.instructions[root].shape, root);
      rewriter.SetRoot(module.entry, last);
    }
  }
  // Outputs are copied at the end: their parameters have been copied by then.
  std::vector<InstrId> order;
  for (const InstrId id : module.schedule_of(module.entry)) {
    if (id == last) continue;
    if (std::ranges::find(through, id) == through.end()) order.push_back(id);
    if (const auto copy = replaced.find(id); copy != replaced.end()) order.push_back(copy->second);
    if (id == root) order.insert(order.end(), parts.begin(), parts.end());
  }
  for (const auto& [copy, p] : of_output) order.push_back(copy);
  if (!last.is_none()) order.push_back(last);
  rewriter.SetSchedule(module.entry, std::move(order));

  std::vector<InstrId> ids;
  Copied copied{.module = rewriter.Build(&ids)};
  copied.old_rows.resize(copied.module.instructions.size());
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    if (!ids[i].is_none()) copied.old_rows[ids[i].index] = InstrId(i);
  }
  // Old copies of donated parameters come first; XLA made them earlier.
  for (const InstrId id : module.listed(module.entry)) {
    if (module.instructions[id].opcode == Opcode::kCopy && !ids[id.index].is_none() &&
        replaced.contains(module.operands_of(id)[0]))
      copied.copies.push_back(ids[id.index]);
  }
  for (const auto& [copy, p] : of_parameter) {
    copied.copies.push_back(ids[copy.index]);
    copied.of_parameter[ids[copy.index]] = p;
  }
  for (const auto& [copy, p] : of_output) {
    copied.copies.push_back(ids[copy.index]);
    copied.of_output[ids[copy.index]] = p;
  }
  return copied;
}

// An output that no donated parameter takes must not lie in one.
void KeepOutputs(const Analysis& analysis, Copied& copied) {
  std::erase_if(copied.copies, [&](InstrId copy) {
    if (copied.of_output.contains(copy)) return false;
    return std::ranges::any_of(analysis.flow.at(analysis.flow.positions.top(copy)),
                               [&](ValueId value) { return analysis.flow.is_live_out(value); });
  });
}

// Without copies that nobody needs. `ranks`: the order among users, by row of the result.
Module Without(const Module& module, std::span<const InstrId> removed, std::vector<InstrId>& ids) {
  Rewriter rewriter(module);
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
  Rewriter rewriter(module);
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
  Copied copied = AddCopies(module, donated.pairing);
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
  // In the program's own words: a new copy is called by what it copies.
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
  // Users keep their order; new copies come behind them.
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
