// SPDX-License-Identifier: Apache-2.0
#include "oom/details.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/checked_math.h"
#include "oom/size.h"
#include "oom/text.h"

namespace stowplan::oom {
namespace {

// The size after `words`, which are in lower case and may stand anywhere in the line.
std::optional<Size> SizeBehind(std::string_view text, std::string_view lower,
                               std::string_view words) {
  const size_t found = lower.find(words);
  if (found == std::string_view::npos) return std::nullopt;
  size_t at = found + words.size();
  return ReadSize(text, at);
}

void SetOnce(std::optional<Size>& field, const std::optional<Size>& size) {
  if (!field && size) field = size;
}

// "parameter allocation: 6.00MiB": statistics of a buffer assignment.
bool ReadAssignment(std::string_view text, std::string_view lower, Program& program) {
  struct Row {
    std::string_view words;
    std::optional<Size> Program::* field;
  };
  constexpr std::array<Row, 6> kRows = {{
      {"parameter allocation:", &Program::arguments},
      {"constant allocation:", &Program::constants},
      {"maybe_live_out allocation:", &Program::outputs},
      {"preallocated temp allocation:", &Program::temporaries},
      {"preallocated temp fragmentation:", &Program::fragmentation},
      {"total allocation:", &Program::total},
  }};
  for (const Row& row : kRows) {
    if (!lower.starts_with(row.words)) continue;
    SetOnce(program.*row.field, SizeBehind(text, lower, row.words));
    return true;
  }
  if (lower.starts_with("total fragmentation:")) {
    SetOnce(program.fragmentation, SizeBehind(text, lower, "total fragmentation:"));
    return true;
  }
  return lower.starts_with("bufferassignment ");
}

// "Free at 7f01 of size 4096 next 3"
bool ReadChunk(std::string_view text, std::string_view lower, Pool& pool) {
  const bool is_free = lower.starts_with("free at ");
  if (!is_free && !lower.starts_with("inuse at ") && !lower.starts_with("chunk at ")) return false;
  if (!is_free) return true;
  const size_t found = lower.find(" of size ");
  if (found == std::string_view::npos) return true;
  size_t at = found + 9;
  const std::optional<Size> size = ReadSize(text, at);
  if (!size) return true;
  ++pool.free_pieces;
  pool.free = Size{.bytes = SaturatingAdd(pool.free ? pool.free->bytes : 0, size->bytes)};
  if (!pool.largest_free || pool.largest_free->bytes < size->bytes) pool.largest_free = size;
  return true;
}

bool ReadPoolLine(std::string_view text, std::string_view lower, Pool& pool) {
  if (ReadChunk(text, lower, pool)) return true;
  struct Row {
    std::string_view words;
    std::optional<Size> Pool::* field;
  };
  constexpr std::array<Row, 4> kRows = {{
      {"limit:", &Pool::limit},
      {"inuse:", &Pool::in_use},
      {"maxinuse:", &Pool::max_in_use},
      {"largestfreeblock:", &Pool::largest_free},
  }};
  std::string_view rest = text;
  std::string_view rest_lower = lower;
  if (rest_lower.starts_with("stats:")) {
    rest = Trimmed(rest.substr(6));
    rest_lower = rest_lower.substr(rest_lower.size() - rest.size());
    if (rest.empty()) return true;
  }
  for (const Row& row : kRows) {
    if (!rest_lower.starts_with(row.words)) continue;
    const std::optional<Size> size = SizeBehind(rest, rest_lower, row.words);
    // Allocators that do not know their limit or their largest free piece say 0.
    const bool is_known = size && (size->bytes > 0 || row.field == &Pool::in_use);
    if (is_known) pool.*row.field = size;
    return true;
  }
  if (lower.starts_with("sum total of in-use chunks:")) {
    SetOnce(pool.in_use, SizeBehind(text, lower, "chunks:"));
    return true;
  }
  if (lower.starts_with("allocator memory summary:")) {
    SetOnce(pool.free, SizeBehind(text, lower, "total free in pool "));
    const size_t usable = lower.find("largest free chunk usable by ");
    if (usable != std::string_view::npos) {
      const std::optional<Size> size =
          SizeBehind(text.substr(usable), lower.substr(usable), " end ");
      if (size) pool.largest_free = size;
    }
    SetOnce(pool.size, SizeBehind(text, lower, "pool size "));
    SetOnce(pool.limit, SizeBehind(text, lower, "pool limit "));
    return true;
  }
  if (lower.starts_with("total_region_allocated_bytes_:")) {
    SetOnce(pool.size, SizeBehind(text, lower, "total_region_allocated_bytes_:"));
    SetOnce(pool.limit, SizeBehind(text, lower, "memory_limit_:"));
    return true;
  }
  if (lower.starts_with("bfcallocator dump for ")) {
    if (pool.name.empty()) pool.name = text.substr(22, 80);
    return true;
  }
  if (text.size() >= 50 && text.size() <= 200 &&
      text.find_first_not_of("*_x") == std::string_view::npos) {
    pool.map = text;
    return true;
  }
  return false;
}

// Old compilers say only "(24.2% utilization, ...": that much of the temporaries is data.
void FillFromUtilization(std::string_view text, Program& program) {
  const size_t open = text.find('(');
  const size_t end = text.find("% utilization", std::min(open, text.size()));
  if (end == std::string_view::npos || end - open > 7) return;
  int64_t tenths = 0;
  for (const char c : text.substr(open + 1, end - open - 1)) {
    if (c != '.' && !IsDigit(c)) return;
    if (c != '.') tenths = tenths * 10 + (c - '0');
  }
  if (tenths > 1000) return;
  const Size all = *program.temporaries;
  const int64_t thousandth = all.bytes / 1000;
  program.unpadded = Size{.bytes = thousandth * tenths, .slack = thousandth + all.slack + 1000};
  program.padded = all;
}

bool ReadDriver(std::string_view text, std::string_view lower, Incident& incident) {
  const size_t found = lower.find("free memory/total memory: ");
  if (found == std::string_view::npos) return false;
  size_t at = found + 26;
  const std::optional<Size> free = ReadSize(text, at);
  if (!free || at >= text.size() || text[at] != '/') return true;
  ++at;
  SetOnce(incident.device_free, free);
  SetOnce(incident.device_total, ReadSize(text, at));
  return true;
}

}  // namespace

// "Total hbm usage >= 22.47G:", "Program hbm requirement 21.95G:" and what they announce.
bool DetailReader::ReadProgram(std::string_view text, std::string_view lower, Incident& incident) {
  if (lower.starts_with("total ") && lower.contains(" usage >= ")) {
    list_ = List::kUsage;
    return true;
  }
  if ((lower.starts_with("program ") || lower.contains("program hbm requirement ")) &&
      lower.contains(" requirement ")) {
    SetOnce(incident.program.total, SizeBehind(text, lower, " requirement "));
    list_ = List::kProgram;
    return true;
  }
  if (lower.starts_with("hbm capacity ")) {
    SetOnce(incident.limit, SizeBehind(text, lower, "hbm capacity "));
    return true;
  }
  if (lower.starts_with("currently allocated:")) {
    SetOnce(incident.pool.in_use, SizeBehind(text, lower, "currently allocated:"));
    return true;
  }
  if (lower.starts_with("max free chunk ")) {
    SetOnce(incident.largest_free, SizeBehind(text, lower, "max free chunk "));
    return true;
  }
  if (lower.starts_with("persistent allocations include ")) {
    list_ = List::kPersistent;
    return true;
  }
  if (lower.starts_with("output size ")) {
    SetOnce(incident.program.outputs, SizeBehind(text, lower, "output size "));
    SetOnce(incident.program.shared, SizeBehind(text, lower, "shares "));
    list_ = List::kNone;
    return true;
  }
  return false;
}

// "reserved 530.00M", "HLO temp 9.08G (95.4% utilization: ...)"
bool DetailReader::ReadPart(std::string_view text, std::string_view lower, Incident& incident) {
  if (list_ == List::kNone) return false;
  size_t at = 0;
  while (at < text.size() && !IsDigit(text[at])) ++at;
  const std::string_view name = Trimmed(text.substr(0, at));
  if (name.empty() || name.size() > 40) return false;
  const std::optional<Size> size = ReadSize(text, at);
  if (!size) return lower.starts_with("arguments");  // "arguments unknown size"
  if (list_ == List::kUsage) {
    if (name == "reserved") SetOnce(incident.reserved, size);
    if (name == "arguments") SetOnce(incident.program.arguments, size);
    if (name == "program") SetOnce(incident.program.total, size);
    return name == "reserved" || name == "arguments" || name == "program";
  }
  if (list_ == List::kPersistent) {
    if (name == "arguments") SetOnce(incident.program.arguments, size);
    if (name == "output") SetOnce(incident.program.outputs, size);
    return name == "arguments" || name == "output";
  }
  // Only the parts of a program: anything else of this form ends the list.
  if (!name.contains("HLO temp") && name.contains(':')) return false;
  if (incident.program.parts.size() < 40)
    incident.program.parts.push_back({std::string(name), *size});
  if (name == "HLO temp") {
    SetOnce(incident.program.temporaries, size);
    SetOnce(incident.program.unpadded, SizeBehind(text, lower, "unpadded ("));
    SetOnce(incident.program.padded, SizeBehind(text, lower, " padded ("));
    SetOnce(incident.program.fragmentation, SizeBehind(text, lower, "fragmentation ("));
    if (!incident.program.unpadded) FillFromUtilization(text, incident.program);
  }
  return true;
}

bool DetailReader::Read(std::string_view text, std::string_view lower, Incident& incident) {
  if (text.empty()) return true;
  if (ReadProgram(text, lower, incident)) return true;
  if (ReadPart(text, lower, incident)) return true;
  list_ = List::kNone;
  if (ReadAssignment(text, lower, incident.program)) return true;
  if (ReadPoolLine(text, lower, incident.pool)) return true;
  return ReadDriver(text, lower, incident);
}

bool BeginsPoolDump(std::string_view lower) {
  return lower.starts_with("bfcallocator dump for ") || lower.starts_with("bin (256):") ||
         lower.starts_with("stats:");
}

}  // namespace stowplan::oom
