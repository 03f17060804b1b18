// SPDX-License-Identifier: Apache-2.0
// ShapeProto to a shape of the module's table.
//
// A module has thousands of instructions and a hundred shapes, each serialized the same way every
// time, so shapes are cached by their bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "proto/context.h"
#include "stowplan/hlo/shape.h"

namespace stowplan::proto {

class ShapeReader {
 public:
  // Remembers up to `slots` shapes, a power of two.
  explicit ShapeReader(Context& context, size_t slots = 4096);

  // A wrong shape is reported, and read as some other shape. `bytes` lie in the source.
  hlo::ShapeId Read(std::string_view bytes) { return Read(bytes, bytes); }
  // The same where there may be no shape (bytes.data() is nullptr); then the error is at `owner`.
  hlo::ShapeId Read(std::string_view bytes, std::string_view owner) {
    Slot& slot = slots_[Hash(bytes) & (slots_.size() - 1)];
    if (slot.size == bytes.size() && std::memcmp(slot.data, bytes.data(), bytes.size()) == 0)
      return slot.shape;
    return bytes.data() == nullptr ? ReportMissing(owner) : ReadNew(bytes);
  }

 private:
  struct Slot {
    const char* data = nullptr;
    uint32_t size = 0xffffffffU;  // no shape has this many bytes
    hlo::ShapeId shape;
  };

  // A shape whose fields are being read; the shapes of a tuple lie on top of it.
  struct Frame {
    Message message;
    std::string_view bytes;
    int64_t type = 0;
    size_t first_dim;
    size_t first_flag;
    size_t first_element;
    std::string_view layout;
    bool has_layout = false;
  };

  // Reads eight bytes at a time, the last ones beyond the end: sources are padded.
  static uint64_t Hash(std::string_view bytes) {
    uint64_t h = bytes.size();
    const char* p = bytes.data();
    size_t left = bytes.size();
    for (; left >= 8; left -= 8, p += 8) h = Mix(h, Load(p));
    return left == 0 ? h >> 32U : Mix(h, Load(p) << (64 - 8 * left)) >> 32U;
  }
  static uint64_t Load(const char* p) {
    uint64_t word = 0;
    std::memcpy(&word, p, sizeof(word));
    return word;
  }
  static uint64_t Mix(uint64_t h, uint64_t word) {
    h = (h ^ word) * 0x9E3779B97F4A7C15ULL;
    return h ^ (h >> 32U);
  }

  hlo::ShapeId ReadNew(std::string_view bytes);
  hlo::ShapeId ReportMissing(std::string_view owner);
  void Push(std::string_view bytes);
  void ReadElement(std::string_view bytes);
  hlo::ShapeId Finish(const Frame& frame);
  hlo::ShapeId FinishArray(const Frame& frame, hlo::ElementType type);
  hlo::LayoutId ReadLayout(std::string_view bytes, size_t rank);
  bool CheckOrder(std::string_view at, std::span<const int64_t> order, size_t rank);
  hlo::ShapeId ReadPhysicalShape(std::string_view bytes);
  hlo::ElementType ReadType(std::string_view at, int64_t number);

  Context& context_;
  std::vector<Slot> slots_;  // one shape per slot: a newer shape replaces an older one
  // Stacks, so that deep tuples cost no recursion.
  std::vector<Frame> frames_;
  std::vector<int64_t> dims_;
  std::vector<uint8_t> flags_;  // is_dynamic_dimension
  std::vector<hlo::ShapeId> elements_;
  std::unique_ptr<ShapeReader> inner_;  // of shapes inside layouts
  bool in_layout_ = false;
};

}  // namespace stowplan::proto
