// SPDX-License-Identifier: Apache-2.0
#include "advise/words.h"

#include <algorithm>

#include "hlo/source_line.h"
#include "report/summary.h"

namespace stowplan::advise {
namespace {

using hlo::InstrId;
using hlo::Module;

InstrId FindNamed(const Module& module, const std::string& computation, const std::string& name) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    if (module.name(hlo::CompId(c)) != computation) continue;
    const hlo::Computation& row = module.computations[hlo::CompId(c)];
    for (uint32_t k = 0; k < row.count; ++k) {
      const InstrId id(size_t{row.first.index} + k);
      if (module.name(id) == name) return id;
    }
  }
  return {};
}

std::string Quoted(const std::string& name, const std::string& source) {
  return source.empty() ? name : name + " (" + source + ")";
}

// The parameter's path in the argument, else its number.
std::string PathOf(const Argument& argument, int64_t parameter) {
  const auto at = std::ranges::find(argument.parameters, parameter);
  const auto row = static_cast<size_t>(at - argument.parameters.begin());
  return row < argument.paths.size() && !argument.paths[row].empty()
             ? argument.paths[row]
             : "parameter " + std::to_string(parameter);
}

std::string List(const std::vector<std::string>& items) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i)
    out += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
  return out;
}

}  // namespace

std::string Reason(const DonationClash& clash, const std::string& source) {
  if (clash.reader.empty()) return {};
  const std::string reader = Quoted(clash.reader, source);
  if (clash.reader == clash.writer) return ": " + reader + " cannot write where it reads";
  return ": " + reader + " may read it after " + clash.writer + " is written";
}

std::string SourceOf(const Module& module, const std::string& computation,
                     const std::string& instruction) {
  const InstrId id = FindNamed(module, computation, instruction);
  return id.is_none() ? std::string() : SourceOf(module, id);
}

std::string SourceOf(const Module& module, InstrId id) {
  const hlo::Metadata* metadata = report::MetadataOf(module, id);
  return metadata == nullptr ? std::string() : hlo::SourceLine(module, *metadata);
}

void Describe(const Module& module, Advice& advice) {
  const Edit& edit = advice.edits[0];
  const std::string source = SourceOf(module, edit.computation, edit.instruction);
  const std::string anchor_source = SourceOf(module, edit.computation, edit.anchor);
  const std::string instruction = Quoted(edit.instruction, source);
  const std::string anchor = Quoted(edit.anchor, anchor_source);
  switch (edit.kind) {
    case EditKind::kDonate:
    case EditKind::kFit:
      break;
    case EditKind::kDropCopy:
      advice.what = "drop the copy " + instruction;
      advice.how = "enforce the order with data dependencies: jax.lax.optimization_barrier";
      advice.notes.emplace_back(
          "In this order of execution nothing needs the copy. XLA decides on copies before it "
          "schedules, so it omits the copy only if data dependencies enforce this order.");
      break;
    case EditKind::kMoveLater:
      advice.what = "compute " + instruction + " later, right before " + anchor;
      advice.how =
          "jax.lax.optimization_barrier on its inputs and what " + edit.anchor + " waits for";
      break;
    case EditKind::kMoveEarlier:
      advice.what = "run " + instruction + " earlier, right after " + anchor;
      advice.how = "jax.lax.optimization_barrier on its result and what runs in between";
      break;
    case EditKind::kRematerialize:
      advice.what = advice.edits.size() == 1
                        ? "recompute " + instruction + " for " + anchor
                        : "recompute the " + std::to_string(advice.edits.size()) + " values of " +
                              source + " where they are needed later";
      advice.how = source.empty() ? "jax.checkpoint around the function that computes it"
                                  : "jax.checkpoint around the function at " + source;
      break;
    case EditKind::kPack:
      advice.what = "pack the same values better";
      advice.how = "stowplan assign --policy=best";
      advice.notes.emplace_back("XLA has no option for this: it is what XLA's packing costs.");
      break;
  }
}

void DescribeDonation(const std::vector<DonationAnswer>& answers, Advice& advice) {
  std::vector<Argument> arguments;
  std::vector<std::string> names;
  size_t parameters = 0;
  size_t refused = 0;
  for (const DonationAnswer& answer : answers) {
    arguments.push_back(answer.argument);
    names.push_back(answer.argument.name.empty()
                        ? "parameter " + std::to_string(answer.argument.parameters[0])
                        : answer.argument.name);
    parameters += answer.pairs.size();
    refused += answer.refused.size();
  }
  advice.what = "donate " + List(names);
  advice.how = "jax.jit(f, " + DonationSpelling(arguments) + ")";
  if (const std::string by_number = DonationNumbers(arguments);
      !advice.how.ends_with(by_number + ")"))
    advice.how += "  or  " + by_number;
  for (const DonationAnswer& answer : answers) {
    constexpr size_t kMostClashes = 2;
    for (size_t k = 0; k < std::min(answer.clashes.size(), kMostClashes); ++k) {
      const DonationClash& clash = answer.clashes[k];
      advice.notes.push_back("XLA copies " + PathOf(answer.argument, clash.parameter) +
                             (clash.is_of_output ? " (the output into it)" : "") +
                             Reason(clash, answer.clash_sources[k]));
    }
    if (answer.clashes.size() > kMostClashes)
      advice.notes.push_back("and adds " + std::to_string(answer.clashes.size() - kMostClashes) +
                             " more copies for similar reasons");
    for (const DonatedPair& pair : answer.pairs) {
      advice.notes.push_back(PathOf(answer.argument, pair.parameter) +
                             (pair.output < 0 ? " becomes the result"
                                              : " becomes output " + std::to_string(pair.output)));
    }
  }
  if (refused != 0)
    advice.notes.push_back(std::to_string(refused) + " of its " +
                           std::to_string(parameters + refused) +
                           " parameters fit no output and stay as they are");
}

}  // namespace stowplan::advise
