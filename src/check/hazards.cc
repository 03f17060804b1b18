// SPDX-License-Identifier: Apache-2.0
#include "check/hazards.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "check/meeting.h"

namespace stowplan::check {

using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;
using hlo::ShapeTable;

namespace {

// How often constraints are looked at for one decision. What XLA fuses takes some hundred looks.
constexpr int64_t kEffort = 300'000;

// Whether the result is written element by element.
bool IsLoop(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kConstant:
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    default:
      return IsByElement(opcode);
  }
}

std::vector<size_t> Ascending(size_t count) {
  std::vector<size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

std::vector<std::vector<int64_t>> Hazards::Outputs() const {
  std::vector<std::vector<int64_t>> outputs;
  std::vector<std::pair<ShapeId, std::vector<int64_t>>> stack = {
      {module_.instructions[user_].shape, {}}};
  while (!stack.empty()) {
    auto [shape, index] = std::move(stack.back());
    stack.pop_back();
    if (hlo::IsArray(module_.shapes[shape].type)) outputs.push_back(index);
    if (!module_.shapes.is_tuple(shape)) continue;
    for (size_t k = 0; k < module_.shapes.elements(shape).size(); ++k) {
      std::vector<int64_t> part = index;
      part.push_back(static_cast<int64_t>(k));
      stack.emplace_back(module_.shapes.elements(shape)[k], std::move(part));
    }
  }
  return outputs;
}

bool Hazards::IsAim(const Bodies::Source& source, const Aim& aim) const {
  return source.leaf && source.leaf->operand == aim.operand && source.leaf->index == aim.input &&
         aim.distance == 0;
}

Hazards::Space Hazards::NewSpace(ShapeId like) {
  return {like, reads_.maps().NewIndex(module_.shapes.dims(like))};
}

Hazards::Target Hazards::TargetOf(const std::vector<int64_t>& output, const Aim& aim) {
  Bodies& bodies = reads_.bodies();
  const Bodies::Source made = bodies.Output(output);
  Bodies::Source inner = bodies.BehindBitcasts(made);
  Target target;
  target.is_kept = IsAim(inner, aim);
  target.is_loop = inner.leaf || IsLoop(bodies.opcode(inner.node));
  const ShapeId to = bodies.ShapeOf(made);
  const Space space = NewSpace(to);
  const Access all = {.view = to, .index = space.index, .constraints = {}, .outside = {}};
  std::vector<BodyNode> updates;
  while (!inner.leaf && bodies.opcode(inner.node) == Opcode::kDynamicUpdateSlice) {
    const Bodies::Source base = bodies.Operand(inner.node, 0);
    if (!LieAlike(module_.shapes, bodies.ShapeOf(base), bodies.shape(inner.node))) break;
    updates.push_back(inner.node);
    inner = bodies.BehindBitcasts(base);
  }
  if (updates.empty() || !IsAim(inner, aim)) {
    target.whole.push_back({space, all});
    return target;
  }
  // What lies around the slices stays as it is.
  for (const BodyNode& update : updates) {
    const ShapeId array = bodies.shape(update);
    const ShapeId part = bodies.ShapeOf(bodies.Operand(update, 1));
    const std::span<const int64_t> sizes = module_.shapes.dims(part);
    const std::vector<Expr> starts = reads_.Starts(update);
    Access seen = all;
    Access whole = all;
    if (starts.size() == sizes.size() && reads_.maps().View(seen, array) &&
        seen.index.size() == sizes.size()) {
      for (size_t d = 0; d < sizes.size(); ++d)
        seen.constraints.push_back({seen.index[d].Plus(starts[d], -1), {0, sizes[d] - 1}});
      whole.constraints = std::move(seen.constraints);
    }
    target.whole.push_back({space, std::move(whole)});
    if (updates.size() > 1 || starts.size() != sizes.size()) continue;
    const Space slice = NewSpace(part);
    Access written = {.view = array, .index = slice.index, .constraints = {}, .outside = {}};
    for (size_t d = 0; d < starts.size(); ++d) written.index[d].Add(starts[d]);
    target.slice.push_back({slice, std::move(written)});
  }
  return target;
}

Hazards::Section Hazards::WholeSection(const Bodies::Source& source) {
  Section section = {
      .has_turns = true, .space = NewSpace(reads_.bodies().ShapeOf(source)), .reads = {}};
  section.is_complete = reads_.Walk(
      source,
      {.view = section.space.like, .index = section.space.index, .constraints = {}, .outside = {}},
      section.reads);
  return section;
}

void Hazards::AddUpdateSections(const BodyNode& update, std::vector<Section>& sections) {
  Bodies& bodies = reads_.bodies();
  sections.push_back(WholeSection(bodies.Operand(update, 1)));
  Section& section = sections.back();
  // In each turn, too.
  for (size_t k = 2; k < module_.operands_of(update.id).size(); ++k) {
    const Bodies::Source offset = bodies.Operand(update, k);
    const ShapeId shape = bodies.ShapeOf(offset);
    const bool is_complete =
        reads_.Walk(offset,
                    {.view = shape,
                     .index = reads_.maps().NewIndex(module_.shapes.dims(shape)),
                     .constraints = {},
                     .outside = {}},
                    section.reads);
    section.is_complete = section.is_complete && is_complete;
  }
}

std::vector<Hazards::Section> Hazards::FreeSections(const Bodies::Source& source,
                                                    const Space* loop) {
  Bodies& bodies = reads_.bodies();
  std::vector<BodyNode> reductions;
  const auto visit = [&](const BodyNode& node) {
    if (loop == nullptr || bodies.opcode(node) != Opcode::kReduce) return false;
    const Space reduced = {bodies.ShapeOf(bodies.Operand(node, 0)), {}};
    if (!hlo::IsArray(module_.shapes[reduced.like].type) || !Match(*loop, NewSpace(reduced.like)))
      return false;
    reductions.push_back(node);
    return true;
  };
  const ShapeId shape = bodies.ShapeOf(source);
  std::vector<Section> sections(1);
  sections[0].is_complete =
      reads_.Walk(source,
                  {.view = shape,
                   .index = reads_.maps().NewIndex(module_.shapes.dims(shape)),
                   .constraints = {},
                   .outside = {}},
                  sections[0].reads, visit);
  std::ranges::sort(reductions);
  const auto [last, end] = std::ranges::unique(reductions);
  reductions.erase(last, end);
  for (const BodyNode& node : reductions) {
    const size_t count = module_.operands_of(node.id).size();
    for (size_t k = 0; k < count; ++k) {
      if (k < count / 2) {
        sections.push_back(WholeSection(bodies.Operand(node, k)));
      } else {
        std::vector<Section> first = FreeSections(bodies.Operand(node, k), nullptr);
        std::ranges::move(first, std::back_inserter(sections));
      }
    }
  }
  return sections;
}

std::vector<Hazards::Section> Hazards::CallSections(const Bodies::Source& call, const Aim& aim) {
  Bodies& bodies = reads_.bodies();
  std::vector<Section> sections;
  for (size_t k = 0; k < module_.operands_of(call.node.id).size(); ++k) {
    const Bodies::Source operand = bodies.Operand(call.node, k);
    if (IsAim(bodies.BehindBitcasts(operand), aim) && may_call_(call.node.id, k, call.index))
      continue;
    if (!hlo::IsArray(module_.shapes[bodies.ShapeOf(operand)].type)) {
      sections.emplace_back().is_complete = false;
      continue;
    }
    std::vector<Section> more = FreeSections(operand, nullptr);
    std::ranges::move(more, std::back_inserter(sections));
  }
  return sections;
}

std::vector<Hazards::Section> Hazards::OwnSections(const Bodies::Source& source,
                                                   const Target& target) {
  Bodies& bodies = reads_.bodies();
  const Bodies::Source inner = bodies.BehindBitcasts(source);
  std::vector<Section> sections;
  if (!target.slice.empty()) {
    AddUpdateSections(inner.node, sections);
  } else if (!inner.leaf && bodies.opcode(inner.node) == Opcode::kSort) {
    // It is given its operands element by element, and sorts them then.
    for (size_t k = 0; k < module_.operands_of(inner.node.id).size(); ++k)
      sections.push_back(WholeSection(bodies.Operand(inner.node, k)));
  } else {
    sections.push_back(WholeSection(source));
  }
  return sections;
}

Hazards::Pairing Hazards::OutsideTheLoop(const Bodies::Source& source, const Target& target) {
  // One block does all of a tile, one output after the other; in which order is not known.
  constexpr int64_t kTile = int64_t{32} * 32;
  Pairing pairing = {&target.whole, FreeSections(source, nullptr)};
  const int64_t count = CountElements(module_.shapes, target.whole[0].space.like);
  for (Section& section : pairing.sections) {
    for (ElementRead& read : section.reads) read.access.is_certain &= count > kTile;
  }
  return pairing;
}

std::vector<Hazards::Pairing> Hazards::OtherSections(const std::vector<int64_t>& output,
                                                     const Target& target) {
  Bodies& bodies = reads_.bodies();
  const Bodies::Source source = bodies.Output(output);
  const Bodies::Source inner = bodies.BehindBitcasts(source);
  std::vector<Pairing> pairings;
  if (!target.is_loop) {
    pairings.push_back({&target.whole, FreeSections(source, nullptr)});
    return pairings;
  }
  const ShapeId shape = bodies.ShapeOf(source);
  const auto dims = [&](ShapeId id) {
    std::vector<int64_t> sizes(module_.shapes.dims(id).begin(), module_.shapes.dims(id).end());
    std::erase(sizes, 1);
    return sizes;
  };
  const std::vector<Written>& own = target.slice.empty() ? target.whole : target.slice;
  const Space& loop = own[0].space;
  // By the elements of both.
  const bool is_alike = dims(target.whole[0].space.like) == dims(shape);
  if (is_alike) {
    pairings.push_back({&target.whole, {}});
    pairings.back().sections.push_back(WholeSection(source));
  }
  // By the elements of slices: that of this output, that of the other one.
  const bool is_update = !inner.leaf && bodies.opcode(inner.node) == Opcode::kDynamicUpdateSlice &&
                         Match(loop, NewSpace(bodies.ShapeOf(bodies.Operand(inner.node, 1))));
  const bool is_by_slice = is_update && !target.slice.empty() &&
                           bodies.BehindBitcasts(bodies.Operand(inner.node, 0)).leaf.has_value();
  const bool is_match = Match(loop, NewSpace(shape)).has_value();
  if (is_by_slice || (is_update && !is_alike && !is_match)) {
    pairings.push_back({&own, {}});
    AddUpdateSections(inner.node, pairings.back().sections);
    std::vector<Section> base = FreeSections(bodies.Operand(inner.node, 0), nullptr);
    std::ranges::move(base, std::back_inserter(pairings.back().sections));
  } else if (!is_alike && is_match) {
    pairings.push_back({&own, {}});
    pairings.back().sections.push_back(WholeSection(source));
  } else if (!is_alike) {
    pairings.push_back({&own, FreeSections(source, &loop)});
  }
  return pairings;
}

std::optional<Hazards::Same> Hazards::Match(const Space& a, const Space& b) const {
  const ShapeTable& shapes = module_.shapes;
  using Digits = std::vector<std::pair<int64_t, Expr>>;
  const auto pick = [&](const Space& space, std::span<const size_t> order) {
    Digits picked;
    for (const size_t d : order) {
      const int64_t size = shapes.dims(space.like)[d];
      if (size != 1) picked.emplace_back(size, space.index[d]);
    }
    return picked;
  };
  const auto pair = [](const Digits& x, const Digits& y) -> std::optional<Same> {
    const auto size = &std::pair<int64_t, Expr>::first;
    if (!std::ranges::equal(x, y, {}, size, size)) return std::nullopt;
    Same same;
    for (size_t d = 0; d < x.size(); ++d) same.emplace_back(x[d].second, y[d].second);
    return same;
  };
  // Tiles are what a turn writes. Where a bitcast exchanges dimensions, they stay where they are.
  const std::optional<std::vector<size_t>> from = TiledOutsideIn(shapes, a.like);
  const std::optional<std::vector<size_t>> to = TiledOutsideIn(shapes, b.like);
  if (from && to) {
    if (std::optional<Same> same = pair(pick(a, *from), pick(b, *to))) return same;
  }
  const Digits first = pick(a, Ascending(a.index.size()));
  const Digits second = pick(b, Ascending(b.index.size()));
  if (std::optional<Same> same = pair(first, second)) return same;
  if (CountElements(shapes, a.like) != CountElements(shapes, b.like) ||
      !IsRowMajor(shapes, a.like) || !IsRowMajor(shapes, b.like))
    return std::nullopt;
  const auto number = [](const Digits& digits) {
    Expr sum;
    for (const auto& [size, digit] : digits) sum = digit.Plus(sum, size);
    return sum;
  };
  return Same{{number(first), number(second)}};
}

Hazard Hazards::CheckOne(const Written& written, const Section& section, const Access& read,
                         const Aim& aim) {
  const std::optional<Same> same =
      section.has_turns ? Match(written.space, section.space) : std::nullopt;
  const bool is_alike =
      aim.distance == 0 && LieAlike(module_.shapes, written.access.view, read.view);
  const Variables& variables = reads_.variables();
  if (same && !read.is_one_of_many) {
    // One turn only, and all of it is read first.
    if (same->empty()) return Hazard::kNone;
    if (is_alike && IsOneToOne(written.access, read, *same, variables)) return Hazard::kNone;
  }
  Access from = written.access;
  Access to = read;
  std::optional<Expr> first;
  std::optional<Expr> second;
  if (!is_alike) {
    first = reads_.maps().PositionOf(from);
    second = reads_.maps().PositionOf(to);
    if (!first || !second) return Hazard::kUnknown;
  }
  Meeting meeting(module_.shapes, variables);
  meeting.Pair(same ? *same : Same());
  meeting.Take(from, to, reads_.FindTwins());
  if (is_alike) {
    meeting.MeetByIndex(from, to);
  } else {
    meeting.MeetByPosition({*first, ElementWidth(module_.shapes, from.view)},
                           {*second, ElementWidth(module_.shapes, to.view)}, aim.distance);
  }
  Hazard hazard = Hazard::kNone;
  const auto note = [&](LinearSystem::Answer answer, bool is_shown) {
    if (answer == LinearSystem::Answer::kNo || hazard == Hazard::kClash) return;
    const bool is_clash = answer == LinearSystem::Answer::kYes && is_shown && read.is_certain;
    hazard = is_clash ? Hazard::kClash : Hazard::kUnknown;
  };
  if (!same) {
    note(meeting.Solve(effort_), true);
    return hazard;
  }
  for (const Expr& distance : meeting.distances()) {
    note(meeting.SolveApart(distance, {1, kFar}, effort_), true);
    note(meeting.SolveApart(distance, {-kFar, -1}, effort_), true);
    if (hazard == Hazard::kClash) return hazard;
  }
  // In one turn, too, one of many may be read after the first of the result is written.
  if (read.is_one_of_many && hazard == Hazard::kNone) note(meeting.Solve(effort_), false);
  return hazard;
}

bool Hazards::IsUnderPadding(const Written& written, const Access& read, const Aim& aim) {
  if (aim.padded == 0) return false;
  Access to = read;
  const std::optional<Expr> number = reads_.maps().PositionOf(to);
  if (!number || !read.is_certain) return false;
  Variables& variables = reads_.variables();
  const Expr any = Expr::OfVar(variables.Add({0, aim.padded - 1}));
  Meeting meeting(module_.shapes, variables);
  meeting.Take({.view = {}, .index = {}, .constraints = {}, .outside = {}}, to, reads_.FindTwins());
  meeting.MeetByPosition({any, ElementWidth(module_.shapes, written.access.view)},
                         {*number, ElementWidth(module_.shapes, to.view)}, aim.distance);
  return meeting.Solve(effort_) == LinearSystem::Answer::kYes;
}

Hazard Hazards::Check(const std::vector<Written>& written, const std::vector<Section>& sections,
                      const Aim& aim) {
  Hazard hazard = Hazard::kNone;
  for (const Section& section : sections) {
    if (!section.is_complete) hazard = Hazard::kUnknown;
    for (const ElementRead& read : section.reads) {
      if (read.operand != aim.operand || read.index != aim.input) continue;
      for (const Written& what : written) {
        const Hazard one = CheckOne(what, section, read.access, aim);
        if (one == Hazard::kClash || IsUnderPadding(what, read.access, aim)) return Hazard::kClash;
        if (one == Hazard::kUnknown) hazard = one;
      }
    }
  }
  return hazard;
}

Hazard Hazards::Find(size_t operand, const std::vector<int64_t>& input,
                     const std::vector<int64_t>& output, int64_t distance) {
  effort_ = kEffort;
  Bodies& bodies = reads_.bodies();
  const Bodies::Source source = bodies.Output(output);
  Aim aim = {operand, input, distance};
  // One element is read before its tile is written.
  const ShapeId from = bodies.ShapeOf(
      {.node = {}, .index = {}, .leaf = Bodies::Leaf{static_cast<uint32_t>(operand), input}});
  const ShapeId to = bodies.ShapeOf(source);
  if (CountElements(module_.shapes, to) > 1 &&
      (distance != 0 || !IsPaddingApart(module_.shapes, from, to)))
    aim.padded = CountPadded(module_.shapes, to);
  const int64_t count = CountElements(module_.shapes, bodies.ShapeOf(source));
  if (count == 0) return Hazard::kNone;
  if (count < 0) return Hazard::kUnknown;
  const Target target = TargetOf(output, aim);
  if (target.is_kept) return Hazard::kNone;
  const Bodies::Source inner = bodies.BehindBitcasts(source);
  const bool is_call = !inner.leaf && bodies.opcode(inner.node) == Opcode::kCustomCall;
  const std::vector<Written>& own = target.slice.empty() ? target.whole : target.slice;
  Hazard hazard = Check(own, is_call ? CallSections(inner, aim) : OwnSections(source, target), aim);
  const std::vector<std::vector<int64_t>> outputs = Outputs();
  const std::vector<Hero> heroes = FindHeroes(module_, user_, bodies, outputs);
  const auto own_row = static_cast<size_t>(std::ranges::find(outputs, output) - outputs.begin());
  const Hero hero = own_row < heroes.size() ? heroes[own_row] : Hero();
  for (size_t k = 0; k < outputs.size(); ++k) {
    const std::vector<int64_t>& other = outputs[k];
    if (hazard == Hazard::kClash) return hazard;
    if (other == output) continue;
    const Bodies::Source made = bodies.BehindBitcasts(bodies.Output(other));
    // Another part of the same sort or call: what it is made of was looked at.
    if (!target.is_loop && !made.leaf && made.node == inner.node &&
        bodies.opcode(inner.node) != Opcode::kScatter)
      continue;
    const std::vector<Pairing> pairings =
        heroes[k] == hero ? OtherSections(other, target)
                          : std::vector<Pairing>{OutsideTheLoop(bodies.Output(other), target)};
    for (const Pairing& pairing : pairings) {
      const Hazard one = Check(*pairing.written, pairing.sections, aim);
      if (one != Hazard::kNone) hazard = one;
      if (one == Hazard::kClash) return one;
    }
  }
  return hazard;
}

}  // namespace stowplan::check
