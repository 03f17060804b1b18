// SPDX-License-Identifier: Apache-2.0
#include "hlo/literal.h"

#include <vector>

#include "hlo/number.h"

namespace stowplan::hlo {

bool HasTooManyRows(std::span<const int64_t> dims) {
  constexpr int64_t kMaxEmptyRows = 1000;
  int64_t rows = 1;
  for (const int64_t dim : dims) {
    if (dim <= 0) return false;
    if (dim > kMaxEmptyRows / rows) return true;
    rows *= dim;
  }
  return false;
}

void AppendNested(std::span<const int64_t> dims,
                  const std::function<void(int64_t, std::string&)>& element, std::string& out) {
  const size_t rank = dims.size();
  if (rank == 0) {
    element(0, out);
    return;
  }
  // Position in each dimension; `level` is the dimension whose next element is due.
  std::vector<int64_t> at(rank, 0);
  int64_t number = 0;
  size_t level = 0;
  const auto open = [&](size_t l) {
    const bool innermost = l + 1 == rank;
    out += '{';
    if (rank > 1 && (!innermost || dims[l] > 1)) out += ' ';
    if (rank > 3 && l > 0 && !innermost) {
      out += "/*i";
      AppendNumber(static_cast<int64_t>(l) - 1, out);
      out += '=';
      AppendNumber(at[l - 1], out);
      out += "*/ ";
    }
  };
  const auto close = [&](size_t l) {
    const bool innermost = l + 1 == rank;
    const bool has_blank = out.back() == ' ' && rank > 3;  // behind the comment of an empty level
    if (rank > 1 && (!innermost || dims[l] > 1) && !has_blank) out += ' ';
    out += '}';
  };
  open(0);
  while (true) {
    if (at[level] == dims[level]) {
      close(level);
      if (level == 0) return;
      at[level] = 0;
      --level;
      ++at[level];
      continue;
    }
    if (at[level] != 0) out += ", ";
    if (level + 1 == rank) {
      element(number++, out);
      ++at[level];
    } else {
      ++level;
      open(level);
    }
  }
}

}  // namespace stowplan::hlo
