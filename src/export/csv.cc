// SPDX-License-Identifier: Apache-2.0
#include "base/csv_writer.h"
#include "export/formats.h"

namespace stowplan::exporting {

std::string WriteCsv(const Subject& subject) {
  const explain::Picture& picture = *subject.picture;
  const report::Report& report = *picture.report;
  const std::vector<int64_t> owned = OwnedBytes(subject);
  CsvWriter csv(
      "name,space,allocation,offset,size,padding,start,end,kind,op_name,source,shape,parameter,"
      "is_live,bytes");
  for (size_t i = 0; i < report.values.size(); ++i) {
    const report::ValueId id(i);
    const report::Value& value = report.values[id];
    const explain::ValueFact& fact = picture.fact(id);
    csv.Text(explain::ValueName(report, id));
    if (value.allocation.is_none()) {
      for (int column = 0; column < 5; ++column) csv.Nothing();
    } else {
      csv.Number(report.allocations[value.allocation].color);
      csv.Number(report.allocations[value.allocation].number);
      csv.Number(value.offset);
      csv.Number(value.size);
      csv.Number(fact.padding);
    }
    csv.Number(value.has_range ? std::optional(value.start) : std::nullopt);
    csv.Number(value.has_range ? std::optional(value.end) : std::nullopt);
    csv.Text(explain::Word(fact.kind));
    csv.Text(fact.op_name);
    csv.Text(explain::SourceText(picture, picture.own_line(fact.frame)));
    csv.Text(value.shape);
    csv.Text(ParameterPath(picture, id));
    if (subject.moment) {
      csv.Flag(owned[i] >= 0);
      csv.Number(owned[i] >= 0 ? owned[i] : 0);
    } else {
      csv.Nothing();
      csv.Nothing();
    }
    csv.EndRow();
  }
  return std::move(csv).Take();
}

}  // namespace stowplan::exporting
