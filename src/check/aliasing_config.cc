// SPDX-License-Identifier: Apache-2.0
#include "check/aliasing_config.h"

#include <charconv>
#include <string_view>

namespace stowplan::check {
namespace {

// Calls `visit` with each number of `"0","2"`; false when it is something else.
template <class Visit>
bool VisitNumbers(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    if (!list.starts_with('"')) return false;
    size_t number = 0;
    const auto [end, error] = std::from_chars(list.data() + 1, list.data() + list.size(), number);
    if (error != std::errc()) return false;
    list.remove_prefix(static_cast<size_t>(end - list.data()));
    if (!list.starts_with('"')) return false;
    list.remove_prefix(1);
    visit(number);
    if (list.starts_with(',')) list.remove_prefix(1);
  }
  return true;
}

}  // namespace

// `"aliasing_operands":{"lists":[{"indices":["0","2"]}]}`: each list is one buffer. Outputs are
// numbered after the operands.
bool IsCodeToldOfOverlap(const hlo::Module& module, hlo::InstrId id, size_t operand,
                         size_t output) {
  const hlo::Attribute* kind = module.FindAttribute(id, hlo::AttributeKey::kKind);
  if (module.instructions[id].opcode != hlo::Opcode::kFusion || kind == nullptr ||
      module.view(kind->text()) != "kCustom")
    return false;
  const hlo::Attribute* config = module.FindAttribute(id, hlo::AttributeKey::kBackendConfig);
  if (config == nullptr) return false;
  constexpr std::string_view kName = "\"aliasing_operands\":{\"lists\":[";
  constexpr std::string_view kList = "{\"indices\":[";
  std::string_view rest = module.view(config->text());
  const size_t at = rest.find(kName);
  if (at == std::string_view::npos) return false;
  rest.remove_prefix(at + kName.size());
  while (rest.starts_with(kList)) {
    rest.remove_prefix(kList.size());
    const size_t end = rest.find("]}");
    if (end == std::string_view::npos) return false;
    bool has_operand = false;
    bool has_output = false;
    const bool is_list = VisitNumbers(rest.substr(0, end), [&](size_t number) {
      has_operand |= number == operand;
      has_output |= number == module.operands_of(id).size() + output;
    });
    if (!is_list) return false;
    if (has_operand && has_output) return true;
    rest.remove_prefix(end + 2);
    if (rest.starts_with(',')) rest.remove_prefix(1);
  }
  return false;
}

}  // namespace stowplan::check
