// SPDX-License-Identifier: Apache-2.0
#include "cli/view_index.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "cli/progress.h"
#include "cli/report_list.h"
#include "cli/report_text.h"
#include "stowplan/base/source.h"
#include "stowplan/report/derive.h"
#include "view/page.h"
#include "view/page_names.h"

namespace stowplan::cli {
namespace {

namespace fs = std::filesystem;

// Another's index.html is not to be written over: a folder is easily the wrong one.
bool MayWriteIndex(const std::string& path, Console& console) {
  std::error_code error;
  if (!fs::exists(path, error)) return true;
  const Result<std::shared_ptr<const Source>> source = ReadSource(path);
  if (source && (*source)->bytes().find(view::kDataElement) != std::string_view::npos) return true;
  console.Show(
      Fail(path, "is there, and not from `stowplan view`", "name another folder with -o").error());
  return false;
}

// In a list a failure is one line.
class Quiet : public Listener {
 public:
  using Listener::Show;
  void Show(const Diagnostics& diagnostics, size_t /*limit*/) override {
    kept.insert(kept.end(), diagnostics.begin(), diagnostics.end());
  }
  void Note(std::string_view /*text*/) override {}

  Diagnostics kept;
};

class IndexWriter {
 public:
  IndexWriter(std::string folder, const ViewOptions& options, Console& console)
      : folder_(std::move(folder)), options_(options), console_(console) {}

  // False, and a message, when nothing more can be written.
  bool Add(InputModule module, const std::string& name) {
    Quiet quiet;
    const Diagnostics& kept = quiet.kept;
    const auto is_error = [](const Diagnostic& it) { return it.severity == Severity::kError; };
    const std::optional<std::string> page = PageOf(std::move(module), name, quiet);
    for (const Diagnostic& problem : kept) {
      if (!is_error(problem)) warnings_.push_back(problem);
    }
    // Later errors often follow from the first.
    const auto first = std::ranges::find_if(kept, is_error);
    if (page && first != kept.end()) leftovers_.push_back({name, OneLine(*first)});
    if (page) return Write(index_.rows.back().file, *page);
    leftovers_.push_back({name, first == kept.end() ? "cannot be shown" : OneLine(*first)});
    return true;
  }

  int Finish(std::string title, std::vector<report::DumpLeftover> leftovers) {
    console_.Show(warnings_);
    leftovers.insert(leftovers.begin(), leftovers_.begin(), leftovers_.end());
    ShowLeftovers({.modules = {}, .leftovers = leftovers}, console_);
    if (index_.rows.empty()) {
      console_.ShowError("none of the modules could be shown");
      return kBadUse;
    }
    // Those of the same size as they came: by name.
    std::ranges::stable_sort(index_.rows, std::greater(), &view::IndexRow::bytes);
    index_.title = std::move(title);
    index_.budget = options_.budget;
    for (report::DumpLeftover& leftover : leftovers)
      index_.problems.push_back({std::move(leftover.path), std::move(leftover.reason)});
    const Result<std::string> page = view::WritePage(view::WriteIndexBundle(index_));
    if (!page) {
      console_.Show(page.error());
      return kBadUse;
    }
    const std::string name(view::kIndexPage);
    if (!Write(name, *page)) return kBadUse;
    console_.Note(fmt::format("note: {} of {}, {} in all\n", (fs::path(folder_) / name).string(),
                              CountOf(static_cast<int64_t>(index_.rows.size()), "module"),
                              HumanBytes(written_)));
    return kFine;
  }

 private:
  // "dump/m.hlo.pb: the file is empty"
  static std::string OneLine(const Diagnostic& error) {
    const report::DumpLeftover line = LeftoverOf(error);
    return line.path.empty() || line.path == "stowplan" ? line.reason
                                                        : line.path + ": " + line.reason;
  }

  // The page, and its row in the index.
  std::optional<std::string> PageOf(InputModule module, const std::string& name, Listener& quiet) {
    std::optional<PlanInput> plan = LoadPlan(std::move(module), options_.input, quiet);
    if (!plan) return std::nullopt;
    plan->name = name;
    const std::unique_ptr<ShownInput> shown = MakeShown(*std::move(plan), options_, quiet);
    if (shown == nullptr || (options_.is_best && !shown->best)) return std::nullopt;
    view::Scene scene = {.title = name,
                         .modules = {},
                         .budget = options_.budget,
                         .sources = {},
                         .home = std::string(view::kIndexPage)};
    AddTo(scene, *shown, options_);
    Result<view::IndexRow> row = view::IndexRowOf(scene.modules[0]);
    if (row && scene.modules.size() == 2) row->best_bytes = report::TotalBytes(shown->best->report);
    const Result<std::string> bundle =
        row ? view::WriteBundle(scene) : std::unexpected(row.error());
    Result<std::string> page = bundle ? view::WritePage(*bundle) : bundle;
    if (!page) {
      quiet.Show(page.error());
      return std::nullopt;
    }
    row->file = names_.NameFor(name);
    index_.rows.push_back(*std::move(row));
    return *std::move(page);
  }

  bool Write(const std::string& name, std::string_view page) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) {
      console_.ShowError("cannot make the directory " + folder_ + ": " + error.message());
      return false;
    }
    const std::unique_ptr<Output> output = console_.Open((fs::path(folder_) / name).string());
    if (output == nullptr) return false;
    output->Write(page);
    written_ += static_cast<int64_t>(page.size());
    return console_.Finish(*output, kFine) == kFine;
  }

  std::string folder_;
  const ViewOptions& options_;
  Console& console_;
  view::Index index_;
  view::PageNames names_;
  Diagnostics warnings_;
  std::vector<report::DumpLeftover> leftovers_;  // modules that cannot be shown
  int64_t written_ = 0;                          // bytes
};

}  // namespace

int ViewIndex(Inputs inputs, const std::string& folder, const std::string& title,
              const ViewOptions& options, Console& console) {
  if (!MayWriteIndex((fs::path(folder) / view::kIndexPage).string(), console)) return kBadUse;
  std::map<std::string, int> stages;
  for (const InputModule& module : inputs.modules) ++stages[module.name];
  IndexWriter writer(folder, options, console);
  {
    Progress progress(inputs.modules.size(), console.is_watched());
    for (InputModule& module : inputs.modules) {
      progress.Next(module.name);
      std::string name = module.name;
      if (stages[name] > 1 && !module.stage.empty()) name += " " + module.stage;
      if (!writer.Add(std::move(module), name)) return kBadUse;
    }
  }
  return writer.Finish(title, std::move(inputs.leftovers));
}

}  // namespace stowplan::cli
