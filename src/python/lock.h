// SPDX-License-Identifier: Apache-2.0
// The interpreter lock: whoever lets go of it or takes it does so by these classes.
//
// A program may end while a thread of it works in here without the lock. Python lets no thread back
// in then. Up to Python 3.13 the attempt ends the thread by pthread_exit, which unwinds its stack;
// C++ frames that must not be unwound abort the whole process. So the thread stays where it is, as
// Python itself has it from 3.14 on, until the process is gone. Nobody waits for its work.
#pragma once

#include <nanobind/nanobind.h>

namespace stowplan::python {

// Never returns.
[[noreturn]] void StayHere();

// Makes a call of Python's C interface that may take the lock. What is called throws nothing, and
// no object of C++ lies between it and here: unwinding comes to an end before it has done harm.
template <class Call>
auto CallPython(Call call) {
  struct Gate {
    bool is_through = false;
    ~Gate() {
      if (!is_through) StayHere();
    }
  } gate;
  const auto result = call();
  gate.is_through = true;
  return result;
}

// The work goes on without the lock as long as this lives.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked();

 private:
  PyThreadState* state_;
};

// With the lock, inside work that goes on without.
class Locked {
 public:
  Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

}  // namespace stowplan::python
