// SPDX-License-Identifier: Apache-2.0
// A memory in which each byte holds one byte of one content, or is lost. Events read and write it;
// parts of the program have a content and a place. See docs/check-certificate.md for the events.
#pragma once

#include <algorithm>
#include <set>

#include "recheck/certificate.h"

namespace stowplan::recheck {

using Content = int64_t;
inline constexpr Content kLost = 0;
inline constexpr Content kNone = -1;
using Two = std::pair<int64_t, int64_t>;
using Numbers = std::vector<int64_t>;

struct Bytes {
  int64_t allocation = -1;  // -1: nowhere
  int64_t begin = 0, end = 0;
};

// What a part is now, and where.
struct Cell {
  Content content = kLost;
  Two place = {-1, 0};  // allocation, first byte
};

struct Piece {
  Content content = kLost;
  int64_t first = 0;  // where byte 0 of the content lies
  int64_t step = 0;   // when it was written
};
using Pieces = std::map<int64_t, Piece>;  // by first byte; each reaches to the next one

// A part of what a conditional returns.
struct Given {
  Numbers contents;  // in each branch so far
  Cell cell;
  bool is_there = true;  // in every branch
};

// What an instruction has read and written so far, and what it may write over (true: anywhere).
struct Step {
  std::vector<std::pair<int64_t, Bytes>> read;
  std::vector<Bytes> written;
  std::map<Two, bool> over;
};

// A conditional or a loop in progress.
struct Frame {
  std::string phase;            // of a conditional: fork; of a loop: loop, head, body
  size_t mark = 0;              // of the log
  std::map<Two, int64_t> lost;  // ends of what branches wrote, or the loop may write
  size_t branches = 0;
  std::map<int64_t, Given> given;
  std::vector<Numbers> states;
};

// How many numbers follow each word.
inline const std::map<std::string, int> kNumbers = {
    {"begin", 0}, {"step", 0},   {"read", 1},   {"read-since", 2}, {"over", 2},  {"joins", 2},
    {"write", 1}, {"copy", 2},   {"hand", 2},   {"constant", 2},   {"table", 2}, {"depart", 1},
    {"end", 0},   {"output", 1}, {"donate", 2}, {"untouched", 4},  {"fork", 0},  {"loop", 0},
    {"give", 2},  {"branch", 0}, {"join", 0},   {"lose", 3},       {"state", 5}, {"head", 0},
    {"body", 0},  {"back", 0}};

// Plays a program from its first word on. Rejects it if a read does not find its content.
class Player {
 public:
  Player(const Section& section, Input& input)
      : section_(section), input_(input), cells_(section.parts.size()) {
    for (const auto& [number, size] : section.sizes) memory_[number][0] = {};
  }

  std::string Run(std::string word) {
    for (; word != "done"; word = input_.Word()) {
      Need(kNumbers.contains(word), "there is no such word");
      Numbers numbers;
      for (int k = 0; k < kNumbers.at(word); ++k) numbers.push_back(input_.Number());
      Play(word, numbers);
    }
    Need(has_ended_ && frames_.empty(), "the end is missing");
    return std::to_string(reads_) + " reads; on trust " + std::to_string(in_place_) +
           " writes in place and " + std::to_string(copies_) + " copies";
  }

 private:
  void Hold(bool is_so, const std::string& words) const {
    if (!is_so) throw Denial(section_.module + ": at " + name_ + ": " + words);
  }
  const Part& PartAt(int64_t part) const { return section_.parts.at(static_cast<size_t>(part)); }
  Cell& At(int64_t part) { return cells_.at(static_cast<size_t>(part)); }
  Bytes BytesOf(int64_t part, const Cell& cell) const {
    const auto [allocation, begin] = cell.place;
    const int64_t size = PartAt(part).size;
    if (allocation < 0 || size == 0) return {};
    Hold(begin <= section_.sizes.at(allocation) - size, PartAt(part).name + " does not fit there");
    return {allocation, begin, begin + size};
  }
  Pieces Replace(const Bytes& at, const Pieces& pieces) {
    Pieces& all = memory_.at(at.allocation);
    for (const int64_t cut : {at.begin, at.end})
      all.emplace(cut, std::prev(all.upper_bound(cut))->second);
    Pieces old(all.find(at.begin), all.find(at.end));
    all.erase(all.find(at.begin), all.find(at.end));
    all.insert(pieces.begin(), pieces.end());
    return old;
  }
  void Put(const Bytes& at, Content content) {
    if (at.allocation < 0 || at.begin >= at.end) return;
    Pieces old = Replace(at, {{at.begin, {content, at.begin, step_}}});
    if (!frames_.empty()) log_.emplace_back(at, std::move(old));
  }
  // Undoes what was written since the mark; all of it is lost.
  void Undo(Frame& frame) {
    for (; log_.size() > frame.mark; log_.pop_back()) {
      const auto& [at, old] = log_.back();
      Replace(at, old);
      int64_t& end = frame.lost[{at.allocation, at.begin}];
      end = std::max(end, at.end);
    }
  }
  // Whether all bytes hold the content, or were written until the step `since`.
  bool Holds(const Bytes& at, Content content, int64_t since) const {
    if (at.allocation < 0) return true;
    const Pieces& all = memory_.at(at.allocation);
    auto next = std::prev(all.upper_bound(at.begin));
    for (; next != all.end() && next->first < at.end; ++next) {
      const Piece& piece = next->second;
      const bool is_it = piece.content == content && piece.first == at.begin;
      if (!is_it && piece.step > since) return false;
    }
    return true;
  }
  bool Holds(int64_t part, const Cell& cell, int64_t since = -1) const {
    return cell.content != kLost && Holds(BytesOf(part, cell), cell.content, since);
  }
  // It is known to be there.
  void Settle(int64_t part, const Cell& cell) {
    if (!Holds(part, cell)) Put(BytesOf(part, cell), cell.content);
  }

  // The same content as another part: where the plan places that part, or where the content is.
  Cell Handed(int64_t part, const Cell& from) const {
    const Part& row = PartAt(part);
    return row.allocation < 0 ? from : Cell{from.content, {row.allocation, row.offset}};
  }
  // One content for each key.
  Content Shared(std::map<Numbers, Content>& map, const Numbers& key) {
    const auto [known, is_new] = map.try_emplace(key, kLost);
    return is_new ? known->second = ++contents_ : known->second;
  }

  void Play(const std::string& word, const Numbers& n) {
    if (word == "begin") {
      has_begun_ = true;
    } else if (word == "step") {
      name_ = input_.Word();
      ++step_;
      now_ = {};
    } else if (word == "read" || word == "read-since") {
      Hold(Holds(n[0], At(n[0]), n.size() < 2 ? -1 : departures_.at(n[1])),
           PartAt(n[0]).name + " is read, and is not there");
      now_.read.emplace_back(n[0], BytesOf(n[0], At(n[0])));
      ++reads_;
    } else if (word == "over" || word == "joins") {
      now_.over[{n[0], n[1]}] = word == "joins";
    } else if (word == "write") {
      Write(n[0], ++contents_);
    } else if (word == "copy") {
      const bool is_there = PartAt(n[0]).size == PartAt(n[1]).size && Holds(n[1], At(n[1]));
      Write(n[0], is_there ? At(n[1]).content : ++contents_);
      copies_ += is_there ? 1 : 0;
    } else if (word == "constant") {
      Write(n[0], Shared(known_, {n[1], PartAt(n[0]).size, 0}));
    } else if (word == "table") {
      Numbers places;
      for (int64_t k = 0; k < n[1]; ++k) {
        const Two place = At(input_.Number()).place;
        places.insert(places.end(), {place.first, place.second});
      }
      Write(n[0], Shared(known_, places));
    } else if (word == "hand") {
      At(n[0]) = Handed(n[0], At(n[1]));
    } else if (word == "depart") {
      departures_[n[0]] = step_;
    } else if (word == "untouched") {
      Hold(Holds({n[0], n[1], n[2]}, kNone, departures_.at(n[3])),
           "what the operation wrote is written over");
    } else if (word == "output") {
      Hold(At(n[0]).content != kLost && Holds(n[0], At(n[0])) &&
               outputs_.insert(At(n[0]).place).second,
           "output " + PartAt(n[0]).name + " is not there, or lies on another one");
    } else if (word == "donate") {
      donated_.insert(n[0]);
      Hold(At(n[0]).place == At(n[1]).place, "an output is not where its parameter is");
    } else if (word == "end") {
      Need(has_begun_ && !has_ended_ && frames_.empty(), "the program does not end here");
      has_ended_ = true;
      for (const auto& [part, cell] : loaded_)
        Hold(donated_.contains(part) || Holds(part, cell), PartAt(part).name + " is changed");
    } else if (word == "fork" || word == "loop") {
      frames_.push_back({.phase = word, .mark = log_.size()});
    } else if (word == "branch") {
      Undo(Top("fork"));
      ++Top("fork").branches;
    } else if (word == "give") {
      Given& given = Top("fork").given[n[0]];
      if (given.contents.empty()) given.cell = Handed(n[0], At(n[1]));
      given.cell.content = At(n[1]).content;
      given.contents.push_back(given.cell.content);
      given.is_there = given.is_there && Holds(n[0], given.cell);
    } else if (word == "join") {
      Join(Top("fork"));
      frames_.pop_back();
    } else if (word == "lose") {
      Top("loop").lost[{n[0], n[1]}] = n[2];
    } else if (word == "state") {
      Top("loop").states.push_back(n);
    } else if (word == "head") {
      EnterLoop(Top("loop"));
    } else if (word == "body") {
      Top("head").mark = log_.size();
      Top("head").phase = word;
    } else {  // back
      NeedStates(Top("body"), /*is_back=*/true);
      Undo(Top("body"));
      frames_.pop_back();
    }
  }

  // What is in progress, which must be in this phase. Reads and writes that follow are a new step.
  Frame& Top(const std::string& phase) {
    Need(!frames_.empty() && frames_.back().phase == phase, "this does not belong here");
    ++step_;
    now_ = {};
    return frames_.back();
  }
  void Write(int64_t part, Content content) {
    At(part) = Handed(part, {content});
    const Bytes bytes = BytesOf(part, At(part));
    if (!has_begun_) loaded_.emplace_back(part, At(part));
    if (bytes.allocation < 0) return;
    NeedLost(bytes, frames_.size());
    const auto shared = [&](const Bytes& other) -> Bytes {
      if (other.allocation != bytes.allocation) return {};
      return {bytes.allocation, std::max(bytes.begin, other.begin), std::min(bytes.end, other.end)};
    };
    for (const auto& [read, there] : now_.read) {
      if (shared(there).begin >= shared(there).end) continue;
      const auto claim = now_.over.find({part, read});
      Hold(claim != now_.over.end() && (claim->second || there.begin == bytes.begin),
           PartAt(part).name + " is written over " + PartAt(read).name + ", which is still read");
      ++in_place_;
    }
    Put(bytes, content);
    // Parts of one result are written in no known order.
    for (const Bytes& other : now_.written) Put(shared(other), kLost);
    if (has_begun_) now_.written.push_back(bytes);
  }
  // The innermost of the first `count` frames that is a loop says at its head what it writes.
  void NeedLost(const Bytes& bytes, size_t count) const {
    while (count > 0 && frames_[count - 1].phase == "fork") --count;
    if (count == 0) return;
    const std::map<Two, int64_t>& lost = frames_[count - 1].lost;
    const auto next = lost.upper_bound({bytes.allocation, bytes.begin});
    Hold(next != lost.begin() && std::prev(next)->first.first == bytes.allocation &&
             std::prev(next)->second >= bytes.end,
         "a loop writes more than its head says");
  }
  void Join(Frame& frame) {
    Undo(frame);
    for (const auto& [place, end] : frame.lost) Put({place.first, place.second, end}, kLost);
    std::map<Numbers, Content> equal;
    for (auto& [part, given] : frame.given) {
      const Numbers& all = given.contents;
      Hold(all.size() == frame.branches, "a branch does not give what another one does");
      const bool is_same = std::ranges::count(all, all[0]) == std::ssize(all);
      given.cell.content = is_same ? all[0] : Shared(equal, all);
      if (given.is_there) Settle(part, given.cell);
      At(part) = given.cell;
    }
  }
  // A state: part, what it is at first, what the body makes of it, class (0: the same), is it lost.
  void NeedStates(const Frame& frame, bool is_back) {
    std::map<int64_t, Content> classes;
    for (const Numbers& n : frame.states) {
      if (!is_back) At(n[0]) = Handed(n[0], At(n[1]));
      const Content content = At(n[is_back ? 2 : 0]).content;
      Hold(n[3] == 0 ? content == At(n[0]).content
                     : classes.try_emplace(n[3], content).first->second == content,
           PartAt(n[0]).name + " does not stay what it is said to be");
      Hold(n[4] != 0 || Holds(n[0], {content, At(n[0]).place}),
           PartAt(n[0]).name + " is not there when an iteration begins");
    }
  }
  void EnterLoop(Frame& frame) {
    NeedStates(frame, /*is_back=*/false);
    for (const auto& [place, end] : frame.lost) {
      NeedLost({place.first, place.second, end}, frames_.size() - 1);
      Put({place.first, place.second, end}, kLost);
    }
    frame.phase = "head";
    std::map<Numbers, Content> some;  // of some iteration, by class
    for (const Numbers& n : frame.states) {
      if (n[3] != 0) At(n[0]).content = Shared(some, {n[3]});
      if (n[4] == 0) Settle(n[0], At(n[0]));
    }
  }

  const Section& section_;
  Input& input_;
  std::vector<Cell> cells_;           // by part
  std::map<int64_t, Pieces> memory_;  // by allocation
  std::vector<std::pair<Bytes, Pieces>> log_;
  std::vector<Frame> frames_;
  Content contents_ = kLost;          // so many
  std::map<Numbers, Content> known_;  // of tables (two numbers an element), constants (three)
  std::vector<std::pair<int64_t, Cell>> loaded_;
  std::set<int64_t> donated_;
  std::set<Two> outputs_;
  std::map<int64_t, int64_t> departures_;
  bool has_begun_ = false, has_ended_ = false;
  std::string name_ = "the start";
  int64_t step_ = 0;
  Step now_;
  int64_t reads_ = 0, in_place_ = 0, copies_ = 0;
};

}  // namespace stowplan::recheck
