// SPDX-License-Identifier: Apache-2.0
// -buffer-assignment.txt: allocations and where values lie in them.
#include "report/reader.h"

namespace stowplan::report {
namespace {

// `, parameter 0, shape |f32[2]| at ShapeIndex {}`
bool TakeParameter(Piece& piece, ReportBuilder& builder, Allocation& allocation) {
  if (!piece.Take(", parameter ")) return false;
  int64_t number = 0;
  if (!piece.TakeNumber(number)) return false;
  allocation.parameter = number;
  return piece.Take(", shape |") && piece.TakeUntil("|", allocation.parameter_shape) &&
         piece.Take("| at ShapeIndex ") &&
         piece.TakeIndex(builder.report.ints, allocation.parameter_index);
}

bool TakeFlags(Piece& piece, ReportBuilder& builder, Allocation& allocation, bool& says_temp) {
  while (!piece.empty()) {
    int64_t number = 0;
    std::string_view shape;
    if (piece.rest() == ":") {
      piece.Take(":");
      return true;
    }
    if (piece.Take(", color ")) {
      if (!piece.TakeNumber(allocation.color)) return false;
    } else if (piece.Take(", page ")) {
      if (!piece.TakeNumber(number)) return false;
      allocation.page = number;
    } else if (piece.rest().starts_with(", parameter ")) {
      if (!TakeParameter(piece, builder, allocation)) return false;
    } else if (piece.Take(", output shape is |")) {
      if (!piece.TakeUntil("|", shape) || !piece.Take("|")) return false;
      allocation.output_shape = shape;
    } else if (piece.Take(", constant")) {
      allocation.is_constant = true;
    } else if (piece.Take(", thread-local")) {
      allocation.is_thread_local = true;
    } else if (piece.Take(", maybe-live-out")) {
      allocation.is_maybe_live_out = true;
    } else if (piece.Take(", preallocated-temp")) {
      says_temp = true;
    } else {
      return false;
    }
  }
  return false;
}

// `allocation 3: size 512, color 1, preallocated-temp:`
void ReadAllocation(Lines& lines, ReportBuilder& builder) {
  Piece piece(lines.line());
  Allocation allocation;
  uint64_t address = 0;
  bool says_temp = false;
  piece.Take("allocation ");
  if (!piece.TakeNumber(allocation.number) || !piece.Take(": ")) {
    lines.Fail("expected `allocation N: `", piece.rest());
    return;
  }
  if (piece.Take("0x")) {
    if (!piece.TakeHex(address) || !piece.Take(", ")) {
      lines.Fail("expected an address and a comma", piece.rest());
      return;
    }
    allocation.address = address;
  }
  if (!piece.Take("size ") || !piece.TakeNumber(allocation.size) ||
      !TakeFlags(piece, builder, allocation, says_temp)) {
    lines.Fail("this part of an allocation is not understood", piece.rest());
    return;
  }
  if (allocation.size < 0) lines.Fail("an allocation's size is negative");
  builder.report.allocations.Add(std::move(allocation));
}

// ` value: <12 x{0} @0> (size=4,offset=0): f32[]`
void ReadPlace(Lines& lines, ReportBuilder& builder) {
  Report& report = builder.report;
  Piece piece(lines.line());
  piece.Take(" value: ");
  Value head;
  int64_t size = 0;
  int64_t offset = 0;
  if (!builder.TakeValueHead(piece, head) || !piece.Take(" (size=") || !piece.TakeNumber(size) ||
      !piece.Take(",offset=") || !piece.TakeNumber(offset) || !piece.Take("): ") || piece.empty()) {
    lines.Fail("expected ` value: <...> (size=...,offset=...): shape`", piece.rest());
    return;
  }
  if (report.allocations.empty()) {
    lines.Fail("a value before the first allocation");
    return;
  }
  if (size < 0 || offset < 0) {
    lines.Fail("a size or an offset is negative");
    return;
  }
  const ValueId id = builder.FindOrAddByNumber(head);
  Value& value = report.values[id];
  if (!value.allocation.is_none()) {
    lines.Fail("this value already has a place");
    return;
  }
  value.allocation = AllocationId(report.allocations.size() - 1);
  value.size = size;
  value.offset = offset;
  value.shape = piece.rest();
  report.allocations[value.allocation].values.push_back(id);
}

// `  value: <12 x @1> (color=1)`
void ReadOtherColor(Lines& lines, ReportBuilder& builder) {
  Piece piece(lines.line());
  piece.Take("  value: ");
  Value head;
  if (!builder.TakeValueHead(piece, head) || !piece.Take(" (color=") ||
      !piece.TakeNumber(head.color) || !piece.Take(")") || !piece.empty() ||
      builder.report.allocations.empty()) {
    lines.Fail("expected `  value: <...> (color=N)`", piece.rest());
    return;
  }
  const ValueId id = builder.FindOrAddByNumber(head);
  builder.report.allocations[AllocationId(builder.report.allocations.size() - 1)]
      .other_colors.push_back(id);
}

}  // namespace

void ReadAssignmentSection(Lines& lines, ReportBuilder& builder) {
  Report& report = builder.report;
  report.has_assignment = true;
  report.dialect.page = false;
  bool in_other_colors = false;
  for (lines.Next(); !lines.at_end() && !lines.is_full(); lines.Next()) {
    const std::string_view line = lines.line();
    if (line.starts_with(" value: ")) {
      ReadPlace(lines, builder);
    } else if (line.starts_with("allocation ")) {
      in_other_colors = false;
      ReadAllocation(lines, builder);
    } else if (line == " reused by buffers of a different color:") {
      in_other_colors = true;
    } else if (in_other_colors && line.starts_with("  value: ")) {
      ReadOtherColor(lines, builder);
    } else if (line.empty()) {
      break;
    } else {
      lines.Fail("this line of a buffer assignment is not understood");
    }
  }
  for (const Allocation& allocation : report.allocations.rows()) {
    report.dialect.address = report.dialect.address || allocation.address.has_value();
    report.dialect.page = report.dialect.page || allocation.page.has_value();
  }
}

}  // namespace stowplan::report
