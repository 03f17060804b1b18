// SPDX-License-Identifier: Apache-2.0
#include "report/read.h"

#include <algorithm>

#include "base/hash.h"
#include "base/stable_sort.h"
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
    return source.AtByte(0, "", "this is neither text nor one of XLA's protos");
  return source.At(0, 1, "this is not one of XLA's memory reports",
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

// The part that begins at the current line, after another one.
FileKind KindAt(const Lines& lines) {
  const std::string_view rest = lines.rest();
  if (rest.starts_with("HloLiveRange")) return FileKind::kLiveRanges;
  if (rest.starts_with("Memory Space: ")) return FileKind::kUsage;
  if (!rest.starts_with("Total bytes used: ")) return FileKind::kUnknown;
  // A value list and a usage report of before 2026-03 both begin with the total.
  const std::string_view below = rest.substr(std::min(rest.size(), lines.line().size() + 1));
  return below.starts_with("\nAllocations sorted by size:") ? FileKind::kUsage
                                                            : FileKind::kValueList;
}

// A file whose parts are read one by one, each when its turn comes.
class PartReader {
 public:
  explicit PartReader(std::shared_ptr<const Source> source)
      : source_(std::move(source)), lines_(*source_), next_(KindOf(*source_)) {
    // The empty line in front of the total.
    if (next_ == FileKind::kValueList) lines_.Next();
  }

  // What is read next; kUnknown after the last part, and where nothing more can be read.
  [[nodiscard]] FileKind next() const { return next_; }
  [[nodiscard]] const std::shared_ptr<const Source>& source() const { return source_; }
  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] const Diagnostics& errors() const { return lines_.errors; }

  void Read(ReportBuilder& builder) {
    const FileKind kind = next_;
    switch (kind) {
      case FileKind::kAssignment:
        parts_.assignment = true;
        ReadAssignmentSection(lines_, builder);
        break;
      case FileKind::kValueList:
        parts_.value_list = true;
        ReadValueListSection(lines_, builder);
        break;
      case FileKind::kLiveRanges:
        parts_.live_ranges = true;
        ReadLiveRangeSection(lines_, builder);
        break;
      case FileKind::kUsage:
        parts_.usage = true;
        ReadUsageSection(lines_, builder);
        break;
      case FileKind::kUnknown:
        return;
    }
    FindNext(kind, builder.report.dialect);
  }

  void Refuse(std::string message) {
    lines_.Fail(std::move(message));
    next_ = FileKind::kUnknown;
  }

 private:
  void FindNext(FileKind kind, ReportDialect& dialect) {
    next_ = FileKind::kUnknown;
    int empty_lines = 0;
    for (; !lines_.at_end() && lines_.line().empty(); lines_.Next()) ++empty_lines;
    if (lines_.at_end() || lines_.is_full()) return;
    const FileKind found = KindAt(lines_);
    if (found > kind) {
      next_ = found;
      // Where values are glued to the one before, so is what follows the last: a list of one shows
      // it only here.
      if (kind == FileKind::kValueList && empty_lines == 1 &&
          dialect.from_instruction == FromInstruction::kLine)
        dialect.from_instruction = FromInstruction::kGlued;
    } else if (lines_.errors.empty()) {
      const std::string name(Describe(found));
      lines_.Fail(found == FileKind::kUnknown ? "this line is not understood"
                  : found == kind             ? "a second " + name + " in one file"
                                  : "a " + name + " comes before a " + std::string(Describe(kind)));
    }
  }

  std::shared_ptr<const Source> source_;
  Lines lines_;
  FileKind next_;
  Parts parts_;
};

// Marks of the dialect that show only when all is read.
void FinishDialect(Report& report) {
  ReportDialect& dialect = report.dialect;
  const auto is_combined = [](const Parts& parts) {
    return parts.assignment && (parts.value_list || parts.live_ranges);
  };
  dialect.separate_files = std::ranges::none_of(report.source_parts, is_combined);
  // XLA wrote live ranges before it wrote texts of instructions.
  if (!report.live_ranges && report.has_value_list &&
      dialect.from_instruction == FromInstruction::kAbsent) {
    dialect.peak_line = PeakLine::kNone;
    dialect.stack_tree = false;
  }
  if (report.usage) dialect.usage = FindUsageOrder(report);
}

}  // namespace

Parts PartsIn(const Report& report, const Source& source) {
  for (size_t i = 0; i < report.source_parts.size(); ++i) {
    if (report.sources[i].get() == &source) return report.source_parts[i];
  }
  return {};
}

Result<Report> ReadReport(std::span<const std::shared_ptr<const Source>> sources) {
  if (sources.empty()) return Fail("", "no report files are given");
  std::vector<std::shared_ptr<const Source>> sorted(sources.begin(), sources.end());
  StableSort(sorted, {},
             [](const std::shared_ptr<const Source>& source) { return KindOf(*source); });
  Diagnostics errors;
  std::vector<PartReader> files;
  files.reserve(sorted.size());
  for (std::shared_ptr<const Source>& source : sorted) {
    if (KindOf(*source) == FileKind::kUnknown) errors.push_back(NoReport(*source));
    files.emplace_back(std::move(source));
  }
  ReportBuilder builder;
  // Values get their numbers from the assignment and the value list, so these are read first,
  // whichever files they are in.
  for (const FileKind kind :
       {FileKind::kAssignment, FileKind::kValueList, FileKind::kLiveRanges, FileKind::kUsage}) {
    const PartReader* first = nullptr;
    for (PartReader& file : files) {
      if (file.next() != kind) continue;
      if (first != nullptr) {
        file.Refuse("a second " + std::string(Describe(kind)) + ", after " +
                    first->source()->name());
        continue;
      }
      first = &file;
      file.Read(builder);
    }
  }
  for (const PartReader& file : files) {
    errors.insert(errors.end(), file.errors().begin(), file.errors().end());
    builder.report.sources.push_back(file.source());
    builder.report.source_parts.push_back(file.parts());
  }
  if (errors.size() > kMaxErrors) errors.resize(kMaxErrors);
  if (!errors.empty()) return std::unexpected(std::move(errors));
  FinishDialect(builder.report);
  return std::move(builder.report);
}

}  // namespace stowplan::report
