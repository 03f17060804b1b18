// SPDX-License-Identifier: Apache-2.0
#include "page/repack_page.h"

#include <string_view>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "page/text.h"

namespace stowplan::page {

std::string RepackPage(const repack::Repacked& repacked) {
  std::string out = Printable(repacked.module) + ": ";
  if (repacked.bytes.empty()) {
    out += fmt::format("stays as it is, with {} of temporaries\n",
                       HumanAndExactBytes(repacked.bytes_before));
  } else {
    out +=
        fmt::format("{} of temporaries instead of {}\n", HumanAndExactBytes(repacked.bytes_after),
                    HumanAndExactBytes(repacked.bytes_before));
    out += fmt::format("  {} values lie elsewhere, {} thunks run at another time\n",
                       repacked.moved_values, repacked.moved_thunks);
    out += fmt::format("  in this order no places need less than {}\n",
                       HumanAndExactBytes(repacked.bound));
  }
  for (const std::string& refusal : repacked.refusals)
    out += "  refused: " + Printable(refusal) + "\n";
  return out;
}

std::string RepackJson(const repack::Repacked& repacked) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("module", std::string_view(repacked.module));
  json.Field("is_rewritten", !repacked.bytes.empty());
  json.Field("temporaries_before", repacked.bytes_before);
  json.Field("temporaries_after", repacked.bytes_after);
  json.Field("bound", repacked.bound);
  json.Field("moved_values", repacked.moved_values);
  json.Field("moved_thunks", repacked.moved_thunks);
  json.BeginArray("refusals");
  for (const std::string& refusal : repacked.refusals) json.Value(std::string_view(refusal));
  json.End();
  json.End();
  return out;
}

}  // namespace stowplan::page
