// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "c/guard.h"
#include "c/plan.h"
#include "stowplan/page.h"

namespace c = stowplan::c;

namespace {

// stowplan_free frees the copy.
void HandOutText(const std::string& from, char** text, size_t* size) {
  auto* copy = static_cast<char*>(std::malloc(from.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, from.c_str(), from.size() + 1);
  *text = copy;
  if (size != nullptr) *size = from.size();
}

// Hands out what `write` returns.
template <class Write>
stowplan_status WriteText(const char* name, bool has_arguments, char** text, size_t* size,
                          stowplan_messages** errors, Write write) {
  return c::Guard(errors, [&] {
    if (text != nullptr) *text = nullptr;
    if (size != nullptr) *size = 0;
    if (!has_arguments || text == nullptr)
      return c::FailMisuse(errors, std::string(name) + ": an argument is NULL or 0");
    stowplan::Result<std::string> written = write();
    if (!written) return c::Fail(errors, std::move(written).error());
    HandOutText(*written, text, size);
    return STOWPLAN_OK;
  });
}

}  // namespace

stowplan_status stowplan_plan_json(const stowplan_plan* plan, char** text, size_t* size,
                                   stowplan_messages** errors) {
  return WriteText("stowplan_plan_json", plan != nullptr, text, size, errors,
                   [&] { return stowplan::Result<std::string>(stowplan::JsonOf(plan->planned)); });
}

stowplan_status stowplan_plan_csv(const stowplan_plan* plan, const char* table, char** text,
                                  size_t* size, stowplan_messages** errors) {
  return WriteText("stowplan_plan_csv", plan != nullptr && table != nullptr, text, size, errors,
                   [&] { return stowplan::CsvOf(plan->planned, table); });
}

stowplan_status stowplan_plan_explain(const stowplan_plan* plan, char** text, size_t* size,
                                      stowplan_messages** errors) {
  return WriteText("stowplan_plan_explain", plan != nullptr, text, size, errors,
                   [&] { return stowplan::ExplainText(plan->planned); });
}

stowplan_status stowplan_plan_html(const stowplan_plan* const* plans, size_t count, char** text,
                                   size_t* size, stowplan_messages** errors) {
  bool has_arguments = plans != nullptr && count != 0;
  for (size_t k = 0; has_arguments && k < count; ++k) has_arguments = plans[k] != nullptr;
  return WriteText("stowplan_plan_html", has_arguments, text, size, errors, [&] {
    std::vector<stowplan::PlannedModule> planned;
    planned.reserve(count);
    for (size_t k = 0; k < count; ++k) planned.push_back(plans[k]->planned);
    return stowplan::HtmlPage(planned);
  });
}

stowplan_status stowplan_plan_reports(const stowplan_plan* plan, stowplan_reports** reports,
                                      stowplan_messages** errors) {
  return c::Guard(errors, [&] {
    if (reports != nullptr) *reports = nullptr;
    if (plan == nullptr || reports == nullptr)
      return c::FailMisuse(errors, "stowplan_plan_reports: an argument is NULL");
    *reports = new stowplan_reports{stowplan::ReportFilesOf(plan->planned)};
    return STOWPLAN_OK;
  });
}

void stowplan_reports_free(stowplan_reports* reports) { delete reports; }

size_t stowplan_reports_count(const stowplan_reports* reports) {
  return reports == nullptr ? 0 : reports->files.size();
}

const char* stowplan_reports_name(const stowplan_reports* reports, size_t k) {
  return k < stowplan_reports_count(reports) ? reports->files[k].name.c_str() : nullptr;
}

const char* stowplan_reports_text(const stowplan_reports* reports, size_t k, size_t* size) {
  const bool is_there = k < stowplan_reports_count(reports);
  if (size != nullptr) *size = is_there ? reports->files[k].text.size() : 0;
  return is_there ? reports->files[k].text.c_str() : nullptr;
}
