// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "advise/donate.h"
#include "base/checked_math.h"
#include "base/stable_sort.h"
#include "hlo/size.h"
#include "stowplan/hlo/shape.h"
#include "target/size.h"

namespace stowplan::advise {

using hlo::InstrId;
using hlo::Module;
using hlo::ShapeId;

std::string_view Name(RefusalRule rule) {
  switch (rule) {
    case RefusalRule::kShape:
      return "shape";
    case RefusalRule::kTaken:
      return "taken";
    case RefusalRule::kLayout:
      return "layout";
    case RefusalRule::kSpace:
      return "space";
    case RefusalRule::kTuple:
      return "tuple";
  }
  return {};
}

namespace {

// What JAX compares: type and dimensions.
using Kind = std::pair<hlo::ElementType, std::vector<int64_t>>;

class Pairer {
 public:
  Pairer(const Module& module, const Target& target) : module_(module), target_(target) {
    for (const InstrId id : module.parameters_of(module.entry))
      parameters_.push_back(module.instructions[id].shape);
    result_ = module.instructions[module.computations[module.entry].root].shape;
    if (module.header.entry_layout &&
        module.header.entry_layout->parameters.size() == parameters_.size()) {
      parameters_ = module.header.entry_layout->parameters;
      result_ = module.header.entry_layout->result;
    }
    if (module.shapes.is_tuple(result_)) {
      const std::span<const ShapeId> elements = module.shapes.elements(result_);
      outputs_.assign(elements.begin(), elements.end());
    } else {
      outputs_ = {result_};
    }
  }

  // `donated` ascending.
  void Pair(const std::vector<int64_t>& donated, Pairing& pairing) {
    std::map<Kind, std::deque<int64_t>> waiting;
    for (const int64_t p : donated) {
      if (IsArray(parameters_[Row(p)]) && !IsAliased(p, pairing))
        waiting[KindOf(parameters_[Row(p)])].push_back(p);
    }
    std::vector<int64_t> donors;
    std::vector<uint8_t> is_matched(parameters_.size(), 0);
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (!IsArray(outputs_[k]) || IsTaken(k, pairing)) continue;
      const auto found = waiting.find(KindOf(outputs_[k]));
      if (found == waiting.end() || found->second.empty()) continue;
      const int64_t p = found->second.front();
      found->second.pop_front();
      is_matched[Row(p)] = 1;
      if (module_.header.num_partitions > 1) {
        // Only XLA knows which devices hold which output.
        donors.push_back(p);
      } else if (hlo::Equal(module_.shapes, parameters_[Row(p)], module_.shapes, outputs_[k])) {
        AddAlias(p, k, pairing);
      }
    }
    AddDonors(donated, is_matched, donors, pairing);
    PairDonors(donors, pairing);
  }

  Refusal Refuse(int64_t p, const Pairing& pairing) const {
    Refusal refusal{.parameter = p};
    const ShapeId shape = parameters_[Row(p)];
    if (!IsArray(shape)) {
      refusal.rule = RefusalRule::kTuple;
      refusal.reason = "it is a tuple, and JAX does not take it apart";
      return refusal;
    }
    const std::string text = hlo::ToString(module_.shapes, shape, {.layouts = false});
    int64_t alike = 0;
    size_t other_type = outputs_.size();
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (!IsArray(outputs_[k])) continue;
      if (KindOf(outputs_[k]).second == KindOf(shape).second &&
          KindOf(outputs_[k]) != KindOf(shape))
        other_type = k;
      if (KindOf(outputs_[k]) != KindOf(shape)) continue;
      ++alike;
      if (IsTaken(k, pairing)) continue;
      refusal.rule =
          SpaceOf(outputs_[k]) != SpaceOf(shape) ? RefusalRule::kSpace : RefusalRule::kLayout;
      refusal.reason = "output " + std::to_string(k) + " is " +
                       hlo::ToString(module_.shapes, outputs_[k]) + ", the parameter " +
                       hlo::ToString(module_.shapes, shape);
      return refusal;
    }
    if (alike != 0) {
      refusal.rule = RefusalRule::kTaken;
      refusal.reason = alike == 1 ? "the one output that is " + text + " has a donated parameter"
                                  : "all " + std::to_string(alike) + " outputs that are " + text +
                                        " have a donated parameter";
      return refusal;
    }
    refusal.reason = "no output is " + text;
    if (other_type != outputs_.size())
      refusal.reason += "; output " + std::to_string(other_type) + " is " +
                        hlo::ToString(module_.shapes, outputs_[other_type], {.layouts = false});
    return refusal;
  }

  [[nodiscard]] size_t parameter_count() const { return parameters_.size(); }

 private:
  static size_t Row(int64_t p) { return static_cast<size_t>(p); }
  [[nodiscard]] bool IsArray(ShapeId id) const {
    const hlo::ElementType type = module_.shapes[id].type;
    return hlo::BitWidth(type) != 0 && !module_.shapes[id].is_dynamic;
  }
  [[nodiscard]] int64_t SpaceOf(ShapeId id) const {
    const hlo::LayoutId layout = module_.shapes[id].layout;
    return layout.is_none() ? 0 : module_.shapes.layout(layout).memory_space;
  }
  [[nodiscard]] Kind KindOf(ShapeId id) const {
    const std::span<const int64_t> dims = module_.shapes.dims(id);
    return {module_.shapes[id].type, {dims.begin(), dims.end()}};
  }
  // hlo::Verify has checked the sizes; what has none counts 0.
  [[nodiscard]] int64_t BytesOf(ShapeId id) const {
    const ByteCount bytes = ByteSize(module_.shapes, id, target_);
    return bytes ? *bytes : 0;
  }
  // A target may round s32[7] and pred[7] up to the same size. hlo::Verify takes no such pair.
  [[nodiscard]] bool HasSameSize(ShapeId a, ShapeId b) const {
    return hlo::PlainByteSize(module_.shapes, a) == hlo::PlainByteSize(module_.shapes, b) ||
           hlo::PaddedByteSize(module_.shapes, a) == hlo::PaddedByteSize(module_.shapes, b);
  }
  // JAX counts elements; how the compiler pads them does not matter.
  [[nodiscard]] int64_t ElementsOf(ShapeId id) const {
    return CheckedProduct(module_.shapes.dims(id)).value_or(0);
  }
  [[nodiscard]] hlo::ShapeIndex IndexOf(size_t output) const {
    if (!module_.shapes.is_tuple(result_)) return {};
    return {static_cast<int64_t>(output)};
  }
  [[nodiscard]] bool IsTaken(size_t output, const Pairing& pairing) const {
    return std::ranges::any_of(pairing.aliases, [&](const hlo::InputOutputAlias& alias) {
      return alias.output_index == IndexOf(output);
    });
  }
  static bool IsAliased(int64_t p, const Pairing& pairing) {
    return std::ranges::any_of(
        pairing.aliases, [&](const hlo::InputOutputAlias& alias) { return alias.parameter == p; });
  }
  void AddAlias(int64_t p, size_t output, Pairing& pairing) const {
    pairing.aliases.push_back({.output_index = IndexOf(output), .parameter = p});
  }

  // What no output took becomes a donor when some free output has as many elements.
  void AddDonors(const std::vector<int64_t>& donated, const std::vector<uint8_t>& is_matched,
                 std::vector<int64_t>& donors, const Pairing& pairing) const {
    std::map<int64_t, int64_t> free;
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (IsArray(outputs_[k]) && !IsTaken(k, pairing)) ++free[ElementsOf(outputs_[k])];
    }
    for (const int64_t p : donated) {
      if (is_matched[Row(p)] != 0 || !IsArray(parameters_[Row(p)]) || IsAliased(p, pairing))
        continue;
      int64_t& count = free[ElementsOf(parameters_[Row(p)])];
      if (count == 0) continue;
      --count;
      donors.push_back(p);
    }
    std::ranges::sort(donors);
  }

  // XLA's part: per memory space, the largest first, equals in order.
  void PairDonors(const std::vector<int64_t>& donors, Pairing& pairing) const {
    const auto key = [&](ShapeId id) { return std::pair(SpaceOf(id), -BytesOf(id)); };
    std::vector<int64_t> givers = donors;
    StableSort(givers, {}, [&](int64_t p) { return key(parameters_[Row(p)]); });
    std::vector<size_t> takers;
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (IsArray(outputs_[k]) && !IsTaken(k, pairing)) takers.push_back(k);
    }
    StableSort(takers, {}, [&](size_t k) { return key(outputs_[k]); });
    size_t next = 0;
    for (const int64_t p : givers) {
      while (next < takers.size() && key(outputs_[takers[next]]) < key(parameters_[Row(p)])) ++next;
      if (next < takers.size() && key(outputs_[takers[next]]) == key(parameters_[Row(p)]) &&
          HasSameSize(outputs_[takers[next]], parameters_[Row(p)])) {
        AddAlias(p, takers[next++], pairing);
      } else {
        pairing.donors.push_back({.parameter = p, .parameter_index = {}});
      }
    }
  }

  const Module& module_;
  const Target& target_;
  std::vector<ShapeId> parameters_;
  std::vector<ShapeId> outputs_;
  ShapeId result_;
};

std::vector<hlo::InputOutputAlias> Sorted(std::vector<hlo::InputOutputAlias> aliases) {
  std::ranges::sort(aliases, {}, [](const hlo::InputOutputAlias& a) {
    return std::tie(a.output_index, a.parameter, a.parameter_index);
  });
  for (hlo::InputOutputAlias& alias : aliases) alias.kind = hlo::AliasKind::kMay;
  return aliases;
}

}  // namespace

Pairing PairDonations(const Module& module, std::span<const int64_t> parameters,
                      const Target& target) {
  Pairer pairer(module, target);
  std::vector<int64_t> old;
  old.reserve(module.header.aliases.size() + module.header.donors.size());
  for (const hlo::InputOutputAlias& alias : module.header.aliases) old.push_back(alias.parameter);
  for (const hlo::BufferDonor& donor : module.header.donors) old.push_back(donor.parameter);
  std::ranges::sort(old);
  old.erase(std::ranges::unique(old).begin(), old.end());
  std::vector<int64_t> asked(parameters.begin(), parameters.end());
  std::erase_if(asked, [&](int64_t p) {
    return p < 0 || static_cast<size_t>(p) >= pairer.parameter_count() ||
           std::ranges::binary_search(old, p);
  });
  std::ranges::sort(asked);
  asked.erase(std::ranges::unique(asked).begin(), asked.end());

  // If the present pairs are those that JAX would make, all are paired anew; otherwise they stay.
  Pairing present;
  pairer.Pair(old, present);
  Pairing pairing;
  std::vector<int64_t> donated = asked;
  if (Sorted(present.aliases) == Sorted(module.header.aliases)) {
    donated.insert(donated.end(), old.begin(), old.end());
    std::ranges::sort(donated);
  } else {
    pairing.aliases = module.header.aliases;
    pairing.donors = module.header.donors;
  }
  pairer.Pair(donated, pairing);
  pairing.aliases = Sorted(std::move(pairing.aliases));
  for (const int64_t p : asked) {
    const auto alias = std::ranges::find(pairing.aliases, p, &hlo::InputOutputAlias::parameter);
    if (alias == pairing.aliases.end()) {
      pairing.refused.push_back(pairer.Refuse(p, pairing));
    } else {
      pairing.pairs.push_back(
          {p, alias->output_index.empty() ? int64_t{-1} : alias->output_index[0]});
    }
  }
  return pairing;
}

}  // namespace stowplan::advise
