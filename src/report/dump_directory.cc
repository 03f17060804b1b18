// SPDX-License-Identifier: Apache-2.0
#include "report/dump_directory.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace stowplan::report {
namespace {

struct Ending {
  std::string_view text;
  DumpFileKind kind;
};
// Longer ones first: each ends in a shorter one, too.
constexpr std::array<Ending, 7> kEndings = {{
    {"-buffer-assignment-values.txt", DumpFileKind::kValueList},
    {"-buffer-assignment.txt", DumpFileKind::kAssignment},
    {"-live-range.txt", DumpFileKind::kLiveRanges},
    {"-memory-usage-report.txt", DumpFileKind::kUsage},
    {"-memory-usage-report.pb", DumpFileKind::kUsageProto},
    {".hlo.pb", DumpFileKind::kModuleProto},
    {".txt", DumpFileKind::kModuleText},
}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

size_t CountDigits(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

std::string_view WithoutPacking(std::string_view path) {
  for (const std::string_view ending : {".gz", ".zst"}) {
    if (path.ends_with(ending)) path.remove_suffix(ending.size());
  }
  return path;
}

size_t NameBegin(std::string_view path) { return path.rfind('/') + 1; }  // npos + 1 is 0

// `module_0003`, perhaps with a time in front.
bool IsModuleName(std::string_view name) {
  const size_t digits = CountDigits(name);
  if (digits != 0 && digits < name.size() && name[digits] == '.') name.remove_prefix(digits + 1);
  constexpr std::string_view kModule = "module_";
  return name.starts_with(kModule) && name.size() > kModule.size() && IsDigit(name[kModule.size()]);
}

// Where the stage begins: `sm_9.0a_gpu_after_optimizations`, `cl_1003.after_optimizations`. npos
// when there is none.
size_t FindStage(std::string_view stem) {
  constexpr std::string_view kOptimizations = "_optimizations";
  const size_t end = stem.rfind(kOptimizations);
  if (end == std::string_view::npos) return end;
  size_t begin = stem.size();
  for (const std::string_view when : {"before", "after"}) {
    if (stem.substr(0, end).ends_with(when)) begin = end - when.size();
  }
  if (begin == stem.size()) return std::string_view::npos;
  if (stem.substr(0, begin).ends_with("cpu_")) return begin - 4;
  if (stem.substr(0, begin).ends_with("gpu_")) {
    begin -= 4;
    // The version of a GPU has dots in it; nothing else between two dots ends in "gpu".
    for (const std::string_view maker : {"sm_", "gfx"}) {
      const size_t at = stem.substr(0, begin).rfind(maker);
      if (at == std::string_view::npos || (at != 0 && stem[at - 1] != '.' && stem[at - 1] != '/')) {
        continue;
      }
      const std::string_view version = stem.substr(at + maker.size(), begin - at - maker.size());
      constexpr std::string_view kAllowed = "0123456789.abcdefgx_-+:";
      if (version.find_first_not_of(kAllowed) == std::string_view::npos) return at;
    }
    return begin;
  }
  // The compiler's version, as TPUs have it.
  const std::string_view before = stem.substr(0, begin);
  if (const size_t at = before.rfind("cl_");
      at != std::string_view::npos && before.ends_with('.')) {
    const std::string_view digits = before.substr(at + 3);
    if (CountDigits(digits) + 1 == digits.size()) return at;
  }
  return begin;
}

// The module of a stem, whose stage begins at `stage`; empty when the name is only the stage.
std::string ModuleOf(std::string_view stem, size_t stage) {
  std::string_view module = stem.substr(0, stage);
  while (module.ends_with('.') || module.ends_with('/')) module.remove_suffix(1);
  return std::string(module);
}

std::string_view WithoutExtension(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos || dot <= NameBegin(path) ? path : path.substr(0, dot);
}

DumpFileKind KindByHead(std::string_view head) {
  if (head.starts_with("BufferAssignment:")) return DumpFileKind::kAssignment;
  if (head.starts_with("\nTotal bytes used: ")) return DumpFileKind::kValueList;
  if (head.starts_with("HloLiveRange")) return DumpFileKind::kLiveRanges;
  if (head.starts_with("Memory Space: ") || head.starts_with("Total bytes used: ")) {
    return DumpFileKind::kUsage;
  }
  return head.starts_with("HloModule ") ? DumpFileKind::kModuleText : DumpFileKind::kForeign;
}

}  // namespace

DumpFileName ParseDumpFileName(std::string_view path) {
  path = WithoutPacking(path);
  const std::string_view name = path.substr(NameBegin(path));
  DumpFileName parsed;
  for (const auto& [ending, kind] : kEndings) {
    if (!path.ends_with(ending) || name.size() <= ending.size()) continue;
    const std::string_view stem = path.substr(0, path.size() - ending.size());
    const size_t stage = FindStage(stem);
    const bool has_stage = stage != std::string_view::npos && stage >= NameBegin(stem);
    const bool is_module = kind == DumpFileKind::kModuleText || kind == DumpFileKind::kModuleProto;
    if (is_module && !has_stage) break;  // some other text
    parsed.kind = kind;
    parsed.stem = stem;
    parsed.module = has_stage ? ModuleOf(stem, stage) : parsed.stem;
    if (has_stage) parsed.stage = stem.substr(stage);
    return parsed;
  }
  const std::string_view folder = path.substr(0, NameBegin(path) == 0 ? 0 : NameBegin(path) - 1);
  if (IsModuleName(name) || IsModuleName(folder.substr(NameBegin(folder)))) {
    parsed.kind = DumpFileKind::kOther;
  }
  return parsed;
}

DumpFileName ClassifyDumpFile(const DumpFile& file) {
  DumpFileName name = ParseDumpFileName(file.path);
  if (name.kind != DumpFileKind::kForeign) return name;
  name.kind = KindByHead(file.head);
  if (name.kind == DumpFileKind::kForeign) return name;
  name.stem = WithoutExtension(WithoutPacking(file.path));
  name.module = name.stem;
  return name;
}

namespace {

// The files with one stem.
struct Group {
  DumpModule module;
  std::string module_name;
};

bool IsLastStage(const Group& group) {
  return group.module.stage.ends_with("after_optimizations") ||
         group.module.stage.ends_with("after_buffer_assignment");
}

// Only the last stage has an assignment, in the text as in the proto.
bool MayHoldAssignment(const Group& group) {
  return group.module.file(DumpFileKind::kModuleProto) && IsLastStage(group);
}

// A text under another name may be of any stage.
bool IsProgram(const Group& group) {
  return group.module.file(DumpFileKind::kModuleText) &&
         (IsLastStage(group) || group.module.stage.empty());
}

// XLA's names are unique, but a folder can hold copies from elsewhere: the stage tells them apart.
std::vector<DumpModule> NameModules(std::vector<std::pair<Group, std::string>> found) {
  std::vector<DumpModule> modules;
  std::map<std::string, int> count;
  for (const auto& [group, stem] : found) ++count[group.module_name];
  for (auto& [group, stem] : found) {
    const bool is_unique = count[group.module_name] == 1 && !group.module_name.empty();
    group.module.name = is_unique ? group.module_name : stem;
    modules.push_back(std::move(group.module));
  }
  std::ranges::sort(modules, {}, &DumpModule::name);
  return modules;
}

// TPU compilers write the module once more after the buffer assignment, into a file without it:
// where the module has a report, such a group says nothing. How many files these are.
int64_t DropRepeated(std::vector<std::pair<Group, std::string>>& found) {
  std::set<std::string_view> reported;
  for (const auto& [group, stem] : found) {
    if (group.module.file(DumpFileKind::kAssignment)) reported.insert(group.module_name);
  }
  std::vector<std::pair<Group, std::string>> kept;
  int64_t files = 0;
  for (auto& [group, stem] : found) {
    if (group.module.file(DumpFileKind::kAssignment) || !reported.contains(group.module_name) ||
        !group.module.stage.ends_with("after_buffer_assignment")) {
      kept.emplace_back(group, stem);
      continue;
    }
    files +=
        std::ranges::count_if(group.module.files, [](const auto& row) { return row.has_value(); });
  }
  found = std::move(kept);
  return files;
}

}  // namespace

DumpDirectory FindModules(std::span<const DumpFile> files) {
  DumpDirectory directory;
  const auto leave = [&](const std::string& path, std::string reason) {
    directory.leftovers.push_back({path, std::move(reason)});
  };
  std::map<std::string, Group> groups;          // by stem
  std::map<std::string, bool> is_module_found;  // by name: whether it has a report
  for (size_t i = 0; i < files.size(); ++i) {
    const DumpFileName name = ClassifyDumpFile(files[i]);
    if (name.kind == DumpFileKind::kOther) {
      ++directory.other_files;
    } else if (name.kind == DumpFileKind::kForeign && files[i].size == 0) {
      ++directory.other_files;  // a stray file that says nothing is no mistake of a dump
    } else if (name.kind == DumpFileKind::kForeign) {
      leave(files[i].path, "is not a dump file");
    } else if (files[i].size == 0) {
      leave(files[i].path, "is empty");
    } else {
      Group& group = groups[name.stem];
      std::optional<size_t>& row = group.module.files[static_cast<size_t>(name.kind)];
      if (row) {
        leave(files[i].path, "is a duplicate of " + files[*row].path);
        continue;
      }
      row = i;
      group.module.stage = name.stage;
      group.module_name = name.module;
      is_module_found[name.module];
    }
  }
  std::vector<std::pair<Group, std::string>> found;
  std::vector<std::pair<Group, std::string>> programs;
  for (auto& [stem, group] : groups) {
    if (!group.module.file(DumpFileKind::kAssignment) && !MayHoldAssignment(group)) {
      for (size_t kind = 0; kind < kPairedKinds; ++kind) {
        const std::optional<size_t> row = group.module.files[kind];
        if (!row) continue;
        if (kind >= static_cast<size_t>(DumpFileKind::kModuleText)) {
          ++directory.other_files;
        } else {
          leave(files[*row].path, "has no buffer assignment beside it");
          is_module_found[group.module_name] = true;  // said it
        }
      }
      if (IsProgram(group)) programs.emplace_back(std::move(group), stem);
      continue;
    }
    is_module_found[group.module_name] = true;
    found.emplace_back(std::move(group), stem);
  }
  for (const auto& [module, is_found] : is_module_found) {
    if (is_found) continue;
    directory.leftovers.push_back({.path = module.empty() ? "." : module,
                                   .reason = "has no buffer assignment",
                                   .is_module = true});
  }
  directory.other_files += DropRepeated(found);
  directory.modules = NameModules(std::move(found));
  directory.programs = NameModules(std::move(programs));
  std::ranges::sort(directory.leftovers, {}, &DumpLeftover::path);
  return directory;
}

}  // namespace stowplan::report
