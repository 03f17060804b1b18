// SPDX-License-Identifier: Apache-2.0
#include "check/trace.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace stowplan::check {
namespace {

constexpr int kAll = 1'000'000;

// How an event is written: a word, then its numbers, of which the first ones are parts.
struct Form {
  std::string_view word;
  int parts = 0;
};
Form FormOf(EventKind kind) {
  switch (kind) {
    case EventKind::kBegin:
      return {"begin"};
    case EventKind::kStep:
    case EventKind::kInner:
      return {"step"};
    case EventKind::kRead:
      return {"read", 1};
    case EventKind::kReadSince:
      return {"read-since", 1};
    case EventKind::kOver:
      return {"over", 2};
    case EventKind::kJoins:
      return {"joins", 2};
    case EventKind::kWrite:
      return {"write", 1};
    case EventKind::kCopy:
      return {"copy", 2};
    case EventKind::kConstant:
      return {"constant", 1};
    case EventKind::kTable:
      return {"table", kAll};
    case EventKind::kHand:
      return {"hand", 2};
    case EventKind::kDepart:
      return {"depart"};
    case EventKind::kUntouched:
      return {"untouched"};
    case EventKind::kFork:
      return {"fork"};
    case EventKind::kBranch:
      return {"branch"};
    case EventKind::kGive:
      return {"give", 2};
    case EventKind::kJoin:
      return {"join"};
    case EventKind::kLoop:
      return {"loop"};
    case EventKind::kLose:
      return {"lose"};
    case EventKind::kState:
      return {"state", 3};
    case EventKind::kHead:
      return {"head"};
    case EventKind::kBody:
      return {"body"};
    case EventKind::kBack:
      return {"back"};
    case EventKind::kOutput:
      return {"output", 1};
    case EventKind::kDonate:
      return {"donate", 2};
    case EventKind::kEnd:
      return {"end"};
  }
  return {};
}

// A name is one word.
std::string OneWord(std::string_view name) {
  std::string text(name.empty() ? "?" : name);
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) <= ' '; }, '?');
  return text;
}

class Writer {
 public:
  Writer(const Plan& plan, const Trace& trace) : plan_(plan), trace_(trace) {}

  std::string Run() && {
    Append("module {}\n", OneWord(plan_.module.view(plan_.module.header.name)));
    for (const report::Allocation& allocation : plan_.report.allocations.rows())
      Append("allocation {} {}\n", allocation.number, allocation.size);
    WriteParts();
    for (size_t e = 0; e < trace_.size(); ++e) WriteEvent(e);
    out_ += "done\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void Append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  [[nodiscard]] int64_t NumberOf(int64_t allocation) const {
    return plan_.report.allocations[report::AllocationId(static_cast<size_t>(allocation))].number;
  }

  // Those that some event names, numbered in their order.
  void WriteParts() {
    numbers_.assign(plan_.trees.count(), 0);
    for (size_t e = 0; e < trace_.size(); ++e) {
      const auto parts = static_cast<size_t>(FormOf(trace_.kind(e)).parts);
      const std::span<const int64_t> numbers = trace_.numbers(e);
      for (size_t k = 0; k < std::min(parts, numbers.size()); ++k)
        numbers_[static_cast<size_t>(numbers[k])] = 1;
    }
    uint32_t count = 0;
    for (uint32_t row = 0; row < numbers_.size(); ++row) {
      if (numbers_[row] == 0) continue;
      numbers_[row] = count++;
      const ValueName name = NameOf(plan_.module, plan_.trees, row);
      const bool has_place = plan_.places.is_known(row);
      Append("{} {} {}", has_place ? "placed" : "part", OneWord(name.instruction + name.index),
             plan_.SizeAt(row));
      if (has_place) {
        const Place& place = plan_.places.rows[plan_.places.by_row[row]];
        Append(" {} {}", NumberOf(place.allocation), place.offset);
      }
      out_ += '\n';
    }
  }

  void WriteEvent(size_t event) {
    const EventKind kind = trace_.kind(event);
    const Form form = FormOf(kind);
    const std::span<const int64_t> numbers = trace_.numbers(event);
    out_ += form.word;
    const bool has_place = kind == EventKind::kLose || kind == EventKind::kUntouched;
    for (size_t k = 0; k < numbers.size(); ++k) {
      const auto index = static_cast<size_t>(numbers[k]);
      if (kind == EventKind::kStep) {
        Append(" {}", OneWord(plan_.module.name(hlo::InstrId(index))));
      } else if (kind == EventKind::kInner) {
        Append(" {}", OneWord(plan_.module.name(hlo::CompId(index))));
      } else if (k < static_cast<size_t>(form.parts)) {
        Append(" {}", numbers_[index]);
        // A table has so many elements.
        if (kind == EventKind::kTable && k == 0) Append(" {}", numbers.size() - 1);
      } else {
        Append(" {}", has_place && k == 0 ? NumberOf(numbers[k]) : numbers[k]);
      }
    }
    out_ += '\n';
  }

  const Plan& plan_;
  const Trace& trace_;
  std::vector<uint32_t> numbers_;  // by row
  std::string out_;
};

}  // namespace

std::string WriteTrace(const Plan& plan, const Trace& trace) { return Writer(plan, trace).Run(); }

}  // namespace stowplan::check
