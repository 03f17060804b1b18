// SPDX-License-Identifier: Apache-2.0
#include "view/header.h"

#include "stowplan/version.h"

namespace stowplan::view {

void BeginHeader(JsonWriter& json, std::string_view title, std::optional<int64_t> budget) {
  json.BeginObject();
  json.Field("schema", "stowplan.view/1");
  json.Field("version", kVersion);
  json.Field("title", title);
  WriteOptional(json, "budget", budget);
}

std::string StartBundle(std::string_view header) {
  std::string bundle = "STOWVIEW";
  const auto size = static_cast<uint32_t>(header.size());
  for (unsigned shift = 0; shift < 32; shift += 8)
    bundle += static_cast<char>(size >> shift & 0xffU);
  bundle += header;
  bundle.resize(Padded(bundle.size()));
  return bundle;
}

}  // namespace stowplan::view
