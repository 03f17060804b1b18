// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/verify.h"

#include <utility>

#include "hlo/verify_complaints.h"

namespace stowplan::hlo {

Diagnostics Verify(const Module& module) {
  Complaints complaints(module);
  Verifier verifier(module, complaints);
  if (!VerifyIds(verifier)) return std::move(complaints).Finish();
  VerifyNames(verifier);
  VerifyParameters(verifier);
  VerifyOrder(verifier);
  VerifyCallGraph(verifier);
  VerifySizes(verifier);
  for (size_t i = 0; i < module.instructions.size(); ++i) VerifyInstruction(verifier, InstrId(i));
  VerifyHeader(verifier);
  return std::move(complaints).Finish();
}

}  // namespace stowplan::hlo
