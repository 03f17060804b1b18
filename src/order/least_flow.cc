// SPDX-License-Identifier: Apache-2.0
#include "order/least_flow.h"

#include <algorithm>

#include "order/flow.h"

namespace stowplan::order {
namespace {

enum class Part : uint8_t { kFree, kBefore, kAfter };

class FlowFinder {
 public:
  FlowFinder(const Problem& problem, Node witness)
      : problem_(problem), witness_(witness), parts_(problem.size(), Part::kFree) {
    Mark(problem.before, Part::kBefore);
    Mark(problem.after, Part::kAfter);
    parts_[witness] = Part::kAfter;
    vertices_.assign(problem.size(), 0);
    for (Node i = 0; i < problem.size(); ++i) {
      if (parts_[i] == Part::kFree) vertices_[i] = network_.AddVertex();
    }
  }

  LeastFlow Find() && {
    for (Node i = 0; i < problem_.size(); ++i) {
      if (parts_[i] != Part::kFree) continue;
      for (const Node b : problem_.before[i]) {
        if (parts_[b] != Part::kFree) continue;
        Add(vertices_[i], vertices_[b], {.kind = Arc::Kind::kBack, .from = i, .to = b});
      }
    }
    found_.bound = problem_.least_inner[witness_];
    for (uint32_t i = 0; i < problem_.lives.size(); ++i) {
      const Life& life = problem_.lives[i];
      if (life.is_capped || life.size == 0) continue;
      if (life.begin == witness_) {
        found_.bound += life.size;
      } else {
        AddLife(i, life.size, Arc::Kind::kLife, i);
      }
    }
    AddSpared();
    found_.bound += network_.FindLeastCut();
    ReadFlow();
    return std::move(found_);
  }

 private:
  struct Arc {
    enum class Kind : uint8_t { kBegin, kLife, kSpared, kBack };
    Kind kind = Kind::kBegin;
    uint32_t from = 0;
    Node to = kNoNode;
  };

  void Mark(const Lists& next, Part part) {
    std::vector<Node> stack = {witness_};
    while (!stack.empty()) {
      const Node from = stack.back();
      stack.pop_back();
      for (const Node to : next[from]) {
        if (parts_[to] == part) continue;
        parts_[to] = part;
        stack.push_back(to);
      }
    }
  }

  void Add(uint32_t from, uint32_t to, Arc arc, int64_t capacity = Network::kUnlimited) {
    network_.AddEdge(from, to, capacity);
    arcs_.push_back(arc);
  }

  // `name` stands for the life in the arcs.
  void AddLife(uint32_t life, int64_t bytes, Arc::Kind kind, uint32_t name) {
    const Node begin = problem_.lives[life].begin;
    const bool has_begun = begin == kNoNode || parts_[begin] == Part::kBefore;
    if (!has_begun && parts_[begin] == Part::kAfter) return;
    const uint32_t vertex = network_.AddVertex();
    Add(has_begun ? Network::kSource : vertices_[begin], vertex, {}, bytes);
    const auto add = [&](uint32_t to, Node node) {
      Add(vertex, to, {.kind = kind, .from = name, .to = node});
    };
    // One way to the sink is enough.
    if (problem_.lives[life].lasts) return add(Network::kSink, kNoNode);
    const auto is_left_out = [&](Node node) {
      return node == begin || (kind == Arc::Kind::kSpared && node == witness_);
    };
    for (const Node touch : problem_.touches[life]) {
      if (!is_left_out(touch) && parts_[touch] == Part::kAfter) return add(Network::kSink, touch);
    }
    for (const Node touch : problem_.touches[life]) {
      if (!is_left_out(touch) && parts_[touch] == Part::kFree) add(vertices_[touch], touch);
    }
  }

  void AddSpared() {
    const std::span<const Overwrite> overwrites = problem_.overwrites_at(witness_);
    for (size_t k = 0; k < overwrites.size();) {
      const uint32_t output = overwrites[k].output;
      int64_t most = 0;
      size_t end = k;
      for (; end < overwrites.size() && overwrites[end].output == output; ++end) {
        const Life& operand = problem_.lives[overwrites[end].operand];
        if (!operand.is_capped)
          most = std::max(most, std::min(problem_.lives[output].size, operand.size));
      }
      found_.bound -= most;
      if (end == k + 1 && most > 0)
        AddLife(overwrites[k].operand, most, Arc::Kind::kSpared, output);
      k = end;
    }
  }

  void ReadFlow() {
    for (size_t i = 0; i < arcs_.size(); ++i) {
      const Arc& arc = arcs_[i];
      const int64_t bytes = network_.FlowOn(i);
      if (bytes == 0 || arc.kind == Arc::Kind::kBegin) continue;
      if (arc.kind == Arc::Kind::kBack) {
        found_.backs.push_back({arc.from, arc.to, bytes});
      } else {
        auto& rows = arc.kind == Arc::Kind::kLife ? found_.lives : found_.spared;
        rows.push_back({arc.from, arc.to, bytes});
      }
    }
  }

  const Problem& problem_;
  Node witness_;
  std::vector<Part> parts_;         // by node
  std::vector<uint32_t> vertices_;  // by node, of those that are free
  Network network_;
  std::vector<Arc> arcs_;  // by edge of the network
  LeastFlow found_;
};

}  // namespace

LeastFlow FindLeastFlow(const Problem& problem, Node witness) {
  return FlowFinder(problem, witness).Find();
}

}  // namespace stowplan::order
