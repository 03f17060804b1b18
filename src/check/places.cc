// SPDX-License-Identifier: Apache-2.0
#include "check/places.h"

#include <utility>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "report/derive.h"

namespace stowplan::check {
namespace {

using hlo::InstrId;

class Finder {
 public:
  Finder(const hlo::Module& module, Names& names, const std::vector<InstrId>& sequence,
         const Trees& trees, const report::Report& report, const std::vector<int64_t>& sizes,
         Findings& findings)
      : module_(module),
        names_(names),
        sequence_(sequence),
        trees_(trees),
        report_(report),
        sizes_(sizes),
        findings_(findings),
        is_guest_(report::FindGuests(report)) {
    places_.rows.resize(1);
    places_.by_row.assign(trees.count(), kNoPlaceId);
    places_.rows.reserve(report.values.size() + 1);
  }

  Places Run() && {
    for (size_t v = 0; v < report_.values.size(); ++v) {
      const report::ValueId id(v);
      if (!report_.values[id].allocation.is_none()) AddValue(id);
    }
    return std::move(places_);
  }

 private:
  void AddValue(report::ValueId id) {
    const report::Value& value = report_.values[id];
    const InstrId instruction = names_.Find(value.instruction, Guess(value));
    const auto part = instruction.is_none()
                          ? std::nullopt
                          : trees_.Find(module_, module_.instructions[instruction].shape,
                                        report_.numbers(value.index));
    if (!part) {
      Complain(Code::kUnknownValue, value, {std::string(value.instruction), ""},
               fmt::format("the program has no value {}", value.instruction));
      return;
    }
    const uint32_t row = trees_.top(instruction) + *part;
    // Tables of cores that have no pointers.
    if (module_.shapes.is_tuple(trees_.shape(row)) && value.size == 0 &&
        report_.allocations[value.allocation].size == 0)
      return;
    const Place place = {value.allocation.index, value.offset};
    CheckPlace(id, row);
    if (const PlaceId known = places_.by_row[row]; known != kNoPlaceId) {
      if (places_.rows[known] != place)
        Complain(Code::kTwoPlaces, value, NameOf(module_, trees_, row),
                 fmt::format("{} has two places", NameOf(module_, trees_, row).text()));
      return;
    }
    places_.by_row[row] = static_cast<PlaceId>(places_.rows.size());
    places_.rows.push_back(place);
  }

  // Which instruction it probably is: a parameter, or the one with which the value's life begins.
  [[nodiscard]] InstrId Guess(const report::Value& value) const {
    const std::span<const InstrId> parameters = module_.parameters_of(module_.entry);
    const std::optional<int64_t> parameter = report_.allocations[value.allocation].parameter;
    if (parameter && *parameter >= 0 && std::cmp_less(*parameter, parameters.size())) {
      const InstrId id = parameters[static_cast<size_t>(*parameter)];
      if (module_.name(id) == value.instruction) return id;
    }
    const bool is_known =
        value.has_range && value.start >= 0 && std::cmp_less(value.start, sequence_.size());
    return is_known ? sequence_[static_cast<size_t>(value.start)] : InstrId();
  }

  void CheckPlace(report::ValueId id, uint32_t row) {
    const report::Value& value = report_.values[id];
    const report::Allocation& allocation = report_.allocations[value.allocation];
    const int64_t bytes = sizes_[row];
    const auto name = [&] { return NameOf(module_, trees_, row); };
    if (bytes > 0 && (value.offset < 0 || SaturatingAdd(value.offset, bytes) > allocation.size)) {
      Complain(Code::kOutside, value, name(),
               fmt::format("{} takes bytes {} to {} of allocation {}, which has {}", name().text(),
                           value.offset, SaturatingAdd(value.offset, bytes), allocation.number,
                           allocation.size));
    }
    if (value.size < bytes) {
      Complain(Code::kSize, value, name(),
               fmt::format("{} is given {} bytes, but its shape takes {}", name().text(),
                           value.size, bytes));
    }
    // Of another color, and allowed to be there: XLA lists such values apart.
    const bool is_guest = is_guest_[id.index] != 0;
    const hlo::Shape& shape = module_.shapes[trees_.shape(row)];
    if (hlo::IsArray(shape.type)) {
      const int64_t space =
          shape.layout.is_none() ? 0 : module_.shapes.layout(shape.layout).memory_space;
      if (space != allocation.color && !is_guest) {
        Complain(Code::kWrongSpace, value, name(),
                 fmt::format("{} belongs in memory space {}, but allocation {} is in {}",
                             name().text(), space, allocation.number, allocation.color));
      }
    }
    if (value.color >= 0 && value.color != allocation.color && !is_guest) {
      Complain(Code::kColor, value, name(),
               fmt::format("{} has color {}, but allocation {} has {}", name().text(), value.color,
                           allocation.number, allocation.color));
    }
  }

  void Complain(Code code, const report::Value& value, ValueName name, std::string message) {
    Finding finding;
    finding.code = code;
    finding.wanted = std::move(name);
    finding.allocation = report_.allocations[value.allocation].number;
    finding.begin = value.offset;
    finding.end = SaturatingAdd(value.offset, value.size);
    finding.message = std::move(message);
    findings_.push_back(std::move(finding));
  }

  const hlo::Module& module_;
  Names& names_;
  const std::vector<InstrId>& sequence_;
  const Trees& trees_;
  const report::Report& report_;
  const std::vector<int64_t>& sizes_;
  Findings& findings_;
  std::vector<uint8_t> is_guest_;  // by value of the report
  Places places_;
};

}  // namespace

Places FindPlaces(const hlo::Module& module, Names& names, const std::vector<InstrId>& sequence,
                  const Trees& trees, const report::Report& report,
                  const std::vector<int64_t>& sizes, Findings& findings) {
  return Finder(module, names, sequence, trees, report, sizes, findings).Run();
}

ValueName NameOf(const hlo::Module& module, const Trees& trees, uint32_t row) {
  return {std::string(module.name(trees.instruction(row))), trees.IndexText(module, row)};
}

}  // namespace stowplan::check
