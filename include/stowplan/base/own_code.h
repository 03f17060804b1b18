// SPDX-License-Identifier: Apache-2.0
// Which code is the user's own, as far as the user says so.
#pragma once

#include <string>
#include <vector>

namespace stowplan {

// explain/own_line.h has the rule that uses it. By default, all code is the user's that is not in
// an installed library.
struct OwnCode {
  std::string source_root = {};  // a directory with the user's files; empty: none
  // Of paths: "mylib" or "mylib/models" matches whole names of folders and files; with a `*`, a
  // pattern is compared with the whole path.
  std::vector<std::string> patterns = {};
};

}  // namespace stowplan
