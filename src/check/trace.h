// SPDX-License-Identifier: Apache-2.0
// What the executor did to the memory and to the parts of the program, event by event: what a
// certificate is written from.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "check/execute.h"

namespace stowplan::check {

// docs/check.md says what each of them means.
enum class EventKind : uint8_t {
  kBegin,      //
  kStep,       // instruction
  kRead,       // part
  kReadSince,  // part, start
  kOver,       // part, operand
  kJoins,      // part, operand
  kWrite,      // part
  kCopy,       // part, from
  kConstant,   // part, literal
  kTable,      // part, elements...
  kHand,       // part, from
  kDepart,     // start
  kUntouched,  // allocation, begin, end, start
  kFork,       //
  kBranch,     //
  kGive,       // part, from
  kJoin,       //
  kLoop,       //
  kLose,       // allocation, begin, end
  kState,      // part, from, back; content, is it lost
  kHead,       //
  kBody,       //
  kBack,       //
  kOutput,     // part
  kDonate,     // parameter, output
  kEnd,        //
  kInner,      // computation
};

class Trace {
 public:
  void Add(EventKind kind, std::initializer_list<int64_t> numbers = {}) {
    events_.push_back({kind, numbers_.size()});
    numbers_.insert(numbers_.end(), numbers);
  }
  // One more for the last event.
  void Append(int64_t number) { numbers_.push_back(number); }

  using Mark = size_t;
  [[nodiscard]] Mark Begin() const { return events_.size(); }
  // Forgets what was added since.
  void Undo(Mark mark) {
    if (mark < events_.size()) numbers_.resize(events_[mark].first);
    events_.resize(mark);
  }

  [[nodiscard]] size_t size() const { return events_.size(); }
  [[nodiscard]] EventKind kind(size_t event) const { return events_[event].kind; }
  [[nodiscard]] std::span<const int64_t> numbers(size_t event) const {
    const size_t first = events_[event].first;
    const size_t end = event + 1 < events_.size() ? events_[event + 1].first : numbers_.size();
    return std::span(numbers_).subspan(first, end - first);
  }

 private:
  struct Row {
    EventKind kind;
    size_t first;
  };
  std::vector<Row> events_;
  std::vector<int64_t> numbers_;
};

// One module's section of a certificate.
std::string WriteTrace(const Plan& plan, const Trace& trace);

}  // namespace stowplan::check
