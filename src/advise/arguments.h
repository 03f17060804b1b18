// SPDX-License-Identifier: Apache-2.0
// The arguments of the Python function that JAX compiled: each is one or more parameters of the
// program, the leaves of a tree.
//
//     parameter 0   params['w']        argument 0, params
//     parameter 1   params['b']
//     parameter 2   x                  argument 1, x
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stowplan/hlo/module.h"

namespace stowplan::advise {

struct Argument {
  std::string name;  // empty: not known
  // Among the arguments that the program uses. JAX leaves out those that are not used at all, so
  // this can be less than the function's own count.
  int64_t position = 0;
  // The argument is one of `*args`, and `name` is that of the tuple with its index: args[1].
  bool is_variadic = false;
  std::vector<int64_t> parameters;  // by number
  std::vector<std::string> paths;   // beside them: params['w']; empty: not known
};

// In the order of their first parameters. A parameter without a name is an argument of its own.
// `names`, by number, are for parameters that the program does not name. They begin with args[1] or
// kwargs['x'], as in JAX's own description of the program: with the function's position or keyword.
[[nodiscard]] std::vector<Argument> ArgumentsOf(const hlo::Module& module,
                                                std::span<const std::string> names = {});

// "donate_argnames=('params', 'state')"; with positions if the names are not known.
[[nodiscard]] std::string DonationSpelling(const std::vector<Argument>& arguments);
// `def f(*a)` and a tuple `a` look the same: a[0], a[1], ... If this argument may be of the first
// kind, which has no name that JAX accepts: the positions of its parts, "donate_argnums=(2, 3)".
// Otherwise empty.
[[nodiscard]] std::string DonationIfVariadic(const Argument& argument);
// "donate_argnums=(0, 1)"
[[nodiscard]] std::string DonationNumbers(const std::vector<Argument>& arguments);

}  // namespace stowplan::advise
