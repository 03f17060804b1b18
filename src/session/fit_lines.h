// SPDX-License-Identifier: Apache-2.0
// What is computed again, in the user's words: by source line, with the layers that the program
// itself names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fit/task.h"
#include "session/fit.h"
#include "stowplan/hlo/module.h"

namespace stowplan {

// By source line, what frees the most first.
std::vector<FitLine> LinesOf(std::span<const FitRepeat> repeats);

// The lines of two lists; those of the same source become one. The costs of `own` are in a unit of
// their own.
std::vector<FitLine> WithMore(std::span<const FitLine> lines, std::vector<FitLine> own,
                              double unit);

// Which parts of a program these op_names are in: "layers 3 to 12", "block_0 and block_2". Only
// what the names say: a part of the path that ends in a number, and differs in nothing else. Empty
// if there is none.
std::string PartsOf(std::span<const std::string> op_names);

// Where the instruction comes from: the user's own line and function, and the op_name.
void AddOrigin(const hlo::Module& module, hlo::InstrId id, const OwnCode& own, FitRepeat& repeat);

// By node: the bytes that it made and that are kept at the peak of the given order, but not at the
// same point of the sequence.
std::vector<int64_t> FreedBytes(const fit::Task& task, std::span<const fit::Node> sequence);

// The points of the curve whose lines are of interest: at most `most`, spread over the range of
// memory; the first and the last are among them. By row.
std::vector<size_t> SpreadPoints(std::span<const FitPoint> curve, size_t most);

}  // namespace stowplan
