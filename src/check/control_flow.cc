// SPDX-License-Identifier: Apache-2.0
// Conditionals and loops.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "check/executor.h"

namespace stowplan::check {

void Executor::RunConditional(InstrId id) {
  Read(trees_.top(module_.operands_of(id)[0]), {id});
  Note(EventKind::kFork);
  frames_.back().waiting = BranchCall();
  BeginBranch(id, 0);
}

void Executor::BeginBranch(InstrId id, size_t branch) {
  BranchCall& call = std::get<BranchCall>(frames_.back().waiting);
  call.branch = branch;
  call.mark = memory_.Begin();
  Note(EventKind::kBranch);
  const CompId called = module_.called_by(id)[branch];
  BindAll(called, module_.operands_of(id).subspan(branch + 1, 1));
  Call(called);
}

void Executor::EndConditional(InstrId id, const Merge& merge,
                              const std::vector<Memory::Change>& changes) {
  const uint32_t top = trees_.top(id);
  Note(EventKind::kJoin);
  Tick(id);
  for (const Memory::Change& change : changes) Lose(change);
  // Parts that are lost are wrong only if somebody reads them.
  std::map<std::vector<ContentId>, ContentId> equal;
  for (auto part = static_cast<uint32_t>(merge.differs.size()); part-- > 0;) {
    const uint32_t row = top + part;
    Cell at = merge.results[0][part];
    if (merge.differs[part] != 0) {
      // Parts that are equal in every branch are equal afterwards.
      const auto [known, is_new] = equal.try_emplace(merge.contents[part], kLost);
      if (is_new) known->second = contents_.New();
      at.content = known->second;
    }
    if (merge.differs[part] != 0 || merge.is_lost[0][part] != 0) at.origin = row;
    for (size_t view = Merge::kViews; view-- > 0;) {
      at.place = merge.results[view][part].place;
      if (merge.is_lost[view][part] == 0 && !IsThere(row, at)) Write(row, at, id);
    }
    cells_[row] = at;
  }
}

void Executor::AddBranch(InstrId id, InstrId root, Merge& merge) {
  const uint32_t top = trees_.top(id);
  const uint32_t count = trees_.count(shape(id));
  const bool is_first = merge.differs.empty();
  merge.differs.resize(count, 0);
  merge.contents.resize(count);
  for (size_t view = 0; view < Merge::kViews; ++view) {
    merge.is_lost[view].resize(count, 0);
    merge.results[view].resize(count);
  }
  for (uint32_t part = 0; part < count; ++part) {
    Cell at = cell(root, part);
    Note(EventKind::kGive, {top + part, trees_.top(root) + part});
    if (is_first) {
      merge.results[1][part] = at;
      Hand(at, top + part);
      merge.results[0][part] = cells_[top + part];
    }
    merge.contents[part].push_back(at.content);
    if (at.content != merge.results[0][part].content) merge.differs[part] = 1;
    for (size_t view = 0; view < Merge::kViews; ++view) {
      at.place = merge.results[view][part].place;
      if (!IsThere(top + part, at)) merge.is_lost[view][part] = 1;
    }
  }
}

void Executor::RunWhile(InstrId id) {
  const CompId body = module_.called_by(id)[0];
  const CompId condition = module_.called_by(id)[1];
  const InstrId initial = module_.operands_of(id)[0];
  const uint32_t count = trees_.count(shape(id));
  const InstrId inside = module_.parameters_of(body)[0];
  Loop& loop = frames_.back().waiting.emplace<Loop>();
  loop.instruction = id;
  loop.tops = {trees_.top(inside), trees_.top(module_.parameters_of(condition)[0]), trees_.top(id)};
  for (size_t view = 0; view < Loop::kViews; ++view) {
    loop.is_lost[view].assign(count, 0);
    for (uint32_t part = 0; part < count; ++part) {
      const uint32_t row = loop.tops[view] + part;
      // Where nothing else is said, the state is where the body has it.
      Hand(view == 0 ? cell(initial, part) : cell(inside, part), row);
      if (!IsThere(row, cells_[row])) loop.is_lost[view][part] = 1;
      loop.states[view].push_back(cells_[row]);
    }
  }
  loop.parts = congruence_.Of(id);
  BeginIteration(loop);
}

void Executor::BeginIteration(Loop& loop) {
  loop.is_in_body = false;
  loop.trace = BeginTrace();
  loop.findings = witness_.Begin();
  loop.before = memory_.Begin();
  if (trace_ != nullptr) NoteLost(loop);
  LoseWrites(loop);
  EnterLoop(loop);
  Note(EventKind::kHead);
  const auto top = cells_.begin() + trees_.top(loop.instruction);
  loop.head.assign(top, top + std::ssize(loop.parts.changes));
  Call(module_.called_by(loop.instruction)[1]);
}

void Executor::LoseWrites(const Loop& loop) {
  for (const CompId called :
       {module_.called_by(loop.instruction)[1], module_.called_by(loop.instruction)[0]}) {
    VisitWrites(called, [&](const Memory::Change& change) {
      // In a loop inside a loop, most of it is lost already.
      if (!memory_.IsLostSince(change.bytes, last_departure_)) Lose(change);
    });
  }
}

void Executor::EnterBody(Loop& loop) {
  const auto [body, condition] =
      std::pair(module_.called_by(loop.instruction)[0], module_.called_by(loop.instruction)[1]);
  Read(trees_.top(module_.computations[condition].root), {.instruction = loop.instruction});
  Note(EventKind::kBody);
  loop.body = memory_.Begin();
  loop.is_in_body = true;
  Call(body);
}

bool Executor::RefineContents(Loop& loop) {
  const InstrId root = module_.computations[module_.called_by(loop.instruction)[0]].root;
  LoopParts& parts = loop.parts;
  bool is_worse = false;
  std::unordered_map<ContentId, ContentId> backs;  // by content at the head: of the first part
  std::map<std::pair<uint32_t, ContentId>, uint32_t> classes;
  for (uint32_t part = 0; part < loop.head.size(); ++part) {
    const ContentId back = cell(root, part).content;
    const ContentId head = loop.head[part].content;
    if (parts.changes[part] == 0 ? back == head
                                 : backs.try_emplace(head, back).first->second == back)
      continue;
    is_worse = true;
    parts.changes[part] = 1;
    // Numbers that no class has yet.
    const auto next = static_cast<uint32_t>(UINT32_MAX - loop.splits);
    const auto [known, is_new] = classes.try_emplace({parts.classes[part], back}, next);
    if (is_new) ++loop.splits;
    parts.classes[part] = known->second;
  }
  return is_worse;
}

bool Executor::EndIteration(Loop& loop) {
  const InstrId id = loop.instruction;
  const uint32_t top = trees_.top(id);
  const auto count = static_cast<uint32_t>(loop.head.size());
  bool is_worse = RefineContents(loop);
  const InstrId root = module_.computations[module_.called_by(id)[0]].root;
  for (uint32_t part = 0; part < count; ++part) {
    Cell back = cell(root, part);
    for (size_t view = 0; view < Loop::kViews; ++view) {
      back.place = loop.states[view][part].place;
      if (loop.is_lost[view][part] != 0 || IsThere(top + part, back)) continue;
      loop.is_lost[view][part] = 1;
      is_worse = true;
    }
  }
  memory_.Undo(loop.body);
  Note(EventKind::kBack);
  std::ranges::copy(loop.head, cells_.begin() + top);
  if (is_worse) {
    UndoTrace(loop.trace);
    witness_.Undo(loop.findings);
    memory_.Undo(loop.before);
  } else {
    memory_.Keep(loop.before);
  }
  return is_worse;
}

void Executor::NoteLost(const Loop& loop) {
  std::vector<Bytes> lost;
  for (const CompId called : module_.called_by(loop.instruction).first(2)) {
    VisitWrites(called, [&](const Memory::Change& change) {
      if (change.bytes.begin < change.bytes.end) lost.push_back(change.bytes);
    });
  }
  std::ranges::sort(lost, {}, [](const Bytes& b) { return std::pair(b.allocation, b.begin); });
  Note(EventKind::kLoop);
  for (size_t k = 0; k < lost.size();) {
    Bytes all = lost[k];
    for (; k < lost.size() && lost[k].allocation == all.allocation && lost[k].begin <= all.end; ++k)
      all.end = std::max(all.end, lost[k].end);
    Note(EventKind::kLose, {all.allocation, all.begin, all.end});
  }
}

void Executor::NoteState(const Loop& loop, size_t part, ContentId content) {
  if (trace_ == nullptr) return;
  const InstrId root = module_.computations[module_.called_by(loop.instruction)[0]].root;
  const auto top = [&](uint32_t row) { return static_cast<int64_t>(row + part); };
  int64_t from = top(trees_.top(module_.operands_of(loop.instruction)[0]));
  for (size_t view = 0; view < Loop::kViews; ++view) {
    Note(EventKind::kState,
         {top(loop.tops[view]), from, top(trees_.top(root)), content, loop.is_lost[view][part]});
    from = top(loop.tops[0]);
  }
}

void Executor::EnterLoop(const Loop& loop) {
  std::map<std::pair<ContentId, uint32_t>, ContentId> equal;
  for (size_t part = loop.parts.changes.size(); part-- > 0;) {
    ContentId content = loop.states[0][part].content;
    if (loop.parts.changes[part] != 0) {
      // Of those that begin equal, one class stays so.
      const auto [known, is_new] = equal.try_emplace({content, loop.parts.classes[part]}, kLost);
      if (is_new) known->second = contents_.New();
      content = known->second;
    }
    NoteState(loop, part, loop.parts.changes[part] != 0 ? content : kLost);
    for (size_t view = 0; view < Loop::kViews; ++view) {
      const auto row = static_cast<uint32_t>(loop.tops[view] + part);
      cells_[row] = loop.states[view][part];
      cells_[row].content = content;
      if (loop.parts.changes[part] != 0)
        cells_[row].origin = static_cast<uint32_t>(trees_.top(loop.instruction) + part);
    }
    for (size_t view = 0; view < Loop::kViews; ++view) {
      const auto row = static_cast<uint32_t>(loop.tops[view] + part);
      if (loop.is_lost[view][part] == 0 && !IsThere(row, cells_[row]))
        Write(row, cells_[row], loop.instruction);
    }
  }
}

}  // namespace stowplan::check
