// SPDX-License-Identifier: Apache-2.0
// stowplan view of many modules: a page for each, and one that lists them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "page/view_scene.h"
#include "session/pairs.h"
#include "stowplan/session.h"

namespace stowplan::cli {

// A page: a module, or one beside that which it is compared with.
struct IndexEntry {
  std::string name;
  InputModule module;
  std::optional<InputModule> base = {};
  std::string only = {};  // "A" or "B", where two inputs are compared and one of them has it
};

// The modules of one input.
std::vector<IndexEntry> EntriesOf(std::vector<InputModule> modules);
// Those of two.
std::vector<IndexEntry> EntriesOf(std::vector<ModulePair> pairs);

struct IndexInput {
  std::string title;
  std::vector<std::string> compared = {};  // what A and B are; empty: there is one input
  std::vector<IndexEntry> entries;
  std::vector<Leftover> leftovers;
};

// Writes the pages into `folder`, which is made; index.html last, so that what it names is there.
// What cannot be shown is listed with the reason. Nothing is written when a page would take the
// place of another's file. The exit code.
int ViewIndex(IndexInput input, const std::string& folder, const page::ViewOptions& options,
              Console& console);

}  // namespace stowplan::cli
