// SPDX-License-Identifier: Apache-2.0
// Whose line is it? The one rule that names a line of source for a value.
//
//     train.py:30 loss_fn  >  flax/linen/module.py:1129  >  model.py:17 __call__  >
//     flax/linen/linear.py:287 __call__
//
// A user can change model.py:17, and not linear.py:287. So a value belongs to the nearest frame of
// its call stack that is the user's own: in a file that the user names (OwnCode), else in a file
// that is not of an installed library. If there is no such frame, it belongs to the innermost. The
// library's line is shown second.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stowplan/base/own_code.h"
#include "stowplan/hlo/module.h"

namespace stowplan::explain {

// How near a file is to the user; less is nearer.
enum class Owner : uint8_t { kNamed, kUser, kLibrary };

// Whether a file is of an installed package, of Python's standard library, or of no file at all
// ("<frozen importlib._bootstrap>").
[[nodiscard]] bool IsLibrary(std::string_view file);

class Owners {
 public:
  explicit Owners(OwnCode own) : own_(std::move(own)) {}

  // Looks for the file below the source root, if there is one; answers are remembered.
  [[nodiscard]] Owner Of(std::string_view file);

 private:
  [[nodiscard]] bool IsNamed(std::string_view file) const;
  OwnCode own_;
  std::map<std::string, Owner, std::less<>> known_;
};

// "a,b" as patterns, also one in each line; empty parts are dropped.
[[nodiscard]] std::vector<std::string> PatternsOf(std::string_view list);

// A frame of a module's tables: one that the user can change.
struct OwnLine {
  std::string_view file;
  std::string_view function;  // may be empty
  int32_t line = 0;           // 0: not known
};
// By the rule above, of the stack frame; else the line of the metadata itself.
[[nodiscard]] OwnLine OwnLineOf(const hlo::Module& module, const hlo::Metadata& metadata,
                                const OwnCode& own);
// "train.py:17", without folders; empty if it is not known.
[[nodiscard]] std::string LineText(const OwnLine& line);

}  // namespace stowplan::explain
