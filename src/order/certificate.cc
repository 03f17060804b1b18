// SPDX-License-Identifier: Apache-2.0
#include "order/certificate.h"

#include <algorithm>

#include <fmt/format.h>

#include "order/find_problem.h"
#include "order/least_flow.h"

namespace stowplan::order {
namespace {

// A name ends its line, so only what would end the line matters.
std::string NameOnOneLine(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return text;
}

// -1 for none.
int64_t Number(Node node) { return node == kNoNode ? -1 : int64_t{node}; }

class SectionWriter {
 public:
  SectionWriter(const Problem& problem, std::string& out) : problem_(problem), out_(out) {}

  void WriteProblem(const hlo::Module& module, const Graph& graph) {
    for (Node i = 0; i < problem_.size(); ++i) {
      Write("node {} {} {}\n", problem_.inner[i], problem_.least_inner[i],
            NameOnOneLine(module.name(graph.instructions[i])));
    }
    for (Node i = 0; i < problem_.size(); ++i) {
      for (const Node b : problem_.before[i]) Write("edge {} {}\n", b, i);
    }
    for (uint32_t i = 0; i < problem_.lives.size(); ++i) {
      const Life& life = problem_.lives[i];
      Write("life {} {} {} {}", life.size, Number(life.begin), life.lasts ? 1 : 0,
            life.is_capped ? 1 : 0);
      for (const Node touch : problem_.touches[i]) Write(" {}", touch);
      out_ += '\n';
    }
    for (const Overwrite& overwrite : problem_.overwrites)
      Write("overwrite {} {} {}\n", overwrite.node, overwrite.output, overwrite.operand);
  }

  void WriteOrder(std::span<const Node> order) {
    const Loads given = ComputeLoads(problem_, GivenOrder(problem_));
    Write("given {}\n", given.peak);
    Write("limit {}\n", given.capped_peak);
    if (order.empty()) return;
    Write("order {}\n", fmt::join(order, " "));
    Write("load {}\n", ComputeLoads(problem_, order).peak);
  }

  void WriteBound(const Claim::Bound& bound) {
    if (bound.witness == kNoNode) {
      Write("bound {}\n", bound.bytes);
      if (bound.bytes > 0) out_ += "search\n";
      return;
    }
    const LeastFlow flow = FindLeastFlow(problem_, bound.witness);
    Write("bound {}\nwitness {}\n", std::min(bound.bytes, flow.bound), bound.witness);
    for (const auto& [life, to, bytes] : flow.lives)
      Write("flow {} {} {}\n", life, Number(to), bytes);
    for (const auto& [output, to, bytes] : flow.spared)
      Write("spared {} {} {}\n", output, Number(to), bytes);
    for (const auto& [from, to, bytes] : flow.backs) Write("back {} {} {}\n", from, to, bytes);
  }

 private:
  template <typename... Args>
  void Write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  const Problem& problem_;
  std::string& out_;
};

}  // namespace

std::string WriteSection(std::string_view word, const hlo::Module& module, const Graph& graph,
                         const Problem& problem, const Claim& claim) {
  std::string out = fmt::format(
      "{} {}\n", word, NameOnOneLine(module.view(module.computations[graph.computation].name)));
  SectionWriter writer(problem, out);
  writer.WriteProblem(module, graph);
  for (const auto& [node, section] : claim.calls)
    fmt::format_to(std::back_inserter(out), "call {} {}\n", node, section);
  writer.WriteOrder(claim.order);
  if (claim.bound) writer.WriteBound(*claim.bound);
  return out;
}

std::vector<std::pair<Node, size_t>> FindCalls(const hlo::Module& module, const Graph& graph,
                                               std::span<const std::optional<size_t>> sections) {
  std::vector<std::pair<Node, size_t>> calls;
  std::vector<uint8_t> is_seen(module.computations.size(), 0);
  std::vector<hlo::CompId> stack;
  const auto enter = [&](hlo::InstrId id) {
    for (const hlo::CompId callee : module.called_by(id)) {
      if (is_seen[callee.index] != 0) continue;
      is_seen[callee.index] = 1;
      stack.push_back(callee);
    }
  };
  for (Node i = 0; i < graph.instructions.size(); ++i) {
    enter(graph.instructions[i]);
    while (!stack.empty()) {
      const hlo::CompId callee = stack.back();
      stack.pop_back();
      if (sections[callee.index]) calls.emplace_back(i, *sections[callee.index]);
      for (const hlo::InstrId id : module.schedule_of(callee)) enter(id);
    }
  }
  return calls;
}

Result<std::string> WritePeakSection(std::string_view word, const hlo::Module& module,
                                     const Analysis& analysis, const Rules& rules) {
  STOWPLAN_TRY(const Surroundings around,
               FindSurroundings(module, analysis, rules, Objective::kAll));
  const Graph graph = MakeGraph(module, module.entry, around.effects);
  const std::vector<int64_t> slacks(module.computations.size(), 0);
  return WriteSection(word, module, graph, FindProblem(around, graph, slacks), {});
}

}  // namespace stowplan::order
