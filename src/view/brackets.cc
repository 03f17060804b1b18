// SPDX-License-Identifier: Apache-2.0
#include "view/brackets.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/stable_sort.h"
#include "stowplan/hlo/module.h"
#include "stowplan/hlo/opcode.h"

namespace stowplan::view {
namespace {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

struct Span {
  int64_t start = INT64_MAX;
  int64_t end = -1;
  [[nodiscard]] bool is_empty() const { return end < start; }
  void Include(int64_t from, int64_t to) {
    start = std::min(start, from);
    end = std::max(end, to);
  }
};

class BracketFinder {
 public:
  explicit BracketFinder(const explain::Picture& picture)
      : module_(*picture.module), times_(module_.instructions.size(), -1) {
    for (const explain::Op& op : picture.ops.rows()) {
      if (!op.instruction.is_none()) times_[op.instruction.index] = op.time;
    }
  }

  std::vector<Bracket> Run() && {
    FindSpans();
    for (uint32_t i = 0; i < times_.size(); ++i) {
      if (times_[i] >= 0) Look(InstrId(i));
    }
    StableSort(brackets_, {}, [](const Bracket& bracket) {
      return std::tuple(bracket.start, -bracket.end, bracket.kind == BracketKind::kAsync);
    });
    // Operations beside each other may overlap in part: each takes the first line that is free.
    std::vector<int64_t> lines;  // where the last on each ends
    for (Bracket& bracket : brackets_) {
      auto line = std::ranges::find_if(lines, [&](int64_t end) { return end < bracket.start; });
      if (line == lines.end()) line = lines.insert(lines.end(), -1);
      *line = bracket.end;
      bracket.depth = static_cast<uint8_t>(std::min<ptrdiff_t>(line - lines.begin(), 255));
    }
    return std::move(brackets_);
  }

 private:
  // Callees precede their callers, so what a computation calls is known by then.
  void FindSpans() {
    spans_.resize(module_.computations.size());
    for (uint32_t c = 0; c < spans_.size(); ++c) {
      const hlo::Computation& computation = module_.computations[CompId(c)];
      for (uint32_t k = 0; k < computation.count; ++k) {
        const InstrId id(computation.first.index + k);
        if (times_[id.index] < 0) continue;
        spans_[c].Include(times_[id.index], times_[id.index]);
        for (const CompId called : module_.called_by(id)) {
          if (!spans_[called.index].is_empty())
            spans_[c].Include(spans_[called.index].start, spans_[called.index].end);
        }
      }
    }
  }

  void Look(InstrId id) {
    const hlo::Instruction& instruction = module_.instructions[id];
    const std::span<const CompId> called = module_.called_by(id);
    const std::string_view opcode = hlo::Name(instruction.opcode);
    switch (instruction.opcode) {
      case Opcode::kWhile:
        for (size_t k = 0; k < called.size(); ++k)
          Add(called[k], k == 0 ? BracketKind::kWhile : BracketKind::kCondition, id);
        return;
      case Opcode::kConditional:
        for (const CompId branch : called) Add(branch, BracketKind::kBranch, id);
        return;
      case Opcode::kCall:
        for (const CompId callee : called) Add(callee, BracketKind::kCall, id);
        return;
      default:
        break;
    }
    // From the start to the done that ends the chain.
    if (!opcode.ends_with("-done") && instruction.opcode != Opcode::kCopyDone) return;
    if (const std::optional<InstrId> start = StartOf(id); start && times_[start->index] >= 0) {
      brackets_.push_back({.start = times_[start->index],
                           .end = times_[id.index],
                           .kind = BracketKind::kAsync,
                           .label = std::string(module_.name(*start))});
    }
  }

  [[nodiscard]] std::optional<InstrId> StartOf(InstrId done) const {
    InstrId at = done;
    // Operands stand before their users, so this ends.
    while (!module_.operands_of(at).empty()) {
      at = module_.operands_of(at)[0];
      const std::string_view opcode = hlo::Name(module_.instructions[at].opcode);
      if (opcode.ends_with("-start") || opcode == "send" || opcode == "recv") return at;
      if (!opcode.ends_with("-update") && opcode != "get-tuple-element" && opcode != "bitcast")
        break;
    }
    return std::nullopt;
  }

  void Add(CompId computation, BracketKind kind, InstrId caller) {
    const Span& span = spans_[computation.index];
    if (span.is_empty()) return;
    brackets_.push_back({.start = span.start,
                         .end = span.end,
                         .kind = kind,
                         .label = std::string(module_.name(caller))});
  }

  const hlo::Module& module_;
  std::vector<int64_t> times_;  // by instruction; -1: not on the time line
  std::vector<Span> spans_;     // by computation
  std::vector<Bracket> brackets_;
};

}  // namespace

std::vector<Bracket> FindBrackets(const explain::Picture& picture) {
  if (picture.module == nullptr) return {};
  return BracketFinder(picture).Run();
}

}  // namespace stowplan::view
