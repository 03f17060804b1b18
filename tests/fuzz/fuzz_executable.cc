// SPDX-License-Identifier: Apache-2.0
// Any bytes to the reader of executables. What it accepts comes back the same when it is written.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "executable/executable.h"
#include "executable/field_reader.h"
#include "executable/riegeli.h"
#include "executable/thunk_check.h"
#include "laws.h"
#include "page/inspect_page.h"

namespace {

using stowplan::executable::Executable;

bool HasSameThunks(const Executable& a, const Executable& b) {
  if (a.program.thunks.size() != b.program.thunks.size() ||
      a.program.slots.size() != b.program.slots.size() ||
      a.program.sequences.size() != b.program.sequences.size()) {
    return false;
  }
  for (size_t i = 0; i < a.program.thunks.size(); ++i) {
    if (a.program.thunks[i].bytes != b.program.thunks[i].bytes) return false;
  }
  return true;
}

// The input as what a GPU's executable holds, inside containers whose checksums are right: no input
// gets past those by chance.
std::string InRecords(std::string_view input) {
  std::string merge;
  stowplan::executable::AppendBytesField(2, "", merge);
  std::string manifest;
  stowplan::executable::AppendBytesField(2, merge, manifest);
  const std::string result =
      stowplan::executable::WriteRiegeli(std::vector<std::string>{manifest, std::string(input)});
  std::string options;
  stowplan::executable::AppendBytesField(1, result, options);
  stowplan::executable::AppendBytesField(2, "", options);
  return options;
}

// A thunk that runs twice is one more thunk that does the same.
void CheckCopy(const Executable& executable) {
  stowplan::executable::Program program = executable.program;
  std::vector<uint32_t>& first = program.sequences[0].thunks;
  if (first.empty() || program.thunks[first[0]].sequences.count != 0) return;
  const std::string before = stowplan::executable::IdentityOf(program, program.thunks[first[0]]);
  first.push_back(stowplan::executable::AddCopy(program, first[0], "a copy"));
  const auto written = stowplan::executable::WriteExecutable(executable, {.program = &program});
  if (!written) return stowplan::fuzz::CheckErrors(written.error());
  const auto again =
      stowplan::executable::ReadExecutable(stowplan::Source::FromBytes("copied", *written));
  if (!again) stowplan::fuzz::Fail("what was copied cannot be read", Render(again.error()));
  const auto& thunks = again->program.sequences[0].thunks;
  if (thunks.size() != first.size()) stowplan::fuzz::Fail("a copy is lost", "");
  const auto& copy = again->program.thunks[thunks.back()];
  if (stowplan::executable::IdentityOf(again->program, copy) != before)
    stowplan::fuzz::Fail("a copy does something else", "");
}

void CheckInput(std::string_view input) {
  const auto source = stowplan::Source::FromBytes("input", input);
  const auto executable = stowplan::executable::ReadExecutable(source);
  if (!executable) return stowplan::fuzz::CheckErrors(executable.error());
  if (!stowplan::executable::LooksLikeExecutable(input))
    stowplan::fuzz::Fail("an executable does not look like one", "");
  (void)stowplan::page::InspectPage(*executable);
  (void)stowplan::page::InspectJson(*executable);
  const auto written = stowplan::executable::WriteExecutable(
      *executable, {.assignment = executable->assignment, .program = &executable->program});
  if (!written) return stowplan::fuzz::CheckErrors(written.error());
  const auto again =
      stowplan::executable::ReadExecutable(stowplan::Source::FromBytes("again", *written));
  if (!again) stowplan::fuzz::Fail("what was written cannot be read", Render(again.error()));
  if (!HasSameThunks(*executable, *again)) stowplan::fuzz::Fail("thunks changed", "");
  if (executable->assignment.places != again->assignment.places)
    stowplan::fuzz::Fail("places changed", "");
  CheckCopy(*executable);
  (void)stowplan::executable::CompareThunks(
      *executable, *again, stowplan::executable::DeclaredReads(executable->program));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  CheckInput(input);
  CheckInput(InRecords(input));
  return 0;
}
