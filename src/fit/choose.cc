// SPDX-License-Identifier: Apache-2.0
#include "fit/choose.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace stowplan::fit {
namespace {

constexpr uint32_t kNowhere = 0xffffffffU;
// What all nodes cost together, in units of the network.
constexpr double kWhole = 1e13;
// Values that are so many times smaller than the peak shared by all nodes are taken to be there.
constexpr int64_t kNegligible = 32;

// The sets that are joined so far.
class Unions {
 public:
  explicit Unions(size_t size) : parents_(size) { std::iota(parents_.begin(), parents_.end(), 0); }
  uint32_t Find(uint32_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void Join(uint32_t i, uint32_t j) { parents_[Find(i)] = Find(j); }

 private:
  std::vector<uint32_t> parents_;
};

}  // namespace

Chooser::Chooser(const Task& task)
    : task_(task), scale_(kWhole / std::max(WholeCost(task), 1e-300)) {}

void Chooser::FindValues(std::span<const Node> sequence, const Trace& trace, uint32_t place) {
  const std::vector<order::Life>& lives = task_.problem.lives;
  values_.assign(lives.size(), {});
  latest_.assign(task_.size(), kNowhere);
  is_read_.assign(task_.size(), 0);
  for (uint32_t v = 0; v < trace.versions.size(); ++v) {
    const Version& version = trace.versions[v];
    if (version.begin != kAtStart && version.begin > place) break;
    values_[version.life].version = v;
  }
  for (uint32_t p = 0; p <= place; ++p) {
    latest_[sequence[p]] = p;
    is_read_[sequence[p]] = 0;
    for (const uint32_t life : task_.reads[sequence[p]]) {
      if (lives[life].begin != kNoNode) is_read_[lives[life].begin] = 1;
    }
  }
  // All that is smaller makes no difference together.
  const int64_t least = trace.peak / (kNegligible * static_cast<int64_t>(sequence.size()));
  for (uint32_t i = 0; i < values_.size(); ++i) {
    Value& value = values_[i];
    if (value.version == kNoVersion) continue;
    const Version& version = trace.versions[value.version];
    value.is_needed = version.last > place;
    // What is in use at the place, or returned, is there anyway.
    const bool is_there = (lives[i].lasts && version.last + 1 == sequence.size()) ||
                          version.begin == place || version.last == place || lives[i].is_capped;
    value.bytes = is_there || lives[i].size < least ? 0 : lives[i].size;
  }
  for (const uint32_t v : trace.reads_at(task_, sequence[place], place))
    values_[trace.versions[v].life].bytes = 0;
  // What is overwritten does not stay, however small it is.
  for (uint32_t i = 0; i < values_.size(); ++i) {
    if (!IsLost(task_, i, latest_, kNowhere)) continue;
    values_[i].is_lost = true;
    values_[i].bytes = std::max<int64_t>(lives[i].size, 1);
  }
}

// What may be repeated after the place: its operands must not be overwritten by then, or be
// repeated, too.
void Chooser::FindOpen(uint32_t place, std::span<const uint8_t> is_banned) {
  is_open_.assign(task_.size(), 0);
  for (Node i = 0; i < task_.size(); ++i) {
    if (latest_[i] == kNowhere || latest_[i] >= place || task_.can_repeat[i] == 0 ||
        is_banned[i] != 0)
      continue;
    is_open_[i] = std::ranges::none_of(task_.reads[i], [&](uint32_t life) {
      const Node begin = task_.problem.lives[life].begin;
      return values_[life].is_lost && (begin == kNoNode || is_open_[begin] == 0);
    });
  }
}

// A vertex for each value that may have to stay, and one for each node that may be repeated; those
// on the source's side are needed, or repeated.
void Chooser::Build(double price) {
  network_.Clear();
  reached_.clear();
  vertices_.assign(task_.size(), kNowhere);
  const double unit = price * scale_;
  const auto capacity = [](double cost) {
    return std::max<int64_t>(std::llround(std::min(cost, 1e17)), 1);
  };
  const auto reach = [&](uint32_t life, uint32_t from) {
    Value& value = values_[life];
    if (value.bytes == 0) return;
    const Node node = task_.problem.lives[life].begin;
    const bool is_open = node != kNoNode && is_open_[node] != 0;
    // What is needed and cannot be repeated stays in any case.
    if (value.is_needed && !is_open) return;
    if (value.vertex == 0) {
      value.vertex = network_.AddVertex();
      uint32_t to = order::Network::kSink;
      if (is_open) {
        if (vertices_[node] == kNowhere) {
          vertices_[node] = network_.AddVertex();
          reached_.push_back(node);
        }
        to = vertices_[node];
      }
      network_.AddEdge(value.vertex, to,
                       value.is_lost ? order::Network::kUnlimited
                                     : capacity(static_cast<double>(value.bytes) * unit));
    }
    if (from != order::Network::kSource || value.is_needed)
      network_.AddEdge(from, value.vertex, order::Network::kUnlimited);
  };
  for (uint32_t i = 0; i < values_.size(); ++i) {
    if (values_[i].is_needed) reach(i, order::Network::kSource);
  }
  for (size_t k = 0; k < reached_.size(); ++k) {
    const Node node = reached_[k];
    // Without a reader before the place, it moves and costs nothing.
    const double cost = is_read_[node] != 0 ? task_.costs[node] : 0;
    network_.AddEdge(vertices_[node], order::Network::kSink, capacity(cost * scale_));
    for (const uint32_t life : task_.reads[node]) {
      if (values_[life].version != kNoVersion && !values_[life].is_needed)
        reach(life, vertices_[node]);
      else if (values_[life].vertex != 0)
        network_.AddEdge(vertices_[node], values_[life].vertex, order::Network::kUnlimited);
    }
  }
}

std::vector<Group> Chooser::GroupsOf(std::span<const uint8_t> side) const {
  const auto is_chosen = [&](Node node) {
    return vertices_[node] != kNowhere && side[vertices_[node]] != 0;
  };
  Unions unions(task_.size());
  std::map<uint32_t, Node> stays;  // lives that stay for repetitions alone: one of their readers
  for (const Node node : reached_) {
    if (!is_chosen(node)) continue;
    for (const uint32_t life : task_.reads[node]) {
      const Value& value = values_[life];
      const Node source = task_.problem.lives[life].begin;
      if (value.bytes == 0) continue;
      if (source != kNoNode && is_chosen(source)) {
        unions.Join(node, source);
      } else if (!value.is_needed) {
        const auto [entry, is_new] = stays.emplace(life, node);
        if (!is_new) unions.Join(node, entry->second);
      }
    }
  }
  std::map<uint32_t, Group> by_root;
  for (const Node node : reached_) {
    if (!is_chosen(node)) continue;
    Group& group = by_root[unions.Find(node)];
    group.places.push_back(latest_[node]);
    if (is_read_[node] != 0) group.cost += task_.costs[node];
    for (const uint32_t life : task_.makes[node]) {
      if (values_[life].is_needed) group.bytes += values_[life].bytes;
    }
  }
  for (const auto& [life, node] : stays) by_root[unions.Find(node)].bytes -= values_[life].bytes;
  std::vector<Group> groups;
  for (auto& [root, group] : by_root) {
    if (group.bytes <= 0) continue;
    std::ranges::sort(group.places);
    groups.push_back(std::move(group));
  }
  std::ranges::sort(groups, {}, [](const Group& group) { return group.places[0]; });
  return groups;
}

std::vector<Group> Chooser::Choose(std::span<const Node> sequence, const Trace& trace,
                                   uint32_t place, double price,
                                   std::span<const uint8_t> is_banned) {
  FindValues(sequence, trace, place);
  FindOpen(place, is_banned);
  Build(price);
  network_.FindLeastCut();
  return GroupsOf(network_.SourceSide(false));
}

}  // namespace stowplan::fit
