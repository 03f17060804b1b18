// SPDX-License-Identifier: Apache-2.0
#include "text/call_order.h"

#include <algorithm>
#include <string>
#include <utility>

namespace stowplan::text {
namespace {

using hlo::CompId;
using hlo::InstrId;

struct WrittenCall {
  size_t callee = 0;  // a row of `written`
  const char* at = nullptr;
};

// What each written computation calls, also from the bodies inside it.
std::vector<std::vector<WrittenCall>> CallsOf(Reader& reader, std::span<const CompId> written) {
  const hlo::Module& m = reader.module();
  const auto row_of = [&](CompId id) {
    return static_cast<size_t>(std::ranges::upper_bound(written, id) - written.begin()) - 1;
  };
  std::vector<std::vector<WrittenCall>> calls(written.size());
  for (size_t i = 0; i < m.instructions.size(); ++i) {
    const InstrId caller(i);
    const size_t row = row_of(m.instructions[caller].parent);
    for (const CompId id : m.called_by(caller)) {
      if (id.index < ForwardCall::kFirst) {
        if (const size_t callee = row_of(id); callee != row)
          calls[row].push_back({.callee = callee, .at = nullptr});
        continue;
      }
      const ForwardCall& forward = reader.forward[id.index - ForwardCall::kFirst];
      const CompId callee = reader.FindComputation(forward.name);
      if (callee.is_none()) {
        reader.cursor.FailAt(forward.at,
                             forward.name.size() + static_cast<size_t>(*forward.at == '%'),
                             "there is no computation '" + std::string(forward.name) + "'");
      } else {
        calls[row].push_back({.callee = row_of(callee), .at = forward.at});
      }
    }
  }
  return calls;
}

}  // namespace

std::optional<std::vector<size_t>> CallOrder(Reader& reader, std::span<const CompId> written) {
  const std::vector<std::vector<WrittenCall>> calls = CallsOf(reader, written);
  if (!reader.errors.empty()) return std::nullopt;
  enum class State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> states(written.size(), State::kNew);
  std::vector<size_t> order;
  std::vector<std::pair<size_t, size_t>> stack;  // a computation, and its call that is due
  for (size_t root = 0; root < written.size(); ++root) {
    if (states[root] == State::kDone) continue;
    states[root] = State::kOpen;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      const size_t caller = stack.back().first;
      if (stack.back().second == calls[caller].size()) {
        states[caller] = State::kDone;
        order.push_back(caller);
        stack.pop_back();
        continue;
      }
      const WrittenCall& call = calls[caller][stack.back().second++];
      if (states[call.callee] == State::kOpen) {
        // Some call of a cycle goes down; this one goes to a computation that is open.
        const std::string_view name = reader.module().name(written[call.callee]);
        const char* at = call.at != nullptr ? call.at : name.data();
        reader.cursor.FailAt(at, name.size(),
                             "computation '" + std::string(name) + "' calls itself");
        return std::nullopt;
      }
      if (states[call.callee] == State::kNew) {
        states[call.callee] = State::kOpen;
        stack.emplace_back(call.callee, 0);
      }
    }
  }
  return order;
}

}  // namespace stowplan::text
