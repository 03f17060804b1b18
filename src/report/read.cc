// SPDX-License-Identifier: Apache-2.0
#include "report/read.h"

#include <algorithm>

#include "base/hash.h"
#include "report/reader.h"
#include "report/usage.h"

namespace stowplan::report {

ValueId ReportBuilder::FindOrAddByNumber(const Value& head) {
  const auto [row, is_new] = by_number_.try_emplace(head.number);
  if (is_new) row->second = report.values.Add(head);
  return row->second;
}

uint64_t ReportBuilder::HashPlace(std::string_view instruction,
                                  std::span<const int64_t> index) const {
  uint64_t hash = HashBytes(instruction);
  for (const int64_t n : index) hash = MixHash(hash, static_cast<uint64_t>(n));
  return hash;
}

ValueId ReportBuilder::FindOrAddByPlace(std::string_view instruction, const Index& index) {
  // Values that came with numbers are entered when places are first asked for.
  for (; placed_ < report.values.size(); ++placed_) {
    const Value& value = report.values[ValueId(placed_)];
    by_place_.emplace(HashPlace(value.instruction, report.numbers(value.index)), ValueId(placed_));
  }
  const std::span<const int64_t> numbers = report.numbers(index);
  const auto [begin, end] = by_place_.equal_range(HashPlace(instruction, numbers));
  for (auto it = begin; it != end; ++it) {
    const Value& value = report.values[it->second];
    if (value.instruction == instruction &&
        std::ranges::equal(report.numbers(value.index), numbers))
      return it->second;
  }
  Value value;
  value.instruction = instruction;
  value.index = index;
  return report.values.Add(value);
}

bool ReportBuilder::TakeValueHead(Piece& piece, Value& head) {
  if (!piece.Take("<") || !piece.TakeNumber(head.number) || !piece.Take(" ") ||
      !piece.TakeName(head.instruction)) {
    return false;
  }
  piece.TakeIndex(report.ints, head.index);
  head.is_phi = piece.Take(" (phi)");
  if (piece.Take(" @") && !piece.TakeNumber(head.color)) return false;
  return piece.Take(">");
}

namespace {

// Bytes that no text begins with: those of a program, an archive, a pickle.
bool IsBinary(std::string_view bytes) {
  constexpr size_t kLooked = 256;
  return std::ranges::any_of(bytes.substr(0, kLooked), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r' &&
           c != '\f' && c != '\v' && c != '\x1b';
  });
}

// Of a file that is of no kind.
Diagnostic NoReport(const Source& source) {
  if (IsBinary(source.bytes()))
    return source.AtByte(0, "", "this is neither text nor a message of XLA's");
  return source.At(0, 1, "this is none of XLA's memory reports",
                   "they begin with `BufferAssignment:`, `HloLiveRange`, `Memory Space:` or a "
                   "total; a module begins with `HloModule`");
}

}  // namespace

FileKind KindOf(const Source& source) {
  const std::string_view text = source.bytes();
  if (text.starts_with("BufferAssignment:")) return FileKind::kAssignment;
  if (text.starts_with("\nTotal bytes used: ")) return FileKind::kValueList;
  if (text.starts_with("HloLiveRange")) return FileKind::kLiveRanges;
  if (text.starts_with("Memory Space: ") || text.starts_with("Total bytes used: "))
    return FileKind::kUsage;
  return FileKind::kUnknown;
}

namespace {

std::string_view Describe(FileKind kind) {
  switch (kind) {
    case FileKind::kAssignment:
      return "buffer assignment";
    case FileKind::kValueList:
      return "value list";
    case FileKind::kLiveRanges:
      return "live-range report";
    case FileKind::kUsage:
      return "memory-usage report";
    case FileKind::kUnknown:
      break;
  }
  return "file";
}

// The value list and the live ranges behind an assignment, as files before 2026-04 have them.
void ReadCombinedRest(Lines& lines, ReportBuilder& builder) {
  ReportDialect& dialect = builder.report.dialect;
  if (lines.at_end()) return;
  // The empty line that ends the assignment belongs to the total.
  lines.Next();
  if (lines.at_end()) return;
  dialect.separate_files = false;
  ReadValueListSection(lines, builder);
  dialect.peak_line = PeakLine::kNone;
  dialect.stack_tree = false;
  int empty_lines = 0;
  for (; !lines.at_end() && lines.line().empty(); lines.Next()) ++empty_lines;
  if (lines.at_end() || !lines.line().starts_with("HloLiveRange")) return;
  // Where values are glued to the one before, so is what follows the last: a list of one shows it
  // only here.
  if (empty_lines == 1 && dialect.from_instruction == FromInstruction::kLine)
    dialect.from_instruction = FromInstruction::kGlued;
  ReadLiveRangeSection(lines, builder);
}

void ReadFile(const Source& source, FileKind kind, ReportBuilder& builder, Diagnostics& errors) {
  if (kind == FileKind::kUsage) {
    ReadUsageSection(source, builder, errors);
    return;
  }
  Lines lines(source);
  switch (kind) {
    case FileKind::kAssignment:
      ReadAssignmentSection(lines, builder);
      if (!lines.is_full()) ReadCombinedRest(lines, builder);
      break;
    case FileKind::kValueList:
      lines.Next();
      ReadValueListSection(lines, builder);
      break;
    default:
      ReadLiveRangeSection(lines, builder);
  }
  while (!lines.at_end() && lines.line().empty()) lines.Next();
  if (!lines.at_end() && lines.errors.empty()) lines.Fail("this line is not understood");
  errors.insert(errors.end(), lines.errors.begin(), lines.errors.end());
}

}  // namespace

Result<Report> ReadReport(std::span<const std::shared_ptr<const Source>> sources) {
  ReportBuilder builder;
  Diagnostics errors;
  // Values get their numbers from the assignment and the value list, so these are read first.
  constexpr FileKind kOrder[] = {FileKind::kAssignment, FileKind::kValueList, FileKind::kLiveRanges,
                                 FileKind::kUsage};
  for (const std::shared_ptr<const Source>& source : sources) {
    if (KindOf(*source) == FileKind::kUnknown) errors.push_back(NoReport(*source));
  }
  for (const FileKind kind : kOrder) {
    const Source* first = nullptr;
    for (const std::shared_ptr<const Source>& source : sources) {
      if (KindOf(*source) != kind) continue;
      if (first != nullptr) {
        errors.push_back(source->At(
            0, 1, "a second " + std::string(Describe(kind)) + ", after " + first->name()));
        continue;
      }
      first = source.get();
      ReadFile(*source, kind, builder, errors);
      builder.report.sources.push_back(source);
    }
  }
  if (errors.empty() && sources.empty()) return Fail("", "no report files are given");
  if (errors.size() > kMaxErrors) errors.resize(kMaxErrors);
  if (!errors.empty()) return std::unexpected(std::move(errors));
  if (builder.report.usage) builder.report.dialect.usage = FindUsageOrder(builder.report);
  return std::move(builder.report);
}

}  // namespace stowplan::report
