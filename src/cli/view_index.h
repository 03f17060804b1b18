// SPDX-License-Identifier: Apache-2.0
// stowplan view for many modules: a page for each, and an index.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "page/view_scene.h"
#include "session/pairs.h"
#include "stowplan/session.h"

namespace stowplan::cli {

// A page: a module, and the module that it is compared with, if any.
struct IndexEntry {
  std::string name;
  InputModule module;
  std::optional<InputModule> base = {};
  std::string only = {};  // "A" or "B", if two inputs are compared and only that one has it
};

// One entry per module.
std::vector<IndexEntry> EntriesOf(std::vector<InputModule> modules);
// One entry per pair.
std::vector<IndexEntry> EntriesOf(std::vector<ModulePair> pairs);

struct IndexInput {
  std::string title;
  std::vector<std::string> compared = {};  // what A and B are; empty: there is only one input
  std::vector<IndexEntry> entries;
  std::vector<Leftover> leftovers;
};

// Creates `folder` and writes the pages into it; index.html comes last, so that everything it links
// to exists. Modules that cannot be shown are listed with the reason. Writes nothing if a page
// would overwrite a file that is not one. Returns the exit code.
int ViewIndex(IndexInput input, const std::string& folder, const page::ViewOptions& options,
              Console& console);

}  // namespace stowplan::cli
