// SPDX-License-Identifier: Apache-2.0
#include "diff/cause.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/stable_sort.h"
#include "diff/places.h"

namespace stowplan::diff {

using explain::Picture;
using report::ValueId;

namespace {
constexpr std::array<std::string_view, kGroups> kGroupNames = {"cause", "source", "op_name",
                                                               "kind",  "term",   "value"};
}  // namespace

std::string_view Name(Group group) { return kGroupNames[static_cast<size_t>(group)]; }

std::optional<Group> FindGroup(std::string_view name) {
  const auto found = std::ranges::find(kGroupNames, name);
  if (found == kGroupNames.end()) return std::nullopt;
  return static_cast<Group>(found - kGroupNames.begin());
}

Term Cause::main_term() const {
  const auto most =
      std::ranges::max_element(terms, {}, [](int64_t part) { return std::abs(part); });
  return static_cast<Term>(most - terms.begin());
}

namespace {

// A place of A and a place of B: of a pair where it was and where it is; else twice the same.
using Places = std::pair<std::string, std::string>;

// Lines move when something is written above them. A place of A is one of B when most values of
// each of them have their partners in the other.
class PlaceLinks {
 public:
  PlaceLinks(const Match& match, const Picture& a, const Picture& b, Group group)
      : match_(match), a_(a), b_(b), group_(group) {}

  [[nodiscard]] Places OfA(const std::string& place) {
    Find();
    const auto found = b_of_a_.find(place);
    return {place, found == b_of_a_.end() ? place : found->second};
  }
  [[nodiscard]] Places OfB(const std::string& place) {
    Find();
    const auto found = a_of_b_.find(place);
    return {found == a_of_b_.end() ? place : found->second, place};
  }

 private:
  // The place of the other side where most partners are.
  struct Best {
    uint32_t place = 0;
    int64_t count = 0;
  };

  uint32_t NumberOf(const std::string& place) {
    const auto [row, is_new] = numbers_.try_emplace(place, static_cast<uint32_t>(names_.size()));
    if (is_new) names_.push_back(place);
    return row->second;
  }

  // Only when somebody asks: it goes over all values.
  void Find() {
    if (is_found_) return;
    is_found_ = true;
    if (group_ == Group::kKind || group_ == Group::kValue || group_ == Group::kTerm) return;
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (size_t i = 0; i < match_.b_of_a.size(); ++i) {
      if (match_.b_of_a[i].is_none()) continue;
      const uint32_t a = NumberOf(PlaceOf(a_, ValueId(i), group_));
      pairs.emplace_back(a, NumberOf(PlaceOf(b_, match_.b_of_a[i], group_)));
    }
    std::ranges::sort(pairs);
    std::vector<Best> best_of_a(names_.size());
    std::vector<Best> best_of_b(names_.size());
    for (size_t i = 0; i < pairs.size();) {
      size_t end = i;
      while (end < pairs.size() && pairs[end] == pairs[i]) ++end;
      const auto count = static_cast<int64_t>(end - i);
      Offer(pairs[i].first, pairs[i].second, count, best_of_a);
      Offer(pairs[i].second, pairs[i].first, count, best_of_b);
      i = end;
    }
    for (uint32_t a = 0; a < best_of_a.size(); ++a) {
      const Best& best = best_of_a[a];
      if (best.count == 0 || best_of_b[best.place].place != a) continue;
      b_of_a_[names_[a]] = names_[best.place];
      a_of_b_[names_[best.place]] = names_[a];
    }
  }

  // Of equal ones the place that did not move, else the first by name: the same from both sides.
  void Offer(uint32_t mine, uint32_t other, int64_t count, std::vector<Best>& bests) const {
    Best& best = bests[mine];
    const bool is_better =
        count > best.count || (count == best.count && best.place != mine &&
                               (other == mine || names_[other] < names_[best.place]));
    if (is_better) best = {.place = other, .count = count};
  }

  const Match& match_;
  const Picture& a_;
  const Picture& b_;
  Group group_;
  bool is_found_ = false;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::string> b_of_a_;
  std::unordered_map<std::string, std::string> a_of_b_;
};

std::string TextOf(const Places& places) {
  if (places.first == places.second) return places.second;
  return places.second + " (was " + places.first + ")";
}

bool IsLarger(int64_t a, int64_t b) { return std::abs(a) > std::abs(b); }

// Changes of shape that are one.
struct ResizeKey {
  std::string types;
  std::string factors;
  friend auto operator<=>(const ResizeKey&, const ResizeKey&) = default;
};

struct Key {
  Places places;
  ResizeKey resize;
  friend auto operator<=>(const Key&, const Key&) = default;
};

class Grouper {
 public:
  Grouper(const SpaceDiff& space, const Picture& a, const Picture& b, Group group,
          PlaceLinks& links)
      : space_(space), a_(a), b_(b), group_(group), links_(links) {}

  std::vector<Cause> Run() {
    for (size_t i = 0; i < space_.changes.size(); ++i) AddChange(static_cast<uint32_t>(i));
    std::vector<Cause> causes;
    for (auto& [key, cause] : causes_) {
      Finish(key, cause);
      causes.push_back(std::move(cause));
    }
    std::ranges::sort(causes, [](const Cause& a, const Cause& b) {
      if (IsLarger(a.bytes, b.bytes) || IsLarger(b.bytes, a.bytes))
        return IsLarger(a.bytes, b.bytes);
      return a.name < b.name;
    });
    const int64_t moved = space_.terms[static_cast<size_t>(Term::kPeakMoved)];
    if (moved != 0) {
      Cause& cause = causes.emplace_back();
      cause.name = "the peak moved";
      cause.is_moved = true;
      cause.bytes = moved;
      cause.terms[static_cast<size_t>(Term::kPeakMoved)] = moved;
    }
    return causes;
  }

 private:
  [[nodiscard]] Places PlacesOf(const Change& change) {
    if (change.a.is_none()) return links_.OfB(PlaceOf(b_, change.b, group_));
    if (change.b.is_none()) return links_.OfA(PlaceOf(a_, change.a, group_));
    return {PlaceOf(a_, change.a, group_), PlaceOf(b_, change.b, group_)};
  }

  // Whether the bytes follow from another size of the value.
  [[nodiscard]] bool IsResize(const Change& change) const {
    return group_ == Group::kCause &&
           (change.term == Term::kGrown || change.term == Term::kShrunk ||
            change.term == Term::kPadding) &&
           a_.report->values[change.a].shape != b_.report->values[change.b].shape;
  }

  [[nodiscard]] ShapeChange ShapeOf(const Change& change) const {
    return ChangeOf(a_.report->values[change.a].shape, b_.report->values[change.b].shape);
  }

  void AddChange(uint32_t index) {
    const Change& change = space_.changes[index];
    Key key;
    if (IsResize(change)) {
      const ShapeChange shape = ShapeOf(change);
      key.resize = {.types = shape.types, .factors = shape.factors};
    } else if (group_ == Group::kTerm) {
      key.places.first = key.places.second = std::string(Name(change.term));
    } else {
      key.places = PlacesOf(change);
    }
    Cause& cause = causes_[key];
    cause.is_resize = IsResize(change);
    cause.bytes += change.bytes;
    cause.terms[static_cast<size_t>(change.term)] += change.bytes;
    cause.changes.push_back(index);
  }

  void Finish(const Key& key, Cause& cause) {
    StableSort(cause.changes, [&](uint32_t x, uint32_t y) {
      return IsLarger(space_.changes[x].bytes, space_.changes[y].bytes);
    });
    AddParts(cause);
    cause.name = cause.is_resize ? ResizeName(key.resize, cause) : TextOf(key.places);
    bool is_first = true;
    for (const uint32_t index : cause.changes) {
      const Change& change = space_.changes[index];
      const auto kind_a = KindOf(a_, change.a);
      const auto kind_b = KindOf(b_, change.b);
      if (is_first) {
        cause.kind_a = kind_a;
        cause.kind_b = kind_b;
        is_first = false;
      }
      if (cause.kind_a != kind_a) cause.kind_a.reset();
      if (cause.kind_b != kind_b) cause.kind_b.reset();
    }
  }

  static std::optional<explain::Kind> KindOf(const Picture& picture, ValueId id) {
    if (id.is_none()) return std::nullopt;
    return picture.fact(id).kind;
  }

  void AddParts(Cause& cause) {
    std::map<Places, size_t> rows;
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (const uint32_t index : cause.changes) {
      const Change& change = space_.changes[index];
      const auto [row, is_new] = rows.try_emplace(PlacesOf(change), cause.parts.size());
      if (is_new) {
        CausePart part;
        part.place = TextOf(row->first);
        part.largest = index;
        cause.parts.push_back(std::move(part));
      }
      CausePart& part = cause.parts[row->second];
      part.bytes += change.bytes;
      // A pair may have several terms.
      const std::pair pair(change.a.index, change.b.index);
      pairs.push_back(pair);
      ++part.values;
    }
    std::ranges::sort(pairs);
    pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
    cause.values = static_cast<int64_t>(pairs.size());
    StableSort(cause.parts,
               [](const CausePart& x, const CausePart& y) { return IsLarger(x.bytes, y.bytes); });
  }

  // The smallest dimension that changed says it best: others are products with it.
  [[nodiscard]] std::string ResizeName(const ResizeKey& key, const Cause& cause) const {
    std::string name = key.types;
    std::pair<int64_t, int64_t> least(0, 0);
    for (const uint32_t index : cause.changes) {
      const ShapeChange shape = ShapeOf(space_.changes[index]);
      if (shape.from == shape.to) continue;
      if (least.first == least.second || shape.from < least.first) least = {shape.from, shape.to};
    }
    if (!key.factors.empty() || key.types.empty()) {
      if (!name.empty()) name += ", ";
      if (least.first != least.second) {
        name += std::to_string(least.first) + " -> " + std::to_string(least.second);
      } else if (!key.factors.empty()) {
        name += key.factors + " times the elements";
      } else {
        name += "a different layout";
      }
    }
    return name;
  }

  const SpaceDiff& space_;
  const Picture& a_;
  const Picture& b_;
  Group group_;
  PlaceLinks& links_;
  std::map<Key, Cause> causes_;
};

}  // namespace

std::vector<Cause> CausesOf(const SpaceDiff& space, const Match& match, const Picture& a,
                            const Picture& b, Group group) {
  PlaceLinks links(match, a, b, group);
  return Grouper(space, a, b, group, links).Run();
}

std::vector<std::vector<Cause>> AllCausesOf(const Diff& diff, const Picture& a, const Picture& b,
                                            Group group) {
  PlaceLinks links(diff.match, a, b, group);
  std::vector<std::vector<Cause>> causes;
  causes.reserve(diff.spaces.size());
  for (const SpaceDiff& space : diff.spaces)
    causes.push_back(Grouper(space, a, b, group, links).Run());
  return causes;
}

}  // namespace stowplan::diff
