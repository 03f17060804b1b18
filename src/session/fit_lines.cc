// SPDX-License-Identifier: Apache-2.0
#include "session/fit_lines.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/stable_sort.h"
#include "explain/own_line.h"
#include "report/summary.h"

namespace stowplan {
namespace {

// Splits "jit(step)/transpose(jvp(layer_3))/dot_general" into jit(step), layer_3, dot_general. The
// wrappers that are dropped say how a name is used, not where it is.
std::vector<std::string_view> PiecesOf(std::string_view op_name) {
  std::vector<std::string_view> pieces;
  while (!op_name.empty()) {
    const size_t slash = std::min(op_name.find('/'), op_name.size());
    std::string_view piece = op_name.substr(0, slash);
    op_name.remove_prefix(std::min(slash + 1, op_name.size()));
    while (piece.ends_with(')')) {
      const size_t open = piece.find('(');
      if (open == std::string_view::npos) break;
      const std::string_view wrapper = piece.substr(0, open);
      if (wrapper != "jvp" && wrapper != "transpose" && wrapper != "vmap" && wrapper != "rematted")
        break;
      piece = piece.substr(open + 1, piece.size() - open - 2);
    }
    pieces.push_back(piece);
  }
  return pieces;
}

struct Numbered {
  std::string_view stem;  // "layer_"
  int64_t number = 0;
};
// Absent if `piece` has no number, or is nothing but a number.
std::optional<Numbered> NumberedOf(std::string_view piece) {
  const size_t last = piece.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == piece.size()) return std::nullopt;
  Numbered numbered = {.stem = piece.substr(0, last + 1)};
  const std::string_view digits = piece.substr(last + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), numbered.number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return numbered;
}

// "layers 3 to 5 and 7"
std::string WordsOf(std::string_view stem, std::vector<int64_t> numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  std::string_view word = stem;
  while (word.ends_with('_') || word.ends_with('.') || word.ends_with('-')) word.remove_suffix(1);
  const bool is_layer = word == "layer" || word == "layers";
  const auto name = [&](int64_t number) {
    return is_layer ? std::to_string(number) : std::string(stem) + std::to_string(number);
  };
  std::vector<std::string> runs;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (end - i > 2) {
      runs.push_back(name(numbers[i]) + " to " + name(numbers[end - 1]));
    } else {
      for (size_t k = i; k < end; ++k) runs.push_back(name(numbers[k]));
    }
    i = end;
  }
  constexpr size_t kMostRuns = 4;
  std::string out = is_layer ? (numbers.size() == 1 ? "layer " : "layers ") : "";
  for (size_t i = 0; i < std::min(runs.size(), kMostRuns); ++i)
    out += (i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ") + runs[i];
  if (runs.size() > kMostRuns) out += " and more";
  return out;
}

// JAX's name for the operation. The op_name of an argument is not one.
std::string_view OperationOf(const FitRepeat& repeat) {
  const std::string_view name = repeat.op_name;
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? repeat.instruction : name.substr(slash + 1);
}

}  // namespace

std::string PartsOf(std::span<const std::string> op_names) {
  if (op_names.empty()) return {};
  const std::vector<std::string_view> first = PiecesOf(op_names[0]);
  std::string same;  // the part that contains all of them
  for (size_t depth = 0; depth < first.size(); ++depth) {
    const std::optional<Numbered> numbered = NumberedOf(first[depth]);
    std::vector<int64_t> numbers;
    bool is_equal = true;
    bool is_numbered = numbered.has_value();
    for (const std::string& op_name : op_names) {
      const std::vector<std::string_view> pieces = PiecesOf(op_name);
      if (pieces.size() <= depth) return same;
      is_equal = is_equal && pieces[depth] == first[depth];
      const std::optional<Numbered> own = NumberedOf(pieces[depth]);
      is_numbered = is_numbered && own && own->stem == numbered->stem;
      if (is_numbered) numbers.push_back(own->number);
    }
    // The last piece is the operation.
    if (depth + 1 == first.size()) return same;
    if (is_numbered && !is_equal) return WordsOf(numbered->stem, std::move(numbers));
    if (is_numbered && same.empty()) same = WordsOf(numbered->stem, std::move(numbers));
    if (!is_equal) return same;
  }
  return same;
}

void AddOrigin(const hlo::Module& module, hlo::InstrId id, const OwnCode& own, FitRepeat& repeat) {
  const hlo::Metadata* metadata = report::MetadataOf(module, id);
  if (metadata == nullptr) return;
  const explain::OwnLine line = explain::OwnLineOf(module, *metadata, own);
  repeat.source = explain::LineText(line);
  repeat.op_name = module.view(metadata->op_name);
  repeat.function = line.function;
}

std::vector<FitLine> LinesOf(std::span<const FitRepeat> repeats) {
  using Operation = std::pair<std::string, int64_t>;  // with the bytes that it frees
  struct Group {
    FitLine line;
    std::vector<std::string> op_names;
    std::vector<Operation> operations;
  };
  std::map<std::string_view, Group> groups;
  for (const FitRepeat& repeat : repeats) {
    Group& group = groups[repeat.source.empty() ? OperationOf(repeat) : repeat.source];
    FitLine& line = group.line;
    const std::string operation(OperationOf(repeat));
    if (line.instructions == 0) {
      line.source = repeat.source;
      line.function = repeat.function;
    }
    if (line.function != repeat.function) line.function.clear();
    auto row = std::ranges::find(group.operations, operation, &Operation::first);
    if (row == group.operations.end()) row = group.operations.insert(row, {operation, 0});
    row->second += repeat.freed;
    if (!repeat.op_name.empty()) group.op_names.push_back(repeat.op_name);
    ++line.instructions;
    line.times += repeat.times;
    line.bytes += repeat.bytes;
    line.freed += repeat.freed;
    line.cost += repeat.cost;
    line.is_in_loop = line.is_in_loop || repeat.is_in_loop;
  }
  std::vector<FitLine> lines;
  for (auto& [key, group] : groups) {
    constexpr size_t kMostOperations = 2;
    StableSort(group.operations, std::greater(), &Operation::second);
    for (size_t i = 0; i < std::min(group.operations.size(), kMostOperations); ++i)
      group.line.operations += (i == 0 ? "" : ", ") + group.operations[i].first;
    if (group.operations.size() > kMostOperations) group.line.operations += ", ...";
    group.line.parts = PartsOf(group.op_names);
    if (group.line.is_in_loop && group.line.parts.empty()) group.line.parts = "every trip";
    lines.push_back(std::move(group.line));
  }
  StableSort(lines, std::greater(),
             [](const FitLine& line) { return std::pair(line.freed, line.bytes); });
  return lines;
}

std::vector<FitLine> WithMore(std::span<const FitLine> lines, std::vector<FitLine> own,
                              double unit) {
  for (FitLine& line : own) line.cost *= unit;
  for (const FitLine& line : lines) {
    const auto same = std::ranges::find_if(own, [&](const FitLine& other) {
      return !line.source.empty() && other.source == line.source;
    });
    if (same == own.end()) {
      own.push_back(line);
      continue;
    }
    if (same->operations != line.operations) same->operations += ", " + line.operations;
    if (same->parts != line.parts) same->parts.clear();
    same->instructions += line.instructions;
    same->times += line.times;
    same->bytes += line.bytes;
    same->freed += line.freed;
    same->cost += line.cost;
    same->is_in_loop = same->is_in_loop || line.is_in_loop;
  }
  StableSort(own, std::greater(), &FitLine::freed);
  return own;
}

std::vector<int64_t> FreedBytes(const fit::Task& task, std::span<const fit::Node> sequence) {
  std::vector<int64_t> freed(task.size(), 0);
  fit::Trace given;
  fit::FindTrace(task, fit::GivenSequence(task), given);
  if (sequence.empty()) return freed;
  const fit::Node moment = given.peak_place;  // in the given order, places are nodes
  const auto place = static_cast<uint32_t>(std::ranges::find(sequence, moment) - sequence.begin());
  fit::Trace changed;
  fit::FindTrace(task, sequence, changed);
  const auto is_kept = [](const fit::Version& version, uint32_t at) {
    return (version.begin == fit::kAtStart || version.begin <= at) && version.last >= at;
  };
  std::vector<uint8_t> is_there(task.problem.lives.size(), 0);
  for (const fit::Version& version : changed.versions) {
    if (is_kept(version, place)) is_there[version.life] = 1;
  }
  for (const fit::Version& version : given.versions) {
    const order::Life& life = task.problem.lives[version.life];
    if (life.begin == fit::kNoNode || life.is_capped || !is_kept(version, moment)) continue;
    if (is_there[version.life] == 0) freed[life.begin] += life.size;
  }
  return freed;
}

std::vector<size_t> SpreadPoints(std::span<const FitPoint> curve, size_t most) {
  std::vector<size_t> rows;
  if (curve.empty()) return rows;
  const int64_t high = curve.front().bytes;
  const int64_t step =
      std::max<int64_t>((high - curve.back().bytes) / static_cast<int64_t>(most), 1);
  rows.push_back(0);
  for (size_t i = 1; i < curve.size(); ++i) {
    const bool is_last = i + 1 == curve.size();
    if (is_last || curve[rows.back()].bytes - curve[i].bytes >= step) rows.push_back(i);
  }
  return rows;
}

}  // namespace stowplan
