// SPDX-License-Identifier: Apache-2.0
#include "advise/words.h"

#include <algorithm>

#include "explain/own_line.h"
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

// JAX names modules and operations after the function. Other frameworks say which of their
// operations something is.
bool IsOfOtherFramework(const Module& module) {
  const std::string_view name = module.view(module.header.name);
  if (name.starts_with("jit") || name.starts_with("pmap")) return false;
  bool has_type = false;
  for (const hlo::Metadata& metadata : module.metadata.rows()) {
    const std::string_view op_name = module.view(metadata.op_name);
    if (op_name.find("jit(") != std::string_view::npos ||
        op_name.find("pmap(") != std::string_view::npos)
      return false;
    has_type = has_type || metadata.op_type.size != 0;
  }
  return has_type;
}

}  // namespace

std::string Reason(const DonationClash& clash, const std::string& source) {
  if (clash.reader.empty()) return {};
  const std::string reader = Quoted(clash.reader, source);
  if (clash.reader == clash.writer) return ": " + reader + " cannot write where it reads";
  return ": " + reader + " may read it after " + clash.writer + " is written";
}

std::string SourceOf(const Module& module, const std::string& computation,
                     const std::string& instruction, const OwnCode& own) {
  const InstrId id = FindNamed(module, computation, instruction);
  return id.is_none() ? std::string() : SourceOf(module, id, own);
}

std::string SourceOf(const Module& module, InstrId id, const OwnCode& own) {
  const hlo::Metadata* metadata = report::MetadataOf(module, id);
  return metadata == nullptr ? std::string()
                             : explain::LineText(explain::OwnLineOf(module, *metadata, own));
}

void Describe(const Module& module, const OwnCode& own, Advice& advice) {
  const Edit& edit = advice.edits[0];
  const std::string source = SourceOf(module, edit.computation, edit.instruction, own);
  const std::string anchor_source = SourceOf(module, edit.computation, edit.anchor, own);
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

bool IsForCompilers(const Advice& advice) {
  return std::ranges::all_of(advice.edits, [](const Edit& edit) {
    return edit.kind == EditKind::kDropCopy || edit.kind == EditKind::kMoveLater ||
           edit.kind == EditKind::kMoveEarlier || edit.kind == EditKind::kPack;
  });
}

void SayForFramework(const Module& module, Advice& advice) {
  if (!IsOfOtherFramework(module)) return;
  for (const Edit& edit : advice.edits) {
    if (edit.kind == EditKind::kPack) return;
    const bool is_donation = edit.kind == EditKind::kDonate;
    const bool is_recomputing =
        edit.kind == EditKind::kRematerialize || edit.kind == EditKind::kFit;
    advice.how = is_donation      ? "let results lie in the memory of these inputs (donation)"
                 : is_recomputing ? "recompute these values in the backward pass (checkpointing)"
                                  : "an optimization barrier that enforces this order";
    if (is_donation) return;
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
    if (const std::string numbers = DonationIfVariadic(answer.argument); !numbers.empty())
      advice.notes.push_back("If the function takes *" + answer.argument.name +
                             ", each of its parts has a number: " + numbers);
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
