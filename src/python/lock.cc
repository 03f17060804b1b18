// SPDX-License-Identifier: Apache-2.0
#include "python/lock.h"

#include <chrono>
#include <thread>

namespace stowplan::python {

void StayHere() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

Unlocked::~Unlocked() {
  CallPython([this] {
    PyEval_RestoreThread(state_);
    return true;
  });
}

Locked::Locked() : state_(CallPython([] { return PyGILState_Ensure(); })) {}

}  // namespace stowplan::python
