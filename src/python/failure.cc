// SPDX-License-Identifier: Apache-2.0
#include "python/failure.h"

#include "python/lock.h"
#include "python/text.h"

namespace nb = nanobind;

namespace stowplan::python {
namespace {

std::string_view Name(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      break;
  }
  return "note";
}

nb::object Cast(std::string_view text) { return nb::cast(Text(text)); }

// As stowplan.errors.Diagnostic takes it.
nb::object AsTuple(const Diagnostic& diagnostic) {
  return nb::make_tuple(Cast(Name(diagnostic.severity)), Cast(diagnostic.file), diagnostic.line,
                        diagnostic.column, diagnostic.offset, Cast(diagnostic.path),
                        Cast(diagnostic.message), Cast(diagnostic.hint), Cast(Render(diagnostic)));
}

// Ends of lines and the blanks behind them become one blank.
std::string OneLine(std::string_view text) {
  std::string line;
  bool is_begin = false;
  for (const char c : text) {
    if (c == '\n') {
      is_begin = true;
      continue;
    }
    if (is_begin && c == ' ') continue;
    if (is_begin && !line.empty()) line += ' ';
    is_begin = false;
    line += c;
  }
  return line;
}

}  // namespace

void Refuse(std::string message, std::string hint) {
  throw Failure(Fail("stowplan", std::move(message), std::move(hint)).error());
}

void Collector::Show(const Diagnostics& diagnostics, size_t limit) {
  size_t warnings = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::kError) {
      if (errors_.size() < kMaxErrors) errors_.push_back(diagnostic);
    } else if (warnings++ < limit) {
      std::string text = Render(diagnostic);
      while (text.ends_with('\n')) text.pop_back();
      notes_.push_back(std::move(text));
    }
  }
  if (warnings > limit)
    notes_.push_back("and " + std::to_string(warnings - limit) + " more warnings");
}

void Collector::Note(std::string_view text) {
  constexpr std::string_view kNote = "note: ";
  if (text.starts_with(kNote)) text.remove_prefix(kNote.size());
  notes_.push_back(OneLine(text));
}

void RegisterFailures() {
  nb::register_exception_translator(
      [](const std::exception_ptr& pointer, void*) {
        try {
          std::rethrow_exception(pointer);
        } catch (const Failure& failure) {
          nb::list diagnostics;
          for (const Diagnostic& diagnostic : failure.diagnostics())
            diagnostics.append(AsTuple(diagnostic));
          const nb::object make = nb::module_::import_("stowplan.errors").attr("_error_of");
          const nb::object error = nb::steal(CallPython([&] {
            return PyObject_CallFunctionObjArgs(make.ptr(), diagnostics.ptr(), nullptr);
          }));
          if (!error.is_valid()) return;  // with what it has raised
          PyErr_SetObject(error.type().ptr(), error.ptr());
        }
      },
      nullptr);
}

}  // namespace stowplan::python
