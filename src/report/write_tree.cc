// SPDX-License-Identifier: Apache-2.0
// The stack trace breakdown: totals, shares and what remains follow from the bytes that end at each
// node.
#include <cstdio>

#include "base/checked_math.h"
#include "report/derive.h"
#include "report/write_parts.h"

namespace stowplan::report {

void AppendTree(const LiveRanges& ranges, std::string& out) {
  const std::vector<TreeNode>& nodes = ranges.tree;
  // Totals from the leaves up: nodes are in pre-order, so a node's children follow it.
  std::vector<int64_t> totals(nodes.size());
  std::vector<size_t> open;  // the nodes above the current one
  int64_t all = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    totals[i] = SaturatingAdd(totals[i], nodes[i].current);
    all = SaturatingAdd(all, nodes[i].current);
    open.resize(std::min(open.size(), static_cast<size_t>(nodes[i].depth)));
    for (const size_t above : open) totals[above] = SaturatingAdd(totals[above], nodes[i].current);
    open.push_back(i);
  }
  // A node is the last of its siblings when no later one has its depth before a smaller depth
  // comes.
  std::vector<bool> is_last(nodes.size(), true);
  std::vector<size_t> latest;  // by depth, the node seen last
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto depth = static_cast<size_t>(nodes[i].depth);
    if (latest.size() > depth) is_last[latest[depth]] = false;
    latest.resize(depth);
    latest.push_back(i);
  }
  out.append("  Stack trace breakdown for peak usage: ")
      .append(GroupedNumber(all))
      .append(" bytes\n");
  int64_t remaining = all;
  std::vector<bool> above;  // whether the node at each depth above is its siblings' last
  for (size_t i = 0; i < nodes.size(); ++i) {
    remaining -= nodes[i].current;
    above.resize(static_cast<size_t>(nodes[i].depth));
    out += "  ";
    for (const bool last : above) out += last ? "    " : "│   ";
    if (nodes[i].depth == 0) {
      out += "  ";
    } else {
      out += is_last[i] ? "└── " : "├── ";
    }
    char share[32];
    std::snprintf(
        share, sizeof(share), "%.1f",
        all == 0 ? 0.0 : 100.0 * static_cast<double>(totals[i]) / static_cast<double>(all));
    out.append(nodes[i].name)
        .append(" (")
        .append(share)
        .append("%, total: ")
        .append(GroupedNumber(totals[i]));
    out.append(" bytes, current: ").append(GroupedNumber(nodes[i].current));
    out.append(" bytes, remaining: ").append(GroupedNumber(remaining)).append(" bytes)\n");
    above.push_back(is_last[i]);
  }
}

}  // namespace stowplan::report
