// SPDX-License-Identifier: Apache-2.0
#include "session/fit_uses.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cost/machine.h"

namespace stowplan {

std::optional<std::string> ReadUses(std::string_view list, FitOptions& options) {
  options.uses_order = options.uses_recompute = options.uses_donation = false;
  bool has_word = false;
  while (!list.empty() || !has_word) {
    has_word = true;
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view word = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (word == "order") {
      options.uses_order = true;
    } else if (word == "recompute") {
      options.uses_recompute = true;
    } else if (word == "donate") {
      options.uses_donation = true;
    } else if (word != "pack") {
      return std::string(word);
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> FitMachines() { return cost::MachineNames(); }

std::optional<double> ParseRate(std::string_view text) {
  constexpr std::string_view kUnits = "kMGTP";
  double factor = 1;
  if (const size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
      unit != std::string_view::npos) {
    factor = std::pow(1000.0, static_cast<double>(unit + 1));
    text.remove_suffix(1);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  const double rate = number * factor;
  return is_number && rate > 0 && std::isfinite(rate) ? std::optional(rate) : std::nullopt;
}

}  // namespace stowplan
