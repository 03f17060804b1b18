// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stowplan/stowplan_c.h"

namespace {

using testing::HasSubstr;
using testing::StartsWith;

template <auto kFree>
struct Release {
  template <class Handle>
  void operator()(Handle* handle) const {
    kFree(handle);
  }
};
using Inputs = std::unique_ptr<stowplan_inputs, Release<stowplan_inputs_free>>;
using PlanOptionsHandle =
    std::unique_ptr<stowplan_plan_options, Release<stowplan_plan_options_free>>;
using Plan = std::unique_ptr<stowplan_plan, Release<stowplan_plan_free>>;
using Reports = std::unique_ptr<stowplan_reports, Release<stowplan_reports_free>>;
using PlanMessages = std::unique_ptr<stowplan_messages, Release<stowplan_messages_free>>;
using Text = std::unique_ptr<char, Release<stowplan_free>>;

// A temporary of 8 KiB; parameters and an output of 4 KiB each.
constexpr const char* kModule = R"(HloModule m, is_scheduled=true

ENTRY %main (x: f32[1024], y: f32[1024]) -> f32[1024] {
  %x = f32[1024]{0} parameter(0)
  %y = f32[1024]{0} parameter(1)
  %b = f32[2048]{0} concatenate(%x, %y), dimensions={0}
  ROOT %z = f32[1024]{0} slice(%b), slice={[512:1536]}
}
)";

// Well formed, but the loop writes over a parameter that is not donated.
constexpr const char* kLacksCopy = R"(HloModule m, is_scheduled=true
b {
  bp = f32[4] parameter(0)
  ROOT bn = f32[4] negate(bp)
}
c {
  cp = f32[4] parameter(0)
  ROOT k = pred[] constant(true)
}
ENTRY e {
  p = f32[4] parameter(0)
  ROOT w = f32[4] while(p), condition=c, body=b
}
)";

PlanOptionsHandle Cpu() {
  PlanOptionsHandle options(stowplan_plan_options_new());
  EXPECT_EQ(stowplan_plan_options_set_target(options.get(), "cpu"), STOWPLAN_OK);
  return options;
}

Inputs OpenText(const char* text) {
  stowplan_inputs* inputs = nullptr;
  stowplan_messages* errors = nullptr;
  EXPECT_EQ(stowplan_inputs_open_bytes("m.hlo", text, std::strlen(text), &inputs, &errors),
            STOWPLAN_OK)
      << stowplan_messages_text(errors);
  return Inputs(inputs);
}

Plan Load(const char* text, const PlanOptionsHandle& options = Cpu()) {
  const Inputs inputs = OpenText(text);
  stowplan_plan* plan = nullptr;
  stowplan_messages* errors = nullptr;
  EXPECT_EQ(stowplan_plan_load(inputs.get(), options.get(), &plan, &errors), STOWPLAN_OK)
      << stowplan_messages_text(errors);
  EXPECT_EQ(errors, nullptr);
  return Plan(plan);
}

stowplan_space SpaceOf(const Plan& plan, size_t k) {
  stowplan_space space = {};
  space.size = sizeof(space);
  EXPECT_EQ(stowplan_plan_get_space(plan.get(), k, &space), STOWPLAN_OK);
  return space;
}

// What `write` writes.
template <class Write>
std::string TextOf(Write write) {
  char* text = nullptr;
  size_t size = 0;
  stowplan_messages* errors = nullptr;
  EXPECT_EQ(write(&text, &size, &errors), STOWPLAN_OK) << stowplan_messages_text(errors);
  const Text owner(text);
  if (text == nullptr) return {};
  EXPECT_EQ(std::strlen(text), size);
  return {text, size};
}

std::string JsonOf(const Plan& plan) {
  return TextOf([&](char** text, size_t* size, stowplan_messages** errors) {
    return stowplan_plan_json(plan.get(), text, size, errors);
  });
}

TEST(CPlan, AModuleFromBytes) {
  const Plan plan = Load(kModule);
  EXPECT_STREQ(stowplan_plan_target(plan.get()), "cpu");
  EXPECT_STRNE(stowplan_plan_release(plan.get()), "");
  EXPECT_EQ(stowplan_plan_origin(plan.get()), STOWPLAN_ORIGIN_XLA);
  EXPECT_EQ(stowplan_plan_soundness(plan.get()), STOWPLAN_SOUND);
  EXPECT_STREQ(stowplan_plan_unchecked_reason(plan.get()), "");
  EXPECT_EQ(stowplan_plan_finding_count(plan.get()), 0U);
  EXPECT_GT(stowplan_messages_count(stowplan_plan_notes(plan.get())), 0U);
  ASSERT_EQ(stowplan_plan_space_count(plan.get()), 1U);
  const stowplan_space space = SpaceOf(plan, 0);
  EXPECT_EQ(space.color, 0);
  EXPECT_EQ(space.bytes, 5 * 4096);
  EXPECT_EQ(space.temporary_bytes, 2 * 4096);
  EXPECT_EQ(space.peak_bytes, 5 * 4096);
}

TEST(CPlan, PolicyBest) {
  const Plan xla = Load(kModule);
  EXPECT_EQ(stowplan_plan_heap_count(xla.get()), 0U);
  const PlanOptionsHandle options = Cpu();
  int asked = 0;
  stowplan_plan_options_set_policy(options.get(), STOWPLAN_POLICY_BEST);
  stowplan_plan_options_set_memory_limit(options.get(), 1);
  stowplan_plan_options_set_should_stop(
      options.get(), [](void* user) { return ++*static_cast<int*>(user) > 1000 ? 1 : 0; }, &asked);
  stowplan_plan* plan = nullptr;
  ASSERT_EQ(stowplan_plan_make(xla.get(), options.get(), &plan, nullptr), STOWPLAN_OK);
  const Plan best(plan);
  EXPECT_EQ(stowplan_plan_origin(plan), STOWPLAN_ORIGIN_BEST);
  EXPECT_EQ(stowplan_plan_soundness(plan), STOWPLAN_SOUND);
  ASSERT_EQ(stowplan_plan_heap_count(plan), 1U);
  stowplan_heap heap = {};
  heap.size = sizeof(heap);
  ASSERT_EQ(stowplan_plan_get_heap(plan, 0, &heap), STOWPLAN_OK);
  EXPECT_LE(heap.bytes, heap.xla_bytes);
  EXPECT_LE(heap.bound, heap.bytes);
  EXPECT_LE(heap.floor, heap.bound);
  EXPECT_EQ(stowplan_plan_get_heap(plan, 1, &heap), STOWPLAN_MISUSE);
  EXPECT_LE(SpaceOf(best, 0).bytes, SpaceOf(xla, 0).bytes);
}

TEST(CPlan, Texts) {
  const Plan plan = Load(kModule);
  EXPECT_THAT(JsonOf(plan), StartsWith("{"));
  EXPECT_THAT(TextOf([&](char** text, size_t* size, stowplan_messages** errors) {
                return stowplan_plan_csv(plan.get(), "allocations", text, size, errors);
              }),
              HasSubstr(","));
  EXPECT_THAT(TextOf([&](char** text, size_t* size, stowplan_messages** errors) {
                return stowplan_plan_explain(plan.get(), text, size, errors);
              }),
              HasSubstr("peak"));
  const stowplan_plan* both[] = {plan.get(), plan.get()};
  EXPECT_THAT(TextOf([&](char** text, size_t* size, stowplan_messages** errors) {
                return stowplan_plan_html(both, 2, text, size, errors);
              }),
              HasSubstr("</html>"));
  char* text = nullptr;
  stowplan_messages* errors = nullptr;
  EXPECT_EQ(stowplan_plan_csv(plan.get(), "nonsense", &text, nullptr, &errors), STOWPLAN_FAILED);
  EXPECT_EQ(text, nullptr);
  EXPECT_THAT(stowplan_messages_text(PlanMessages(errors).get()), HasSubstr("nonsense"));
}

// The reports of a made plan are a given plan, which Check finds sound or unsound.
TEST(CPlan, ReportsAreReadAndChecked) {
  const Plan plan = Load(kModule);
  stowplan_reports* handle = nullptr;
  ASSERT_EQ(stowplan_plan_reports(plan.get(), &handle, nullptr), STOWPLAN_OK);
  const Reports reports(handle);
  ASSERT_GT(stowplan_reports_count(handle), 0U);
  EXPECT_STREQ(stowplan_reports_name(handle, 0), "m-buffer-assignment.txt");
  EXPECT_EQ(stowplan_reports_name(handle, 99), nullptr);
  size_t size = 1;
  EXPECT_EQ(stowplan_reports_text(handle, 99, &size), nullptr);
  EXPECT_EQ(size, 0U);

  std::string text = stowplan_reports_text(handle, 0, &size);
  ASSERT_EQ(text.size(), size);
  const Plan given = Load(text.c_str());
  EXPECT_EQ(stowplan_plan_origin(given.get()), STOWPLAN_ORIGIN_GIVEN);
  EXPECT_EQ(stowplan_plan_soundness(given.get()), STOWPLAN_UNCHECKED);
  EXPECT_STRNE(stowplan_plan_unchecked_reason(given.get()), "");
  EXPECT_EQ(SpaceOf(given, 0).bytes, SpaceOf(plan, 0).bytes);
  stowplan_plan* checked = nullptr;
  ASSERT_EQ(stowplan_plan_check(given.get(), nullptr, &checked, nullptr), STOWPLAN_OK);
  EXPECT_NE(stowplan_plan_soundness(Plan(checked).get()), STOWPLAN_UNSOUND);

  // A plan cannot be made without the program.
  stowplan_messages* errors = nullptr;
  stowplan_plan* made = nullptr;
  EXPECT_EQ(stowplan_plan_make(given.get(), nullptr, &made, &errors), STOWPLAN_FAILED);
  EXPECT_EQ(made, nullptr);
  EXPECT_STRNE(stowplan_messages_text(PlanMessages(errors).get()), "");
}

TEST(CPlan, UnsoundPlansAreRefused) {
  const Inputs inputs = OpenText(kLacksCopy);
  const PlanOptionsHandle options = Cpu();
  stowplan_plan* plan = nullptr;
  stowplan_messages* errors = nullptr;
  EXPECT_EQ(stowplan_plan_load(inputs.get(), options.get(), &plan, &errors), STOWPLAN_FAILED);
  EXPECT_EQ(plan, nullptr);
  EXPECT_THAT(stowplan_messages_text(PlanMessages(errors).get()), HasSubstr("sound"));

  stowplan_plan_options_set_allow_unsound(options.get(), 1);
  const Plan unsound = Load(kLacksCopy, options);
  EXPECT_EQ(stowplan_plan_soundness(unsound.get()), STOWPLAN_UNSOUND);
  ASSERT_GT(stowplan_plan_finding_count(unsound.get()), 0U);
  EXPECT_THAT(stowplan_plan_finding(unsound.get(), 0), StartsWith("unsound"));
  EXPECT_EQ(stowplan_plan_finding(unsound.get(), 99), nullptr);
}

TEST(CPlan, WhatCannotBeReadFails) {
  const char* path = "/nowhere/at/all";
  stowplan_inputs* inputs = nullptr;
  stowplan_messages* errors = nullptr;
  EXPECT_EQ(stowplan_inputs_open(&path, 1, &inputs, &errors), STOWPLAN_FAILED);
  EXPECT_EQ(inputs, nullptr);
  EXPECT_THAT(stowplan_messages_text(PlanMessages(errors).get()), HasSubstr(path));

  std::string noise;
  for (int k = 0; k < 1000; ++k) noise += static_cast<char>(k * k * 31 >> 3);
  for (const std::string& bytes :
       {noise, std::string(),
        std::string("HloModule m\nENTRY e {\n  ROOT p = f32[4] nonsense(\n}\n")}) {
    // Whether it is a module at all may show only when it is loaded.
    stowplan_plan* plan = nullptr;
    stowplan_status status =
        stowplan_inputs_open_bytes("noise", bytes.data(), bytes.size(), &inputs, &errors);
    const Inputs owner(inputs);
    if (status == STOWPLAN_OK) status = stowplan_plan_load(inputs, Cpu().get(), &plan, &errors);
    EXPECT_EQ(status, STOWPLAN_FAILED);
    EXPECT_EQ(plan, nullptr);
    EXPECT_STRNE(stowplan_messages_text(PlanMessages(errors).get()), "");
  }
}

TEST(CPlan, ErrorsHaveAPlace) {
  const Inputs inputs = OpenText("HloModule m\nENTRY e {\n  ROOT p = f32[4] parameter(0\n}\n");
  stowplan_plan* plan = nullptr;
  stowplan_messages* handle = nullptr;
  ASSERT_EQ(stowplan_plan_load(inputs.get(), Cpu().get(), &plan, &handle), STOWPLAN_FAILED);
  const PlanMessages errors(handle);
  stowplan_message message = {};
  message.size = sizeof(message);
  ASSERT_EQ(stowplan_messages_get(handle, 0, &message), STOWPLAN_OK);
  EXPECT_THAT(message.file, HasSubstr("m.hlo"));
  EXPECT_GE(message.line, 3U);
  EXPECT_GT(message.column, 0U);
}

TEST(CPlan, OptionsThatMakeNoSense) {
  const Inputs inputs = OpenText(kModule);
  const auto expect_failure = [&](auto set, const char* name) {
    const PlanOptionsHandle options = Cpu();
    EXPECT_EQ(set(options.get(), name), STOWPLAN_OK);
    stowplan_plan* plan = nullptr;
    stowplan_messages* errors = nullptr;
    EXPECT_EQ(stowplan_plan_load(inputs.get(), options.get(), &plan, &errors), STOWPLAN_FAILED);
    EXPECT_THAT(stowplan_messages_text(PlanMessages(errors).get()), HasSubstr(name));
  };
  expect_failure(stowplan_plan_options_set_target, "abacus");
  expect_failure(stowplan_plan_options_set_release, "jaxlib-99");
  expect_failure(stowplan_plan_options_set_module, "no-such-module");
  expect_failure(stowplan_plan_options_set_preset, "`preset`");
  EXPECT_EQ(stowplan_plan_options_set_policy(Cpu().get(), 7), STOWPLAN_MISUSE);
}

TEST(CPlan, NullIsMisuse) {
  stowplan_inputs* inputs = nullptr;
  stowplan_messages* errors = nullptr;
  EXPECT_EQ(stowplan_inputs_open(nullptr, 1, &inputs, &errors), STOWPLAN_MISUSE);
  EXPECT_STRNE(stowplan_messages_text(PlanMessages(errors).get()), "");
  const char* none = nullptr;
  EXPECT_EQ(stowplan_inputs_open(&none, 1, &inputs, nullptr), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_inputs_open_bytes("m", nullptr, 3, &inputs, nullptr), STOWPLAN_MISUSE);
  stowplan_plan* plan = nullptr;
  EXPECT_EQ(stowplan_plan_load(nullptr, nullptr, &plan, nullptr), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_plan_make(nullptr, nullptr, &plan, nullptr), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_plan_check(nullptr, nullptr, &plan, nullptr), STOWPLAN_MISUSE);
  char* text = nullptr;
  EXPECT_EQ(stowplan_plan_json(nullptr, &text, nullptr, nullptr), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_plan_html(&plan, 1, &text, nullptr, nullptr), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_plan_html(nullptr, 0, &text, nullptr, nullptr), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_plan_options_set_target(nullptr, "cpu"), STOWPLAN_MISUSE);
  EXPECT_EQ(stowplan_plan_name(nullptr), nullptr);
  EXPECT_EQ(stowplan_plan_notes(nullptr), nullptr);
  EXPECT_EQ(stowplan_plan_soundness(nullptr), STOWPLAN_UNCHECKED);
  EXPECT_EQ(stowplan_plan_space_count(nullptr), 0U);
  EXPECT_EQ(stowplan_inputs_count(nullptr), 0U);
  EXPECT_EQ(stowplan_reports_count(nullptr), 0U);
  stowplan_inputs_free(nullptr);
  stowplan_plan_free(nullptr);
  stowplan_plan_options_free(nullptr);
  stowplan_reports_free(nullptr);
}

TEST(CPlan, TheModulesOfADirectory) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "stowplan_c_directory";
  std::filesystem::create_directories(folder);
  for (const char* name : {"module_0001.one.cpu_after_optimizations.txt",
                           "module_0002.two.cpu_after_optimizations.txt"})
    std::ofstream(folder / name) << kModule;
  const std::string text = folder.string();
  const char* path = text.c_str();
  stowplan_inputs* handle = nullptr;
  ASSERT_EQ(stowplan_inputs_open(&path, 1, &handle, nullptr), STOWPLAN_OK);
  const Inputs inputs(handle);
  ASSERT_EQ(stowplan_inputs_count(handle), 2U);
  EXPECT_EQ(stowplan_inputs_name(handle, 2), nullptr);
  const PlanOptionsHandle options(stowplan_plan_options_new());
  stowplan_plan_options_set_module(options.get(), stowplan_inputs_name(handle, 1));
  stowplan_plan* plan = nullptr;
  stowplan_messages* errors = nullptr;
  ASSERT_EQ(stowplan_plan_load(handle, options.get(), &plan, &errors), STOWPLAN_OK)
      << stowplan_messages_text(errors);
  EXPECT_THAT(stowplan_plan_name(Plan(plan).get()), HasSubstr("two"));
  std::filesystem::remove_all(folder);
}

// Each thread with inputs of its own; all of them read one plan.
TEST(CPlan, Threads) {
  const Plan shared = Load(kModule);
  const std::string expected = JsonOf(shared);
  std::vector<std::string> texts(8);
  {
    std::vector<std::jthread> threads;
    for (size_t k = 0; k < texts.size(); ++k)
      threads.emplace_back(
          [&, k] { texts[k] = k % 2 == 0 ? JsonOf(shared) : JsonOf(Load(kModule)); });
  }
  for (const std::string& text : texts) EXPECT_EQ(text, expected);
}

}  // namespace
