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

}  // namespace

void Refuse(std::string message, std::string hint) {
  throw Failure(Fail("stowplan", std::move(message), std::move(hint)).error());
}

Diagnostics ErrorsOf(const Diagnostics& diagnostics) {
  Diagnostics errors;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::kError && errors.size() < kMaxErrors)
      errors.push_back(diagnostic);
  }
  return errors;
}

std::vector<std::string> TextsOf(const Diagnostics& notes) {
  std::vector<std::string> texts;
  for (const Diagnostic& note : notes) {
    if (texts.size() == kMaxErrors) {
      texts.push_back("and " + std::to_string(notes.size() - kMaxErrors) + " more");
      break;
    }
    const bool is_plain = note.severity == Severity::kNote && note.file.empty();
    std::string text = is_plain ? note.message : Render(note);
    if (is_plain && !note.hint.empty()) text += " (" + note.hint + ")";
    while (text.ends_with('\n')) text.pop_back();
    texts.push_back(std::move(text));
  }
  return texts;
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
