// SPDX-License-Identifier: Apache-2.0
// The modules of two inputs, side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/session.h"

namespace stowplan {

struct NamedModule {
  std::string name;  // without XLA's numbers; the second of the same name is "jit_f #2"
  InputModule module;
};
// The modules that the options choose. Fails if there are none.
Result<std::vector<NamedModule>> NamedModules(const Inputs& inputs, const PlanOptions& options);

// Modules of the same name; one of them may be missing.
struct ModulePair {
  std::string name;
  std::optional<InputModule> a;
  std::optional<InputModule> b;
};
// Pairs modules by name. If each side has a single module, pairs these whatever their names.
Result<std::vector<ModulePair>> PairModules(const Inputs& a, const Inputs& b,
                                            const PlanOptions& options);

// Opens both inputs. Also fails if both are standard input, which can be read only once.
struct InputPair {
  Inputs a;
  Inputs b;
};
Result<InputPair> OpenBoth(const std::string& a, const std::string& b);

// The name to show for a module: the program's own, if it is the only one and its file is not named
// by XLA (module_NNNN...).
std::string ShownName(const std::string& name, bool is_single, const PlannedModule& planned);

}  // namespace stowplan
