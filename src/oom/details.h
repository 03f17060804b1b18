// SPDX-License-Identifier: Apache-2.0
// The lines after a message: what a program needs, what an allocator's pool holds.
#pragma once

#include <cstdint>
#include <string_view>

#include "oom/oom.h"

namespace stowplan::oom {

class DetailReader {
 public:
  // Another incident begins.
  void Begin() { list_ = List::kNone; }
  // A clean line, and the same in lower case. Returns whether the line is recognized.
  bool Read(std::string_view text, std::string_view lower, Incident& incident);

 private:
  enum class List : uint8_t { kNone, kUsage, kPersistent, kProgram };

  bool ReadProgram(std::string_view text, std::string_view lower, Incident& incident);
  bool ReadPart(std::string_view text, std::string_view lower, Incident& incident);

  List list_ = List::kNone;
};

// Whether a line begins an allocator's dump, which old allocators write before their message.
bool BeginsPoolDump(std::string_view lower);

}  // namespace stowplan::oom
