// SPDX-License-Identifier: Apache-2.0
// The user's source code, with the live bytes of each line.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/stable_sort.h"
#include "explain/source_root.h"
#include "page/explain_view.h"
#include "page/text.h"
#include "stowplan/base/source.h"

namespace stowplan::page {
namespace {

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

// "   1.50MiB   302 | y = x @ w"
void AppendLine(std::string_view bytes, int64_t number, std::string_view text, std::string& out) {
  out += fmt::format("{:>10} {:>5} | {}", bytes, number, text);
  out.erase(out.find_last_not_of(" \t\r") + 1);
  out += '\n';
}

}  // namespace

std::string SourcePage(const ExplainView& view, const std::string& root) {
  constexpr int64_t kContext = 2;
  const explain::Picture& picture = view.picture;
  const explain::Partition partition =
      explain::PartitionOf(picture, view.moment, explain::By::kSource);
  std::string out = fmt::format("Source lines of what is live in {} at {}\n",
                                SpaceName(view, view.space), TimeText(picture, view.moment.time));
  struct File {
    int64_t bytes = 0;
    std::map<int64_t, int64_t> lines;
  };
  std::map<std::string_view, File> files;
  int64_t other = 0;
  const explain::TopRows top = explain::Largest(partition, view.limit == 0 ? 0 : view.limit * 2);
  for (const uint32_t i : top.rows) {
    const explain::Row& row = partition.rows[i];
    if (row.frame.is_none() || picture.frames[row.frame].line <= 0) {
      other += row.own;
      continue;
    }
    File& file = files[picture.frames[row.frame].file];
    file.bytes += row.own;
    file.lines[picture.frames[row.frame].line] += row.own;
  }
  std::vector<std::string_view> order;
  order.reserve(files.size());
  for (const auto& [name, file] : files) order.push_back(name);
  StableSort(order, std::greater(), [&](std::string_view name) { return files[name].bytes; });
  std::string missing;
  for (const std::string_view name : order) {
    const File& file = files[name];
    out += fmt::format("\n{}: {}\n", Printable(name), HumanAndExactBytes(file.bytes));
    const std::string path = explain::PathBelow(root, name);
    const auto source =
        path.empty() ? Result<std::shared_ptr<const Source>>(Fail("", "")) : ReadSource(path);
    const std::vector<std::string_view> lines =
        source ? LinesOf((*source)->bytes()) : std::vector<std::string_view>();
    if (!source) missing += (missing.empty() ? "" : ", ") + Printable(name);
    int64_t last = 0;
    for (const auto& [number, bytes] : file.lines) {
      const int64_t count = static_cast<int64_t>(lines.size());
      if (number > count) {
        AppendLine(HumanBytes(bytes), number, source ? "(the file has no such line)" : "", out);
        continue;
      }
      const int64_t begin = std::max(last + 1, number - kContext);
      if (last != 0 && begin > last + 1) out += "                 |\n";
      const auto next = file.lines.upper_bound(number);
      int64_t end = std::min(count, number + kContext);
      if (next != file.lines.end()) end = std::min(end, next->first - 1);
      for (int64_t k = begin; k <= end; ++k) {
        AppendLine(k == number ? HumanBytes(bytes) : "", k,
                   Printable(lines[static_cast<size_t>(k - 1)].substr(0, 200)), out);
      }
      last = std::max(last, end);
    }
  }
  out += '\n';
  if (!missing.empty()) AppendParagraph("Not found in " + root + ": " + missing, 2, out);
  TextTable table({TextTable::kRight, TextTable::kLeft});
  if (other != 0) table.Add({HumanAndExactBytes(other), "parameters, constants, or no source"});
  if (top.rest != 0)
    table.Add({HumanAndExactBytes(top.rest), fmt::format("of {} more lines", top.hidden)});
  table.Add({HumanAndExactBytes(partition.total()), "total"});
  table.Append(out);
  return out;
}

}  // namespace stowplan::page
