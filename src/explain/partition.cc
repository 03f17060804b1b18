// SPDX-License-Identifier: Apache-2.0
#include "explain/partition.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "base/stable_sort.h"
#include "explain/footprint.h"
#include "explain/tree_maker.h"

namespace stowplan::explain {
namespace {

constexpr std::array<std::string_view, kBys> kNames = {"value",     "source", "stack",    "op_name",
                                                       "parameter", "kind",   "footprint"};

// For values that a question has no answer for.
std::string_view OtherName(const ValueFact& fact, std::string_view otherwise) {
  if (fact.kind == Kind::kParameter || fact.kind == Kind::kDonated) return "(parameters)";
  if (fact.is_parameter_copy) return "(copies of parameters)";
  return fact.kind == Kind::kConstant ? "(constants)" : otherwise;
}

bool HasSource(const Picture& picture, FrameId id) {
  return !id.is_none() &&
         (!picture.frames[id].file.empty() || !picture.frames[id].function.empty());
}

class Partitioner {
 public:
  Partitioner(const Picture& picture, const Moment& moment, By by)
      : picture_(picture), moment_(moment), by_(by), tree_(moment, by) {}

  Partition Run() && {
    if (by_ == By::kValue) tree_.Reserve(moment_.shares.size());
    for (const Share& share : moment_.shares) {
      tree_.Begin();
      switch (by_) {
        case By::kValue:
          AddValue(share);
          break;
        case By::kSource:
        case By::kStack:
          AddSource(share);
          break;
        case By::kOpName:
          AddOpName(share);
          break;
        case By::kParameter:
          AddParameter(share);
          break;
        case By::kKind:
        case By::kFootprint:
          AddKind(share);
          break;
      }
    }
    if (by_ == By::kFootprint) AddRest();
    Partition partition = std::move(tree_).Make();
    if (by_ == By::kSource) AddLibraries(partition);
    // A value can be in two rows, one of them its padding.
    partition.rows[0].values =
        std::ranges::count_if(moment_.shares, [](const Share& share) { return share.bytes != 0; });
    return partition;
  }

 private:
  void AddValue(const Share& share) {
    tree_.DownNew(ValueName(*picture_.report, share.value)).value = share.value;
    tree_.Add(share.bytes);
  }

  void AddSource(const Share& share) {
    const ValueFact& fact = picture_.fact(share.value);
    if (const std::string_view row = RowOfOthers(picture_, share.value, by_); !row.empty()) {
      tree_.DownOther(row);
    } else if (by_ == By::kSource) {
      GoToLine(fact.frame, share.bytes);
    } else {
      GoToFrame(fact.frame);
    }
    tree_.Add(share.bytes);
  }

  // To the user's own line.
  void GoToLine(FrameId innermost, int64_t bytes) {
    const FrameId own = picture_.own_line(innermost);
    Row& row = tree_.Down(SourceText(picture_, own));
    row.frame = own;
    Inside& inside = insides_[row.name][SourceText(picture_, innermost)];
    inside.frame = innermost;
    inside.bytes += bytes;
  }

  // Which line of a library most of a row's bytes are from, if most are not from the row's own.
  void AddLibraries(Partition& partition) const {
    for (Row& row : partition.rows) {
      const auto lines = insides_.find(row.name);
      if (row.frame.is_none() || lines == insides_.end()) continue;
      const auto most = std::ranges::max_element(
          lines->second, {}, [](const auto& line) { return line.second.bytes; });
      if (most->first != row.name) row.library = most->second.frame;
    }
  }

  // Stacks share their outer frames: each is gone once.
  void GoToFrame(FrameId innermost) {
    std::vector<FrameId> way;
    FrameId at = innermost;
    for (; !at.is_none() && !frame_rows_.contains(at.index); at = picture_.frames[at].parent)
      way.push_back(at);
    tree_.Begin(at.is_none() ? 0 : frame_rows_[at.index]);
    for (; !way.empty(); way.pop_back()) {
      tree_.Down(FrameText(picture_, way.back())).frame = way.back();
      frame_rows_[way.back().index] = tree_.at();
    }
  }

  void AddOpName(const Share& share) {
    if (const std::string_view row = RowOfOthers(picture_, share.value, by_); !row.empty()) {
      tree_.DownOther(row);
    } else {
      const std::string_view op_name = picture_.fact(share.value).op_name;
      for (const std::string_view part : OpNameParts(op_name)) tree_.Down(part);
    }
    tree_.Add(share.bytes);
  }

  void AddParameter(const Share& share) {
    if (const std::string_view row = RowOfOthers(picture_, share.value, by_); !row.empty()) {
      tree_.DownOther(row);
    } else {
      const report::Value& value = picture_.report->values[share.value];
      const std::string& path = picture_.parameter_paths[value.allocation.index];
      for (const std::string_view part : ParameterParts(path)) tree_.Down(part);
    }
    tree_.Add(share.bytes);
  }

  void AddKind(const Share& share) {
    tree_.Down(Name(picture_.fact(share.value).kind));
    tree_.Add(share.bytes - share.padding);
    tree_.Begin();
    tree_.Down("padding");
    tree_.Add(share.padding);
  }

  // What of the footprint is not live.
  void AddRest() {
    const Footprint split = FootprintOf(picture_, moment_);
    const auto add = [&](std::string_view name, int64_t bytes) {
      tree_.Begin();
      tree_.DownOther(name);
      tree_.Add(bytes, 0);
    };
    add("(dead at this moment)", split.dead);
    add("(fragmentation)", split.fragmentation);
    add("(alignment)", split.alignment);
    add("(no live range)", split.untimed);
    add("(thread-local)", split.thread_local_bytes);
  }

  const Picture& picture_;
  const Moment& moment_;
  By by_;
  TreeMaker tree_;
  std::map<uint32_t, uint32_t> frame_rows_;
  // By own line, then by innermost line.
  struct Inside {
    FrameId frame;
    int64_t bytes = 0;
  };
  std::map<std::string, std::map<std::string, Inside>> insides_;
};

}  // namespace

std::string_view Name(By by) { return kNames[static_cast<size_t>(by)]; }

std::optional<By> FindBy(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<By>(found - kNames.begin());
}

bool IsTree(By by) { return by == By::kStack || by == By::kOpName || by == By::kParameter; }

std::string_view Joint(By by) {
  if (by == By::kOpName) return "/";
  return by == By::kStack ? " > " : "";
}

std::string_view RowOfOthers(const Picture& picture, report::ValueId id, By by) {
  const ValueFact& fact = picture.fact(id);
  switch (by) {
    case By::kSource:
    case By::kStack:
      return HasSource(picture, fact.frame) ? "" : OtherName(fact, "(no source)");
    case By::kOpName: {
      // The op_name of a parameter and its copies is its path.
      const bool is_parameter = (fact.kind == Kind::kParameter || fact.kind == Kind::kDonated) &&
                                picture.ops[fact.op].opcode == hlo::Opcode::kParameter;
      const bool has_answer = !is_parameter && !fact.is_parameter_copy && !fact.op_name.empty();
      return has_answer ? "" : OtherName(fact, "(no op_name)");
    }
    case By::kParameter: {
      const report::AllocationId allocation = picture.report->values[id].allocation;
      const bool has_path =
          !allocation.is_none() && !picture.parameter_paths[allocation.index].empty();
      return has_path ? "" : "(no parameter)";
    }
    case By::kValue:
    case By::kKind:
    case By::kFootprint:
      break;
  }
  return "";
}

std::string FrameText(const Picture& picture, FrameId id) {
  const Frame& frame = picture.frames[id];
  std::string name = SourceText(picture, id);
  if (!frame.function.empty() && !frame.file.empty()) name += " " + std::string(frame.function);
  return name;
}

Partition PartitionOf(const Picture& picture, const Moment& moment, By by) {
  return Partitioner(picture, moment, by).Run();
}

Partition Folded(const Partition& partition) {
  std::vector<uint32_t> children(partition.rows.size());
  for (size_t i = 1; i < partition.rows.size(); ++i) ++children[partition.rows[i].parent];
  Partition folded = partition;
  folded.rows.clear();
  std::vector<uint32_t> new_ids(partition.rows.size());
  for (size_t i = 0; i < partition.rows.size(); ++i) {
    const Row& row = partition.rows[i];
    // The only child of a row without bytes of its own becomes one with it.
    if (row.parent != 0 && partition.rows[row.parent].own == 0 && children[row.parent] == 1) {
      new_ids[i] = new_ids[row.parent];
      Row& joined = folded.rows[new_ids[i]];
      joined.name += std::string(Joint(partition.by)) + row.name;
      joined.own = row.own;
      joined.value = row.value;
      joined.frame = row.frame;
      continue;
    }
    new_ids[i] = static_cast<uint32_t>(folded.rows.size());
    Row copy = row;
    if (i != 0) {
      copy.parent = new_ids[row.parent];
      copy.depth = folded.rows[copy.parent].depth + 1;
    }
    folded.rows.push_back(std::move(copy));
  }
  return folded;
}

TopRows Largest(const Partition& partition, size_t limit) {
  TopRows top;
  if (partition.rows.empty()) return top;
  std::vector<uint32_t> order(partition.rows.size() - 1);
  std::iota(order.begin(), order.end(), 1U);
  // A row has no more than those above it, which stand before it.
  StableSort(order, std::greater(), [&](uint32_t i) { return partition.rows[i].total; });
  if (limit != 0 && order.size() > limit) {
    top.hidden = static_cast<int64_t>(order.size() - limit);
    order.resize(limit);
  }
  std::ranges::sort(order);
  top.rest = partition.total() - partition.rows[0].own;
  for (const uint32_t i : order) top.rest -= partition.rows[i].own;
  top.rows = std::move(order);
  return top;
}

std::vector<std::string_view> OpNameParts(std::string_view op_name) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  size_t i = 0;
  for (; i < op_name.size(); ++i) {
    const char c = op_name[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    if (depth != 0 || (c != '/' && c != ';')) continue;
    if (i != begin) parts.push_back(op_name.substr(begin, i - begin));
    begin = i + 1;
    if (c == ';' && !parts.empty()) return parts;
  }
  if (begin < op_name.size()) parts.push_back(op_name.substr(begin));
  if (parts.empty()) parts.push_back(op_name);
  return parts;
}

std::vector<std::string_view> ParameterParts(std::string_view path) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  char quote = '\0';
  int depth = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (depth > 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (depth == 0 && (c == '[' || c == '.') && i != begin) {
      parts.push_back(path.substr(begin, i - begin));
      begin = i;
    }
    if (quote != '\0') continue;
    if (c == '[') ++depth;
    if (c == ']' && depth > 0) --depth;
  }
  if (begin < path.size()) parts.push_back(path.substr(begin));
  return parts;
}

}  // namespace stowplan::explain
