// SPDX-License-Identifier: Apache-2.0
// From any input to a checked plan.
//
//     stowplan::PlanOptions options;
//     auto inputs = stowplan::Open({"dump/"});
//     auto planned = inputs ? stowplan::LoadOne(*inputs, options) : ...;
//     auto lower = stowplan::Plan(*planned, {.policy = stowplan::Policy::kBest});
//     std::cout << Name(lower->verdict.soundness);
//
// The steps are
//
//     Open      files, directories, bytes or standard input to a list of modules
//     Load      what the files of a module hold; where that is no plan, one is made as XLA does
//     Plan      a plan by a policy: as XLA makes it, or as low as possible
//     Check     the verdict on a plan
//
// This is the only code that decides for which machine and by which release's rules a module is
// planned, that schedules, plans and checks. A plan that Stowplan makes is always checked, and is
// returned only if it is sound, or if the options allow what it is.
//
// Threads: any function may be called by several threads at once, each with its own Inputs. Inputs
// remember what was read of their files, so one Inputs belongs to one thread at a time. What the
// functions return is immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/speech.h"
#include "stowplan/hlo/module.h"
#include "stowplan/plan.h"

namespace stowplan {

// ---- Open

struct InputFiles;  // session/inputs.h; private

// The files of one module. Each is read once, when it is needed.
struct InputModule {
  std::string name;
  std::string stage;  // "cpu_after_optimizations"; may be empty
  std::shared_ptr<const InputFiles> files;
};

// Something that holds no plan, and why.
struct Leftover {
  std::string path;
  std::string reason;
  bool is_module = false;  // a module without a plan; else a file
  friend bool operator==(const Leftover&, const Leftover&) = default;
};

struct Inputs {
  std::vector<InputModule> modules;   // that have a plan, or were named
  std::vector<InputModule> programs;  // in directories: modules without a plan
  std::vector<Leftover> leftovers;
  int64_t other_files = 0;  // of a dump, about something else
  bool has_directory = false;
};

// Each path is a file, a dump directory, or "-" for standard input. Files that belong to one module
// become one. Fails when there is nothing at a path.
[[nodiscard]] Result<Inputs> Open(const std::vector<std::string>& paths);
// One module or report, text or proto, packed or not. `name` is for messages.
[[nodiscard]] Result<Inputs> OpenBytes(std::string name, std::string_view bytes);

// ---- Load, plan

enum class Policy : uint8_t { kXla, kBest };

struct PlanOptions {
  std::string module = {};   // of several modules, the one with this name; empty: the largest
  std::string target = {};   // "cpu", "gpu", "tpu-v5e", ...; empty: found
  std::string release = {};  // of XLA: "jaxlib-0.11.2", "libtpu-0.0.51", ...; empty: found
  Policy policy = Policy::kXla;

  // Return a plan that is not sound, or that could not be checked, all the same.
  bool allow_unsound = false;
  bool allow_unchecked = false;

  std::string dialect = {};  // how reports are written; empty: as the release writes them
  std::string preset = {};   // a report or .hlo.pb with XLA's places in a TPU's fast memory
  std::string scheduler =
      {};  // the order of execution; empty: the module's, or the one of least peak
  std::optional<int64_t> heap_limit = {};  // no heap grows beyond this; a further one is opened

  // Policy best: what memory space 0 should fit into.
  std::optional<int64_t> memory_limit = {};
  // Policy best: asked from time to time; true ends the search with what there is.
  std::function<bool()> should_stop = {};
  // Policy best: search until `should_stop` or a proof, not until the search has cost enough.
  bool searches_on = false;

  // Of a module's text and .hlo.pb read the latter, which has the computations in XLA's own order.
  bool prefers_proto = false;
  std::function<void(std::string_view stage)> on_stage = {};  // called after each stage
  // Called before each of many modules is read.
  std::function<void(size_t row, size_t count, std::string_view name)> on_module = {};
  bool has_stats = false;              // note what each order of execution would need
  Speech speech = Speech::kLibrary;    // how messages spell these options
  std::string caller = "the options";  // who names the target, in messages
};

// A module from its text or proto, packed or not.
[[nodiscard]] Result<hlo::Module> ReadModule(const std::string& path);
[[nodiscard]] Result<hlo::Module> ParseModule(std::shared_ptr<const Source> source);

// The plan of a module: as its files hold it, else made as XLA does, and checked. A given plan is
// not checked; Check does.
[[nodiscard]] Result<PlannedModule> Load(const InputModule& module, const PlanOptions& options);
// The same for the module that the options name, else for the one that takes most, with a note.
[[nodiscard]] Result<PlannedModule> LoadOne(const Inputs& inputs, const PlanOptions& options);

// A new plan for a module, by the policy of the options. Needs the module; `report` and `origin`
// may be those of a plan that is there, which then tells XLA's places in fast memory.
[[nodiscard]] Result<PlannedModule> Plan(const PlannedModule& planned, const PlanOptions& options);
[[nodiscard]] Result<PlannedModule> Plan(hlo::Module module, const PlanOptions& options);

// ---- Check

// The same plan with its verdict. Fails when there is nothing to check: no assignment, a program
// that is not well-formed, or a machine that is not known.
[[nodiscard]] Result<PlannedModule> Check(PlannedModule planned, const PlanOptions& options);

// ---- Write

struct ReportFile {
  std::string name;
  std::string text;
};
// The reports that XLA would write beside the module.
[[nodiscard]] std::vector<ReportFile> ReportFilesOf(const PlannedModule& planned);
// All of it as one document; docs/report-schema.md.
[[nodiscard]] std::string JsonOf(const PlannedModule& planned);
// The table "allocations", "values", ... as CSV; fails when there is no such table, or the report
// has nothing for it.
[[nodiscard]] Result<std::string> CsvOf(const PlannedModule& planned, std::string_view table);

}  // namespace stowplan
