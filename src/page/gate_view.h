// SPDX-License-Identifier: Apache-2.0
// What `stowplan gate` prints: as text, Markdown, JUnit XML and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diff/cause.h"
#include "gate/gate.h"
#include "page/diff_view.h"

namespace stowplan::page {

struct GateRow {
  gate::Verdict verdict;
  std::string space;                // S(0) HBM
  std::string figure = {};          // "footprint", "peak"
  std::vector<diff::Cause> causes;  // of a breach, if there is a base; largest first
};

struct GateView {
  std::vector<GateRow> rows;
  std::string lock;  // the file that was written; empty: none

  [[nodiscard]] int64_t breaches() const;
};

std::string GatePage(const GateView& view);
std::string GateMarkdown(const GateView& view);
std::string GateJunit(const GateView& view);
std::string GateJson(const GateView& view);

}  // namespace stowplan::page
