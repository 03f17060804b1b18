// SPDX-License-Identifier: Apache-2.0
// A module in, a checked plan and its page out.
//
//     embed_module FILE [TARGET]
//
// reads an HLO module (text or proto), plans its memory as XLA does and then as low as possible,
// and writes the lower plan to the current directory: as XLA's own reports, and as view.html with
// both plans. TARGET ("cpu", "gpu", "tpu-v5e", ...) is needed where the file does not show it.
//
// Exits with 2 if the file cannot be read or planned.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include "stowplan/stowplan.h"

namespace {

int Fail(const stowplan::Diagnostics& errors) {
  // Errors are complete: the file, the line, a caret, and what would help.
  std::cerr << stowplan::Render(errors);
  return 2;
}

void Print(const stowplan::PlannedModule& planned) {
  std::map<int64_t, int64_t> bytes;  // by memory space
  for (const stowplan::report::Allocation& allocation : planned.report->allocations.rows())
    bytes[allocation.color] += allocation.size;
  std::cout << planned.name << ", policy " << Name(planned.origin) << ": "
            << Name(planned.verdict.soundness) << '\n';
  for (const auto& [space, sum] : bytes)
    std::cout << "  " << sum << " bytes in memory space " << space << '\n';
  // Policy best also tells how low the temporaries can get at all.
  for (const stowplan::BestHeap& heap : planned.heaps)
    std::cout << "  of these " << heap.bytes << " for temporaries, where XLA takes "
              << heap.xla_bytes << " and no plan less than " << heap.bound << '\n';
}

void Write(const std::string& name, std::string_view text) {
  std::ofstream(name, std::ios::binary) << text;
  std::cout << "wrote " << name << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: embed_module FILE [TARGET]\n";
    return 2;
  }
  stowplan::PlanOptions options;
  if (argc == 3) options.target = argv[2];

  // A file, a dump directory, or several of either: LoadOne takes the largest module.
  const stowplan::Result<stowplan::Inputs> inputs = stowplan::Open({argv[1]});
  if (!inputs) return Fail(inputs.error());
  const stowplan::Result<stowplan::PlannedModule> xla = stowplan::LoadOne(*inputs, options);
  if (!xla) return Fail(xla.error());
  Print(*xla);

  // A plan that Stowplan makes is checked. Unless the options allow another, it is sound or an
  // error.
  options.policy = stowplan::Policy::kBest;
  const stowplan::Result<stowplan::PlannedModule> best = stowplan::Plan(*xla, options);
  if (!best) return Fail(best.error());
  Print(*best);

  for (const stowplan::ReportFile& file : stowplan::ReportFilesOf(*best))
    Write(file.name, file.text);
  const stowplan::Result<std::string> page = stowplan::HtmlPage({*xla, *best});
  if (!page) return Fail(page.error());
  Write("view.html", *page);
}
