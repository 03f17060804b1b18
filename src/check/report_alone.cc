// SPDX-License-Identifier: Apache-2.0
// What a report says of itself: no two values share bytes while both are alive, by its own live
// ranges; ranges reach from the definition to the last reader; places are where allocations are.
//
// Ranges are inclusive at both ends, and a value may take the bytes of another at the very step at
// which that one ends, when the instruction of this step works in place: then both begin at the
// same byte.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/stable_sort.h"
#include "check/check.h"
#include "report/derive.h"

namespace stowplan::check {
namespace {

using report::Allocation;
using report::Report;
using report::Value;
using report::ValueId;

// Opcodes that hand their operands on, and do not read them.
bool OnlyHandsOn(std::string_view opcode) {
  constexpr std::string_view kOpcodes[] = {"while",       "call",
                                           "conditional", "tuple",
                                           "bitcast",     "get-tuple-element",
                                           "opt-barrier", "optimization-barrier",
                                           "domain",      "add-dependency",
                                           "after-all"};
  return opcode.ends_with("-start") || opcode.ends_with("-update") || opcode.ends_with("-done") ||
         std::ranges::find(kOpcodes, opcode) != std::end(kOpcodes);
}

// "add" of `%add.1 = f32[2]{0} add(f32[2]{0} %a, ...)`. Empty when the text is not so.
std::string_view OpcodeOf(std::string_view text) {
  size_t at = text.find(" = ");
  if (at == std::string_view::npos) return {};
  at += 3;
  int depth = 0;
  for (; at < text.size() && (depth != 0 || text[at] != ' '); ++at) {
    if (text[at] == '(' || text[at] == '{' || text[at] == '[') ++depth;
    if (text[at] == ')' || text[at] == '}' || text[at] == ']') --depth;
  }
  if (at >= text.size()) return {};
  const std::string_view rest = text.substr(at + 1);
  return rest.substr(0, rest.find('('));
}

class ReportChecker {
 public:
  ReportChecker(const Report& report, Verdict& verdict)
      : report_(report), verdict_(verdict), is_guest_(report::FindGuests(report)) {}

  void Run() {
    machine_ = FindMachine();
    ReadSequence();
    for (const Allocation& allocation : report_.allocations.rows()) {
      for (const ValueId id : allocation.values) CheckPlace(allocation, id);
      if (report_.live_ranges && !allocation.is_thread_local)
        CheckSharing(allocation, IsFast(allocation));
    }
    CheckSizes();
    if (report_.live_ranges) CheckRanges();
  }

 private:
  // As far as alignments are concerned. XLA names its files by the back end; TPUs have tiles.
  enum class Machine : uint8_t { kOther, kGpu, kTpu };
  [[nodiscard]] Machine FindMachine() const {
    const bool is_gpu = std::ranges::any_of(report_.sources, [](const auto& source) {
      return source->name().find("gpu_after_optimizations") != std::string::npos;
    });
    if (is_gpu) return Machine::kGpu;
    const bool has_tiles = std::ranges::any_of(report_.values.rows(), [](const Value& value) {
      return value.shape.find(":T(") != std::string_view::npos;
    });
    return has_tiles ? Machine::kTpu : Machine::kOther;
  }

  static int64_t EndOf(const Value& value) { return SaturatingAdd(value.offset, value.size); }
  [[nodiscard]] ValueName NameOf(const Value& value) const {
    ValueName name = {std::string(value.instruction), {}};
    for (const int64_t k : report_.numbers(value.index)) {
      name.index += name.index.empty() ? '{' : ',';
      name.index += std::to_string(k);
    }
    if (!name.index.empty()) name.index += '}';
    return name;
  }

  void ReadSequence() {
    if (!report_.live_ranges) return;
    for (const std::string_view name : report_.live_ranges->sequence)
      times_.emplace(name, static_cast<int64_t>(times_.size()));
    for (const Value& value : report_.values.rows()) {
      if (!value.instruction_text.empty())
        opcodes_.emplace(value.instruction, OpcodeOf(value.instruction_text));
      constexpr int64_t kSparseCoreSpace = 8;  // its own memories are from here on
      if (value.color >= kSparseCoreSpace && IsThirdPart(value))
        sparse_core_.insert(value.instruction);
    }
  }

  Finding& Add(Code code, const Value& value, std::string message) {
    Finding finding;
    finding.code = code;
    finding.wanted = NameOf(value);
    if (!value.allocation.is_none()) {
      finding.allocation = report_.allocations[value.allocation].number;
      finding.begin = value.offset;
      finding.end = EndOf(value);
    }
    finding.message = std::move(message);
    verdict_.findings.push_back(std::move(finding));
    return verdict_.findings.back();
  }

  void CheckPlace(const Allocation& allocation, ValueId id) {
    const Value& value = report_.values[id];
    ++verdict_.writes;
    if (value.offset < 0 || value.size < 0 || EndOf(value) > allocation.size) {
      Add(Code::kOutside, value,
          fmt::format("{} takes bytes {} to {} of allocation {}, which has {}",
                      NameOf(value).text(), value.offset, EndOf(value), allocation.number,
                      allocation.size));
    }
    if (value.color >= 0 && value.color != allocation.color && is_guest_[id.index] == 0) {
      Add(Code::kColor, value,
          fmt::format("{} has color {}, but allocation {} has {}", NameOf(value).text(),
                      value.color, allocation.number, allocation.color));
    }
    const int64_t alignment = AlignmentOf(allocation.color);
    if (value.offset % alignment != 0) {
      Add(Code::kAlignment, value,
          fmt::format("{} is at {} of allocation {}, where values must be at multiples of {}",
                      NameOf(value).text(), value.offset, allocation.number, alignment));
    }
  }

  // What XLA aligns places to, as all its reports show. CPUs: 16 bytes until 2024. Reports whose
  // peak lists values by their parts are newer.
  [[nodiscard]] int64_t AlignmentOf(int64_t color) const {
    switch (machine_) {
      case Machine::kTpu:
        if (color == 0) return 16384;
        if (color == 2) return 4;  // flags
        return color == 1 || color == 3 ? 4096 : 512;
      case Machine::kGpu:
        return 256;
      case Machine::kOther:
        return report_.live_ranges && (report_.dialect.peak_line == report::PeakLine::kIndex ||
                                       report_.dialect.peak_line == report::PeakLine::kCumulative)
                   ? 64
                   : 16;
    }
    return 1;
  }

  void CheckSizes() {
    const report::PlainSizes sizes = report::ComputePlainSizes(report_);
    for (size_t v = 0; v < report_.values.size(); ++v) {
      const Value& value = report_.values[ValueId(v)];
      if (value.allocation.is_none() || !sizes.value[v] || *sizes.value[v] <= value.size) continue;
      if (value.shape.starts_with('(')) continue;  // pointers have no size of their own
      // A layout that splits the array: each core has a part of it.
      if (value.shape.find("SC(") != std::string_view::npos) continue;
      Add(Code::kSize, value,
          fmt::format("{} is given {} bytes, but {} takes {}", NameOf(value).text(), value.size,
                      value.shape, *sizes.value[v]));
    }
  }

  // Into the fast memory of TPUs XLA puts values by finer times than those it prints.
  [[nodiscard]] bool IsFast(const Allocation& allocation) const {
    return allocation.color != 0 && std::ranges::any_of(allocation.values, [&](ValueId id) {
             return report_.values[id].shape.find("T(") != std::string_view::npos;
           });
  }

  // --- Who is alive with whom ---

  // What branches read XLA keeps in fast memory until it is read, and prints until the end of the
  // conditional; a branch that does not read it writes over it. Only the program tells which.
  [[nodiscard]] bool IsForBranches(const Value& value) const {
    const auto is_conditional = [&](std::string_view instruction) {
      const auto opcode = opcodes_.find(instruction);
      return opcode != opcodes_.end() && opcode->second == "conditional";
    };
    return is_conditional(ReaderAt(value).instruction) ||
           std::ranges::any_of(report_.uses_of(value), [&](const report::Use& use) {
             return is_conditional(use.instruction);
           });
  }
  // Whether the live ranges do not say enough to compare the two, of which `a` began first.
  [[nodiscard]] bool OnlyTheProgramTells(const Value& a, const Value& b, bool is_fast) const {
    // Elements of one loop or branch in one place: right if they are always equal.
    if (a.is_phi && b.is_phi && a.instruction == b.instruction && a.offset == b.offset &&
        a.size == b.size)
      return true;
    return is_fast && (IsForBranches(a) || LastNeedOf(a) < b.start);
  }
  // The last time at which a position or a reader that the report knows needs the value. XLA prints
  // what a branch returns until another branch has made the same, and uses the place in between.
  [[nodiscard]] int64_t LastNeedOf(const Value& value) const {
    if (!value.has_uses || !value.is_listed) return value.end;
    int64_t last = value.start;
    const auto look_at = [&](std::string_view instruction) {
      const auto time = times_.find(instruction);
      last = std::max(last, time == times_.end() ? value.end : time->second);
    };
    for (const report::Use& use : report_.uses_of(value)) look_at(use.instruction);
    for (const report::Position& position : report_.positions_of(value))
      look_at(position.instruction);
    return std::min(last, value.end);
  }
  // One array made of slices that lie side by side: nothing is written.
  [[nodiscard]] static bool IsJoined(const Value& part, const Value& whole) {
    return part.end == whole.start && part.offset >= whole.offset && EndOf(part) <= EndOf(whole) &&
           whole.instruction_text.find("\"ConcatBitcast\"") != std::string_view::npos;
  }

  // Of programs of the SparseCore, which work in one memory one after the other: (operands, result,
  // (contexts)).
  [[nodiscard]] bool IsContext(const Value& value) const {
    return IsThirdPart(value) && sparse_core_.contains(value.instruction);
  }
  [[nodiscard]] bool IsThirdPart(const Value& value) const {
    const std::span<const int64_t> index = report_.numbers(value.index);
    return index.size() == 2 && index[0] == 2;
  }

  void CheckSharing(const Allocation& allocation, bool is_fast) {
    std::vector<ValueId> values;
    for (const ValueId id : allocation.values) {
      const Value& value = report_.values[id];
      if (value.has_range && value.size > 0 && value.start <= value.end) values.push_back(id);
    }
    std::ranges::sort(values, [&](ValueId a, ValueId b) {
      const Value& x = report_.values[a];
      const Value& y = report_.values[b];
      return std::tuple(x.start, x.end, a) < std::tuple(y.start, y.end, b);
    });
    // Those that are alive, by their first byte. They are apart, but at the step where one takes
    // over from another.
    std::multimap<int64_t, ValueId> alive;
    std::set<std::pair<int64_t, ValueId>> ends;
    int64_t longest = 0;
    for (const ValueId id : values) {
      const Value& value = report_.values[id];
      while (!ends.empty() && ends.begin()->first < value.start) {
        Erase(alive, ends.begin()->second);
        ends.erase(ends.begin());
      }
      auto next = alive.lower_bound(SaturatingAdd(value.offset, -longest));
      for (; next != alive.end() && next->first < EndOf(value); ++next) {
        const Value& other = report_.values[next->second];
        if (!is_fast || !IsJoined(other, value)) Compare(other, next->second, value, id, is_fast);
      }
      alive.emplace(value.offset, id);
      ends.emplace(value.end, id);
      longest = std::max(longest, value.size);
    }
  }
  void Erase(std::multimap<int64_t, ValueId>& alive, ValueId id) const {
    const auto [begin, end] = alive.equal_range(report_.values[id].offset);
    for (auto row = begin; row != end; ++row) {
      if (row->second != id) continue;
      alive.erase(row);
      return;
    }
  }
  // `a` began first, and is alive when `b` begins.
  void Compare(const Value& a, ValueId a_id, const Value& b, ValueId b_id, bool is_fast) {
    if (EndOf(a) <= b.offset || EndOf(b) <= a.offset) return;
    ++verdict_.reads;
    const bool touches = a.end == b.start || a.start == a.end || b.start == b.end;
    if (touches && a.offset == b.offset && MayTakeOver(a, b)) return;
    if (a.offset == b.offset && IsContext(a) && IsContext(b)) return;
    if (verdict_.findings.size() > kMaxFindings || !pairs_.insert({a_id, b_id}).second) return;
    if (OnlyTheProgramTells(a, b, is_fast)) {
      if (!verdict_.doubt.empty()) return;
      verdict_.doubt =
          fmt::format("{} and {} share bytes, and only the program tells whether that is right",
                      NameOf(a).text(), NameOf(b).text());
      return;
    }
    Finding& finding = Add(Code::kAliveTogether, a,
                           fmt::format("{} and {} share bytes while both are alive",
                                       NameOf(a).text(), NameOf(b).text()));
    finding.found = NameOf(b);
    finding.begin = std::max(a.offset, b.offset);
    finding.end = std::min(EndOf(a), EndOf(b));
    finding.write = {.instruction = std::string(b.instruction), .time = b.start};
    finding.read = ReaderAt(a);
  }
  // Whether the instruction of b may write over a: it reads it, or both are one buffer, of which a
  // report does not tell more than the place.
  [[nodiscard]] bool MayTakeOver(const Value& a, const Value& b) const {
    if (a.instruction != b.instruction) return true;
    // A collective under way, which a fusion hands on and goes on with: both parts are declared to
    // lie on one operand.
    const std::string_view operand = DeclaredOperand(a);
    return !operand.empty() && operand == DeclaredOperand(b);
  }
  // `(1, {})`: which operand the value's instruction says that it lies on.
  [[nodiscard]] std::string_view DeclaredOperand(const Value& value) const {
    constexpr std::string_view kName = "output_to_operand_aliasing={";
    std::string_view text = value.instruction_text;
    const size_t begin = text.find(kName);
    if (begin == std::string_view::npos) return {};
    text = text.substr(begin + kName.size() - 1);
    std::string part = "{";
    for (const int64_t number : report_.numbers(value.index)) {
      if (part.size() > 1) part += ",";
      part += fmt::format("{}", number);
    }
    part += "}: ";
    const size_t end = text.find(")}");
    const size_t at = text.find(part);
    if (at == std::string_view::npos || at >= end) return {};
    text = text.substr(at + part.size());
    return text.substr(0, text.find(')') + 1);
  }
  // The last to need the value.
  [[nodiscard]] Event ReaderAt(const Value& value) const {
    Event event;
    event.time = value.end;
    if (report_.live_ranges && value.end >= 0 &&
        static_cast<size_t>(value.end) < report_.live_ranges->sequence.size()) {
      event.instruction = report_.live_ranges->sequence[static_cast<size_t>(value.end)];
    } else {
      event.instruction = "the end of the program";
    }
    return event;
  }

  // --- Ranges against the sequence ---

  void CheckRanges() {
    const auto end = static_cast<int64_t>(report_.live_ranges->sequence.size());
    for (const Value& value : report_.values.rows()) {
      if (!value.has_range) continue;
      if (value.start < 0 || value.start > value.end || value.end > end) {
        Add(Code::kRange, value,
            fmt::format("the range of {}, {} to {}, is not within 0 to {}", NameOf(value).text(),
                        value.start, value.end, end));
        continue;
      }
      CheckBirth(value);
      if (value.has_uses) CheckUses(value);
    }
  }
  // Nothing is alive before its instruction; parameters are there before their turn.
  void CheckBirth(const Value& value) {
    const auto time = times_.find(value.instruction);
    const auto opcode = opcodes_.find(value.instruction);
    if (time == times_.end() || opcode == opcodes_.end()) return;
    if (value.start > time->second && opcode->second != "parameter" && !value.is_phi &&
        !IsStart(value.start)) {
      Add(Code::kRange, value,
          fmt::format("{} is made at {}, but its range begins at {}", NameOf(value).text(),
                      time->second, value.start));
    }
  }
  // TPUs count what asynchronous computations make from their start on.
  [[nodiscard]] bool IsStart(int64_t time) const {
    const std::vector<std::string_view>& sequence = report_.live_ranges->sequence;
    return static_cast<size_t>(time) < sequence.size() &&
           sequence[static_cast<size_t>(time)].find("start") != std::string_view::npos;
  }
  // Whether XLA cut the range short because another value takes the place over, at the end of the
  // range or where this reader writes: they are one buffer, and the program (branches of which one
  // runs, an instruction in place) makes that right or wrong.
  [[nodiscard]] bool IsCut(const Value& value, std::string_view reader) const {
    if (value.allocation.is_none()) return true;
    const Allocation& allocation = report_.allocations[value.allocation];
    return std::ranges::any_of(allocation.values, [&](ValueId id) {
      const Value& other = report_.values[id];
      return &other != &value && other.has_range && other.offset == value.offset &&
             (other.start == value.end || other.instruction == reader);
    });
  }
  void CheckUses(const Value& value) {
    for (const report::Use& use : report_.uses_of(value)) {
      const auto time = times_.find(use.instruction);
      const auto opcode = opcodes_.find(use.instruction);
      if (time == times_.end() || opcode == opcodes_.end() || opcode->second.empty() ||
          OnlyHandsOn(opcode->second) || time->second <= value.end || IsCut(value, use.instruction))
        continue;
      Finding& finding =
          Add(Code::kRange, value,
              fmt::format("{} is read by {} at {}, but its range ends at {}", NameOf(value).text(),
                          use.instruction, time->second, value.end));
      finding.read = {.instruction = std::string(use.instruction), .time = time->second};
    }
  }

  static constexpr size_t kMaxFindings = 10'000;

  const Report& report_;
  Verdict& verdict_;
  std::vector<uint8_t> is_guest_;  // by value
  Machine machine_ = Machine::kOther;
  std::unordered_map<std::string_view, int64_t> times_;
  std::unordered_map<std::string_view, std::string_view> opcodes_;
  std::unordered_set<std::string_view> sparse_core_;  // instructions that have contexts there
  std::set<std::pair<ValueId, ValueId>> pairs_;
};

}  // namespace

Verdict CheckReport(const Report& report) {
  Verdict verdict;
  if (report.has_assignment) ReportChecker(report, verdict).Run();
  StableSort(verdict.findings, [](const Finding& a, const Finding& b) {
    return IsUnsound(a.code) && !IsUnsound(b.code);
  });
  return verdict;
}

}  // namespace stowplan::check
