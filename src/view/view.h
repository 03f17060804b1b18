// SPDX-License-Identifier: Apache-2.0
// The viewer: one self-contained HTML file that shows the memory of a program.
//
//     Picture ─ WriteBundle ─▶ bundle (docs/view-format.md) ─ WritePage ─▶ HTML
//     Picture ─ IndexRowOf ─▶ Index ─ WriteIndexBundle ─▶ bundle ─ WritePage ─▶ HTML
//
// The page only draws and adds up: every number comes from the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/moment.h"
#include "explain/picture.h"
#include "live/analysis.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan::view {

// What the temporaries of a memory space need at least.
struct Bound {
  int64_t color = 0;
  int64_t bytes = 0;  // no plan of the program takes less
  std::string proof;  // how good this plan is; may be empty
};

// A module to show.
struct Shown {
  const explain::Picture* picture = nullptr;
  const Analysis* analysis = nullptr;  // may be null: then some rules are not certain
  std::string name;
  std::string plan;           // whose it is: "XLA's plan, from its report"
  std::vector<Bound> bounds;  // of some memory spaces
};

struct SourceFile {
  std::string file;
  std::string text;
};

struct Scene {
  std::string title;
  std::vector<Shown> modules;     // one, or two to compare
  std::optional<int64_t> budget;  // the size of main memory, color 0
  std::vector<SourceFile> sources;
  std::string
      order;  // two plans of one program: what their orders of instructions save; may be empty
  std::string home;  // the page of the index beside this one; may be empty
};

// A module in a list of many. Its own page lies in the same folder.
struct IndexRow {
  std::string name;
  std::string file;  // of its page, from PageNames
  std::string plan;
  std::string backend;
  int64_t bytes = 0;                  // of all allocations
  std::optional<int64_t> best_bytes;  // the same of policy best
  std::optional<int64_t> base_bytes;  // the same of the module that it is compared with
  std::string only;                   // "A" or "B": where two are compared, it is in this one only
  int64_t main_bytes = 0;             // of those in the main memory, color 0
  int64_t peak = 0;                   // the most that is live at once
  int64_t values = 0;
  int64_t end = 0;                   // the last moment
  std::vector<explain::Step> curve;  // the load, kThumbnailSteps at most
};
struct IndexProblem {
  std::string name;
  std::string reason;  // why there is no page
};
struct Index {
  std::string title;
  std::vector<std::string> compared;  // what A and B are; empty: nothing is compared
  std::optional<int64_t> budget;
  std::vector<IndexRow> rows;  // in the order in which they are to be shown
  std::vector<IndexProblem> problems;
};
inline constexpr size_t kThumbnailSteps = 240;

// Fails when a module has no live ranges, or numbers that JavaScript cannot hold.
[[nodiscard]] Result<std::string> WriteBundle(const Scene& scene);

// Fails when WriteBundle does. `file` is left empty.
[[nodiscard]] Result<IndexRow> IndexRowOf(const Shown& shown);
[[nodiscard]] std::string WriteIndexBundle(const Index& index);

// The whole page around a bundle.
[[nodiscard]] Result<std::string> WritePage(std::string_view bundle);

}  // namespace stowplan::view
