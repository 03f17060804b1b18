// SPDX-License-Identifier: Apache-2.0
// From two words of the command line to the modules of both, side by side.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/listener.h"
#include "cli/plan_input.h"
#include "cli/report_input.h"
#include "explain/picture.h"

namespace stowplan::cli {

// Modules of the same name; one of them may be missing.
struct ModulePair {
  std::string name;  // without XLA's numbers; the second of a name is "jit_f #2"
  std::optional<InputModule> a;
  std::optional<InputModule> b;
};

// A command's own options, and those that say what is looked at in both: --module and --target.
std::vector<OptionSpec> WithPairInput(std::vector<OptionSpec> own);

// By name; when both sides have one module, these, whatever they are called. Nothing, and a
// message, when an input has no module. `inputs` of the options are not used.
std::optional<std::vector<ModulePair>> FindPairs(const std::string& a, const std::string& b,
                                                 const PlanInputOptions& options,
                                                 Listener& listener);

// All modules of one input, named as in FindPairs.
struct NamedModule {
  std::string name;
  InputModule module;
};
std::optional<std::vector<NamedModule>> FindModules(const std::string& input,
                                                    const PlanInputOptions& options,
                                                    Listener& listener);

// What FindInputs finds in two inputs. Nothing, and a message, when it finds none, or when both are
// standard input, which can be read only once.
struct InputPair {
  Inputs a;
  Inputs b;
};
std::optional<InputPair> FindBothInputs(const std::string& a, const std::string& b,
                                        const PlanInputOptions& options, Listener& listener);
// As FindPairs does, of inputs that were found.
std::optional<std::vector<ModulePair>> PairsOf(InputPair inputs, const PlanInputOptions& options,
                                               Listener& listener);

// The name of the program, where it is the only one and its file has a name of its own.
std::string ShownName(const std::string& name, bool is_single, const PlanInput& plan);

// A plan and its picture, which points into it.
struct PicturedPlan {
  PlanInput plan;
  explain::Picture picture;
};
// Null, and messages, when it cannot be read.
std::unique_ptr<PicturedPlan> LoadPicture(InputModule module, const PlanInputOptions& options,
                                          Listener& listener);

}  // namespace stowplan::cli
