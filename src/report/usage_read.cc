// SPDX-License-Identifier: Apache-2.0
// -memory-usage-report.txt, in both of its forms.
//
// Since 2026-03, a block a memory space:       Before, a list of allocations and their tables:
//
//     Memory Space: default (color=0)              Total bytes used: 366364 (357.8KiB)
//     Total bytes: 43156 (42.1KiB)
//       cumulative_size;  ...                      Allocations sorted by size:
//       ---------------
//        12.0KiB( 99%);  ...                       cumulative_size; total_size - ...; allocation
//                                                  ---------------
//       cumulative_size;  ...                       227.6KiB( 64%); 130.1KiB; allocation 5: ...
//       ...
//                                                  Allocations sorted by size with their values:
//                                                  allocation 5: size 227.6KiB, preallocated-temp:
//
//                                                      cumulative_size; ...
//
// Every figure in here follows from the assignment; read are the order of things and what the rows
// are, so that a usage report without its assignment still says something.
#include "report/reader.h"

namespace stowplan::report {
namespace {

constexpr std::string_view kTableHead =
    "cumulative_size;       size;       offset; used_by_n_values; shapes_list";
constexpr std::string_view kValuesHidden =
    " values are less than 5% of the total size and not shown.";
constexpr std::string_view kAllocationsHidden =
    " allocations are less than 5% of the total size and not shown.";

void SkipBlanks(Piece& piece) {
  while (piece.Take(" ")) continue;
}

// `  12.0KiB( 99%); ` in front of a row. What it says follows from the rows above.
bool TakeCumulative(Piece& piece) {
  SkipBlanks(piece);
  std::string_view skipped;
  return piece.TakeUntil("(", skipped) && piece.TakeUntil("%); ", skipped) && piece.Take("%); ");
}

// `14.1KiB; ` with blanks in front.
bool TakeSize(Piece& piece, std::string_view& size) {
  SkipBlanks(piece);
  return piece.TakeUntil("; ", size) && piece.Take("; ");
}

bool TakeAlignedNumber(Piece& piece, int64_t& n) {
  SkipBlanks(piece);
  return piece.TakeNumber(n) && piece.Take("; ");
}

// `2×f32[64,256], (f32[2], s32[])`: shapes separated by the commas outside their brackets.
bool TakeShapes(std::string_view list, std::vector<UsageShape>& shapes) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth != 0 && i < list.size())) continue;
    Piece piece(list.substr(begin, i - begin));
    if (begin != 0 && !piece.Take(" ")) return false;
    const Piece whole = piece;
    UsageShape shape;
    if (!piece.TakeNumber(shape.count) || !piece.Take("×")) {
      piece = whole;
      shape.count = 1;
    }
    shape.shape = piece.rest();
    if (shape.shape.empty()) return false;
    shapes.push_back(shape);
    begin = i + 1;
  }
  return true;
}

bool TakeRow(Piece& piece, UsageRow& row) {
  return TakeCumulative(piece) && TakeSize(piece, row.size) &&
         TakeAlignedNumber(piece, row.offset) && TakeAlignedNumber(piece, row.value_count) &&
         TakeShapes(piece.rest(), row.shapes);
}

// `The rest 17 values are ...`
bool TakeHidden(Piece piece, std::string_view what, int64_t& count) {
  return piece.Take("The rest ") && piece.TakeNumber(count) && piece.rest() == what;
}

bool IsDashes(std::string_view line, size_t count) {
  return line.size() == count && line.find_first_not_of('-') == std::string_view::npos;
}

class UsageReader {
 public:
  UsageReader(Lines& lines, Usage& usage) : lines_(lines), usage_(usage) {}

  void Read() {
    if (lines_.line().starts_with("Memory Space: ")) {
      usage_.kind = UsageReport::kSpaces;
      while (!lines_.at_end() && !lines_.is_full()) ReadSpace();
    } else {
      // Whether ties are in a fixed order does not show in a file by itself.
      usage_.kind = UsageReport::kHashOrder;
      ReadAllocationList();
      if (!lines_.is_full()) ReadAllocationTables();
    }
  }

 private:
  void Expect(bool is_there, const std::string& what) {
    if (is_there) {
      lines_.Next();
    } else if (lines_.at_end()) {
      FailAtEnd("expected " + what);
    } else {
      lines_.Fail("expected " + what);
      lines_.Next();
    }
  }
  void ExpectLine(std::string_view line) {
    Expect(!lines_.at_end() && lines_.line() == line,
           line.empty() ? "an empty line" : "`" + std::string(line) + "`");
  }
  // Said once: everything else would be missing, too.
  void FailAtEnd(const std::string& message) {
    if (is_cut_off_) return;
    is_cut_off_ = true;
    lines_.Fail("the file ends here; " + message + " (" + std::to_string(usage_.tables.size()) +
                (usage_.tables.size() == 1 ? " table" : " tables") + " read before)");
  }
  void FailLine(std::string message, const Piece& piece) {
    // A last line without its end is a piece of one.
    if (!lines_.has_newline()) message += "; the file ends within this line";
    lines_.Fail(std::move(message), piece.rest().begin());
  }

  // From its headline to the empty line after it.
  void ReadTable(UsageTable& table, std::string_view prefix) {
    Piece head(lines_.line());
    Expect(head.Take(prefix) && head.rest() == kTableHead, "the headline of a table");
    Piece dashes(lines_.line());
    Expect(dashes.Take(prefix) && IsDashes(dashes.rest(), 60), "60 dashes");
    for (; !lines_.at_end() && !lines_.is_full() && !lines_.line().empty(); lines_.Next()) {
      Piece piece(lines_.line());
      if (!piece.Take(prefix)) {
        FailLine("expected a row, or the empty line that ends the table", piece);
        continue;
      }
      if (TakeHidden(piece, kValuesHidden, table.hidden_rows)) continue;
      UsageRow row;
      if (TakeRow(piece, row)) {
        table.rows.push_back(std::move(row));
      } else {
        FailLine("expected `sum(share%); size; offset; number of values; shapes`", piece);
      }
    }
    if (!lines_.is_full()) ExpectLine("");
  }

  void ReadSpace() {
    Piece piece(lines_.line());
    std::string_view name;
    int64_t color = 0;
    Expect(piece.Take("Memory Space: ") && piece.TakeUntil(" (color=", name) &&
               piece.Take(" (color=") && piece.TakeNumber(color) && piece.rest() == ")",
           "`Memory Space: name (color=N)`");
    ReadTotal("Total bytes: ");
    while (!lines_.at_end() && !lines_.is_full() && !lines_.line().empty()) {
      if (lines_.line().starts_with("Memory Space: ")) break;
      UsageTable table;
      table.color = color;
      ReadTable(table, "  ");
      usage_.tables.push_back(std::move(table));
    }
    if (!lines_.is_full()) ExpectLine("");
  }

  void ReadTotal(std::string_view words) {
    Piece piece(lines_.line());
    int64_t total = 0;
    Expect(piece.Take(words) && piece.TakeNumber(total) && piece.Take(" (") &&
               piece.rest().ends_with(')'),
           "`" + std::string(words) + "N (size)`");
  }

  bool TakeAllocationHead(std::string_view line, UsageTable& table) {
    Piece piece(line);
    table.head = line;
    return piece.Take("allocation ") && piece.TakeNumber(table.allocation) && piece.Take(": ") &&
           piece.rest().ends_with(':');
  }

  void ReadAllocationList() {
    ReadTotal("Total bytes used: ");
    ExpectLine("");
    ExpectLine("Allocations sorted by size:");
    ExpectLine("");
    ExpectLine("cumulative_size; total_size - cumulative_size; allocation");
    Expect(IsDashes(lines_.line(), 78), "78 dashes");
    for (; !lines_.at_end() && !lines_.is_full() && !lines_.line().empty(); lines_.Next()) {
      Piece piece(lines_.line());
      if (TakeHidden(piece, kAllocationsHidden, hidden_)) continue;
      std::string_view rest;
      UsageTable table;
      if (TakeCumulative(piece) && TakeSize(piece, rest) &&
          TakeAllocationHead(piece.rest(), table)) {
        ++listed_;
      } else {
        FailLine("expected `sum(share%); rest; allocation N: ...`", piece);
      }
    }
  }

  void ReadAllocationTables() {
    ExpectLine("");
    ExpectLine("");
    ExpectLine("Allocations sorted by size with their values:");
    while (!lines_.at_end() && !lines_.is_full()) {
      UsageTable table;
      if (!TakeAllocationHead(lines_.line(), table)) {
        FailLine("expected `allocation N: ...`", Piece(lines_.line()));
        lines_.Next();
        continue;
      }
      lines_.Next();
      if (!lines_.at_end() && lines_.line().empty()) {
        lines_.Next();
        ReadTable(table, "\t");
      }
      usage_.tables.push_back(std::move(table));
    }
    // Nothing marks the end of this form but the number of its allocations.
    if (!lines_.errors.empty()) return;
    if (!lines_.has_newline()) {
      FailAtEnd("its last line is not complete");
    } else if (static_cast<int64_t>(usage_.tables.size()) - listed_ != hidden_) {
      FailAtEnd("its list has " + std::to_string(listed_) + " allocations and mentions " +
                std::to_string(hidden_) + " more");
    }
  }

  Lines& lines_;
  Usage& usage_;
  int64_t listed_ = 0;  // allocations in the list
  int64_t hidden_ = 0;  // and those that it only counts
  bool is_cut_off_ = false;
};

}  // namespace

// To the end of the file: nothing marks where a usage report ends.
void ReadUsageSection(Lines& lines, ReportBuilder& builder) {
  Usage& usage = builder.report.usage.emplace();
  usage.text = lines.rest();
  UsageReader(lines, usage).Read();
  builder.report.dialect.usage = usage.kind;
}

}  // namespace stowplan::report
