// SPDX-License-Identifier: Apache-2.0
// Whole logs: blocks behind messages, several incidents, damaged and long texts.
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "growth.h"
#include "oom/explain.h"
#include "oom/oom.h"
#include "unit/oom/sizes.h"

namespace stowplan::oom {
namespace {

const std::vector<std::string> kExamples = {
    "cpu",          "gpu_async",   "gpu_fragmented",  "gpu_other_process",
    "gpu_training", "host",        "message_in_json", "tpu_kernel",
    "tpu_load",     "tpu_padding", "tpu_training"};

std::string Example(const std::string& name) {
  std::ifstream file(std::string(STOWPLAN_OOM_LOGS) + "/" + name + ".log");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

TEST(OomLog, TrainingOnAGpu) {
  const Log log = ReadLog(Example("gpu_training"));
  ASSERT_EQ(log.incidents.size(), 1U);
  EXPECT_EQ(log.framework, Framework::kJax);
  const Incident& incident = log.incidents[0];
  // The allocator, the executable and Python speak of one event.
  EXPECT_EQ(incident.count, 3);
  EXPECT_EQ(incident.line, 3);
  EXPECT_EQ(incident.requested, (Size{16441673472, 0}));
  EXPECT_EQ(Bytes(incident.limit), 18 * kGiB);
  EXPECT_EQ(incident.pool.name, "GPU_0_bfc");
  EXPECT_EQ(Bytes(incident.pool.in_use), 4574140160);
  EXPECT_EQ(Bytes(incident.pool.largest_free), 18 * kGiB - 4574140160);
  EXPECT_EQ(incident.pool.map.size(), 100U);
  EXPECT_EQ(Bytes(incident.program.fragmentation), 312 * kMiB);
  ASSERT_EQ(incident.buffers.size(), 10U);
  EXPECT_EQ(incident.buffers[0].shape, "f32[8,2048,50304]");
  EXPECT_EQ(incident.buffers[0].source_file, "/home/ann/ridge/model.py");
  EXPECT_EQ(incident.buffers[0].source_line, 161);
  EXPECT_EQ(incident.buffers[0].op_name, "jit(train_step)/jvp(Ridge)/head/dot_general");
  EXPECT_EQ(incident.buffers[0].opcode, "custom-call");
  EXPECT_EQ(incident.buffers[0].instruction, "");
  EXPECT_TRUE(incident.buffers[9].is_parameter || incident.buffers[7].is_parameter);
  ASSERT_EQ(log.remats.size(), 1U);
}

TEST(OomLog, PaddingOnATpu) {
  const Log log = ReadLog(Example("tpu_padding"));
  ASSERT_EQ(log.incidents.size(), 1U);
  const Incident& incident = log.incidents[0];
  EXPECT_EQ(Bytes(incident.reserved), 530 * kMiB);
  EXPECT_EQ(Bytes(incident.program.arguments), 0);
  EXPECT_EQ(Bytes(incident.program.shared), 0);
  ASSERT_EQ(incident.program.parts.size(), 3U);
  EXPECT_EQ(incident.program.parts[2].name, "HLO temp");
  EXPECT_LT(Bytes(incident.program.unpadded), Bytes(incident.program.padded));
  ASSERT_EQ(incident.buffers.size(), 3U);
  const Buffer& worst = incident.buffers[0];
  EXPECT_EQ(worst.instruction, "fusion.14");
  EXPECT_EQ(worst.opcode, "fusion");
  EXPECT_EQ(worst.type, "HLO temp");
  EXPECT_EQ(Bytes(worst.size), 4 * kGiB);
  EXPECT_EQ(Bytes(worst.unpadded), 640 * kMiB);
  EXPECT_EQ(worst.source_line, 31);
  EXPECT_EQ(incident.buffers[2].op_name, "");
  EXPECT_FALSE(incident.buffers[2].padding.has_value());
}

TEST(OomLog, OldTpuWords) {
  const Log log = ReadLog(
      "Compilation failure: Ran out of memory in memory space hbm. Used 41.00G of 16.00G hbm. "
      "Exceeded hbm capacity by 25.00G.\n\nTotal hbm usage >= 41.50G:\n    reserved        "
      "512.00M\n    program          40.50G\n    arguments       unknown size\n\nOutput size "
      "unknown.\n\nProgram hbm requirement 40.50G:\n    HLO temp         40.00G (25.0% "
      "utilization, "
      "0.7% fragmentation (293.00M))\n");
  ASSERT_EQ(log.incidents.size(), 1U);
  const Program& program = log.incidents[0].program;
  EXPECT_FALSE(program.arguments.has_value());
  EXPECT_FALSE(program.outputs.has_value());
  EXPECT_TRUE(Agree(*program.unpadded, {10 * kGiB, 100 * kMiB}));
  EXPECT_EQ(Bytes(program.fragmentation), 293 * kMiB);

  const Log load = ReadLog(
      "Resource exhausted: From /job:tpu_worker/replica:0/task:0:\nAttempting to reserve 3.95G at "
      "the bottom of memory. That was not possible. There are 1.92G free, 0B reserved, and 1.92G "
      "reservable.; \nHBM capacity 8.00G:\n   Top-of-Memory reserved:  529.00M (  554,696,704 "
      "bytes)\n   Currently allocated:    6.08G (   6,532,939,776 bytes)\nPersistent allocations "
      "include some or all of:\n    arguments                478.00M (89.4% utilization)\n    "
      "output  "
      "                   5.06G (71.6% utilization)\n");
  ASSERT_EQ(load.incidents.size(), 1U);
  EXPECT_EQ(Bytes(load.incidents[0].limit), 8 * kGiB);
  EXPECT_EQ(Bytes(load.incidents[0].program.arguments), 478 * kMiB);
  EXPECT_TRUE(load.incidents[0].program.outputs.has_value());
}

TEST(OomLog, CopiedFromAWebPage) {
  const Log log = ReadLog(
      "Ran out of memory in memory space hbm. **Used 19.00G of 15.00G hbm. Exceeded hbm capacity "
      "by "
      "4.00G**.\nTotal hbm usage >= 19.50G: \n reserved 512.00M \n program 19.00G\n arguments "
      "0BOutput size 0B; shares 0B with arguments.Program hbm requirement 19.00G:\n global "
      "276.0K\n "
      "HLO temp 18.50G (33.1% utilization: **Unpadded (6.00G) Padded (18.00G)**, 0.7% "
      "fragmentation "
      "(147.00M)) **Largest program allocations in hbm**:\n\n 1\\. Size: 14.00G \n Shape: "
      "s32[29360128,10]{1,0:T(8,128)}\n");
  ASSERT_EQ(log.incidents.size(), 1U);
  const Incident& incident = log.incidents[0];
  EXPECT_EQ(Bytes(incident.exceeded), 4 * kGiB);
  EXPECT_EQ(Bytes(incident.program.unpadded), 6 * kGiB);
  ASSERT_EQ(incident.buffers.size(), 1U);
  EXPECT_EQ(Bytes(incident.buffers[0].size), 14 * kGiB);
}

TEST(OomLog, OldAllocatorsDumpFirst) {
  const Log log = ReadLog(
      "I core/bfc_allocator.cc:643] Bin (256): Total Chunks: 1, Chunks in use: 1 256B allocated.\n"
      "I core/bfc_allocator.cc:660] Free at 0x1000 of size 4096\n"
      "I core/bfc_allocator.cc:696] Sum Total of in-use chunks: 479.75MiB\n"
      "I core/bfc_allocator.cc:698] Stats: \nLimit:                   503316480\nInUse:            "
      "   "
      "    503061248\n"
      "W core/bfc_allocator.cc:274] "
      "****************************************************************\n"
      "W core/bfc_allocator.cc:275] Ran out of memory trying to allocate 3.78MiB.  See logs for "
      "memory "
      "state.\n");
  ASSERT_EQ(log.incidents.size(), 1U);
  EXPECT_EQ(Bytes(log.incidents[0].pool.limit), 503316480);
  EXPECT_EQ(Bytes(log.incidents[0].pool.largest_free), 4096);
}

TEST(OomLog, NewAllocatorSummary) {
  const Log log = ReadLog(
      "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00GiB (rounded to 2147483648) "
      "from the lower end requested by op\n"
      "Allocator memory summary: rounded request 2.00GiB, total free in pool 3.00GiB, largest free "
      "chunk usable by lower end 1.00GiB, unallocated bytes 0B, pool size 11.00GiB, pool limit "
      "12.00GiB\n");
  ASSERT_EQ(log.incidents.size(), 1U);
  const Pool& pool = log.incidents[0].pool;
  EXPECT_EQ(Bytes(pool.free), 3 * kGiB);
  EXPECT_EQ(Bytes(pool.largest_free), kGiB);
  EXPECT_EQ(Bytes(pool.size), 11 * kGiB);
  EXPECT_EQ(Bytes(pool.limit), 12 * kGiB);
}

TEST(OomLog, SeveralAreToldApart) {
  const Log log = ReadLog(Example("tpu_kernel") + "epoch 2\n" + Example("gpu_fragmented") +
                          Example("gpu_training") + Example("gpu_fragmented"));
  ASSERT_EQ(log.incidents.size(), 3U);
  EXPECT_EQ(log.incidents[0].kind, Kind::kScoped);
  EXPECT_EQ(Bytes(log.incidents[1].requested), 2 * kGiB);
  EXPECT_EQ(log.incidents[1].count, 4);
  EXPECT_EQ(WorstIncident(log), 2U);
  EXPECT_EQ(WorstIncident(ReadLog("")), std::nullopt);
  // A warning is no failure, however large.
  const Log soft = ReadLog(
      "Out of memory while trying to allocate 5 bytes.\nAllocation of 999999999 exceeds 10% of "
      "free "
      "system memory.\n");
  EXPECT_EQ(WorstIncident(soft), 0U);
}

TEST(OomLog, DevicesOfOneEvent) {
  std::string text;
  for (int i = 0; i < 4; ++i)
    text +=
        "Allocator (GPU_" + std::to_string(i) +
        "_bfc) ran out of memory trying to allocate 2.00GiB (rounded to 2147483648)requested by "
        "op \n";
  const Log log = ReadLog(text);
  ASSERT_EQ(log.incidents.size(), 1U);
  EXPECT_EQ(log.incidents[0].devices.size(), 4U);
}

TEST(OomLog, DriversAreAskedForLess) {
  const Log log = ReadLog(Example("gpu_other_process"));
  ASSERT_EQ(log.incidents.size(), 2U);
  EXPECT_EQ(log.incidents[0].count, 4);
  EXPECT_EQ(Bytes(log.incidents[0].requested), 8387559424);
  EXPECT_FALSE(log.incidents[1].requested.has_value());
}

TEST(OomLog, MessageInsideOfAString) {
  const Log log = ReadLog(Example("message_in_json"));
  ASSERT_EQ(log.incidents.size(), 1U);
  ASSERT_EQ(log.incidents[0].buffers.size(), 1U);
  EXPECT_EQ(log.incidents[0].buffers[0].source_line, 40);
  EXPECT_EQ(log.incidents[0].buffers[0].instruction, "dot.12");
  EXPECT_EQ(log.framework, Framework::kTorch);
}

// Every line behind another prefix, in color, quoted: the same is found.
TEST(OomLog, PrefixesDoNotMatter) {
  for (const std::string name : {"gpu_training", "tpu_padding", "tpu_training", "gpu_async"}) {
    const std::string text = Example(name);
    const Log plain = ReadLog(text);
    for (const std::string_view prefix :
         {"> ", "(worker pid=7, ip=10.0.0.2) ", "2026-03-04T10:11:12.123456Z stderr F ", "\x1b[33m",
          "[rank0]: ", "E0304 10:11:12.345678    7 log.py:33] ", "trainer-1  | "}) {
      std::string changed;
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        changed += std::string(prefix) + line + "\x1b[0m\r\n";
      const Log log = ReadLog(changed);
      ASSERT_EQ(log.incidents.size(), plain.incidents.size()) << name << prefix;
      EXPECT_TRUE(log.incidents[0].buffers == plain.incidents[0].buffers) << name << prefix;
      EXPECT_EQ(log.incidents[0].requested, plain.incidents[0].requested) << name << prefix;
      EXPECT_EQ(log.incidents[0].limit, plain.incidents[0].limit) << name << prefix;
      EXPECT_TRUE(log.incidents[0].program.parts == plain.incidents[0].program.parts)
          << name << prefix;
    }
  }
}

// What is left of a log that was cut off can be explained. A number that was cut is another one.
TEST(OomLog, CutAnywhere) {
  for (const std::string& name : kExamples) {
    const std::string text = Example(name);
    const Log whole = ReadLog(text);
    for (size_t size = 0; size < text.size(); size += 7) {
      const Log log = ReadLog(std::string_view(text).substr(0, size));
      EXPECT_LE(log.incidents.size(), whole.incidents.size() + 1) << name << size;
      for (size_t i = 0; i < log.incidents.size(); ++i) {
        const Explanation explanation = Explain(log, i);
        EXPECT_FALSE(explanation.causes.empty());
        EXPECT_FALSE(explanation.fixes.empty());
      }
    }
  }
}

// Pieces of logs in any order, and noise.
RC_GTEST_PROP(OomLog, AnythingCanBeExplained, ()) {
  static const std::vector<std::string> pieces = [] {
    std::vector<std::string> all;
    for (const std::string& name : kExamples) {
      std::istringstream lines(Example(name));
      for (std::string line; std::getline(lines, line);) all.push_back(line);
    }
    for (const char* piece :
         {"\n", "\\n", "Size: ", "99999999999999999999G ", "0B", "\x1b[", "(", "1. ", "Limit: 0",
          " allocate ", "memory ", "of ", "\x00", "\xff", "9.99E "})
      all.emplace_back(piece);
    return all;
  }();
  std::string text;
  const auto count = *rc::gen::inRange(0, 60);
  for (int i = 0; i < count; ++i) {
    const std::string& piece = pieces[*rc::gen::inRange<size_t>(0, pieces.size())];
    text += piece.substr(0, *rc::gen::inRange<size_t>(0, piece.size() + 1));
    if (*rc::gen::inRange(0, 3) > 0) text += '\n';
  }
  const Log log = ReadLog(text);
  const auto worst = WorstIncident(log);
  RC_ASSERT(worst.has_value() == !log.incidents.empty());
  for (size_t i = 0; i < log.incidents.size(); ++i) {
    const Explanation explanation = Explain(log, i);
    RC_ASSERT(!explanation.headline.empty());
    RC_ASSERT(!explanation.causes.empty());
    RC_ASSERT(!explanation.fixes.empty());
    if (explanation.lack) RC_ASSERT(explanation.lack->bytes >= 0);
  }
}

TEST(OomLog, ListsWithoutEnd) {
  std::string text = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 77 bytes.\n";
  text += "Peak buffers:\n";
  for (int i = 1; i <= 3000; ++i)
    text += "\tBuffer " + std::to_string(i) + ":\n\t\tSize: 1.50MiB\n\t\tShape: f32[8]\n";
  const Log log = ReadLog(text);
  ASSERT_EQ(log.incidents.size(), 1U);
  EXPECT_EQ(log.incidents[0].buffers.size(), 1000U);
}

// Also if it is all messages.
TEST(OomLog, LinearTime) {
  std::string messages;
  for (int i = 0; i < 4000; ++i)
    messages += "Out of memory while trying to allocate " + std::to_string(i * 99991) + " bytes.\n";
  const std::string example = Example("gpu_training");
  for (const std::string_view text :
       {std::string_view(messages), std::string_view("a"), std::string_view("memory allocate "),
        std::string_view("std::bad_alloc "), std::string_view(example)}) {
    const auto reading = [&](size_t bytes) -> std::function<void()> {
      std::string more;
      while (more.size() < bytes) more += text;
      return [more = std::move(more)] { (void)ReadLog(more); };
    };
    EXPECT_TRUE(TimeIsLinear(reading, size_t{1} << 20)) << text.substr(0, 40);
  }
  const Log log = ReadLog(messages);
  EXPECT_EQ(log.incidents.size() + static_cast<size_t>(log.left_out), 4000U);
  EXPECT_EQ(log.incidents.size(), kMostIncidents);
}

}  // namespace
}  // namespace stowplan::oom
