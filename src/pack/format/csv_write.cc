// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <utility>

#include "pack/csv.h"

namespace stowplan::pack {
namespace {

// What stands in a side table about the next buffer.
template <class Entry>
class Cursor {
 public:
  explicit Cursor(const std::vector<Entry>& entries) : entries_(entries) {}

  // Null when there is nothing more about the buffer.
  const Entry* Next(size_t buffer) {
    while (next_ < entries_.size() && BufferOf(entries_[next_]) < buffer) ++next_;
    const bool is_there = next_ < entries_.size() && BufferOf(entries_[next_]) == buffer;
    return is_there ? &entries_[next_++] : nullptr;
  }

 private:
  static size_t BufferOf(const auto& entry) { return entry.buffer; }
  static size_t BufferOf(const std::pair<uint32_t, uint32_t>& entry) { return entry.first; }

  const std::vector<Entry>& entries_;
  size_t next_ = 0;
};

class TableWriter {
 public:
  TableWriter(const Table& table, const Plan* plan)
      : table_(table), problem_(table.problem), plan_(plan), pairs_(problem_.apart) {
    // A pair stands at the first of the two; or at the second, where a blank is in its id.
    for (auto& [a, b] : pairs_) {
      if (a > b) std::swap(a, b);
      if (!table.ids.empty() && table.ids[b].find_first_of(" \t") != std::string_view::npos)
        std::swap(a, b);
    }
    std::ranges::sort(pairs_);
  }

  std::string Write() && {
    const bool has_alignment = std::ranges::any_of(
        problem_.buffers, [](const Buffer& buffer) { return buffer.alignment != 1; });
    const bool has_pool = plan_ != nullptr && !plan_->pools.empty();
    const bool has_offset = plan_ != nullptr || !problem_.pins.empty();
    // Of what is reserved, only what is used is ever touched.
    out_.reserve(64 * (problem_.buffers.size() + 8));
    out_ += "id,lower,upper,size";
    for (const auto& [is_there, name] : {std::pair(has_alignment, ",alignment"),
                                         {!problem_.gaps.empty(), ",gaps"},
                                         {!problem_.hints.empty(), ",hint"},
                                         {!problem_.groups.empty(), ",group"},
                                         {!problem_.apart.empty(), ",apart"},
                                         {!problem_.choices.empty(), ",pools"},
                                         {has_pool, ",pool"},
                                         {has_offset, ",offset"}})
      if (is_there) out_ += name;
    out_ += '\n';
    FindGroups();
    for (size_t b = 0; b < problem_.buffers.size(); ++b) {
      const Buffer& buffer = problem_.buffers[b];
      AppendId(b);
      Append(',', buffer.start);
      Append(',', buffer.end);
      Append(',', buffer.size);
      if (has_alignment) Append(',', buffer.alignment);
      AppendSides(b);
      if (has_pool) (out_ += ',') += problem_.pools[plan_->pools[b]].name;
      if (has_offset) AppendOffset(b);
      out_ += '\n';
    }
    return std::move(out_);
  }

 private:
  void Append(char separator, int64_t number) {
    char digits[24];
    digits[0] = separator;
    const auto [end, error] = std::to_chars(digits + 1, digits + sizeof(digits), number);
    out_.append(digits, end);
  }

  void AppendId(size_t b) {
    if (table_.ids.empty()) {
      out_ += std::to_string(b);
    } else {
      out_ += table_.ids[b];
    }
  }

  void AppendSides(size_t b) {
    if (!problem_.gaps.empty()) {
      char separator = ',';
      if (const Gap* gap = gaps_.Next(b); gap == nullptr) {
        out_ += separator;
      } else {
        for (; gap != nullptr; gap = gaps_.Next(b)) {
          Append(std::exchange(separator, ' '), gap->start);
          Append('-', gap->end);
          if (gap->low == gap->high) continue;
          Append('@', gap->low);
          Append(':', gap->high);
        }
      }
    }
    if (!problem_.hints.empty()) {
      const Spot* const hint = hints_.Next(b);
      Append(',', hint == nullptr ? -1 : hint->offset);
    }
    if (!problem_.groups.empty()) {
      out_ += ',';
      if (group_of_[b] != 0) {
        const size_t group = group_of_[b] - 1;
        out_ += group < table_.groups.size() ? std::string(table_.groups[group])
                                             : std::to_string(group);
      }
    }
    if (!problem_.apart.empty()) {
      char separator = ',';
      const auto* pair = apart_.Next(b);
      if (pair == nullptr) out_ += ',';
      for (; pair != nullptr; pair = apart_.Next(b)) {
        out_ += std::exchange(separator, ' ');
        AppendId(pair->second);
      }
    }
    if (!problem_.choices.empty()) {
      char separator = ',';
      const PoolChoice* const choice = choices_.Next(b);
      if (choice == nullptr) out_ += ',';
      if (choice != nullptr)
        for (const uint32_t pool : choice->pools)
          (out_ += std::exchange(separator, ' ')) += problem_.pools[pool].name;
    }
  }

  void AppendOffset(size_t b) {
    if (plan_ != nullptr) {
      Append(',', plan_->offsets[b]);
      return;
    }
    const Spot* const pin = pins_.Next(b);
    Append(',', pin == nullptr ? -1 : pin->offset);
  }

  void FindGroups() {
    if (!problem_.groups.empty()) group_of_.resize(problem_.buffers.size());
    for (size_t g = 0; g < problem_.groups.size(); ++g)
      for (const uint32_t member : problem_.groups[g]) group_of_[member] = g + 1;
  }

  const Table& table_;
  const Problem& problem_;
  const Plan* plan_;
  Cursor<Gap> gaps_{problem_.gaps};
  Cursor<Spot> hints_{problem_.hints};
  Cursor<Spot> pins_{problem_.pins};
  Cursor<PoolChoice> choices_{problem_.choices};
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;
  Cursor<std::pair<uint32_t, uint32_t>> apart_{pairs_};
  std::vector<size_t> group_of_;  // from 1 on; 0: none
  std::string out_;
};

}  // namespace

std::string WriteTable(const Table& table) { return TableWriter(table, nullptr).Write(); }

std::string WriteTable(const Table& table, const Plan& plan) {
  return TableWriter(table, &plan).Write();
}

}  // namespace stowplan::pack
