// SPDX-License-Identifier: Apache-2.0
// The modules of a dump directory, not read yet.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/bind.h"
#include "python/failure.h"
#include "python/lock.h"
#include "python/text.h"
#include "session/inputs.h"
#include "session/pairs.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace stowplan::python {
namespace {

// (name, paths): no two have the same name, and `load` takes the paths.
using ModuleRow = std::tuple<Text, std::vector<std::string>>;
std::vector<ModuleRow> ModulesOf(const std::string& folder) {
  const Unlocked unlocked;
  std::vector<ModuleRow> rows;
  for (const NamedModule& found :
       Need(NamedModules(Need(Open({folder})), OptionsOf({}, {}, {}).plan))) {
    std::vector<std::string> paths;
    for (const std::optional<InputFile>& file : found.module.files->files)
      if (file) paths.push_back(file->path);
    rows.emplace_back(found.name, std::move(paths));
  }
  return rows;
}

}  // namespace

void BindModules(nb::module_& module) {
  module.def("find_modules", ModulesOf, "folder"_a,
             "The modules that XLA dumped to a directory: names, and files of each.");
}

}  // namespace stowplan::python
