// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_moment.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cli/number.h"
#include "page/text.h"

namespace stowplan::cli {
bool ReadMoment(const Arguments& arguments, Console& console, std::optional<int64_t>& time) {
  const std::string& at = arguments.option("at");
  if (at.empty()) return true;
  time = ParseNumber(at.starts_with("t=") ? std::string_view(at).substr(2) : at);
  if (!time) {
    console.ShowError("--at needs a moment, not `" + at + "`", "such as --at=120");
  }
  return time.has_value();
}

bool ChooseSpace(const std::string& name, const explain::Picture& picture,
                 const report::Summary& summary, Console& console, std::optional<int64_t>& space) {
  space.reset();
  if (name == "all") return true;
  if (name.empty()) {
    const auto largest = std::ranges::max_element(summary.spaces, {}, &report::SpaceTotal::bytes);
    if (largest != summary.spaces.end()) space = largest->color;
    return true;
  }
  const std::optional<int64_t> color = ParseNumber(name);
  const bool exists = color && std::ranges::any_of(summary.spaces, [&](const auto& total) {
                        return total.color == *color;
                      });
  if (exists) {
    space = color;
    return true;
  }
  std::string hint = "the memory spaces are";
  for (const report::SpaceTotal& total : summary.spaces)
    hint += fmt::format(" {} ({}),", total.color, page::SpaceText(picture.backend, total.color));
  console.ShowError("there is no memory space `" + name + "`", hint + " all");
  return false;
}

std::optional<ChosenMoment> ChooseMoment(std::optional<int64_t> time,
                                         const explain::Picture& picture,
                                         const explain::Curve& curve, Console& console) {
  const int64_t end = picture.report->live_ranges->end;
  const int64_t at = time.value_or(curve.peak.time);
  if (at < 0 || at > end) {
    console.ShowError(fmt::format("there is no moment t={}", at),
                      fmt::format("the program runs from t=0 to t={}", end));
    return std::nullopt;
  }
  return ChosenMoment{.moment = explain::MomentAt(picture, at, curve.space),
                      .is_peak = at == curve.peak.time};
}

}  // namespace stowplan::cli
