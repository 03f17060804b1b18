// SPDX-License-Identifier: Apache-2.0
#include "cli/report_input.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/report_cut.h"
#include "report/from_proto.h"
#include "report/usage_proto.h"
#include "stowplan/proto/parse.h"
#include "stowplan/read.h"
#include "stowplan/report/check.h"
#include "stowplan/report/read.h"
#include "stowplan/report/write.h"

namespace stowplan::cli {
namespace {

namespace fs = std::filesystem;
using report::DumpFile;
using report::DumpFileKind;

constexpr size_t kHeadSize = 32;

std::string Join(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.ends_with('/') ? folder + name : folder + "/" + name;
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string Head(const std::string& path) {
  std::string head(kHeadSize, '\0');
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return {};
  head.resize(std::fread(head.data(), 1, head.size(), file));
  std::fclose(file);
  return head;
}

bool IsPacked(std::string_view head) {
  return head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd");
}

// The head of a file whose name tells nothing; of a packed one, what is in it.
std::string HeadOf(InputFile& file) {
  if (!file.source) {
    std::string head = Head(file.path);
    if (!IsPacked(head)) return head;
    Result<std::shared_ptr<const Source>> source = ReadSource(file.path);
    if (!source) return {};
    file.source = *std::move(source);
  }
  return std::string(file.source->bytes().substr(0, kHeadSize));
}

// The last part of a folder's path.
std::string FolderName(const fs::path& folder) {
  std::error_code error;
  fs::path path = fs::absolute(folder.empty() ? "." : folder, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

// Files below `folder`, by path. What is neither a file nor a directory is left out.
Result<std::vector<DumpFile>> ListDirectory(const std::string& folder, Inputs& inputs) {
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  if (error) return Fail(folder, "cannot read the directory: " + error.message());
  std::vector<DumpFile> files;
  for (const fs::recursive_directory_iterator end; it != end;) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) {
      std::string path = it->path().lexically_relative(folder).generic_string();
      const std::uintmax_t size = it->file_size(ignored);
      files.push_back({.path = std::move(path), .size = ignored ? 0 : size, .head = {}});
    } else if (!it->is_directory(ignored)) {
      inputs.leftovers.push_back({it->path().generic_string(), it->exists(ignored)
                                                                   ? "is no regular file"
                                                                   : "is a link to no file"});
    }
    it.increment(error);
    if (error) return Fail(folder, "cannot read the directory: " + error.message());
  }
  std::ranges::sort(files, {}, &DumpFile::path);
  return files;
}

// Modules as FindModules saw them; `path_of` turns a row of the list into a file.
void AddModules(report::DumpDirectory directory,
                const std::function<InputFile(size_t row)>& file_of, Inputs& inputs) {
  const auto add = [&](std::vector<report::DumpModule>& all, std::vector<InputModule>& to) {
    for (report::DumpModule& found : all) {
      InputModule module{
          .name = std::move(found.name), .stage = std::move(found.stage), .files = {}};
      for (size_t kind = 0; kind < report::kPairedKinds; ++kind) {
        if (found.files[kind]) module.files[kind] = file_of(*found.files[kind]);
      }
      to.push_back(std::move(module));
    }
  };
  add(directory.modules, inputs.modules);
  add(directory.programs, inputs.programs);
  inputs.other_files += directory.other_files;
}

Result<bool> AddDirectory(const std::string& folder, Inputs& inputs) {
  STOWPLAN_TRY(std::vector<DumpFile> files, ListDirectory(folder, inputs));
  for (DumpFile& file : files) {
    if (report::ParseDumpFileName(file.path).kind != DumpFileKind::kForeign) continue;
    InputFile named{.path = Join(folder, file.path), .source = {}};
    file.head = HeadOf(named);
  }
  report::DumpDirectory directory = report::FindModules(files);
  for (report::DumpLeftover& leftover : directory.leftovers) {
    inputs.leftovers.push_back({Join(folder, leftover.path), std::move(leftover.reason)});
  }
  for (std::vector<report::DumpModule>* const modules : {&directory.modules, &directory.programs}) {
    for (report::DumpModule& module : *modules) {
      // Files that have only a stage for a name: the folder says what they are about.
      if (module.name == module.stage) module.name = FolderName(folder);
    }
  }
  AddModules(
      std::move(directory),
      [&](size_t row) { return InputFile{.path = Join(folder, files[row].path), .source = {}}; },
      inputs);
  return true;
}

// What a file is, when it stands alone: by name, by its beginning, by its ending.
report::DumpFileName NameOf(const InputFile& file, const std::string& head) {
  report::DumpFileName name =
      report::ClassifyDumpFile({.path = file.path, .size = 1, .head = head});
  if (name.kind != DumpFileKind::kForeign && name.kind != DumpFileKind::kOther) return name;
  name.stem = file.path == "-" ? "<stdin>" : fs::path(file.path).filename().string();
  for (const std::string_view ending : {".gz", ".zst", ".txt", ".hlo.pb", ".pb", ".hlo"}) {
    if (name.stem.ends_with(ending)) name.stem.resize(name.stem.size() - ending.size());
  }
  name.module = name.stem;
  if (file.source && report::LooksLikeUsageProto(*file.source)) {
    name.kind = DumpFileKind::kUsageProto;
  } else if (file.source && LooksLikeProto(*file.source)) {
    name.kind = DumpFileKind::kModuleProto;
  }
  return name;
}

// One module from files that were named one by one; nothing when two of them are of one kind.
Result<std::optional<InputModule>> AsOneModule(std::vector<InputFile> files) {
  InputModule module;
  for (InputFile& file : files) {
    std::string head;
    if (file.source || report::ParseDumpFileName(file.path).kind == DumpFileKind::kForeign) {
      head = HeadOf(file);
    }
    report::DumpFileName name = NameOf(file, head);
    if (name.kind == DumpFileKind::kForeign || name.kind == DumpFileKind::kOther) {
      if (files.size() > 1) return std::nullopt;
      // Its reader will say what is wrong with it.
      if (!file.source) {
        STOWPLAN_TRY(file.source, ReadSource(file.path));
        name = NameOf(file, head);
      }
      if (name.kind == DumpFileKind::kForeign || name.kind == DumpFileKind::kOther) {
        name.kind = DumpFileKind::kAssignment;
      }
    }
    if (module.name.empty() || name.kind == DumpFileKind::kAssignment) {
      module.name = BaseName(name.module);
      if (file.path == "-") module.name = "<stdin>";
      if (module.name.empty()) module.name = FolderName(fs::path(file.path).parent_path());
      module.stage = name.stage;
    }
    std::optional<InputFile>& place = module.file(name.kind);
    if (place) return std::nullopt;
    place = std::move(file);
  }
  return module;
}

Result<bool> AddFiles(std::vector<InputFile> files, Inputs& inputs) {
  if (files.empty()) return true;
  STOWPLAN_TRY(std::optional<InputModule> one, AsOneModule(files));
  if (one) {
    inputs.modules.push_back(*std::move(one));
    return true;
  }
  std::vector<DumpFile> listed;
  for (InputFile& file : files) {
    std::error_code ignored;
    DumpFile row{.path = file.path, .size = 0, .head = {}};
    row.size = file.source ? file.source->size() : fs::file_size(file.path, ignored);
    if (report::ParseDumpFileName(row.path).kind == DumpFileKind::kForeign) row.head = HeadOf(file);
    listed.push_back(std::move(row));
  }
  report::DumpDirectory directory = report::FindModules(listed);
  for (report::DumpLeftover& leftover : directory.leftovers) {
    inputs.leftovers.push_back(std::move(leftover));
  }
  AddModules(std::move(directory), [&](size_t row) { return files[row]; }, inputs);
  return true;
}

}  // namespace

Result<Inputs> FindInputs(const std::vector<std::string>& words) {
  Inputs inputs;
  std::vector<InputFile> files;
  for (const std::string& word : words) {
    std::error_code error;
    if (word == "-") {
      STOWPLAN_TRY(std::shared_ptr<const Source> source, ReadSource(word));
      files.push_back({.path = word, .source = std::move(source), .is_named = true});
    } else if (fs::is_directory(word, error)) {
      inputs.has_directory = true;
      STOWPLAN_TRY([[maybe_unused]] const bool ok, AddDirectory(word, inputs));
    } else if (fs::exists(word, error)) {
      files.push_back({.path = word, .source = {}, .is_named = true});
    } else {
      // Says why in the words of the system.
      STOWPLAN_TRY([[maybe_unused]] const auto source, ReadSource(word));
    }
  }
  STOWPLAN_TRY([[maybe_unused]] const bool ok, AddFiles(std::move(files), inputs));
  return inputs;
}

Result<InputModule> InputOf(std::shared_ptr<const Source> source) {
  std::string name = source->name();
  std::vector<InputFile> files = {{.path = std::move(name),
                                   .source = std::move(source),
                                   .is_named = true,
                                   .is_in_memory = true}};
  // Nothing only of several files.
  STOWPLAN_TRY(std::optional<InputModule> module, AsOneModule(std::move(files)));
  return *std::move(module);
}

void AddNeighbours(InputModule& module) {
  std::string stem;
  for (const std::optional<InputFile>& file : module.files) {
    if (!file) continue;
    if (!stem.empty()) return;  // there are several: these were meant
    if (file->is_in_memory) return;
    if (!file->is_named) return;  // from a directory, whose files have been paired
    stem = report::ParseDumpFileName(file->path).stem;
    if (stem.empty()) return;
  }
  const fs::path folder = fs::path(stem).parent_path();
  std::error_code error;
  fs::directory_iterator it(folder.empty() ? "." : folder, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    const std::string path = (folder / it->path().filename()).string();
    const report::DumpFileName name = report::ParseDumpFileName(path);
    if (name.stem != stem || name.kind >= DumpFileKind::kOther) continue;
    std::optional<InputFile>& place = module.file(name.kind);
    if (!place) place = {.path = path, .source = {}};
  }
}

namespace {

// Reads reports, and does not take a file for complete that ends too early.
Result<report::Report> ReadComplete(std::span<const std::shared_ptr<const Source>> sources) {
  Result<report::Report> report = report::ReadReport(sources);
  if (!report) return std::unexpected(ExplainCuts(std::move(report).error(), sources));
  for (const std::shared_ptr<const Source>& source : sources) {
    if (std::optional<Diagnostic> cut = FindCut(*report, *source)) return Fail(*std::move(cut));
  }
  return report;
}

class Loader {
 public:
  explicit Loader(InputModule module) : module_(std::move(module)) {}

  Result<LoadedModule> Run(Program program) && {
    loaded_.name = module_.name;
    const bool has_text = module_.file(DumpFileKind::kAssignment).has_value();
    if (has_text || !module_.file(DumpFileKind::kModuleProto)) {
      STOWPLAN_TRY([[maybe_unused]] const bool ok, ReadTexts());
    } else {
      STOWPLAN_TRY([[maybe_unused]] const bool ok, ReadFromProto());
    }
    if (program == Program::kRead && !loaded_.program) ReadProgram();
    if (loaded_.report.name.empty()) {
      loaded_.report.name =
          loaded_.program ? loaded_.program->view(loaded_.program->header.name) : module_.name;
    }
    return std::move(loaded_);
  }

 private:
  Result<std::shared_ptr<const Source>> Read(InputFile& file) {
    if (file.source) return file.source;
    STOWPLAN_TRY(file.source, ReadSource(file.path));
    if (file.source->size() == 0) return Fail(file.source->name(), "the file is empty");
    return file.source;
  }

  void LeaveOut(DumpFileKind kind, const Diagnostics& why) {
    Diagnostic problem = why[0];
    problem.severity = Severity::kWarning;
    loaded_.problems.push_back(std::move(problem));
    module_.file(kind).reset();
  }

  // Reads all report files; those that are only near by and cannot be read are left out.
  Result<bool> ReadTexts() {
    constexpr std::array kKinds = {DumpFileKind::kAssignment, DumpFileKind::kValueList,
                                   DumpFileKind::kLiveRanges, DumpFileKind::kUsage};
    STOWPLAN_TRY([[maybe_unused]] const bool ok, ReplaceUsageProto());
    for (const DumpFileKind kind : kKinds) {
      if (!module_.file(kind)) continue;
      Result<std::shared_ptr<const Source>> source = Read(*module_.file(kind));
      if (source) continue;
      if (module_.file(kind)->is_named || kind == DumpFileKind::kAssignment) {
        return std::unexpected(std::move(source).error());
      }
      LeaveOut(kind, source.error());
    }
    for (;;) {
      std::vector<std::shared_ptr<const Source>> sources;
      for (const DumpFileKind kind : kKinds) {
        if (module_.file(kind)) sources.push_back(module_.file(kind)->source);
      }
      if (sources.empty()) {
        return Fail(module_.name, "has no memory report",
                    "expected a -buffer-assignment.txt, or a .hlo.pb with an assignment in it");
      }
      Result<report::Report> report = ReadComplete(sources);
      if (report) {
        loaded_.report = *std::move(report);
        loaded_.sources = std::move(sources);
        return true;
      }
      // The file of the first mistake, unless that is the one that all depends on.
      const auto bad = std::ranges::find_if(kKinds, [&](DumpFileKind kind) {
        return module_.file(kind) && module_.file(kind)->source->name() == report.error()[0].file;
      });
      if (bad == kKinds.end() || module_.file(*bad)->is_named ||
          *bad == DumpFileKind::kAssignment) {
        return std::unexpected(std::move(report).error());
      }
      LeaveOut(*bad, report.error());
    }
  }

  // The proto of a usage report holds its text in pieces.
  Result<bool> ReplaceUsageProto() {
    std::optional<InputFile>& proto = module_.file(DumpFileKind::kUsageProto);
    std::optional<InputFile>& text = module_.file(DumpFileKind::kUsage);
    if (!proto || text || !proto->is_named) return true;
    STOWPLAN_TRY(const std::shared_ptr<const Source> source, Read(*proto));
    STOWPLAN_TRY(const report::UsageProto usage, report::ParseUsageProto(*source));
    text = InputFile{.path = proto->path,
                     .source = Source::FromBytes(source->name(), report::ToUsageText(usage))};
    return true;
  }

  Result<bool> ReadFromProto() {
    InputFile& file = *module_.file(DumpFileKind::kModuleProto);
    STOWPLAN_TRY(std::shared_ptr<const Source> source, Read(file));
    STOWPLAN_TRY(hlo::Module parsed, ParseModule(std::move(source)));
    if (parsed.buffer_assignment.size == 0) {
      return Fail(file.path, "holds no buffer assignment",
                  "XLA writes one into the .hlo.pb of the last stage");
    }
    STOWPLAN_TRY(loaded_.report, report::ReportFromModule(parsed));
    loaded_.program = std::move(parsed);
    return true;
  }

  void ReadProgram() {
    for (const DumpFileKind kind : {DumpFileKind::kModuleText, DumpFileKind::kModuleProto}) {
      if (!module_.file(kind)) continue;
      Result<std::shared_ptr<const Source>> source = Read(*module_.file(kind));
      Result<hlo::Module> parsed =
          source ? ParseModule(*std::move(source)) : std::unexpected(std::move(source).error());
      if (parsed) {
        loaded_.program = *std::move(parsed);
        return;
      }
      LeaveOut(kind, parsed.error());
    }
  }

  InputModule module_;
  LoadedModule loaded_;
};

}  // namespace

Result<LoadedModule> Load(InputModule module, Program program) {
  return Loader(std::move(module)).Run(program);
}

Diagnostics FindingsOf(const report::Report& report,
                       std::span<const std::shared_ptr<const Source>> sources) {
  Diagnostics findings;
  for (const std::shared_ptr<const Source>& source : sources) {
    std::ranges::move(report::CompareFigures(report, *source), std::back_inserter(findings));
    std::ranges::move(report::FindContradictions(report, *source), std::back_inserter(findings));
    if (std::optional<Diagnostic> doubt = FindDoubtfulEnd(report, *source)) {
      findings.push_back(*std::move(doubt));
    }
  }
  return findings;
}

}  // namespace stowplan::cli
