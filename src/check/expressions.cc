// SPDX-License-Identifier: Apache-2.0
#include "check/expressions.h"

#include <algorithm>
#include <utility>

namespace stowplan::check {
namespace {

bool IsOnGrid(const Expressions::Box& box) {
  for (size_t d = 0; d < box.starts.size(); ++d) {
    if (box.sizes[d] <= 0 || box.starts[d] % box.sizes[d] != 0) return false;
  }
  return true;
}

}  // namespace

size_t Expressions::Hash::operator()(const Row& row) const {
  uint64_t hash = row.text;
  const auto add = [&](uint64_t number) {
    hash = (hash ^ number) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29U;
  };
  for (const ExprName operand : row.operands) add(operand);
  for (const int64_t number : row.numbers) add(static_cast<uint64_t>(number) + 1);
  return hash;
}

uint32_t Expressions::TextOf(std::string text) {
  return texts_.emplace(std::move(text), static_cast<uint32_t>(texts_.size())).first->second;
}

ExprName Expressions::Add(uint32_t text, std::vector<ExprName> operands,
                          std::vector<int64_t> numbers) {
  const auto [row, is_new] = names_.emplace(Row{text, std::move(operands), std::move(numbers)},
                                            static_cast<ExprName>(rows_.size()));
  if (is_new) rows_.push_back(&row->first);
  return row->second;
}

ExprName Expressions::AddNumber(uint32_t text, int64_t number) {
  const ExprName name = Add(text, {}, {number});
  numbers_[name] = number;
  return name;
}

std::optional<int64_t> Expressions::NumberOf(ExprName name) const {
  const auto number = numbers_.find(name);
  return number == numbers_.end() ? std::nullopt : std::optional(number->second);
}

ExprName Expressions::AddBitcast(uint32_t text, ExprName operand, uint32_t from) {
  if (const auto before = bitcasts_.find(operand); before != bitcasts_.end())
    std::tie(operand, from) = before->second;
  if (from == text) return operand;
  const ExprName name = Add(TextOf("bitcast"), {operand}, {text, from});
  bitcasts_[name] = {operand, from};
  return name;
}

ExprName Expressions::AddUpdate(ExprName array, ExprName update, const Box& box) {
  std::vector<int64_t> numbers = box.starts;
  std::ranges::copy(box.sizes, std::back_inserter(numbers));
  const size_t before = rows_.size();
  const ExprName name = Add(TextOf("update"), {array, update}, std::move(numbers));
  if (rows_.size() == before || !IsOnGrid(box)) return name;
  const auto link = links_.find(array);
  uint32_t chain = static_cast<uint32_t>(chains_.size());
  uint32_t depth = 0;
  if (link != links_.end() && chains_[link->second.chain].tip == array &&
      chains_[link->second.chain].sizes == box.sizes) {
    chain = link->second.chain;
    depth = link->second.depth;
  } else {
    chains_.push_back({.base = array, .tip = name, .sizes = box.sizes, .written = {}});
  }
  chains_[chain].tip = name;
  chains_[chain].written[box.starts].emplace_back(depth + 1, update);
  links_[name] = {chain, depth + 1};
  return name;
}

ExprName Expressions::AddSlice(uint32_t text, ExprName array, const Box& box) {
  while (IsOnGrid(box)) {
    const auto link = links_.find(array);
    if (link == links_.end()) break;
    const Chain& chain = chains_[link->second.chain];
    if (chain.sizes != box.sizes) break;
    if (const auto written = chain.written.find(box.starts); written != chain.written.end()) {
      // The last one that this array has.
      const auto after = std::ranges::upper_bound(written->second, link->second.depth, {},
                                                  &std::pair<uint32_t, ExprName>::first);
      if (after != written->second.begin()) return std::prev(after)->second;
    }
    array = chain.base;
  }
  std::vector<int64_t> numbers = box.starts;
  std::ranges::copy(box.sizes, std::back_inserter(numbers));
  numbers.push_back(text);
  return Add(TextOf("slice"), {array}, std::move(numbers));
}

}  // namespace stowplan::check
