// SPDX-License-Identifier: Apache-2.0
// What lies around the program in a serialized executable, from the outside in:
//
//     pickle               what jax.experimental.serialize_executable returns, or a pickle of that
//     zlib                 an entry of JAX's compilation cache, where Python has no zstd (zstd and
//                          gzip are unpacked by stowplan/base/source.h)
//     4 bytes              seconds of compile time, in such an entry
//     header               its length as a varint, then SerializedXlaExecutableMetadata; not up to
//                          jaxlib 0.8
//     options              ExecutableAndOptionsProto: field 1 is what follows. A message, or
//                          records of a Riegeli file
//     result               CompilationResultProto of the CPU, a message; GpuExecutableProto of the
//                          GPU, records of a Riegeli file
//
// Nothing says which of these are there, so they are recognized by content. No signature covers any
// of it; Riegeli files have checksums.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executable/thunk_kind.h"
#include "stowplan/base/diagnostic.h"

namespace stowplan::executable {

// A message, or a Riegeli file whose first record says how the others make up a message.
struct SplitMessage {
  bool is_split = false;
  std::vector<std::string_view> records;  // one if it is not split
  // Of a split message, by record: the number of the field that the record is, 0 if it is a message
  // to be merged with the others. The first record, which says this, has none.
  std::vector<uint32_t> fields;
};

struct Container {
  std::shared_ptr<std::deque<std::string>> storage;  // what had to be unpacked
  bool is_pickled = false;
  bool is_zlib = false;
  std::optional<std::string_view> compile_time;
  std::optional<std::string_view> header;
  SplitMessage options;
  Platform platform = Platform::kCpu;
  SplitMessage result;
};

// Whether the bytes may be a serialized executable; reads as little as possible.
[[nodiscard]] bool LooksLikeExecutable(std::string_view bytes);

// `bytes` must outlive the container. Fails if it is none, or damaged.
[[nodiscard]] Result<Container> OpenContainer(const std::string& name, std::string_view bytes);

// The bytes of the whole with new records of the result, as many as it has. Fails for a pickle,
// which only Python may write.
[[nodiscard]] Result<std::string> CloseContainer(const Container& container,
                                                 std::vector<std::string> result);

}  // namespace stowplan::executable
