// SPDX-License-Identifier: Apache-2.0
// stowplan diff: what changed between two plans, and why.
#include "diff/diff.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "page/diff_view.h"
#include "page/pictured.h"
#include "page/text.h"
#include "session/pairs.h"

namespace stowplan::cli {
namespace {

struct DiffOptions {
  std::string a;
  std::string b;
  PlanOptions plan;
  diff::Group group = diff::Group::kCause;
  size_t limit = 8;
  std::string format;
};

class DiffWriter {
 public:
  DiffWriter(const DiffOptions& options, bool is_single)
      : options_(options), is_single_(is_single), json_(text_) {
    if (options.format != "json") return;
    json_.BeginObject();
    json_.Field("schema", "stowplan.diff/1");
    json_.Field("a", std::string_view(options.a));
    json_.Field("b", std::string_view(options.b));
    json_.BeginArray("modules");
  }

  void Add(const page::DiffView& view) {
    if (options_.format == "json") {
      page::WriteDiffJson(view, json_);
    } else if (options_.format == "markdown") {
      if (!text_.empty()) text_ += '\n';
      text_ += page::DiffMarkdown(view);
    } else if (is_single_) {
      text_ += page::DiffPage(view);
    } else {
      // Among many modules, an unchanged one takes a single line.
      if (!view.diff.is_empty() && !text_.empty()) text_ += '\n';
      text_ += fmt::format("{}: {}", page::Printable(view.name), page::DiffPage(view));
    }
    differs_ = differs_ || !view.diff.is_empty();
  }

  void AddAlone(const std::string& name, bool is_in_a) {
    (is_in_a ? only_a_ : only_b_).push_back(name);
    differs_ = true;
  }

  std::string Finish() {
    if (options_.format == "json") {
      json_.End();
      WriteNames("only_a", only_a_);
      WriteNames("only_b", only_b_);
      json_.Field("differs", differs_);
      json_.End();
      text_ += '\n';
      return std::move(text_);
    }
    const bool is_markdown = options_.format == "markdown";
    for (const std::string& name : only_a_)
      text_ += is_markdown ? fmt::format("\n**{}**: only in A\n", page::MarkdownCell(name))
                           : page::Printable(name) + ": only in A\n";
    for (const std::string& name : only_b_)
      text_ += is_markdown ? fmt::format("\n**{}**: only in B\n", page::MarkdownCell(name))
                           : page::Printable(name) + ": only in B\n";
    return std::move(text_);
  }

  [[nodiscard]] bool differs() const { return differs_; }

 private:
  void WriteNames(std::string_view key, const std::vector<std::string>& names) {
    json_.BeginArray(key);
    for (const std::string& name : names) json_.Value(std::string_view(name));
    json_.End();
  }

  const DiffOptions& options_;
  bool is_single_;
  std::string text_;
  JsonWriter json_;
  std::vector<std::string> only_a_;
  std::vector<std::string> only_b_;
  bool differs_ = false;
};

std::unique_ptr<page::PicturedPlan> LoadSide(const InputModule& module, const PlanOptions& options,
                                             Console& console) {
  std::optional<std::unique_ptr<page::PicturedPlan>> side =
      console.Take(page::LoadPicture(module, options));
  if (!side) return nullptr;
  console.Show((*side)->planned.notes);
  return *std::move(side);
}

int DiffInputs(const DiffOptions& options, Console& console) {
  const std::optional<InputPair> inputs = console.Take(OpenBoth(options.a, options.b));
  if (!inputs) return kBadUse;
  const std::optional<std::vector<ModulePair>> pairs =
      console.Take(PairModules(inputs->a, inputs->b, options.plan));
  if (!pairs) return kBadUse;
  DiffWriter writer(options, pairs->size() == 1);
  bool is_bad = false;
  for (const ModulePair& pair : *pairs) {
    if (!pair.a || !pair.b) {
      writer.AddAlone(pair.name, pair.a.has_value());
      continue;
    }
    // In directories, modules that can be read are compared even if others cannot.
    const std::unique_ptr<page::PicturedPlan> a = LoadSide(*pair.a, options.plan, console);
    const std::unique_ptr<page::PicturedPlan> b = LoadSide(*pair.b, options.plan, console);
    is_bad = is_bad || a == nullptr || b == nullptr;
    if (a == nullptr || b == nullptr) continue;
    Result<diff::Diff> diff = diff::DiffOf(a->picture, b->picture);
    if (!diff) {
      console.Show(diff.error());
      is_bad = true;
      continue;
    }
    writer.Add(page::MakeDiffView(ShownName(pair.name, pairs->size() == 1, b->planned), a->picture,
                                  b->picture, *std::move(diff), options.group, options.limit));
  }
  if (is_bad && pairs->size() == 1) return kBadUse;
  const int code = is_bad ? kBadUse : (writer.differs() ? kFinding : kFine);
  return console.Print(writer.Finish(), code);
}

int RunDiff(const Arguments& arguments, Console& console) {
  const std::optional<size_t> limit = ReadCount("top", arguments, console);
  if (!limit) return kBadUse;
  return DiffInputs({.a = arguments.positionals[0],
                     .b = arguments.positionals[1],
                     .plan = PlanOptionsOf(arguments, console),
                     .group = *diff::FindGroup(arguments.option("by")),
                     .limit = *limit,
                     .format = arguments.option("format")},
                    console);
}

std::vector<std::string_view> GroupNames() {
  std::vector<std::string_view> names;
  names.reserve(diff::kGroups);
  for (size_t i = 0; i < diff::kGroups; ++i)
    names.push_back(diff::Name(static_cast<diff::Group>(i)));
  return names;
}

}  // namespace

CommandSpec DiffCommand() {
  return {
      .name = "diff",
      .summary = "show what changed between two plans, and which edit did it",
      .details =
          "Matches the values of two programs by what they are and where they come from,\n"
          "not by name, and splits the change in the peak into terms that add up to it\n"
          "exactly: new, gone, grown, shrunk, lives longer or shorter, sharing lost or won,\n"
          "copies, padding, the peak moved. Then lists the causes, largest first: a larger\n"
          "batch is one cause, however many values have grown.\n"
          "\n"
          "A and B can be anything with a plan: XLA's reports, a .hlo.pb, a module, or a\n"
          "dump directory. Two directories are compared module by module, matched by name\n"
          "without XLA's numbers. docs/diff.md defines every term.\n"
          "\n"
          "The exit code is 0 if nothing differs, 1 if something does, and 2 if an input\n"
          "cannot be read.\n",
      .examples =
          "  stowplan diff before.hlo.pb after.hlo.pb      what changed?\n"
          "  stowplan diff old_dump/ new_dump/             module by module\n"
          "  stowplan diff --module=step old_dump/ new_dump/\n"
          "  stowplan diff --by=value --top=0 a.hlo.pb b.hlo.pb\n"
          "  stowplan diff --format=markdown old/ new/     for a pull request\n",
      .positional = "A B",
      .count = Positionals::kTwo,
      .options = WithPlanOptions({
          {.name = "by",
           .value = "WHAT",
           .help = "group the changes by",
           .fallback = "cause",
           .choices = GroupNames()},
          {.name = "top",
           .value = "N",
           .help = "show at most N causes; 0 shows all",
           .fallback = "8"},
          {.name = "format",
           .value = "KIND",
           .help = "output format",
           .fallback = "text",
           .choices = {"text", "markdown", "json"}},
      }),
      .run = RunDiff,
  };
}

}  // namespace stowplan::cli
