// SPDX-License-Identifier: Apache-2.0
// Sizes of shapes against what XLA assigned: every line ` value: <12 add @0> (size=64,offset=0):
// f32[16]{0}` of every buffer-assignment report in the corpus.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "corpus/compilers.h"
#include "corpus/recorded.h"
#include "stowplan/base/source.h"
#include "target/size.h"
#include "text/shape_parser.h"

namespace stowplan {
namespace {

struct ValueLine {
  int64_t size = 0;
  std::string_view shape;
  bool is_sparse_table = false;  // a tuple in the SparseCore's memory, where tables take no bytes
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
  value.is_sparse_table = line.substr(0, at).ends_with(" @7>") && value.shape.starts_with('(');
  return value;
}

struct Count {
  int files = 0;
  int64_t values = 0;
  int64_t differing = 0;
  int64_t sparse_tables = 0;
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
    if (value->is_sparse_table) {
      ++count.sparse_tables;
      EXPECT_EQ(value->size, 0) << source.name() << ": " << line;
      continue;
    }
    if (bytes == value->size) continue;
    if (++count.differing <= 10) {
      ADD_FAILURE() << source.name() << " (" << target.name << "): " << line << "\n  got "
                    << (bytes ? std::to_string(*bytes) : std::string(Describe(bytes.error())));
    }
  }
}

TEST(CorpusSizes, EveryValueHasTheSizeThatXlaGaveIt) {
  std::map<std::string, Count> counts;
  for (const std::string& file : FilesBelow(STOWPLAN_CORPUS_DIR, "-buffer-assignment.txt")) {
    const auto source = ReadSource(file);
    ASSERT_TRUE(source.has_value()) << file;
    const std::string target = TargetOf(file);
    ++counts[target].files;
    CheckReport(**source, *FindTarget(target), counts[target]);
  }
  CountRows rows;  // reports, values, of these tables of the SparseCore
  for (const auto& [target, count] : counts) {
    EXPECT_EQ(count.differing, 0) << target;
    rows[target] = {count.files, count.values, count.sparse_tables};
  }
  ExpectRows(rows,
             DocTable("sizes.md", "| target | reports | values | tables of the SparseCore |"));
}

}  // namespace
}  // namespace stowplan
