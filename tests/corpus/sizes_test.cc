// SPDX-License-Identifier: Apache-2.0
// Sizes of shapes against what XLA assigned: every line ` value: <12 add @0> (size=64,offset=0):
// f32[16]{0}` of every buffer-assignment report in the corpus.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "corpus/corpus_files.h"
#include "stowplan/base/source.h"
#include "target/size.h"
#include "text/shape_parser.h"

namespace stowplan {
namespace {

struct ValueLine {
  int64_t size = 0;
  std::string_view shape;
};

std::optional<ValueLine> ParseValueLine(std::string_view line) {
  constexpr std::string_view kSize = " (size=";
  if (!line.starts_with(" value: <")) return std::nullopt;
  const size_t at = line.find(kSize);
  const size_t shape = line.find("): ", at);
  if (at == std::string_view::npos || shape == std::string_view::npos) return std::nullopt;
  ValueLine value;
  std::from_chars(line.data() + at + kSize.size(), line.data() + line.size(), value.size);
  value.shape = line.substr(shape + 3);
  return value;
}

// The corpus names its folders by back end and generation: cpu/..., tpu/... (v5e),
// dialects/tpu_new_v6e/..., dialects/tpu_sm_v22x2/... (v2, topology 2x2).
std::string TargetOf(const std::string& file) {
  std::string folder;
  for (const std::filesystem::path& part : std::filesystem::relative(file, STOWPLAN_CORPUS_DIR)) {
    for (const char* family : {"cpu", "gpu", "tpu", "dyn_cpu", "dyn_tpu"}) {
      const std::string name = part.string();
      if (name.starts_with(family)) folder = name;
    }
  }
  if (folder.find("tpu") == std::string::npos)
    return file.find("gpu") == std::string::npos ? "cpu" : "gpu";
  for (const Target& target : Targets()) {
    if (!target.name.starts_with("tpu-")) continue;
    const std::string generation = "_" + std::string(target.name.substr(4));
    if (folder.find(generation) != std::string::npos) return std::string(target.name);
  }
  return "tpu-v5e";
}

struct Count {
  int files = 0;
  int64_t values = 0;
  int64_t differing = 0;
};

void CheckReport(const Source& source, const Target& target, Count& count) {
  hlo::ShapeTable shapes;
  std::string_view rest = source.bytes();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto value = ParseValueLine(line);
    if (!value) continue;
    ++count.values;
    const auto shape = text::ParseShapeText(value->shape, shapes);
    const ByteCount bytes =
        shape ? ByteSize(shapes, *shape, target) : std::unexpected(SizeError::kMalformed);
    if (bytes == value->size) continue;
    if (++count.differing <= 10) {
      ADD_FAILURE() << source.name() << " (" << target.name << "): " << line << "\n  got "
                    << (bytes ? std::to_string(*bytes) : std::string(Describe(bytes.error())));
    }
  }
}

TEST(CorpusSizes, EveryValueHasTheSizeThatXlaGaveIt) {
  std::map<std::string, Count> counts;
  for (const std::string& file : CorpusFiles("-buffer-assignment.txt")) {
    const auto source = ReadSource(file);
    ASSERT_TRUE(source.has_value()) << file;
    const std::string target = TargetOf(file);
    ++counts[target].files;
    CheckReport(**source, *FindTarget(target), counts[target]);
  }
  int64_t total = 0;
  for (const auto& [target, count] : counts) {
    std::cout << target << ": " << count.files << " reports, " << count.values << " values, "
              << count.differing << " differ\n";
    EXPECT_EQ(count.differing, 0) << target;
    total += count.values;
  }
  std::cout << "total: " << total << " values\n";
  EXPECT_GT(total, 0);
}

}  // namespace
}  // namespace stowplan
