// SPDX-License-Identifier: Apache-2.0
// stowplan report --reconcile: each figure of XLA and JAX, and how it follows from the assignment.
#include "base/human_bytes.h"
#include "page/report_page.h"
#include "page/text.h"
#include "report/reconcile.h"

namespace stowplan::page {
namespace {

using Role = report::ReconcileRow::Role;

std::string Computed(const report::ReconcileRow& row) {
  if (!row.computed) return row.said ? HumanAndExactBytes(*row.said) : "";
  const bool is_more = row.role == Role::kStep && *row.computed > 0;
  return (is_more ? "+" : "") + HumanAndExactBytes(*row.computed);
}

// Whether the files have the figure, and the same one.
std::string FigureVerdict(const report::ReconcileRow& row) {
  if (row.role != Role::kFigure || !row.said) return "";
  if (!row.computed) return "said";
  return row.differs() ? "said: " + HumanAndExactBytes(*row.said) : "as said";
}

}  // namespace

std::string ReconcilePage(const report::Report& report, const report::Summary& summary,
                          const std::optional<Temporaries>& temporaries,
                          const PageOptions& options) {
  std::string out = Printable(options.title) + ": the figures that XLA and JAX print, from its " +
                    CountOf(summary.allocations, "allocation") + "\n";
  if (options.is_made) out += kOwnPlan;
  for (const report::ReconcileGroup& group :
       Reconcile(report, summary, options.backend, temporaries)) {
    out += "\n" + group.title + "\n";
    TextTable table({TextTable::kLeft, TextTable::kRight, TextTable::kLeft, TextTable::kLeft});
    for (const report::ReconcileRow& row : group.rows) {
      const std::string figure = row.role == Role::kStep     ? "  + " + row.figure
                                 : row.role == Role::kResult ? "  = " + row.figure
                                                             : row.figure;
      // No file says anything about a plan that Stowplan made.
      table.Add({figure, Computed(row), options.is_made ? "" : FigureVerdict(row), row.how});
    }
    table.Append(out);
  }
  return out;
}

}  // namespace stowplan::page
