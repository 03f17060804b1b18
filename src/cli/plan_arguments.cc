// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_arguments.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "cli/number.h"
#include "cli/progress.h"
#include "explain/own_line.h"
#include "session/names.h"
#include "target/device.h"

namespace stowplan::cli {

OptionSpec TargetOption() {
  std::vector<std::string_view> names = TargetNames();
  for (const std::string_view device : DeviceNames()) names.push_back(device);
  return {.name = "target",
          .value = "NAME",
          .help = "the machine, detected by default; the name of a device also gives its memory",
          .choices = std::move(names)};
}

std::vector<OptionSpec> WithPlanOptions(std::vector<OptionSpec> own) {
  own.push_back({.name = "module", .value = "NAME", .help = "the module to use from a directory"});
  own.push_back(TargetOption());
  own.push_back({.name = "xla-version",
                 .value = "NAME",
                 .help = "plan a module without a plan by the rules of this release"});
  if (std::ranges::find(own, "source-root", &OptionSpec::name) == own.end())
    own.push_back({.name = "source-root",
                   .value = "DIR",
                   .help = "your files: a value belongs to the nearest line that is in them"});
  own.push_back({.name = "own",
                 .value = "PATTERN",
                 .help = "files that are yours even if installed: mylib, mylib/models, '*/lib/x*'",
                 .is_list = true});
  own.push_back({.name = "allow-unsound", .help = "use a plan even if it fails the check"});
  own.push_back({.name = "allow-unchecked", .help = "use a plan even if it cannot be checked"});
  return own;
}

OptionSpec OverlapOption() {
  return {.name = "overlap",
          .value = "HOW",
          .help =
              "the work between starts and dones of asynchronous operations: keep it there, "
              "ignore it, or give up at most N%",
          .fallback = "keep"};
}

std::optional<int64_t> OverlapLossOf(const Arguments& arguments, Console& console) {
  std::string_view text = arguments.option("overlap");
  if (text == "keep") return 0;
  if (text == "ignore") return 100;
  const std::optional<int64_t> percent =
      text.ends_with('%') ? ParseNumber(text.substr(0, text.size() - 1)) : std::nullopt;
  if (percent && *percent >= 0 && *percent <= 100) return percent;
  console.ShowError("--overlap is `" + std::string(text) + "`", "give keep, ignore, or 0% to 100%");
  return std::nullopt;
}

PlanOptions PlanOptionsOf(const Arguments& arguments, const Console& console) {
  const auto option = [&](std::string_view name) {
    const auto found = arguments.options.find(name);
    return found == arguments.options.end() ? std::string() : found->second;
  };
  PlanOptions options;
  options.module = option("module");
  options.target = option("target");
  if (const std::optional<Device> device = FindDevice(options.target))
    options.target = device->target;
  options.release = option("xla-version");
  options.own = {.source_root = option("source-root"),
                 .patterns = explain::PatternsOf(option("own"))};
  options.allow_unsound = !option("allow-unsound").empty();
  options.allow_unchecked = !option("allow-unchecked").empty();
  options.speech = Speech::kCommandLine;
  options.caller = "the command line";
  options.on_module = [progress = std::shared_ptr<Progress>(), is_watched = console.is_watched()](
                          size_t row, size_t count, std::string_view name) mutable {
    if (row == 0) progress = std::make_shared<Progress>(count, is_watched);
    progress->Next(name);
    if (row + 1 == count) progress.reset();
  };
  return options;
}

}  // namespace stowplan::cli
