// SPDX-License-Identifier: Apache-2.0
// What a log says about running out of memory.
//
//     text ─ReadLog─▶ Log ─Explain─▶ Explanation (oom/explain.h)
//
// XLA, its allocators and the drivers below it report the same event several times, in different
// words, over many lines. A Log has one Incident for each event: everything that was said about it,
// and nothing else. What no line says is absent, never zero.
//
//     Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.20GiB      Incident: requested,
//     Stats: Limit: ... InUse: ...                                              limit, in_use
//     RESOURCE_EXHAUSTED: Out of memory while trying to allocate 3435973836     the same one
//     BufferAssignment stats: ...                                               program
//     Buffer 1: Size: 1.20GiB Operator: op_name="jit(step)/dot_general"         buffers
//     Can't reduce memory use below 9.10GiB by rematerialization; ...         Log::remats
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/backend.h"

namespace stowplan::oom {

// A number of bytes as written in a text. "15.48G" is not exact: the true number is at most `slack`
// away.
struct Size {
  int64_t bytes = 0;
  int64_t slack = 0;  // 0: exact

  friend bool operator==(const Size&, const Size&) = default;
};

// Whether both may be the same number.
[[nodiscard]] bool Agree(const Size& a, const Size& b);
// 1.50GiB (1610612736); 1.50GiB when only that is known.
[[nodiscard]] std::string SizeText(const Size& size);

using stowplan::Backend;
using stowplan::Name;

// What failed, and when.
enum class Kind : uint8_t {
  kCompile,  // the compiler: the program does not fit the memory space (TPU)
  kScoped,   // the compiler: one instruction's scratch memory (TPU, vmem)
  kLoad,     // the runtime: no room for a compiled program (TPU)
  kBuffer,   // an allocator: no room for an allocation, of an array or a program
  kDriver,   // the driver below XLA (CUDA, ROCm), or a library beside it (cuDNN, cuBLAS)
  kHost,     // the machine's own memory
  kOther,    // RESOURCE_EXHAUSTED with an unknown message
};
// "compile": one word, for files
[[nodiscard]] std::string_view Word(Kind kind);

// A buffer that the log lists: XLA shows the largest ones.
struct Buffer {
  std::optional<Size> size;
  std::string op_name;
  std::string source_file;
  int64_t source_line = 0;  // 0: not said
  std::string shape;        // with layout where the log has it
  std::string instruction;  // "fusion.12"; empty: not said
  std::string opcode;
  std::string label;  // as written, where it is more than an opcode
  std::string type;   // "HLO temp", "scoped", ...
  std::string tag;
  bool is_parameter = false;  // of the entry computation
  std::optional<Size> unpadded;
  std::optional<Size> padding;

  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// A part of a sum that the log lists: "HLO temp 9.08G".
struct Part {
  std::string name;
  Size size;
  friend bool operator==(const Part&, const Part&) = default;
};

// What a compiled program needs, by what its memory is for. On a TPU by the compiler's list, on a
// GPU by the statistics of its buffer assignment.
struct Program {
  std::optional<Size> total;
  std::optional<Size> arguments;  // parameters
  std::optional<Size> outputs;    // all of them, including those in the memory of arguments
  std::optional<Size> shared;     // outputs in the memory of arguments
  std::optional<Size> constants;  //
  std::optional<Size> temporaries;
  std::optional<Size> fragmentation;  // of the temporaries
  std::optional<Size> unpadded;       // of the temporaries
  std::optional<Size> padded;
  std::vector<Part> parts;  // as listed, where the list has other names
};

// What an allocator says about its pool.
struct Pool {
  std::string name;           // "GPU_0_bfc"
  std::optional<Size> limit;  // the most that it may take from the device
  std::optional<Size> size;   // what it took
  std::optional<Size> in_use;
  std::optional<Size> max_in_use;
  std::optional<Size> free;
  std::optional<Size> largest_free;  // the largest free piece
  int64_t free_pieces = 0;           // that were listed
  std::string map;                   // '*' in use, '_' free, 'x' lost by rounding
};

struct Incident {
  Kind kind = Kind::kOther;
  Backend backend = Backend::kUnknown;
  std::string space;                 // "hbm", "vmem", "host"; empty: the device's own memory
  std::vector<std::string> devices;  // "GPU_0_bfc", "0x0x0_HBM0": who it happened to, as written
  std::string code;                  // "E1000": XLA's own number for it
  std::string executable;            // "jit_train_step"
  std::string instruction;           // for which memory was requested
  std::string message;               // the message it was recognized by, shortened
  int64_t line = 0;                  // of its first words, from 1
  int64_t count = 1;                 // how often the log says it
  bool is_failure = true;            // false: a warning, and the program went on
  bool is_custom_kernel = false;     // the instruction is a custom kernel

  std::optional<Size> requested;  // in one piece
  std::optional<Size> used;       // what everything would take
  std::optional<Size> limit;      // what there is
  std::optional<Size> exceeded;   // by how much
  std::optional<Size> free;
  std::optional<Size> largest_free;
  std::optional<Size> reserved;     // by the system
  std::optional<Size> device_free;  // of the whole device, according to its driver
  std::optional<Size> device_total;

  Program program;
  Pool pool;
  std::vector<Buffer> buffers;  // largest first, as listed
};

// What the compiler's rematerialization reached: a warning of the preceding compile.
struct Remat {
  Size limit;    // what it was meant to reach
  Size reached;  // what it did reach
  std::optional<Size> original;
  int64_t line = 0;
  int64_t count = 1;
};

// The framework of the program, as far as the text shows; names of settings depend on it.
enum class Framework : uint8_t { kUnknown, kJax, kTorch, kTensorFlow };
// "JAX"; "unknown"
[[nodiscard]] std::string_view Name(Framework framework);

struct Log {
  Framework framework = Framework::kUnknown;
  std::vector<Incident> incidents;  // in order, equal ones once
  std::vector<Remat> remats;        // as they come, equal ones once
  int64_t lines = 0;                // of the text
  int64_t left_out = 0;             // events beyond kMostIncidents
};
inline constexpr size_t kMostIncidents = 200;

// Any bytes. Prefixes of loggers, colors, quotes and line breaks between words do not matter. The
// time is linear in the length of the text.
[[nodiscard]] Log ReadLog(std::string_view text);

// The incident to explain: the failure that lacks most, among equals the first; if there is no
// failure, a warning. Absent if there is none.
[[nodiscard]] std::optional<size_t> WorstIncident(const Log& log);

}  // namespace stowplan::oom
