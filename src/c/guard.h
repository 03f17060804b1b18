// SPDX-License-Identifier: Apache-2.0
// The boundary to C: every function of stowplan_c.h runs inside Guard or GuardQuietly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "c/messages.h"
#include "stowplan/stowplan_c.h"

namespace stowplan::c {

// Runs `body`, which returns a status, and turns every exception into one. `errors` may be null.
template <class Body>
stowplan_status Guard(stowplan_messages** errors, Body&& body) noexcept {
  if (errors != nullptr) *errors = nullptr;
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return FailNoMemory(errors);
  } catch (const std::length_error&) {
    // What containers throw instead when the size alone is too much.
    return FailNoMemory(errors);
  } catch (const std::exception& exception) {
    return FailInternal(errors, exception.what());
  } catch (...) {
    return FailInternal(errors, "unknown exception");
  }
}

// The same for a function without messages.
template <class Body>
stowplan_status GuardQuietly(Body&& body) noexcept {
  return Guard(nullptr, std::forward<Body>(body));
}

// A handle, or null when there is no memory.
template <class Handle>
Handle* New() {
  Handle* handle = nullptr;
  GuardQuietly([&] {
    handle = new Handle();
    return STOWPLAN_OK;
  });
  return handle;
}

// Fills as much of the caller's struct as the caller knows of it. Fields that only the caller knows
// become 0.
template <class Row>
stowplan_status Fill(Row row, Row* out) noexcept {
  if (out == nullptr || out->size < sizeof(out->size)) return STOWPLAN_MISUSE;
  row.size = out->size;
  std::memcpy(out, &row, std::min(out->size, sizeof(row)));
  if (out->size > sizeof(row))
    std::memset(reinterpret_cast<char*>(out) + sizeof(row), 0, out->size - sizeof(row));
  return STOWPLAN_OK;
}

}  // namespace stowplan::c
