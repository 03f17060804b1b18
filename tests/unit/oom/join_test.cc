// SPDX-License-Identifier: Apache-2.0
#include "oom/join.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>

#include "explain/picture.h"
#include "report/read.h"

namespace stowplan::oom {
namespace {

constexpr std::string_view kReport =
    "BufferAssignment:\n"
    "allocation 0: size 4096, parameter 0, shape |f32[1024]| at ShapeIndex {}:\n"
    " value: <0 p @0> (size=4096,offset=0): f32[1024]{0}\n"
    "allocation 1: size 4096, maybe-live-out:\n"
    " value: <3 out @0> (size=4096,offset=0): f32[1024]{0}\n"
    "allocation 2: size 8192, preallocated-temp:\n"
    " value: <1 fusion.1 @0> (size=4096,offset=0): f32[1024]{0}\n"
    " value: <2 fusion.2 @0> (size=4096,offset=4096): f32[32,32]{1,0}\n";

class OomJoin : public ::testing::Test {
 protected:
  void SetUp() override {
    source_ = Source::FromBytes("report", kReport);
    auto read = report::ReadReport({&source_, 1});
    ASSERT_TRUE(read.has_value()) << Render(read.error());
    report_ = std::make_unique<report::Report>(*std::move(read));
    auto picture = explain::MakePicture(*report_, nullptr);
    ASSERT_TRUE(picture.has_value()) << Render(picture.error());
    picture_ = std::make_unique<explain::Picture>(*std::move(picture));
  }
  std::string NameOf(const Match& match) {
    return match.value.is_none() ? "" : explain::ValueName(*report_, match.value);
  }

  std::shared_ptr<const Source> source_;
  std::unique_ptr<report::Report> report_;
  std::unique_ptr<explain::Picture> picture_;
};

Buffer BufferOf(std::string shape, std::string instruction, int64_t bytes) {
  Buffer buffer;
  buffer.size = Size{.bytes = bytes, .slack = 51};
  buffer.shape = std::move(shape);
  buffer.instruction = std::move(instruction);
  return buffer;
}

TEST_F(OomJoin, ByNameElseByShape) {
  Incident incident;
  incident.buffers = {BufferOf("f32[1024]{0}", "fusion.1", 4096),
                      BufferOf("f32[1024]", "", 4096),
                      BufferOf("f32[32,32]", "", 4096),
                      BufferOf("f32[32,32]", "", 4096),
                      BufferOf("f32[1024]", "", 5000),
                      BufferOf("", "fusion.9", 4096)};
  const Join join = JoinPlan(incident, *picture_);
  ASSERT_EQ(join.matches.size(), 6U);
  EXPECT_EQ(join.matches[0].matched_by, MatchedBy::kName);
  EXPECT_EQ(NameOf(join.matches[0]), "fusion.1");
  EXPECT_EQ(join.matches[1].matched_by, MatchedBy::kShape);
  // No parameter, where the log says that it is none.
  EXPECT_EQ(NameOf(join.matches[1]), "out");
  EXPECT_EQ(NameOf(join.matches[2]), "fusion.2");
  // A value is found once, and only with its size.
  for (size_t i = 3; i < 6; ++i) EXPECT_EQ(join.matches[i].matched_by, MatchedBy::kNothing) << i;
  EXPECT_FALSE(join.is_same);
}

TEST_F(OomJoin, Figures) {
  Incident incident;
  incident.kind = Kind::kBuffer;
  incident.backend = Backend::kGpu;
  incident.requested = Size{.bytes = 8192, .slack = 0};
  incident.program = {.total = Size{16384, 51},
                      .arguments = Size{4096, 51},
                      .outputs = Size{4096, 51},
                      .temporaries = Size{8192, 51}};
  Join join = JoinPlan(incident, *picture_);
  EXPECT_EQ(join.figures.size(), 4U);
  EXPECT_TRUE(join.is_same);
  ASSERT_FALSE(join.requested.is_none());
  EXPECT_EQ(report_->allocations[join.requested].number, 2);
  incident.program.temporaries = Size{9000, 51};
  join = JoinPlan(incident, *picture_);
  EXPECT_FALSE(join.is_same);
  EXPECT_FALSE(join.figures[2].agrees);
}

}  // namespace
}  // namespace stowplan::oom
