// SPDX-License-Identifier: Apache-2.0
// perftools.profiles.Profile, gzip'ed: what `pprof` and all that understand it read. A value is a
// sample; where it comes from is its stack, what it is are its labels. There is no time in it.
#include <array>
#include <ranges>
#include <unordered_map>

#include <protozero/pbf_builder.hpp>

#include "base/gzip.h"
#include "base/utf8.h"
#include "export/formats.h"
#include "export/stacks.h"
#include "stowplan/version.h"

namespace stowplan::exporting {
namespace {

// Field numbers of profile.proto.
enum class ProfileField : protozero::pbf_tag_type {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
};
enum class ValueTypeField : protozero::pbf_tag_type { kType = 1, kUnit = 2 };
enum class SampleField : protozero::pbf_tag_type { kLocationId = 1, kValue = 2, kLabel = 3 };
enum class LabelField : protozero::pbf_tag_type { kKey = 1, kText = 2, kNumber = 3, kUnit = 4 };
enum class MappingField : protozero::pbf_tag_type {
  kId = 1,
  kFilename = 5,
  kHasFunctions = 7,
  kHasFilenames = 8,
  kHasLineNumbers = 9,
};
enum class LocationField : protozero::pbf_tag_type { kId = 1, kMappingId = 2, kLine = 4 };
enum class LineField : protozero::pbf_tag_type { kFunctionId = 1, kLine = 2 };
// Without a system name, a name counts as demangled: tools leave the brackets of `jit(step)` alone.
enum class FunctionField : protozero::pbf_tag_type { kId = 1, kName = 2, kFilename = 4 };

template <class Field>
using Builder = protozero::pbf_builder<Field>;

class ProfileWriter {
 public:
  explicit ProfileWriter(const Subject& subject)
      : subject_(subject), picture_(*subject.picture), finder_(subject), out_(bytes_) {
    Text("");  // row 0 must be empty
  }

  std::string Write() && {
    WriteType(ProfileField::kSampleType, "inuse_objects", "count");
    WriteType(ProfileField::kSampleType, "inuse_space", "bytes");
    for (const explain::Share& share : subject_.moment->shares) {
      if (share.bytes != 0) WriteSample(share);
    }
    WriteMapping();
    WriteFrames();
    WriteType(ProfileField::kPeriodType, "space", "bytes");
    out_.add_int64(ProfileField::kPeriod, 1);
    out_.add_int64(ProfileField::kDefaultSampleType, Text("inuse_space"));
    const std::array comments = {Text("stowplan " + std::string(kVersion) + ", " + Title(subject_)),
                                 Text(std::to_string(subject_.moment->bytes) + " bytes live")};
    out_.add_packed_int64(ProfileField::kComment, comments.begin(), comments.end());
    for (const std::string& text : texts_) out_.add_string(ProfileField::kStringTable, text);
    return std::move(bytes_);
  }

 private:
  // The row of a text in the string table.
  int64_t Text(std::string_view text) {
    std::string valid;
    AppendUtf8(text, valid);
    const auto [row, is_new] =
        rows_of_texts_.try_emplace(valid, static_cast<int64_t>(texts_.size()));
    if (is_new) texts_.push_back(std::move(valid));
    return row->second;
  }

  void WriteType(ProfileField field, std::string_view type, std::string_view unit) {
    Builder<ValueTypeField> row(out_, field);
    row.add_int64(ValueTypeField::kType, Text(type));
    row.add_int64(ValueTypeField::kUnit, Text(unit));
  }

  void WriteSample(const explain::Share& share) {
    const report::Report& report = *picture_.report;
    const report::Value& value = report.values[share.value];
    const explain::ValueFact& fact = picture_.fact(share.value);
    const report::Allocation& allocation = report.allocations[value.allocation];
    Builder<SampleField> row(out_, ProfileField::kSample);
    locations_.clear();
    // Innermost first; ids begin with 1.
    for (const uint32_t frame : finder_.Of(share.value) | std::views::reverse)
      locations_.push_back(frame + uint64_t{1});
    row.add_packed_uint64(SampleField::kLocationId, locations_.begin(), locations_.end());
    const std::array<int64_t, 2> counts = {1, share.bytes};
    row.add_packed_int64(SampleField::kValue, counts.begin(), counts.end());
    WriteLabel(row, "kind", explain::Word(fact.kind));
    WriteLabel(row, "memory_space", SpaceWord(picture_, allocation.color));
    WriteLabel(row, "shape", value.shape);
    WriteLabel(row, "value", explain::ValueName(report, share.value));
    WriteLabel(row, "allocation", std::to_string(allocation.number));
    WriteLabel(row, "parameter", ParameterPath(picture_, share.value));
    if (subject_.stacks == Stacks::kSource) {
      WriteLabel(row, "op_name", fact.op_name);
    } else {
      WriteLabel(row, "source", explain::SourceText(picture_, picture_.own_line(fact.frame)));
    }
    WriteBytes(row, "size", value.size);
    WriteBytes(row, "padding", share.padding);
  }

  void WriteLabel(Builder<SampleField>& sample, std::string_view key, std::string_view text) {
    if (text.empty()) return;
    Builder<LabelField> row(sample, SampleField::kLabel);
    row.add_int64(LabelField::kKey, Text(key));
    row.add_int64(LabelField::kText, Text(text));
  }

  void WriteBytes(Builder<SampleField>& sample, std::string_view key, int64_t count) {
    if (count == 0) return;
    Builder<LabelField> row(sample, SampleField::kLabel);
    row.add_int64(LabelField::kKey, Text(key));
    row.add_int64(LabelField::kNumber, count);
    row.add_int64(LabelField::kUnit, Text("bytes"));
  }

  // What was run. It says that frames have names already: otherwise tools look for a binary.
  void WriteMapping() {
    Builder<MappingField> row(out_, ProfileField::kMapping);
    row.add_uint64(MappingField::kId, 1);
    row.add_int64(MappingField::kFilename, Text(subject_.name));
    row.add_bool(MappingField::kHasFunctions, true);
    row.add_bool(MappingField::kHasFilenames, true);
    row.add_bool(MappingField::kHasLineNumbers, true);
  }

  // A location a frame; lines of one function share it.
  void WriteFrames() {
    std::unordered_map<std::string, uint64_t> functions;
    uint64_t id = 0;
    for (const StackFrame& frame : finder_.frames()) {
      const std::string_view name = frame.function.empty() ? frame.name : frame.function;
      std::string key(name);
      key += '\0';
      key += frame.file;
      const auto [function, is_new] = functions.try_emplace(std::move(key), functions.size() + 1);
      if (is_new) {
        Builder<FunctionField> row(out_, ProfileField::kFunction);
        row.add_uint64(FunctionField::kId, function->second);
        row.add_int64(FunctionField::kName, Text(name));
        row.add_int64(FunctionField::kFilename, Text(frame.file));
      }
      Builder<LocationField> row(out_, ProfileField::kLocation);
      row.add_uint64(LocationField::kId, ++id);
      row.add_uint64(LocationField::kMappingId, 1);
      Builder<LineField> line(row, LocationField::kLine);
      line.add_uint64(LineField::kFunctionId, function->second);
      line.add_int64(LineField::kLine, frame.line);
    }
  }

  const Subject& subject_;
  const explain::Picture& picture_;
  StackFinder finder_;
  std::string bytes_;
  Builder<ProfileField> out_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, int64_t> rows_of_texts_;
  std::vector<uint64_t> locations_;
};

}  // namespace

Result<std::string> WritePprof(const Subject& subject) {
  return Gzip(ProfileWriter(subject).Write());
}

}  // namespace stowplan::exporting
