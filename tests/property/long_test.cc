// SPDX-License-Identifier: Apache-2.0
// The laws of round_trip_test.cc and corruption_test.cc on more and larger inputs.
#include <iostream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "property/module_generator.h"
#include "property/survival.h"

namespace stowplan {
namespace {

TEST(LongProperty, ManyRandomModulesPrintAsTheyWereWritten) {
  // New ones each time; the seed is printed so that a failure can be had again.
  const uint32_t first = std::random_device()();
  std::cout << "seeds from " << first << "\n";
  for (uint32_t seed = first; seed != first + 1000; ++seed) {
    const std::string text = RandomModule(seed, {.depth = 4, .instructions = 25});
    const auto module = ParseText(Source::FromBytes("random.hlo", text));
    ASSERT_TRUE(module) << "seed " << seed << "\n" << Render(module.error());
    ASSERT_EQ(hlo::ToString(*module), text) << "seed " << seed;
    const Diagnostics complaints = hlo::Verify(*module);
    ASSERT_TRUE(complaints.empty()) << "seed " << seed << "\n" << Render(complaints);
  }
}

TEST(LongProperty, RandomModulesCutAndCorrupted) {
  std::mt19937 random(3);
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const std::string text = RandomModule(seed);
    for (int i = 0; i < 20; ++i) {
      std::string bad = text;
      for (size_t k = 0; k <= random() % 4; ++k) {
        bad[random() % bad.size()] = static_cast<char>(random());
      }
      ExpectSurvives(ParseText, bad, "seed " + std::to_string(seed));
      ExpectSurvives(ParseText, text.substr(0, random() % text.size()), "cut");
      // A piece of it moved elsewhere.
      const size_t from = random() % text.size();
      bad = text;
      bad.insert(random() % bad.size(), text.substr(from, random() % 200));
      ExpectSurvives(ParseText, bad, "seed " + std::to_string(seed));
    }
  }
}

TEST(LongProperty, TextsWithAnyWrongByte) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  for (const auto& [name, text] : FilesIn("fuzz/seeds/fuzz_text")) {
    ExpectSurvivesCorruption(ParseText, name, text, all);
  }
  for (const auto& [name, bytes] : FilesIn("fuzz/seeds/fuzz_proto")) {
    ExpectSurvivesCorruption(ParseProto, name, bytes, all);
  }
}

}  // namespace
}  // namespace stowplan
