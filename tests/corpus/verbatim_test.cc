// SPDX-License-Identifier: Apache-2.0
// What of the corpus is kept as it was written, because Stowplan does not know it.
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "corpus/corpus_files.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/module.h"
#include "text/parse.h"

namespace stowplan {
namespace {

using Names = std::map<std::string, int64_t>;

void Print(std::string_view what, const Names& names) {
  std::cout << what << " kept verbatim: " << (names.empty() ? "none" : "") << "\n";
  for (const auto& [name, count] : names) std::cout << "  " << name << " " << count << "\n";
}

std::string NameOf(std::string_view attribute) {
  return std::string(attribute.substr(0, attribute.find('=')));
}

TEST(CorpusVerbatim, NothingIsKeptVerbatim) {
  Names opcodes;
  Names attributes;
  Names header_attributes;
  std::map<std::string_view, int64_t> known;
  for (const std::string& file : CorpusTexts()) {
    const auto source = ReadSource(file);
    ASSERT_TRUE(source) << Render(source.error());
    const auto module = ParseText(*source);
    ASSERT_TRUE(module) << Render(module.error());
    for (const auto& [id, name] : module->unknown_opcodes) {
      ++opcodes[std::string(module->view(name))];
    }
    for (const hlo::Attribute& attribute : module->attributes) {
      if (attribute.key == hlo::AttributeKey::kUnknown) {
        ++attributes[NameOf(module->view(attribute.text()))];
      } else {
        ++known[hlo::Name(attribute.key)];
      }
    }
    for (const hlo::Text text : module->header.unknown) {
      ++header_attributes[NameOf(module->view(text))];
    }
  }
  Print("opcodes", opcodes);
  Print("attributes", attributes);
  Print("header attributes", header_attributes);
  std::cout << "attributes understood: " << known.size() << "\n";
  for (const auto& [name, count] : known) {
    std::cout << "  " << (name.empty() ? "(operand part)" : name) << " " << count << "\n";
  }
  EXPECT_TRUE(opcodes.empty());
  EXPECT_TRUE(attributes.empty());
  EXPECT_TRUE(header_attributes.empty());
  EXPECT_GT(known.size(), 30U);
}

}  // namespace
}  // namespace stowplan
