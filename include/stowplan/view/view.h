// SPDX-License-Identifier: Apache-2.0
// The viewer: one HTML file that shows the memory of a program and needs nothing else.
//
//     Picture ─ WriteBundle ─▶ bundle (docs/view-format.md) ─ WritePage ─▶ HTML
//
// The page only draws and adds up: every number in it is the library's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/explain/picture.h"
#include "stowplan/live/analysis.h"

namespace stowplan::view {

// A module as it is to be shown.
struct Shown {
  const explain::Picture* picture = nullptr;
  const Analysis* analysis = nullptr;  // may be null: then some rules are not certain
  std::string name;
  std::string plan;                                 // whose it is: "XLA's plan, from its report"
  std::vector<std::pair<int64_t, int64_t>> bounds;  // (color, bytes): no plan takes less
};

struct SourceFile {
  std::string file;
  std::string text;
};

struct Scene {
  std::string title;
  std::vector<Shown> modules;  // one, or two to compare
  std::optional<int64_t> budget;
  std::vector<SourceFile> sources;
};

// Fails when a module has no live ranges, or numbers that JavaScript cannot hold.
[[nodiscard]] Result<std::string> WriteBundle(const Scene& scene);

// The whole page around a bundle.
[[nodiscard]] Result<std::string> WritePage(std::string_view bundle);

}  // namespace stowplan::view
