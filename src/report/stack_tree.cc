// SPDX-License-Identifier: Apache-2.0
#include "report/stack_tree.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/checked_math.h"

namespace stowplan::report {
namespace {

using hlo::CompId;
using hlo::InstrId;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWord(char c) { return IsLetter(c) || (c >= '0' && c <= '9'); }

// `params['layer/fc'].w` is a path of its own: params, layer, fc, w. Other names are one part.
std::vector<std::string> SplitName(std::string_view name) {
  std::vector<std::string> whole = {std::string(name)};
  size_t at = 0;
  const auto take_word = [&] {
    const size_t begin = at;
    while (at < name.size() && IsWord(name[at])) ++at;
    return std::string(name.substr(begin, at - begin));
  };
  if (name.empty() || !IsLetter(name[0])) return whole;
  std::vector<std::string> parts = {take_word()};
  bool has_key = false;
  while (at < name.size()) {
    if (name.substr(at).starts_with("['")) {
      const size_t end = name.find('\'', at + 2);
      if (end == std::string_view::npos || end == at + 2 || !name.substr(end).starts_with("']"))
        return whole;
      std::string_view key = name.substr(at + 2, end - at - 2);
      for (size_t slash = key.find('/'); slash != std::string_view::npos; slash = key.find('/')) {
        parts.emplace_back(key.substr(0, slash));
        key.remove_prefix(slash + 1);
      }
      parts.emplace_back(key);
      has_key = true;
      at = end + 2;
    } else if (name[at] == '.') {
      ++at;
      parts.push_back(take_word());
      if (parts.back().empty()) return whole;
    } else {
      return whole;
    }
  }
  return has_key ? parts : whole;
}

class StackTree {
 public:
  StackTree(const hlo::Module& module, const CallGraph& calls) : module_(module), calls_(calls) {}

  void Add(const TracedBytes& row) {
    const std::vector<size_t>& ends = EndsOf(module_.instructions[row.instruction].parent);
    std::vector<std::string> leaf = LeafOf(row.instruction);
    if (!row.index.empty()) {
      leaf.back() += '{';
      for (size_t k = 0; k < row.index.size(); ++k)
        leaf.back().append(k == 0 ? "" : ",").append(std::to_string(row.index[k]));
      leaf.back() += '}';
    }
    // The bytes are divided between all ways to get here.
    const auto count = static_cast<int64_t>(ends.size());
    for (int64_t k = 0; k < count; ++k) {
      size_t node = ends[static_cast<size_t>(k)];
      for (const std::string& part : leaf) node = Child(node, part);
      nodes_[node].current += row.bytes / count + (k < row.bytes % count ? 1 : 0);
    }
  }

  std::vector<TreeNode> Finish(Report& report) && {
    // Children come after their parents.
    for (size_t n = nodes_.size(); n-- != 0;) {
      nodes_[n].total = SaturatingAdd(nodes_[n].total, nodes_[n].current);
      if (n != 0) {
        int64_t& above = nodes_[nodes_[n].parent].total;
        above = SaturatingAdd(above, nodes_[n].total);
      }
    }
    std::vector<TreeNode> out;
    std::vector<std::pair<size_t, int>> stack;
    const auto push_children = [&](size_t node, int depth) {
      std::vector<std::pair<int64_t, size_t>> children;  // by name, as the map has them
      for (const auto& [name, child] : nodes_[node].children) {
        if (nodes_[child].total != 0) children.emplace_back(-nodes_[child].total, child);
      }
      std::ranges::stable_sort(children, {}, &std::pair<int64_t, size_t>::first);
      for (size_t k = children.size(); k-- != 0;) stack.emplace_back(children[k].second, depth);
    };
    push_children(0, 0);
    while (!stack.empty()) {
      const auto [node, depth] = stack.back();
      stack.pop_back();
      const std::string_view name =
          *report.made_texts.emplace_back(std::make_unique<std::string>(nodes_[node].name));
      out.push_back({.depth = depth, .name = name, .current = nodes_[node].current});
      push_children(node, depth + 1);
    }
    return out;
  }

 private:
  struct Node {
    std::string name;
    size_t parent = 0;
    std::map<std::string, size_t, std::less<>> children;
    int64_t current = 0;
    int64_t total = 0;
  };

  size_t Child(size_t parent, const std::string& name) {
    const auto [row, is_new] = nodes_[parent].children.try_emplace(name, nodes_.size());
    const size_t child = row->second;
    if (is_new) nodes_.push_back({.name = name, .parent = parent});
    return child;
  }

  [[nodiscard]] std::vector<std::string> LeafOf(InstrId id) const {
    const hlo::Metadata* metadata = module_.metadata_of(id);
    const std::string_view op_name =
        metadata == nullptr ? std::string_view() : module_.view(metadata->op_name);
    return SplitName(op_name.empty() ? module_.name(id) : op_name);
  }

  // The nodes of a computation, one for each way that calls lead to it.
  const std::vector<size_t>& EndsOf(CompId id) {
    // Callers of callers first; each computation once.
    std::vector<CompId> stack = {id};
    while (!stack.empty()) {
      const CompId computation = stack.back();
      if (ends_.contains(computation)) {
        stack.pop_back();
        continue;
      }
      std::vector<InstrId> callers(calls_.callers_of(computation).begin(),
                                   calls_.callers_of(computation).end());
      std::ranges::sort(callers, {}, [&](InstrId caller) {
        return module_.proto_ids.empty() ? static_cast<int64_t>(caller.index)
                                         : module_.proto_ids[caller.index];
      });
      callers.erase(std::ranges::unique(callers).begin(), callers.end());
      bool is_ready = true;
      for (const InstrId caller : callers) {
        const CompId parent = module_.instructions[caller].parent;
        if (ends_.contains(parent)) continue;
        stack.push_back(parent);
        is_ready = false;
      }
      if (!is_ready) continue;
      stack.pop_back();
      std::vector<size_t> ends;
      const std::string name(module_.name(computation));
      if (callers.empty()) ends.push_back(Child(0, name));
      for (const InstrId caller : callers) {
        const std::vector<std::string> leaf = LeafOf(caller);
        for (const size_t end : ends_.at(module_.instructions[caller].parent)) {
          // Calls of calls multiply; nobody reads a tree of that many branches.
          if (ends.size() == kMaxWays) break;
          size_t node = end;
          for (const std::string& part : leaf) node = Child(node, part);
          ends.push_back(Child(node, name));
        }
      }
      ends_.emplace(computation, std::move(ends));
    }
    return ends_.at(id);
  }

  static constexpr size_t kMaxWays = 4096;
  const hlo::Module& module_;
  const CallGraph& calls_;
  std::vector<Node> nodes_ = {{}};
  std::map<CompId, std::vector<size_t>> ends_;
};

}  // namespace

std::vector<TreeNode> BuildStackTree(const hlo::Module& module, const CallGraph& calls,
                                     const std::vector<TracedBytes>& rows, Report& report) {
  StackTree tree(module, calls);
  for (const TracedBytes& row : rows) tree.Add(row);
  return std::move(tree).Finish(report);
}

}  // namespace stowplan::report
