// SPDX-License-Identifier: Apache-2.0
// Any bytes to the text reader. What it accepts must print as a text that it accepts again, and
// that prints the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "laws.h"
#include "text/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using stowplan::Source;
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const auto module = stowplan::ParseText(Source::FromBytes("input", input));
  if (!module) {
    stowplan::fuzz::CheckErrors(module.error());
    return 0;
  }
  stowplan::fuzz::CheckReadable(*module);

  const std::string printed = stowplan::hlo::ToString(*module);
  const auto again = stowplan::ParseText(Source::FromBytes("printed", printed));
  if (!again)
    stowplan::fuzz::Fail("the printed text is not accepted", printed, Render(again.error()));
  const std::string twice = stowplan::hlo::ToString(*again);
  if (twice != printed) stowplan::fuzz::Fail("printing twice differs", printed, twice);
  return 0;
}
