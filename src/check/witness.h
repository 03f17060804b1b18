// SPDX-License-Identifier: Apache-2.0
// Findings in words: who wrote, who reads, when, and the user's own names for both.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "check/check.h"
#include "check/memory.h"
#include "check/trees.h"

namespace stowplan::check {

// Who needs a value.
struct Reader {
  enum class Need : uint8_t { kOperand, kOutput, kParameter, kConstant };
  hlo::InstrId instruction;
  Need need = Need::kOperand;
  hlo::CompId end_of = {};  // it is read at the end of this computation, which the reader calls
  int64_t since = -1;       // what was written until this step does not matter
};

class Witness {
 public:
  Witness(const hlo::Module& module, const report::Report& report, const Trees& trees,
          Verdict& verdict)
      : module_(module), report_(report), trees_(trees), verdict_(verdict) {
    times_.assign(module.instructions.size(), -1);
  }

  // When the instruction is executed first; false when that is known.
  bool SetTime(hlo::InstrId id);
  [[nodiscard]] bool HasRun(hlo::CompId id) const {
    return times_[module_.computations[id].root.index] >= 0;
  }

  // What is found after a mark can be taken back.
  using Mark = size_t;
  [[nodiscard]] Mark Begin() const { return keys_.size(); }
  void Undo(Mark mark);

  void AddWrongRead(const Bytes& bytes, uint32_t wanted, const Memory::Mismatch& wrong,
                    const Reader& reader);
  void AddInPlace(const Bytes& read, const Bytes& written, uint32_t wanted, uint32_t output);
  // `slice` does not lie where the array `whole`, which is nothing but its slices, needs it.
  void AddSlicesApart(const Bytes& bytes, uint32_t slice, uint32_t whole);
  void AddInFlight(const Bytes& bytes, uint32_t wanted, const Memory::Mismatch& wrong,
                   hlo::InstrId start, hlo::InstrId done);
  void AddSharedOutput(const Bytes& bytes, uint32_t a, uint32_t b);
  void AddMovedOutput(const Bytes& bytes, uint32_t output, uint32_t parameter);
  void AddUnplaced(uint32_t row);
  void AddFlag(const Bytes& bytes, uint32_t row, std::string_view words);

 private:
  // Of each pair of values, the first finding of a kind.
  [[nodiscard]] bool IsNew(Code code, uint32_t a, uint32_t b);
  Finding& Add(Code code, const Bytes& bytes, uint32_t wanted, uint32_t found);
  [[nodiscard]] Event EventOf(hlo::InstrId id) const;
  [[nodiscard]] ValueName NameAt(uint32_t row) const;

  const hlo::Module& module_;
  const report::Report& report_;
  const Trees& trees_;
  Verdict& verdict_;
  std::vector<int64_t> times_;  // by instruction
  int64_t now_ = 0;
  using Key = std::tuple<Code, uint32_t, uint32_t>;
  std::set<Key> seen_;
  std::vector<Key> keys_;  // of the findings, in their order
};

}  // namespace stowplan::check
