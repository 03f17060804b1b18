// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "c/guard.h"
#include "c/plan.h"

namespace c = stowplan::c;
using stowplan::PlanOptions;

namespace {

template <class Value>
stowplan_status SetOption(stowplan_plan_options* options, Value PlanOptions::* field, Value value) {
  if (options == nullptr) return STOWPLAN_MISUSE;
  options->options.*field = std::move(value);
  return STOWPLAN_OK;
}

stowplan_status SetText(stowplan_plan_options* options, std::string PlanOptions::* field,
                        const char* text) {
  return c::GuardQuietly(
      [&] { return SetOption(options, field, std::string(text == nullptr ? "" : text)); });
}

stowplan_status SetLimit(stowplan_plan_options* options,
                         std::optional<int64_t> PlanOptions::* field, int64_t bytes) {
  return SetOption(options, field, bytes < 0 ? std::nullopt : std::optional(bytes));
}

}  // namespace

stowplan_plan_options* stowplan_plan_options_new(void) { return c::New<stowplan_plan_options>(); }
void stowplan_plan_options_free(stowplan_plan_options* options) { delete options; }

stowplan_status stowplan_plan_options_set_module(stowplan_plan_options* options, const char* name) {
  return SetText(options, &PlanOptions::module, name);
}

stowplan_status stowplan_plan_options_set_target(stowplan_plan_options* options,
                                                 const char* target) {
  return SetText(options, &PlanOptions::target, target);
}

stowplan_status stowplan_plan_options_set_release(stowplan_plan_options* options,
                                                  const char* release) {
  return SetText(options, &PlanOptions::release, release);
}

stowplan_status stowplan_plan_options_set_scheduler(stowplan_plan_options* options,
                                                    const char* scheduler) {
  return SetText(options, &PlanOptions::scheduler, scheduler);
}

stowplan_status stowplan_plan_options_set_preset(stowplan_plan_options* options, const char* path) {
  return SetText(options, &PlanOptions::preset, path);
}

stowplan_status stowplan_plan_options_set_policy(stowplan_plan_options* options, int policy) {
  switch (policy) {
    case STOWPLAN_POLICY_XLA:
      return SetOption(options, &PlanOptions::policy, stowplan::Policy::kXla);
    case STOWPLAN_POLICY_BEST:
      return SetOption(options, &PlanOptions::policy, stowplan::Policy::kBest);
    default:
      return STOWPLAN_MISUSE;
  }
}

stowplan_status stowplan_plan_options_set_allow_unsound(stowplan_plan_options* options, int allow) {
  return SetOption(options, &PlanOptions::allow_unsound, allow != 0);
}

stowplan_status stowplan_plan_options_set_allow_unchecked(stowplan_plan_options* options,
                                                          int allow) {
  return SetOption(options, &PlanOptions::allow_unchecked, allow != 0);
}

stowplan_status stowplan_plan_options_set_heap_limit(stowplan_plan_options* options,
                                                     int64_t bytes) {
  return SetLimit(options, &PlanOptions::heap_limit, bytes);
}

stowplan_status stowplan_plan_options_set_memory_limit(stowplan_plan_options* options,
                                                       int64_t bytes) {
  return SetLimit(options, &PlanOptions::memory_limit, bytes);
}

stowplan_status stowplan_plan_options_set_searches_on(stowplan_plan_options* options,
                                                      int searches_on) {
  return SetOption(options, &PlanOptions::searches_on, searches_on != 0);
}

stowplan_status stowplan_plan_options_set_should_stop(stowplan_plan_options* options,
                                                      stowplan_should_stop should_stop,
                                                      void* user) {
  return c::GuardQuietly([&] {
    std::function<bool()> asks;
    if (should_stop != nullptr) asks = [should_stop, user] { return should_stop(user) != 0; };
    return SetOption(options, &PlanOptions::should_stop, std::move(asks));
  });
}
