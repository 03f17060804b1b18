// SPDX-License-Identifier: Apache-2.0
#include "schedule/made_order.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <queue>
#include <string_view>

namespace stowplan {
namespace {

using hlo::CompId;
using hlo::Module;
using hlo::Opcode;

// Compilers work in this order.
enum class Maker : uint8_t { kProgram, kCopy, kFusion, kWrapper, kCall };

struct Key {
  Maker maker = Maker::kProgram;
  int64_t number = 0;
  std::string_view name;  // kProgram: decides between equal numbers
  uint32_t row = 0;
};

// 8 of `region_3.8`; -1 without a number that counts.
int64_t NumberOf(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return -1;
  int64_t number = -1;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + dot + 1, end, number);
  return error == std::errc() && stop == end ? number : -1;
}

// `region_2.0` before `region_10.0`.
bool IsShorterOrLess(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

bool GoesFirst(const Key& a, const Key& b) {
  if (a.maker != b.maker) return a.maker < b.maker;
  if (a.number != b.number) return a.number < b.number;
  if (a.name != b.name) return IsShorterOrLess(a.name, b.name);
  return a.row < b.row;
}

bool IsCopy(std::string_view name) {
  constexpr std::string_view kMarks[] = {".clone", ".sunk", "wide.", "_spmd", "sub_computation"};
  return NumberOf(name) < 0 ||
         std::ranges::any_of(
             kMarks,
             [&](std::string_view mark) { return name.find(mark) != std::string_view::npos; });
}

bool IsLoopCall(std::string_view name) {
  return name.starts_with("while") && name.ends_with("_computation");
}

// Names by a person tell nothing.
bool IsNumbered(const Module& module) {
  const std::string_view entry = module.name(module.entry);
  return NumberOf(entry) >= 0 || entry.ends_with("_spmd");
}

int64_t NumberOfParameter(const Module& module, const hlo::Computation& computation) {
  const auto parameters = Module::Rows(module.instruction_pool, computation.parameters);
  return parameters.empty() ? -1 : NumberOf(module.name(parameters[0]));
}

Key KeyOf(const Module& module, CompId id, bool is_fused) {
  const hlo::Computation& computation = module.computations[id];
  const std::string_view name = module.name(id);
  if (is_fused && name.starts_with("wrapped_"))
    return {Maker::kWrapper, NumberOfParameter(module, computation), {}, id.index};
  if (is_fused) return {Maker::kFusion, NumberOf(name), {}, id.index};
  if (IsLoopCall(name)) return {Maker::kCall, 0, {}, id.index};
  if (IsCopy(name)) return {Maker::kCopy, NumberOfParameter(module, computation), {}, id.index};
  return {Maker::kProgram, NumberOf(name), name, id.index};
}

}  // namespace

std::vector<CompId> OrderOfMaking(const Module& module) {
  if (!IsNumbered(module)) {
    std::vector<CompId> as_written;
    as_written.reserve(module.computations.size());
    for (size_t c = 0; c < module.computations.size(); ++c) as_written.emplace_back(c);
    return as_written;
  }
  std::vector<uint8_t> is_fused(module.computations.size(), 0);
  for (const hlo::Instruction& instruction : module.instructions.rows()) {
    if (instruction.opcode != Opcode::kFusion) continue;
    for (const CompId callee : Module::Rows(module.called, instruction.called))
      is_fused[callee.index] = 1;
  }
  std::vector<Key> keys;
  keys.reserve(module.computations.size());
  for (size_t c = 0; c < module.computations.size(); ++c)
    keys.push_back(KeyOf(module, CompId(c), is_fused[c] != 0));
  std::ranges::sort(keys, GoesFirst);
  std::vector<CompId> order;
  order.reserve(keys.size());
  for (const Key& key : keys) order.emplace_back(key.row);
  return order;
}

std::vector<CompId> CalleesFirst(const Module& module, std::span<const CompId> list) {
  const size_t count = module.computations.size();
  std::vector<uint32_t> ranks(count);
  for (size_t k = 0; k < list.size(); ++k) ranks[list[k].index] = static_cast<uint32_t>(k);
  // Each call is an edge, also the second one of the same computation.
  std::vector<uint32_t> calls(count, 0);
  std::vector<uint32_t> begins(count + 1, 0);
  const auto each_call = [&](auto visit) {
    for (const hlo::Instruction& instruction : module.instructions.rows()) {
      for (const CompId callee : Module::Rows(module.called, instruction.called))
        visit(instruction.parent, callee);
    }
  };
  each_call([&](CompId caller, CompId callee) {
    ++calls[caller.index];
    ++begins[callee.index + 1];
  });
  for (size_t c = 0; c < count; ++c) begins[c + 1] += begins[c];
  std::vector<CompId> callers(begins[count]);
  std::vector<uint32_t> next(begins.begin(), begins.end() - 1);
  each_call([&](CompId caller, CompId callee) { callers[next[callee.index]++] = caller; });

  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (size_t c = 0; c < count; ++c) {
    if (calls[c] == 0) ready.push(ranks[c]);
  }
  std::vector<CompId> order;
  order.reserve(count);
  while (!ready.empty()) {
    const CompId id = list[ready.top()];
    ready.pop();
    order.push_back(id);
    for (uint32_t k = begins[id.index]; k < begins[id.index + 1]; ++k) {
      if (--calls[callers[k].index] == 0) ready.push(ranks[callers[k].index]);
    }
  }
  // Calls that go round in circles have no such order.
  return order.size() == count ? order : std::vector<CompId>(list.begin(), list.end());
}

}  // namespace stowplan
