// SPDX-License-Identifier: Apache-2.0
#include "cost/trips.h"

#include <charconv>
#include <string_view>

namespace stowplan::cost {

std::optional<int64_t> KnownTrips(const hlo::Module& module, hlo::InstrId loop) {
  const hlo::Attribute* config = module.FindAttribute(loop, hlo::AttributeKey::kBackendConfig);
  if (config == nullptr) return std::nullopt;
  // {"known_trip_count":{"n":"8"}}, in dumps of text with escaped quotation marks.
  const std::string_view text = module.view(config->text());
  const size_t key = text.find("known_trip_count");
  if (key == std::string_view::npos) return std::nullopt;
  const size_t end = text.find('}', key);
  const size_t digits = text.find_first_of("0123456789", key);
  if (digits == std::string_view::npos || digits > end) return std::nullopt;
  int64_t trips = 0;
  const char* const last = text.data() + text.size();
  if (std::from_chars(text.data() + digits, last, trips).ec != std::errc()) return std::nullopt;
  return trips;
}

}  // namespace stowplan::cost
