// SPDX-License-Identifier: Apache-2.0
#include "cli/program_file.h"

#include <filesystem>

#include "session/inputs.h"

namespace stowplan::cli {
namespace {

bool IsDirectory(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

void ShowNoModule(const std::string& path, Console& console) {
  console.ShowError("there is no module in `" + path + "`");
}

}  // namespace

std::optional<std::string> ProgramFile(const std::string& path, const PlanOptions& options,
                                       Console& console) {
  if (!IsDirectory(path)) return path;
  const std::optional<Inputs> inputs = console.Take(Open({path}));
  if (!inputs) return std::nullopt;
  if (inputs->modules.empty() && inputs->programs.empty()) {
    ShowNoModule(path, console);
    return std::nullopt;
  }
  const std::optional<PlannedModule> planned = console.Take(LoadOne(*inputs, options));
  if (!planned) return std::nullopt;
  if (!planned->module || !planned->module->source) {
    console.ShowError("there are only reports in `" + path + "`", "give the module itself");
    return std::nullopt;
  }
  console.Show(planned->notes);
  return planned->module->source->name();
}

std::optional<std::vector<std::string>> ProgramFiles(const std::vector<std::string>& paths,
                                                     Console& console) {
  using report::DumpFileKind;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!IsDirectory(path)) {
      files.push_back(path);
      continue;
    }
    const std::optional<Inputs> inputs = console.Take(Open({path}));
    if (!inputs) return std::nullopt;
    const size_t before = files.size();
    for (const std::vector<InputModule>* modules : {&inputs->modules, &inputs->programs}) {
      for (const InputModule& module : *modules) {
        for (const DumpFileKind kind : {DumpFileKind::kModuleProto, DumpFileKind::kModuleText}) {
          if (!module.files->has(kind)) continue;
          files.push_back(module.files->file(kind)->path);
          break;
        }
      }
    }
    if (files.size() == before) {
      ShowNoModule(path, console);
      return std::nullopt;
    }
  }
  return files;
}

}  // namespace stowplan::cli
