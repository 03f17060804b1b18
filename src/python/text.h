// SPDX-License-Identifier: Apache-2.0
// Texts on their way to Python. Names come from the input and may hold any bytes, a `str` may not:
// what is no UTF-8 becomes U+FFFD.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nanobind/nanobind.h>

namespace stowplan::python {

struct Text {
  Text() = default;
  Text(std::string text) : bytes(std::move(text)) {}
  Text(std::string_view text) : bytes(text) {}
  Text(const char* text) : bytes(text) {}

  std::string bytes;
};

}  // namespace stowplan::python

namespace nanobind::detail {

template <>
struct type_caster<stowplan::python::Text> {
  NB_TYPE_CASTER(stowplan::python::Text, const_name("str"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
    if (text == nullptr) {
      PyErr_Clear();
      return false;
    }
    value.bytes.assign(text, static_cast<size_t>(size));
    return true;
  }

  static handle from_cpp(const stowplan::python::Text& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(text.bytes.data(), static_cast<Py_ssize_t>(text.bytes.size()),
                                "replace");
  }
};

}  // namespace nanobind::detail
