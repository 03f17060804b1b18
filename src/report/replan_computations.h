// SPDX-License-Identifier: Apache-2.0
// What the instruction texts of a report reveal about its computations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "stowplan/report/report.h"

namespace stowplan::report {

// The opcode in `%x = f32[2]{0} add(%a, %b)`.
inline std::string_view OpcodeOf(std::string_view text) {
  size_t at = text.find(" = ");
  if (at == std::string_view::npos) return {};
  // After the shape: the first blank outside brackets.
  int depth = 0;
  for (at += 3; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ' ' && depth == 0) break;
  }
  const size_t end = text.find('(', at);
  return end == std::string_view::npos ? std::string_view() : text.substr(at + 1, end - at - 1);
}

// The names in the parentheses after the opcode.
inline std::vector<std::string_view> OperandsOf(std::string_view text) {
  std::vector<std::string_view> names;
  const std::string_view opcode = OpcodeOf(text);
  if (opcode.empty()) return names;
  text.remove_prefix(static_cast<size_t>(opcode.end() - text.begin()) + 1);
  text = text.substr(0, text.find(')'));
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1))
    names.push_back(text.substr(at + 1, text.find_first_of(", ", at) - at - 1));
  return names;
}

// Which values are made by instructions of one computation, as far as a report shows.
//
// An instruction's text names its operands, which are in the same computation. The numbers of a
// computation's values are a run, except for phis, and callees come before callers, so whatever
// lies between two values of a computation belongs to it too.
class Computations {
 public:
  explicit Computations(const Report& report) {
    for (const Value& value : report.values.rows()) {
      NodeOf(value.instruction);
      for (const std::string_view name : OperandsOf(value.instruction_text))
        Unite(name, value.instruction);
    }
    LinkTuples(report);
    std::vector<std::pair<int64_t, uint32_t>> order;  // numbers and names
    for (const Value& value : report.values.rows()) {
      if (!value.is_phi && value.number >= 0)
        order.emplace_back(value.number, NodeOf(value.instruction));
    }
    std::ranges::sort(order);
    std::vector<size_t> last(parents_.size(), 0);
    for (size_t i = 0; i < order.size(); ++i) last[Find(order[i].second)] = i;
    runs_.assign(parents_.size(), 0);
    size_t end = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > end) ++count_;
      end = std::max(end, last[Find(order[i].second)]);
      runs_[Find(order[i].second)] = count_;
    }
  }

  // 0 for the one numbered last, which is the entry.
  [[nodiscard]] int64_t FromLast(std::string_view instruction) {
    return count_ - runs_[Find(NodeOf(instruction))];
  }

 private:
  // Instructions that only take a value out of a tuple have no text in the report. The tuple is the
  // previous position of the value.
  void LinkTuples(const Report& report) {
    std::unordered_map<std::string_view, size_t> times;
    const std::vector<std::string_view>& sequence = report.live_ranges->sequence;
    for (size_t t = 0; t < sequence.size(); ++t) times.emplace(sequence[t], t);
    std::unordered_set<std::string_view> makers;
    for (const Value& value : report.values.rows()) makers.insert(value.instruction);
    struct Sight {
      size_t time = 0;
      std::string_view instruction;
      bool is_in_tuple = false;
    };
    std::vector<Sight> sights;
    for (const Value& value : report.values.rows()) {
      sights.clear();
      for (const Position& position : report.positions_of(value)) {
        if (const auto row = times.find(position.instruction); row != times.end()) {
          sights.push_back({row->second, position.instruction, position.index.numbers.count != 0});
        }
      }
      std::ranges::stable_sort(sights, {}, &Sight::time);
      for (size_t i = 1; i < sights.size(); ++i) {
        const Sight& before = sights[i - 1];
        const Sight& now = sights[i];
        if (before.is_in_tuple && !now.is_in_tuple && before.time < now.time &&
            !makers.contains(now.instruction))
          Unite(before.instruction, now.instruction);
      }
    }
  }

  void Unite(std::string_view a, std::string_view b) {
    const uint32_t first = NodeOf(a);
    const uint32_t second = NodeOf(b);
    parents_[Find(first)] = Find(second);
  }

  uint32_t NodeOf(std::string_view name) {
    const auto [row, is_new] = nodes_.emplace(name, static_cast<uint32_t>(parents_.size()));
    if (is_new) parents_.push_back(row->second);
    return row->second;
  }
  uint32_t Find(uint32_t node) {
    while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
    return node;
  }

  std::unordered_map<std::string_view, uint32_t> nodes_;  // by name
  std::vector<uint32_t> parents_;                         // by node
  std::vector<int64_t> runs_;                             // by node that is its own parent
  int64_t count_ = 0;
};

}  // namespace stowplan::report
