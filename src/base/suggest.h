// SPDX-License-Identifier: Apache-2.0
// "Did you mean ...?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stowplan {

// The candidate that is most like `word`; empty when none is much like it.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& candidates);

// "did you mean `x`?" or empty.
std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& candidates);

// The same, else "one of a, b, c".
std::string DidYouMeanOneOf(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace stowplan
