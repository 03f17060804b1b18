// SPDX-License-Identifier: Apache-2.0
#include "hlo/print_frames.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace stowplan::hlo {
namespace {

class Renumbering {
 public:
  explicit Renumbering(const Module& module) : m_(module) {
    out_.numbers.assign(module.stack_frames.frames.size() + 1, 0);
  }

  // Adds a frame and its callers.
  void Add(int32_t frame) {
    // From the frame up to the first one that is there already (or the end), then down again.
    std::vector<int32_t> chain;
    const auto& frames = m_.stack_frames.frames;
    while (frame > 0 && static_cast<size_t>(frame) <= frames.size() && Number(frame) == 0 &&
           chain.size() <= frames.size()) {
      chain.push_back(frame);
      frame = frames[static_cast<size_t>(frame) - 1].parent;
    }
    for (size_t i = chain.size(); i-- > 0;) {
      const StackFrames::Frame& old = frames[static_cast<size_t>(chain[i]) - 1];
      const int32_t parent = old.parent > 0 && static_cast<size_t>(old.parent) <= frames.size()
                                 ? Number(old.parent)
                                 : 0;
      const int32_t location = Location(old.location);
      // A frame whose rows do not exist is not printed.
      if (location == 0 || (old.parent != 0 && parent == 0)) return;
      Number(chain[i]) = Row(frame_rows_, {location, parent},
                             [&] { out_.table.frames.push_back({location, parent}); });
    }
  }
  PrintedFrames Take() { return std::move(out_); }

 private:
  int32_t& Number(int32_t frame) { return out_.numbers[static_cast<size_t>(frame)]; }

  // The number of a row, which `add` appends if it is new.
  template <class Key, class AddRow>
  static int32_t Row(std::map<Key, int32_t>& rows, const Key& key, AddRow add) {
    const auto [row, is_new] = rows.try_emplace(key, static_cast<int32_t>(rows.size()) + 1);
    if (is_new) add();
    return row->second;
  }
  int32_t NameRow(std::map<std::string_view, int32_t>& rows, const std::vector<Text>& names,
                  int32_t id, std::vector<Text>& out) {
    if (id <= 0 || static_cast<size_t>(id) > names.size()) return 0;
    const Text name = names[static_cast<size_t>(id) - 1];
    return Row(rows, m_.view(name), [&] { out.push_back(name); });
  }
  int32_t Location(int32_t id) {
    const StackFrames& old = m_.stack_frames;
    if (id <= 0 || static_cast<size_t>(id) > old.locations.size()) return 0;
    StackFrames::Location row = old.locations[static_cast<size_t>(id) - 1];
    row.file = NameRow(file_rows_, old.files, row.file, out_.table.files);
    row.function = NameRow(function_rows_, old.functions, row.function, out_.table.functions);
    return Row(
        location_rows_,
        std::tuple(row.file, row.function, row.line, row.end_line, row.column, row.end_column),
        [&] { out_.table.locations.push_back(row); });
  }

  const Module& m_;
  PrintedFrames out_;
  std::map<std::string_view, int32_t> file_rows_;
  std::map<std::string_view, int32_t> function_rows_;
  std::map<std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t, int32_t>, int32_t>
      location_rows_;
  std::map<std::pair<int32_t, int32_t>, int32_t> frame_rows_;
};

}  // namespace

PrintedFrames RenumberFrames(const Module& m) {
  Renumbering renumbering(m);
  for (size_t i = 0; i < m.computations.size(); ++i) {
    for (const InstrId id : m.listed(CompId(i))) {
      if (const Metadata* metadata = m.metadata_of(id)) renumbering.Add(metadata->stack_frame);
    }
  }
  return renumbering.Take();
}

}  // namespace stowplan::hlo
