// SPDX-License-Identifier: Apache-2.0
// `stowplan THING`: finds out what the user has, and so which command is meant.
//
//     a dump directory, a report, a module, an executable     explain
//     two of them                                             diff
//     a log with an out-of-memory error                       explain-oom
//     a log and one of the others                             explain-oom LOG --dump=OTHER
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stowplan::cli {

// The words of a whole command line, from words whose first is no command. Nothing if the first
// word is no file, directory or `-`.
std::optional<std::vector<std::string>> CommandFor(const std::vector<std::string>& words);

}  // namespace stowplan::cli
