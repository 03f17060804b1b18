// SPDX-License-Identifier: Apache-2.0
#include "hlo/verify.h"

#include <utility>

#include "hlo/verify_complaints.h"

namespace stowplan::hlo {

namespace {

Diagnostics VerifyAll(const Module& module, bool has_header) {
  Complaints complaints(module);
  Verifier verifier(module, complaints);
  if (!VerifyIds(verifier)) return std::move(complaints).Finish();
  VerifyNames(verifier);
  VerifyParameters(verifier);
  VerifyOrder(verifier);
  VerifyCallGraph(verifier);
  VerifySizes(verifier);
  for (size_t i = 0; i < module.instructions.size(); ++i) VerifyInstruction(verifier, InstrId(i));
  if (has_header) VerifyHeader(verifier);
  return std::move(complaints).Finish();
}

}  // namespace

Diagnostics VerifyCalls(const Module& module) {
  Complaints complaints(module);
  Verifier verifier(module, complaints);
  if (!VerifyIds(verifier)) return std::move(complaints).Finish();
  VerifyParameters(verifier);
  VerifyCallGraph(verifier);
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    switch (module.instructions[InstrId(i)].opcode) {
      case Opcode::kWhile:
      case Opcode::kConditional:
      case Opcode::kCall:
      case Opcode::kAsyncStart:
        VerifyInstruction(verifier, InstrId(i));
        break;
      default:
        break;
    }
  }
  return std::move(complaints).Finish();
}

Diagnostics Verify(const Module& module) { return VerifyAll(module, /*has_header=*/true); }

Diagnostics VerifyProgram(const Module& module) { return VerifyAll(module, /*has_header=*/false); }

}  // namespace stowplan::hlo
