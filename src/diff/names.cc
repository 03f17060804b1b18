// SPDX-License-Identifier: Apache-2.0
#include "diff/diff.h"

namespace stowplan::diff {

std::string_view Name(Term term) {
  switch (term) {
    case Term::kNew:
      return "new";
    case Term::kGone:
      return "gone";
    case Term::kCopies:
      return "copies";
    case Term::kGrown:
      return "grown";
    case Term::kShrunk:
      return "shrunk";
    case Term::kPadding:
      return "padding";
    case Term::kLonger:
      return "lives longer";
    case Term::kShorter:
      return "lives shorter";
    case Term::kSharingLost:
      return "sharing lost";
    case Term::kSharingWon:
      return "sharing won";
    case Term::kSpace:
      return "memory space";
    case Term::kPeakMoved:
      return "peak moved";
    case Term::kDead:
      return "dead";
    case Term::kFragmentation:
      return "fragmentation";
    case Term::kAlignment:
      return "alignment";
    case Term::kUntimed:
      return "without live range";
    case Term::kThreadLocal:
      break;
  }
  return "thread-local";
}

Term Opposite(Term term) {
  switch (term) {
    case Term::kNew:
      return Term::kGone;
    case Term::kGone:
      return Term::kNew;
    case Term::kGrown:
      return Term::kShrunk;
    case Term::kShrunk:
      return Term::kGrown;
    case Term::kLonger:
      return Term::kShorter;
    case Term::kShorter:
      return Term::kLonger;
    case Term::kSharingLost:
      return Term::kSharingWon;
    case Term::kSharingWon:
      return Term::kSharingLost;
    default:
      return term;
  }
}

std::string_view Name(Use use) {
  switch (use) {
    case Use::kParameter:
      return "parameters";
    case Use::kDonated:
      return "donated parameters";
    case Use::kConstant:
      return "constants";
    case Use::kOutput:
      return "outputs";
    case Use::kTemporary:
      return "temporaries";
    case Use::kThreadLocal:
      break;
  }
  return "thread-local";
}

}  // namespace stowplan::diff
