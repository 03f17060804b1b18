// SPDX-License-Identifier: Apache-2.0
#include "session/inputs.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "executable/executable.h"
#include "proto/parse.h"
#include "report/read.h"
#include "report/usage_proto.h"

namespace stowplan {
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

bool IsCompressed(std::string_view head) {
  return head.starts_with("\x1f\x8b") || head.starts_with("\x28\xb5\x2f\xfd");
}

// The first bytes of a file whose name says nothing, decompressed if necessary.
std::string HeadOf(const InputFile& file) {
  if (!file.source()) {
    std::string head = Head(file.path);
    if (!IsCompressed(head)) return head;
    if (!Read(file)) return {};
  }
  return std::string(file.source()->bytes().substr(0, kHeadSize));
}

// The last part of a folder's path.
std::string FolderName(const fs::path& folder) {
  std::error_code error;
  fs::path path = fs::absolute(folder.empty() ? "." : folder, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

// Files below `folder`, sorted by path. Leaves out what is neither a file nor a directory, and
// directories that cannot be read.
Result<std::vector<DumpFile>> ListDirectory(const std::string& folder, Inputs& inputs) {
  std::error_code error;
  const auto open = [](const fs::path& path, std::error_code& why) {
    const fs::directory_iterator probe(path, why);
    return !why;
  };
  if (!open(folder, error)) return Fail(folder, "cannot read the directory: " + error.message());
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  if (error) return Fail(folder, "cannot read the directory: " + error.message());
  std::vector<DumpFile> files;
  for (const fs::recursive_directory_iterator end; it != end;) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) {
      std::string path = it->path().lexically_relative(folder).generic_string();
      const std::uintmax_t size = it->file_size(ignored);
      files.push_back({.path = std::move(path), .size = ignored ? 0 : size, .head = {}});
    } else if (it->is_directory(ignored)) {
      if (!it->is_symlink(ignored) && !open(it->path(), ignored))
        inputs.leftovers.push_back(
            {it->path().generic_string(), "cannot be read: " + ignored.message()});
    } else {
      inputs.leftovers.push_back({it->path().generic_string(), it->exists(ignored)
                                                                   ? "is not a regular file"
                                                                   : "is a broken link"});
    }
    it.increment(error);
    if (error) return Fail(folder, "cannot read the directory: " + error.message());
  }
  std::ranges::sort(files, {}, &DumpFile::path);
  return files;
}

// The path of FindModules' leftover for a module that has no plan.
std::string LeftoverPath(const DumpFile& file) {
  std::string module = report::ClassifyDumpFile(file).module;
  return module.empty() ? "." : module;
}

// Modules as FindModules saw them; `file_of` turns a row of the list into a file, `path_of` the
// path of a leftover into that of the inputs.
void AddModules(report::DumpDirectory directory, std::span<const DumpFile> list,
                const std::function<InputFile(size_t row)>& file_of,
                const std::function<std::string(std::string)>& path_of, Inputs& inputs) {
  for (report::DumpLeftover& leftover : directory.leftovers) {
    inputs.leftovers.push_back({.path = path_of(std::move(leftover.path)),
                                .reason = std::move(leftover.reason),
                                .is_module = leftover.is_module});
  }
  const auto add = [&](std::vector<report::DumpModule>& all, std::vector<InputModule>& to) {
    for (report::DumpModule& found : all) {
      InputFiles files;
      for (size_t kind = 0; kind < report::kPairedKinds; ++kind) {
        if (found.files[kind]) files.files[kind] = file_of(*found.files[kind]);
      }
      if (const std::optional<size_t> text = found.file(DumpFileKind::kModuleText))
        files.leftover = path_of(LeftoverPath(list[*text]));
      to.push_back({.name = std::move(found.name),
                    .stage = std::move(found.stage),
                    .files = std::make_shared<const InputFiles>(std::move(files))});
    }
  };
  add(directory.modules, inputs.modules);
  add(directory.programs, inputs.programs);
  inputs.other_files += directory.other_files;
}

Result<bool> AddDirectory(const std::string& folder, Inputs& inputs) {
  STOWPLAN_TRY(std::vector<DumpFile> files, ListDirectory(folder, inputs));
  std::map<std::string, InputFile> read_early;  // packed files had to be read to know what they are
  for (DumpFile& file : files) {
    if (report::ParseDumpFileName(file.path).kind != DumpFileKind::kForeign) continue;
    InputFile& read =
        read_early.emplace(file.path, InputFile{.path = Join(folder, file.path)}).first->second;
    file.head = HeadOf(read);
  }
  report::DumpDirectory directory = report::FindModules(files);
  for (std::vector<report::DumpModule>* const modules : {&directory.modules, &directory.programs}) {
    for (report::DumpModule& module : *modules) {
      // The file is named only after a compiler stage; the folder has the module's name.
      if (module.name == module.stage) module.name = FolderName(folder);
    }
  }
  AddModules(
      std::move(directory), files,
      [&](size_t row) {
        const auto early = read_early.find(files[row].path);
        return early == read_early.end() ? InputFile{.path = Join(folder, files[row].path)}
                                         : early->second;
      },
      [&](const std::string& path) { return Join(folder, path); }, inputs);
  return true;
}

// What kind of file this is, judging by its name, its first bytes, and its extension.
report::DumpFileName NameOf(const InputFile& file, const std::string& head) {
  report::DumpFileName name =
      report::ClassifyDumpFile({.path = file.path, .size = 1, .head = head});
  if (name.kind != DumpFileKind::kForeign && name.kind != DumpFileKind::kOther) return name;
  name.stem = file.path == "-" ? "<stdin>" : fs::path(file.path).filename().string();
  for (const std::string_view ending : {".gz", ".zst", ".txt", ".hlo.pb", ".pb", ".hlo"}) {
    if (name.stem.ends_with(ending)) name.stem.resize(name.stem.size() - ending.size());
  }
  name.module = name.stem;
  if (file.source() && report::LooksLikeUsageProto(*file.source())) {
    name.kind = DumpFileKind::kUsageProto;
  } else if (file.source() && LooksLikeProto(*file.source())) {
    name.kind = DumpFileKind::kModuleProto;
  }
  return name;
}

// The name for a module from a pipe whose path says nothing; otherwise empty.
std::string PipeName(std::string_view path) {
  if (path == "-" || path == "/dev/stdin") return "<stdin>";
  constexpr std::string_view kDescriptors = "/dev/fd/";  // as shells name <(command)
  if (!path.starts_with(kDescriptors)) return {};
  return "<fd " + std::string(path.substr(kDescriptors.size())) + ">";
}

// One module from files that were named one by one; absent if two of them are of the same kind.
Result<std::optional<InputModule>> AsOneModule(const std::vector<InputFile>& named) {
  InputModule module;
  InputFiles files;
  for (const InputFile& file : named) {
    std::string head;
    if (file.source() || report::ParseDumpFileName(file.path).kind == DumpFileKind::kForeign) {
      head = HeadOf(file);
    }
    const auto is_unknown = [](const report::DumpFileName& name) {
      return name.kind == DumpFileKind::kForeign || name.kind == DumpFileKind::kOther;
    };
    report::DumpFileName name = NameOf(file, head);
    if (is_unknown(name)) {
      if (named.size() > 1) return std::nullopt;
      // Its reader will say what is wrong with it.
      STOWPLAN_TRY([[maybe_unused]] const std::shared_ptr<const Source> source, Read(file));
      name = NameOf(file, head);
      if (is_unknown(name)) name.kind = DumpFileKind::kAssignment;
    }
    if (module.name.empty() || name.kind == DumpFileKind::kAssignment) {
      module.name = PipeName(file.path);
      if (module.name.empty()) module.name = BaseName(name.module);
      if (module.name.empty()) module.name = FolderName(fs::path(file.path).parent_path());
      module.stage = name.stage;
    }
    std::optional<InputFile>& place = files.file(name.kind);
    if (place) return std::nullopt;
    place = file;
  }
  module.files = std::make_shared<const InputFiles>(std::move(files));
  return module;
}

Result<bool> AddFiles(const std::vector<InputFile>& files, Inputs& inputs) {
  if (files.empty()) return true;
  STOWPLAN_TRY(std::optional<InputModule> one, AsOneModule(files));
  if (one) {
    inputs.modules.push_back(*std::move(one));
    return true;
  }
  std::vector<DumpFile> listed;
  for (const InputFile& file : files) {
    std::error_code ignored;
    DumpFile row{.path = file.path, .size = 0, .head = {}};
    row.size = file.source() ? file.source()->size() : fs::file_size(file.path, ignored);
    if (report::ParseDumpFileName(row.path).kind == DumpFileKind::kForeign) row.head = HeadOf(file);
    listed.push_back(std::move(row));
  }
  AddModules(
      report::FindModules(listed), listed, [&](size_t row) { return files[row]; },
      [](std::string path) { return path; }, inputs);
  return true;
}

}  // namespace

Result<std::shared_ptr<const Source>> Read(const InputFile& file) {
  if (!file.source()) {
    STOWPLAN_TRY(std::shared_ptr<const Source> source, ReadSource(file.path));
    STOWPLAN_TRY(*file.read, executable::ModuleSource(std::move(source)));
  }
  return file.source();
}

void Forget(const InputModule& module) {
  for (const std::optional<InputFile>& file : module.files->files) {
    std::error_code error;
    // Pipes can be read only once.
    if (file && !file->is_in_memory && fs::is_regular_file(file->path, error)) file->read->reset();
  }
}

Result<Inputs> Open(const std::vector<std::string>& paths) {
  Inputs inputs;
  std::vector<InputFile> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path != "-" && fs::is_directory(path, error)) {
      inputs.has_directory = true;
      STOWPLAN_TRY([[maybe_unused]] const bool ok, AddDirectory(path, inputs));
      continue;
    }
    InputFile file{.path = path, .is_named = true};
    // Standard input and other pipes are read at once. If a file is missing, the system says why.
    if (path == "-" || !fs::is_regular_file(path, error)) {
      STOWPLAN_TRY([[maybe_unused]] const std::shared_ptr<const Source> source, Read(file));
    }
    files.push_back(std::move(file));
  }
  STOWPLAN_TRY([[maybe_unused]] const bool ok, AddFiles(files, inputs));
  return inputs;
}

Result<Inputs> OpenBytes(std::string name, std::string_view bytes) {
  InputFile file{.path = name, .is_named = true, .is_in_memory = true};
  STOWPLAN_TRY(std::shared_ptr<const Source> source, UnpackSource(std::move(name), bytes));
  STOWPLAN_TRY(*file.read, executable::ModuleSource(std::move(source)));
  Inputs inputs;
  STOWPLAN_TRY([[maybe_unused]] const bool ok, AddFiles({file}, inputs));
  return inputs;
}

void AddNeighbours(InputFiles& files) {
  std::string stem;
  for (const std::optional<InputFile>& file : files.files) {
    if (!file) continue;
    if (!stem.empty()) return;  // several files: the user meant exactly these
    if (file->is_in_memory) return;
    if (!file->is_named) return;  // from a directory, whose files are already paired
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
    std::optional<InputFile>& place = files.file(name.kind);
    // Reading a pipe would wait for a writer.
    std::error_code ignored;
    if (!place && it->is_regular_file(ignored)) place = InputFile{.path = path};
  }
}

void FindModuleText(InputFiles& files) {
  std::optional<InputFile>& file = files.file(DumpFileKind::kAssignment);
  if (!file || !file->source() || files.has(DumpFileKind::kModuleText)) return;
  if (report::KindOf(*file->source()) != report::FileKind::kUnknown) return;
  if (file->source()->bytes().find("ENTRY ") == std::string_view::npos) return;
  files.file(DumpFileKind::kModuleText) = std::move(*file);
  file.reset();
}

}  // namespace stowplan
