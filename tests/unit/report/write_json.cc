// SPDX-License-Identifier: Apache-2.0
// Writes the report of the given files as JSON, for json_schema_test.py.
#include <cstdio>
#include <memory>
#include <vector>

#include "report/from_proto.h"
#include "report/json.h"
#include "report/read.h"
#include "stowplan/session.h"

int main(int argc, char** argv) {
  using namespace stowplan;
  const auto fail = [](const Diagnostics& errors) {
    std::fputs(Render(errors).c_str(), stderr);
    return 2;
  };
  std::vector<std::shared_ptr<const Source>> sources;
  for (int i = 1; i < argc; ++i) {
    const std::string file = argv[i];
    if (file.ends_with(".hlo.pb")) {
      const auto module = ReadModule(file);
      if (!module) return fail(module.error());
      const auto report = report::ReportFromModule(*module);
      if (!report) return fail(report.error());
      std::fputs(report::WriteJson(*report).c_str(), stdout);
      return 0;
    }
    auto source = ReadSource(file);
    if (!source) return fail(source.error());
    sources.push_back(*std::move(source));
  }
  const auto report = report::ReadReport(sources);
  if (!report) return fail(report.error());
  std::fputs(report::WriteJson(*report).c_str(), stdout);
  return 0;
}
