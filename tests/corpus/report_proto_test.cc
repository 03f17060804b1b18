// SPDX-License-Identifier: Apache-2.0
// The text reports of a module against the buffer assignment inside its .hlo.pb: equal, up to what
// the proto does not hold.
#include <map>
#include <ranges>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "corpus/recorded.h"
#include "corpus/report_files.h"
#include "report/from_proto.h"
#include "report/to_proto.h"
#include "report/write.h"
#include "stowplan/session.h"

namespace stowplan::report {
namespace {

struct Count {
  int equal = 0;
  int modules = 0;
  int64_t values = 0;
};

struct Pair {
  std::string file;  // the .hlo.pb
  hlo::Module module;
  Report text;
  Report proto;
};

// Both reports of a module; nothing, and a failure, when one cannot be read.
std::optional<Pair> ReadPair(const std::string& file) {
  Result<hlo::Module> module = ReadModule(file);
  Result<Report> text = ReadAllOf(Sibling(file, ".hlo.pb", kAssignmentEnding));
  if (!module || !text) {
    ADD_FAILURE() << file << "\n" << Render(module ? text.error() : module.error());
    return std::nullopt;
  }
  Result<Report> proto = ReportFromModule(*module);
  if (!proto) {
    ADD_FAILURE() << Render(proto.error());
    return std::nullopt;
  }
  return Pair{file, *std::move(module), *std::move(text), *std::move(proto)};
}

std::string ToText(const Report& report, std::string_view instruction, const Index& index) {
  std::string text(instruction);
  if (!index.is_shown) return text;
  text += " {";
  for (const int64_t n : report.numbers(index)) text += std::to_string(n) + ",";
  return text + "}";
}

// Everything that both say about a value, as one text.
std::string Describe(const Report& report, const Value& value) {
  std::string text = std::to_string(value.number) + " " +
                     ToText(report, value.instruction, value.index) + " color " +
                     std::to_string(value.color) + " size " + std::to_string(value.size) +
                     " offset " + std::to_string(value.offset) + " " + std::string(value.shape);
  return text + " in " + std::to_string(report.allocations[value.allocation].number);
}

std::map<int64_t, std::string> DescribeValues(const Report& report) {
  std::map<int64_t, std::string> values;
  for (const Value& value : report.values.rows()) {
    values.emplace(value.number, Describe(report, value));
  }
  return values;
}

void ExpectSameValues(const Pair& pair, Count& count) {
  const std::map<int64_t, std::string> text = DescribeValues(pair.text);
  const std::map<int64_t, std::string> proto = DescribeValues(pair.proto);
  ASSERT_EQ(text.size(), proto.size()) << pair.file;
  for (const auto& [number, description] : text) {
    const auto other = proto.find(number);
    ASSERT_NE(other, proto.end()) << pair.file << ": " << description;
    EXPECT_EQ(description, other->second) << pair.file;
    ++count.values;
  }
}

// The assignment's text, with what the proto lacks taken from the text: (phi) and the page.
std::string WriteWithMissing(Pair& pair) {
  std::map<int64_t, bool> is_phi;
  for (const Value& value : pair.text.values.rows()) is_phi.emplace(value.number, value.is_phi);
  for (size_t i = 0; i < pair.proto.values.size(); ++i) {
    Value& value = pair.proto.values[ValueId(i)];
    value.is_phi = is_phi[value.number];
  }
  for (size_t i = 0; i < pair.proto.allocations.size(); ++i) {
    pair.proto.allocations[AllocationId(i)].page = pair.text.allocations[AllocationId(i)].page;
  }
  return WriteAssignment(pair.proto, pair.text.dialect);
}

void ExpectCounts(const std::map<std::string, Count>& counts) {
  CountRows rows;  // modules, values
  for (const auto& [archive, count] : counts) {
    EXPECT_EQ(count.equal, count.modules) << archive;
    rows[archive] = {count.modules, count.values};
  }
  ExpectRows(rows, {
                       {"cpu", {54, 10152}},
                       {"cpu11", {54, 9530}},
                       {"gpu", {50, 7731}},
                       {"scale", {3, 23424}},
                       {"tpu", {54, 17616}},
                   });
}

TEST(CorpusReportProto, TextAndProtoSayTheSame) {
  std::map<std::string, Count> counts;
  for (const std::string& file : CorpusProtos()) {
    std::optional<Pair> pair = ReadPair(file);
    if (!pair) continue;
    Count& count = counts[ArchiveOf(file)];
    ++count.modules;
    ExpectSameValues(*pair, count);
    const std::string written = WriteWithMissing(*pair);
    const auto text = ReadSource(Sibling(file, ".hlo.pb", kAssignmentEnding));
    ASSERT_TRUE(text.has_value());
    if (written == (*text)->bytes())
      ++count.equal;
    else
      ADD_FAILURE() << file << ": the assignment's text differs";
  }
  ExpectCounts(counts);
}

TEST(CorpusReportProto, TheProtoCanBeMadeFromTheText) {
  std::map<std::string, Count> counts;
  for (const std::string& file : CorpusProtos()) {
    const std::optional<Pair> pair = ReadPair(file);
    if (!pair) continue;
    Count& count = counts[ArchiveOf(file)];
    ++count.modules;
    Result<BufferAssignmentMessage> made = BuildBufferAssignment(pair->text, pair->module);
    ASSERT_TRUE(made.has_value()) << Render(made.error());
    const Result<BufferAssignmentMessage> original = ParseBufferAssignment(pair->module);
    ASSERT_TRUE(original.has_value());
    // The text knows nothing of these. What XLA wrote has indices in another pool.
    EXPECT_TRUE(made->aliases.empty() && made->traces.empty());
    const auto shift = static_cast<uint32_t>(made->ints.size());
    made->ints.insert(made->ints.end(), original->ints.begin(), original->ints.end());
    made->aliases = original->aliases;
    for (BufferAlias& alias : made->aliases) alias.location.index.begin += shift;
    made->traces = original->traces;
    made->peaks = original->peaks;
    count.values += static_cast<int64_t>(made->buffers.size());
    const std::string bytes = SerializeBufferAssignment(*made);
    if (bytes == pair->module.view(pair->module.buffer_assignment))
      ++count.equal;
    else
      ADD_FAILURE() << file << ": the bytes differ";
  }
  ExpectCounts(counts);
}

}  // namespace
}  // namespace stowplan::report
