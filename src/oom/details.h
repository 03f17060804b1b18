// SPDX-License-Identifier: Apache-2.0
// The lines behind a message: what a program needs, what an allocator's pool holds.
#pragma once

#include <cstdint>
#include <string_view>

#include "oom/oom.h"

namespace stowplan::oom {

class DetailReader {
 public:
  // Another incident begins.
  void Begin() { list_ = List::kNone; }
  // A clean line, and the same in small letters. Whether it is one that is known here.
  bool Read(std::string_view text, std::string_view lower, Incident& incident);

 private:
  enum class List : uint8_t { kNone, kUsage, kPersistent, kProgram };

  bool ReadProgram(std::string_view text, std::string_view lower, Incident& incident);
  bool ReadPart(std::string_view text, std::string_view lower, Incident& incident);

  List list_ = List::kNone;
};

// Whether a line begins a dump of an allocator, which old allocators write before their message.
bool BeginsPoolDump(std::string_view lower);

}  // namespace stowplan::oom
