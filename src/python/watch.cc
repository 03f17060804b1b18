// SPDX-License-Identifier: Apache-2.0
#include "python/watch.h"

#include "python/failure.h"
#include "python/lock.h"

namespace nb = nanobind;

namespace stowplan::python {
namespace {

// Taking the interpreter lock is not free, and people do not feel this.
constexpr auto kLookInterval = std::chrono::milliseconds(50);
constexpr double kLongest = 1e9;  // seconds

nb::object Owned(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

// Python runs handlers in its main thread alone.
bool IsMainThread() {
  const nb::object threading = Owned(PyImport_ImportModule("threading"));
  const nb::object thread = Owned(
      CallPython([&] { return PyObject_CallMethod(threading.ptr(), "main_thread", nullptr); }));
  const nb::object ident =
      Owned(CallPython([&] { return PyObject_GetAttrString(thread.ptr(), "ident"); }));
  return nb::cast<unsigned long>(ident) == PyThread_get_thread_ident();
}

}  // namespace

Watch::Watch(std::optional<double> time_limit) : next_look_(Clock::now() + kLookInterval) {
  if (IsMainThread()) looker_ = std::this_thread::get_id();
  if (!time_limit) return;
  if (!(*time_limit >= 0) || *time_limit > kLongest)
    Refuse("time_limit needs seconds, 0 or more", "such as 0.5 or 60");
  end_ = Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*time_limit));
}

bool Watch::ShouldStop() {
  const std::scoped_lock lock(mutex_);
  if (is_interrupted_ || error_) return true;
  const Clock::time_point now = Clock::now();
  if (end_ && now >= *end_) return true;
  if (now < next_look_ || std::this_thread::get_id() != looker_) return false;
  LookForSignals();
  next_look_ = Clock::now() + kLookInterval;
  return is_interrupted_ || error_;
}

void Watch::LookForSignals() {
  const Locked locked;
  if (CallPython([] { return PyErr_CheckSignals(); }) == 0) return;
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0) {
    PyErr_Clear();
    is_interrupted_ = true;
    return;
  }
  error_.emplace();  // takes what is raised
}

void Watch::Finish() {
  if (!error_) return;
  nb::python_error error = std::move(*error_);
  error_.reset();
  throw error;
}

}  // namespace stowplan::python
