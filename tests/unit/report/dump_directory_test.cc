// SPDX-License-Identifier: Apache-2.0
#include "report/dump_directory.h"

#include <gmock/gmock.h>

namespace stowplan::report {

// For messages of failed tests.
static void PrintTo(const DumpLeftover& leftover, std::ostream* out) {
  *out << leftover.path << ": " << leftover.reason;
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Describe(std::string_view path) {
  const DumpFileName name = ParseDumpFileName(path);
  return std::to_string(static_cast<int>(name.kind)) + " " + name.module + " | " + name.stage;
}

std::vector<DumpFile> Files(std::initializer_list<std::string_view> paths) {
  std::vector<DumpFile> files;
  for (const std::string_view path : paths) {
    files.push_back({.path = std::string(path), .size = 100, .head = {}});
  }
  return files;
}

std::vector<std::string> Names(const DumpDirectory& directory) {
  std::vector<std::string> names;
  for (const DumpModule& module : directory.modules) names.push_back(module.name);
  return names;
}

TEST(DumpFileName, OfEveryBackEnd) {
  EXPECT_EQ(Describe("module_0003.jit_f.cpu_after_optimizations-buffer-assignment.txt"),
            "0 module_0003.jit_f | cpu_after_optimizations");
  EXPECT_EQ(
      Describe("module_0003.jit_f.sm_9.0a_gpu_after_optimizations-buffer-assignment-values.txt"),
      "1 module_0003.jit_f | sm_9.0a_gpu_after_optimizations");
  EXPECT_EQ(Describe("module_0003.jit_f.gfx90a_gpu_after_optimizations-live-range.txt.gz"),
            "2 module_0003.jit_f | gfx90a_gpu_after_optimizations");
  EXPECT_EQ(Describe("module_0003.jit_f.gpu_after_optimizations-memory-usage-report.txt"),
            "3 module_0003.jit_f | gpu_after_optimizations");
  EXPECT_EQ(Describe("d/module_0003.jit_f.cl_1003.after_optimizations-memory-usage-report.pb"),
            "4 d/module_0003.jit_f | cl_1003.after_optimizations");
  EXPECT_EQ(Describe("module_0003.jit_f.after_optimizations.txt"),
            "5 module_0003.jit_f | after_optimizations");
  EXPECT_EQ(Describe("1600000000.module_0003.a_b.15.after_optimizations.hlo.pb"),
            "6 1600000000.module_0003.a_b.15 | after_optimizations");
  EXPECT_EQ(Describe("module_0000.after_optimizations-buffer-assignment.txt"),
            "0 module_0000 | after_optimizations");
  EXPECT_EQ(Describe("module_0003.jit_f.before_optimizations.txt"),
            "5 module_0003.jit_f | before_optimizations");
  EXPECT_EQ(Describe("module_0003.jit_f.after_optimizations_before_buffer_assignment.txt"),
            "5 module_0003.jit_f | after_optimizations_before_buffer_assignment");
  // A folder for each program, without names of modules.
  EXPECT_EQ(Describe("mlp/cpu_after_optimizations-live-range.txt"),
            "2 mlp | cpu_after_optimizations");
  EXPECT_EQ(Describe("sm_9.0_gpu_after_optimizations.txt"), "5  | sm_9.0_gpu_after_optimizations");
}

TEST(DumpFileName, OfOtherFiles) {
  for (const std::string_view path :
       {"module_0003.jit_f.ir-with-opt.ll", "module_0003.jit_f.debug_options",
        "module_0003.jit_f.thunk_sequence.txt", "module_0003.jit_f/compile_options.pb"}) {
    EXPECT_EQ(ParseDumpFileName(path).kind, DumpFileKind::kOther) << path;
  }
  for (const std::string_view path : {"", "notes.txt", "a/b.txt", "module_x.txt", "train.py",
                                      ".txt", "-live-range.txt", "x.hlo.pb"}) {
    EXPECT_EQ(ParseDumpFileName(path).kind, DumpFileKind::kForeign) << path;
  }
  // Reports that were renamed, by their endings and their beginnings.
  EXPECT_EQ(Describe("run7-live-range.txt"), "2 run7 | ");
  const DumpFileName seed =
      ClassifyDumpFile({.path = "seeds/a.b.txt", .size = 9, .head = "BufferAssignment:\nall"});
  EXPECT_EQ(seed.kind, DumpFileKind::kAssignment);
  EXPECT_EQ(seed.module, "seeds/a.b");
  EXPECT_EQ(ClassifyDumpFile({.path = "x", .size = 9, .head = "HloLiveRange (max"}).kind,
            DumpFileKind::kLiveRanges);
}

TEST(DumpDirectory, PairsTheFilesOfAModule) {
  const std::vector<DumpFile> files =
      Files({"module_0001.f.before_optimizations.txt",
             "module_0001.f.cpu_after_optimizations-buffer-assignment-values.txt",
             "module_0001.f.cpu_after_optimizations-buffer-assignment.txt",
             "module_0001.f.cpu_after_optimizations-live-range.txt",
             "module_0001.f.cpu_after_optimizations.hlo.pb",
             "module_0001.f.cpu_after_optimizations.txt", "module_0001.f.ir-no-opt.ll",
             "module_0002.g.cpu_after_optimizations-buffer-assignment.txt"});
  const DumpDirectory directory = FindModules(files);
  EXPECT_THAT(Names(directory), ElementsAre("module_0001.f", "module_0002.g"));
  EXPECT_THAT(directory.leftovers, IsEmpty());
  EXPECT_EQ(directory.other_files, 2);
  const DumpModule& f = directory.modules[0];
  EXPECT_EQ(f.file(DumpFileKind::kAssignment), 2U);
  EXPECT_EQ(f.file(DumpFileKind::kValueList), 1U);
  EXPECT_EQ(f.file(DumpFileKind::kLiveRanges), 3U);
  EXPECT_EQ(f.file(DumpFileKind::kModuleProto), 4U);
  EXPECT_EQ(f.file(DumpFileKind::kModuleText), 5U);
  EXPECT_FALSE(f.file(DumpFileKind::kUsage));
}

TEST(DumpDirectory, AProtoMayHoldTheAssignment) {
  const DumpDirectory directory = FindModules(Files({"module_0001.f.before_optimizations.hlo.pb",
                                                     "module_0001.f.cpu_after_optimizations.hlo.pb",
                                                     "module_0002.g.before_optimizations.hlo.pb"}));
  EXPECT_THAT(Names(directory), ElementsAre("module_0001.f"));
  EXPECT_THAT(directory.leftovers,
              ElementsAre(DumpLeftover{"module_0002.g", "has no buffer assignment", true}));
}

// TPU compilers write the module a second time, without the assignment.
TEST(DumpDirectory, TheModuleBehindItsReportIsTheSame) {
  const std::vector<DumpFile> files =
      Files({"module_0001.f.cl_1.after_optimizations-buffer-assignment.txt",
             "module_0001.f.cl_1.after_optimizations.hlo.pb",
             "module_0001.f.cl_1.after_optimizations_after_buffer_assignment.hlo.pb",
             "module_0001.f.cl_1.after_optimizations_after_buffer_assignment.txt",
             "module_0002.g.cl_1.after_optimizations_after_buffer_assignment.hlo.pb"});
  const DumpDirectory directory = FindModules(files);
  EXPECT_THAT(Names(directory), ElementsAre("module_0001.f", "module_0002.g"));
  EXPECT_EQ(directory.modules[0].file(DumpFileKind::kModuleProto), 1U);
  EXPECT_EQ(directory.other_files, 2);
  EXPECT_THAT(directory.leftovers, IsEmpty());
}

TEST(DumpDirectory, ProgramsWithoutAPlan) {
  const DumpDirectory directory = FindModules(
      Files({"module_0001.f.before_optimizations.txt", "module_0001.f.cpu_after_optimizations.txt",
             "module_0002.g.before_optimizations.txt",
             "module_0003.h.cpu_after_optimizations-buffer-assignment.txt",
             "module_0003.h.cpu_after_optimizations.txt"}));
  EXPECT_THAT(Names(directory), ElementsAre("module_0003.h"));
  ASSERT_EQ(directory.programs.size(), 1U);
  EXPECT_EQ(directory.programs[0].name, "module_0001.f");
  EXPECT_EQ(directory.programs[0].file(DumpFileKind::kModuleText), 1U);
  EXPECT_THAT(directory.leftovers,
              ElementsAre(DumpLeftover{"module_0001.f", "has no buffer assignment", true},
                          DumpLeftover{"module_0002.g", "has no buffer assignment", true}));
}

TEST(DumpDirectory, WhatIsLeftOver) {
  std::vector<DumpFile> files =
      Files({"README", "module_0001.f.cpu_after_optimizations-live-range.txt",
             "module_0002.g.cpu_after_optimizations-buffer-assignment.txt",
             "module_0003.h.cpu_after_optimizations-buffer-assignment.txt",
             "module_0003.h.cpu_after_optimizations-buffer-assignment.txt.gz", "nothing"});
  files[2].size = 0;
  files[5].size = 0;
  const DumpDirectory directory = FindModules(files);
  EXPECT_THAT(Names(directory), ElementsAre("module_0003.h"));
  EXPECT_THAT(directory.leftovers,
              ElementsAre(DumpLeftover{"README", "is not a dump file"},
                          DumpLeftover{files[1].path, "has no buffer assignment beside it"},
                          DumpLeftover{files[2].path, "is empty"},
                          DumpLeftover{files[4].path, "is a duplicate of " + files[3].path}));
  // A stray file without contents is no mistake.
  EXPECT_EQ(directory.other_files, 1);
}

TEST(DumpDirectory, NamesAreUnique) {
  const DumpDirectory directory =
      FindModules(Files({"module_0001.f.cpu_after_optimizations-buffer-assignment.txt",
                         "module_0001.f.gpu_after_optimizations-buffer-assignment.txt"}));
  EXPECT_THAT(Names(directory), ElementsAre("module_0001.f.cpu_after_optimizations",
                                            "module_0001.f.gpu_after_optimizations"));
  EXPECT_THAT(Names(FindModules(Files({"cpu_after_optimizations-buffer-assignment.txt"}))),
              ElementsAre("cpu_after_optimizations"));
}

}  // namespace
}  // namespace stowplan::report
