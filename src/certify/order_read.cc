// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <sstream>

#include "certify/certificate.h"
#include "certify/line_reader.h"
#include "certify/order.h"
#include "certify/order_section.h"

namespace stowplan::certify {
namespace {

// Reads sections one by one, and checks each when the next one begins.
class OrderReader : private LineReader {
 public:
  OrderReader(const std::string& text, int64_t nodes) : lines_(text), nodes_(nodes) {}

  std::string Run() {
    std::getline(lines_, line_);
    CountLine();
    while (std::getline(lines_, line_)) {
      CountLine();
      if (is_ended_) Bad("something follows the end");
      Begin(line_);
      Take(Word());
      if (!IsAtEnd()) Bad("the line is too long");
    }
    if (!is_ended_) Bad("the end is missing");
    return out_;
  }

 private:
  int64_t Bytes() {
    const int64_t bytes = Number();
    Need(bytes >= 0, "a number of bytes is negative");
    return bytes;
  }
  int64_t IndexOrNone(size_t count) {
    const int64_t number = Number();
    Need(number >= -1 && number < static_cast<int64_t>(count), "there is no such number");
    return number;
  }
  void Once(std::optional<int64_t>& field) {
    Need(!field.has_value(), "the line appears twice");
    field = Bytes();
  }

  void Take(const std::string& key) {
    if (key == "computation" || key == "before" || key == "after") {
      FinishSection();
      Need(key == "computation" || !sections_.empty(), "no computation precedes it");
      now_ = Section{.word = key, .name = Rest()};
      return;
    }
    if (key == "answer") return CheckAnswer();
    if (key == "end") {
      Need(has_answer_, "the answer is missing");
      is_ended_ = true;
      return;
    }
    Need(now_.has_value(), "no computation precedes it");
    Section& s = *now_;
    const size_t nodes = s.inner.size();
    // The problem comes first, so that numbers refer to what is complete.
    const bool is_problem = key == "node" || key == "edge" || key == "life" || key == "overwrite";
    Need(!is_problem || !s.given, "the problem is complete already");
    if (key == "node") {
      Need(s.edges.empty() && s.lives.empty(), "nodes come first");
      s.inner.push_back(Bytes());
      s.least.push_back(Bytes());
      Need(s.least.back() <= s.inner.back(), "a node needs less than the least");
      Rest();
      s.before.emplace_back();
      s.after.emplace_back();
    } else if (key == "edge") {
      const size_t from = Index(nodes);
      const size_t to = Index(nodes);
      Need(from < to, "an edge leads back: the given order is not possible");
      Need(s.edges.emplace(from, to).second, "the edge appears twice");
      s.before[to].push_back(from);
      s.after[from].push_back(to);
    } else if (key == "life") {
      TakeLife(s);
    } else if (key == "overwrite") {
      TakeOverwrite(s);
    } else if (key == "call") {
      const size_t node = Index(nodes);
      const Section& callee = sections_[Index(sections_.size())];
      const int64_t slack = *callee.load - *callee.bound;
      if (s.least[node] > std::max<int64_t>(s.inner[node] - slack, 0))
        Deny("node " + std::to_string(node) + " of " + s.name +
             " needs at least what another order of " + callee.name + " may not need");
    } else if (key == "given") {
      Once(s.given);
    } else if (key == "limit") {
      Once(s.limit);
    } else if (key == "order") {
      Need(s.order.empty(), "the line appears twice");
      while (!IsAtEnd()) s.order.push_back(Index(nodes));
    } else if (key == "load") {
      Once(s.load);
    } else if (key == "bound") {
      Once(s.bound);
    } else if (key == "search") {
      s.is_searched = true;
    } else if (key == "witness") {
      Need(!s.witness, "the line appears twice");
      s.witness = static_cast<int64_t>(Index(nodes));
    } else if (key == "flow" || key == "spared") {
      const size_t from = Index(s.lives.size());
      const int64_t to = IndexOrNone(nodes);
      (key == "flow" ? s.flows : s.spared).push_back({from, to, Bytes()});
    } else if (key == "back") {
      const size_t from = Index(nodes);
      const auto to = static_cast<int64_t>(Index(nodes));
      s.backs.push_back({from, to, Bytes()});
    } else {
      Bad("there is no line `" + key + "`");
    }
  }

  void TakeLife(Section& s) {
    const size_t nodes = s.inner.size();
    Life life = {.size = Bytes(), .begin = IndexOrNone(nodes)};
    life.lasts = Index(2) == 1;
    life.is_capped = Index(2) == 1;
    while (!IsAtEnd()) life.touches.push_back(Index(nodes));
    Need(std::ranges::is_sorted(life.touches) &&
             std::ranges::adjacent_find(life.touches) == life.touches.end(),
         "nodes are not in order");
    Need(
        life.begin < 0 || std::ranges::binary_search(life.touches, static_cast<size_t>(life.begin)),
        "the life begins elsewhere");
    s.lives.push_back(std::move(life));
  }

  void TakeOverwrite(Section& s) {
    const size_t node = Index(s.inner.size());
    const size_t output = Index(s.lives.size());
    const size_t operand = Index(s.lives.size());
    Need(s.lives[output].begin == static_cast<int64_t>(node) && output != operand &&
             std::ranges::binary_search(s.lives[operand].touches, node) &&
             s.lives[output].is_capped == s.lives[operand].is_capped,
         "the overwrite is not of an output over an operand");
    if (!s.overwrites.empty()) {
      const Overwrite& last = s.overwrites.back();
      Need(std::pair(last.node, last.output) <= std::pair(node, output),
           "overwrites are not in order");
    }
    s.overwrites.push_back({node, output, operand});
  }

  void FinishSection() {
    if (!now_) return;
    Need(!has_answer_, "something follows the answer");
    Section s = *std::move(now_);
    now_.reset();
    Need(s.given && s.limit, "the given order's load is missing");
    // So that no sum below overflows: all of it at once.
    int64_t all = 0;
    for (const Life& life : s.lives) all = AddUp(all, AddUp(life.size, life.size));
    for (const int64_t inner : s.inner) AddUp(all, inner);
    std::vector<size_t> given(s.inner.size());
    std::iota(given.begin(), given.end(), 0);
    const Load before = PeakOf(s, given);
    if (before.bytes != *s.given || before.capped != *s.limit)
      Deny(s.name + ": the given order's load is " + std::to_string(before.bytes));
    if (s.word != "computation") {
      Need(s.order.empty() && !s.load && !s.bound && !s.witness, "the section has a search");
      (s.word == "before" ? before_ : after_) = s.given;
      out_ += s.name + ", " + s.word + ": load " + std::to_string(*s.given) + "\n";
      return;
    }
    Need(s.load && s.bound, "the load or the bound is missing");
    const Load load = PeakOf(s, s.order);
    if (load.bytes != *s.load) Deny(s.name + ": the load is " + std::to_string(load.bytes));
    if (load.capped > *s.limit) Deny(s.name + ": the order needs more of the small memory");
    if (*s.bound > *s.load) Deny(s.name + ": the bound is above the load");
    out_ += s.name + ": " + std::to_string(s.inner.size()) + " nodes, load " +
            std::to_string(*s.load) + ", bound " + std::to_string(*s.bound) + ": " +
            CheckOrderBound(s, nodes_) + "\n";
    // Only the figures are needed from here on.
    sections_.push_back({.name = s.name, .given = s.given, .load = s.load, .bound = s.bound});
  }

  // The last computation is the entry.
  void CheckAnswer() {
    FinishSection();
    Need(!sections_.empty() && !has_answer_, "the answer is out of place");
    has_answer_ = true;
    const Section& entry = sections_.back();
    const int64_t given = Bytes();
    const int64_t load = Bytes();
    const int64_t bound = Bytes();
    if (given != before_.value_or(*entry.given)) Deny("the answer's given load is another");
    if (load != given && load != after_.value_or(*entry.load)) Deny("the answer's load is another");
    if (bound != *entry.bound) Deny("the answer's bound is another");
    out_ += "certified: load " + std::to_string(load) + " instead of " + std::to_string(given) +
            (load <= bound ? ", optimal\n"
                           : ", any order needs at least " + std::to_string(bound) + "\n");
  }

  std::istringstream lines_;
  int64_t nodes_;
  std::string line_;
  std::optional<Section> now_;
  std::vector<Section> sections_;
  std::optional<int64_t> before_, after_;
  bool has_answer_ = false;
  bool is_ended_ = false;
  std::string out_;
};

}  // namespace

std::string CheckOrders(const std::string& text, int64_t nodes) {
  return OrderReader(text, nodes).Run();
}

}  // namespace stowplan::certify
