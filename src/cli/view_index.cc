// SPDX-License-Identifier: Apache-2.0
#include "cli/view_index.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/human_bytes.h"
#include "base/stable_sort.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/view_files.h"
#include "page/text.h"
#include "report/derive.h"
#include "session/choose_module.h"
#include "session/count_modules.h"
#include "session/note.h"
#include "view/page_names.h"

namespace stowplan::cli {
namespace {

namespace fs = std::filesystem;
using page::ShownInput;

class IndexWriter {
 public:
  IndexWriter(std::string folder, const page::ViewOptions& options, Console& console)
      : folder_(std::move(folder)), options_(options), console_(console) {}

  // Shows an error and returns false if nothing more can be written.
  bool Add(const IndexEntry& entry, const std::string& file) {
    Diagnostics problems;
    const Result<std::string> page = PageOf(entry, file, problems);
    if (!page) Append(page.error(), problems);
    for (const Diagnostic& problem : problems) {
      if (problem.severity == Severity::kWarning) warnings_.push_back(problem);
    }
    // In the index a failure takes one line.
    const Diagnostic* const first = FirstError(problems);
    if (page && first != nullptr) leftovers_.push_back({entry.name, OneLine(*first)});
    if (page) return Write(file, *page);
    leftovers_.push_back({entry.name, first == nullptr ? "cannot be shown" : OneLine(*first)});
    if (first != nullptr && first_error_.empty()) first_error_ = {*first};
    return true;
  }

  int Finish(std::string title, std::vector<std::string> compared,
             std::vector<Leftover> leftovers) {
    console_.Show(warnings_);
    leftovers.insert(leftovers.begin(), leftovers_.begin(), leftovers_.end());
    console_.Show(LeftoverWarnings(leftovers), kMaxLeftovers);
    if (index_.rows.empty()) {
      console_.Show(first_error_);  // with its hint
      console_.ShowError("no module could be shown");
      return kBadUse;
    }
    // For two inputs, the largest change comes first. Equal ones stay in order, which is by name.
    const auto key = [&](const view::IndexRow& row) {
      const int64_t change = std::abs(row.bytes - row.base_bytes.value_or(0));
      return std::pair(compared.empty() ? 0 : change, row.bytes);
    };
    StableSort(index_.rows, std::greater(), key);
    index_.title = std::move(title);
    index_.compared = std::move(compared);
    index_.budget = options_.budget;
    for (Leftover& leftover : leftovers)
      index_.problems.push_back({std::move(leftover.path), std::move(leftover.reason)});
    const Result<std::string> page = view::WritePage(view::WriteIndexBundle(index_));
    if (!page) {
      console_.Show(page.error());
      return kBadUse;
    }
    const std::string name(view::kIndexPage);
    if (!Write(name, *page)) return kBadUse;
    console_.Note(fmt::format("note: {} of {}, {} in total\n", (fs::path(folder_) / name).string(),
                              CountOf(static_cast<int64_t>(index_.rows.size()), "module"),
                              HumanBytes(written_)));
    return kFine;
  }

 private:
  // "dump/m.hlo.pb: the file is empty"
  static std::string OneLine(const Diagnostic& error) {
    const Leftover line = LeftoverOf(error);
    return line.path.empty() || line.path == "stowplan" ? line.reason
                                                        : line.path + ": " + line.reason;
  }

  Result<std::unique_ptr<ShownInput>> LoadShown(const InputModule& module, const std::string& name,
                                                Diagnostics& problems) {
    STOWPLAN_TRY(PlannedModule planned, Load(module, options_.plan));
    planned.name = name;
    STOWPLAN_TRY(std::unique_ptr<ShownInput> shown, MakeShown(std::move(planned), options_));
    if (options_.is_best && !shown->best) return std::unexpected(std::move(shown->problems));
    Append(shown->problems, problems);
    return shown;
  }

  // The page, and its row in the index.
  Result<std::string> PageOf(const IndexEntry& entry, const std::string& file,
                             Diagnostics& problems) {
    view::Scene scene = {.title = entry.name,
                         .modules = {},
                         .budget = options_.budget,
                         .sources = {},
                         .home = std::string(view::kIndexPage)};
    std::unique_ptr<ShownInput> base;
    if (entry.base) {
      STOWPLAN_TRY(base, LoadShown(*entry.base, entry.name, problems));
      AddTo(scene, *base, options_);
    }
    STOWPLAN_TRY(const std::unique_ptr<ShownInput> shown,
                 LoadShown(entry.module, entry.name, problems));
    AddTo(scene, *shown, options_);
    const auto bytes_of = [](const view::Shown& module) {
      return report::TotalBytes(*module.picture->report);
    };
    STOWPLAN_TRY(view::IndexRow row, view::IndexRowOf(base ? scene.modules[1] : scene.modules[0]));
    if (scene.modules.size() == 2) {
      if (base) {
        row.base_bytes = bytes_of(scene.modules[0]);
      } else {
        row.best_bytes = bytes_of(scene.modules[1]);
      }
    }
    STOWPLAN_TRY(const std::string bundle, view::WriteBundle(scene));
    STOWPLAN_TRY(std::string page, view::WritePage(bundle));
    row.file = file;
    row.only = entry.only;
    index_.rows.push_back(std::move(row));
    return page;
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
  const page::ViewOptions& options_;
  Console& console_;
  view::Index index_;
  Diagnostics warnings_;
  Diagnostics first_error_;          // of the first module that cannot be shown
  std::vector<Leftover> leftovers_;  // modules that cannot be shown
  int64_t written_ = 0;              // bytes
};

}  // namespace

std::vector<IndexEntry> EntriesOf(std::vector<InputModule> modules) {
  std::map<std::string, int> stages;
  for (const InputModule& module : modules) ++stages[module.name];
  std::vector<IndexEntry> entries;
  for (InputModule& module : modules) {
    std::string name = module.name;
    if (stages[name] > 1 && !module.stage.empty()) name += " " + module.stage;
    entries.push_back({.name = std::move(name), .module = std::move(module)});
  }
  return entries;
}

std::vector<IndexEntry> EntriesOf(std::vector<ModulePair> pairs) {
  std::vector<IndexEntry> entries;
  for (ModulePair& pair : pairs) {
    IndexEntry entry = {.name = std::move(pair.name), .module = {}};
    if (!pair.a || !pair.b) entry.only = pair.a ? "A" : "B";
    if (pair.b) {
      entry.module = *std::move(pair.b);
      entry.base = std::move(pair.a);
    } else {
      entry.module = *std::move(pair.a);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

int ViewIndex(IndexInput input, const std::string& folder, const page::ViewOptions& options,
              Console& console) {
  view::PageNames names;
  std::vector<std::string> files;
  std::vector<std::string> paths = {(fs::path(folder) / view::kIndexPage).string()};
  for (const IndexEntry& entry : input.entries) {
    files.push_back(names.NameFor(entry.name));
    paths.push_back((fs::path(folder) / files.back()).string());
  }
  if (!MayWritePages(paths, "choose a different folder with -o, or move the file", console))
    return kBadUse;
  IndexWriter writer(folder, options, console);
  {
    Progress progress(input.entries.size(), console.is_watched());
    for (size_t i = 0; i < files.size(); ++i) {
      progress.Next(input.entries[i].name);
      if (!writer.Add(input.entries[i], files[i])) return kBadUse;
    }
  }
  return writer.Finish(std::move(input.title), std::move(input.compared),
                       std::move(input.leftovers));
}

}  // namespace stowplan::cli
