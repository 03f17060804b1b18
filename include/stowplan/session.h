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
//     Open      turns files, directories, bytes or standard input into a list of modules
//     Load      reads the plan in a module's files; if there is none, makes one as XLA does
//     Plan      makes a plan by a policy: as XLA does, or as small as possible
//     Check     gives the verdict on a plan
//
// Only this code decides for which machine and by which release's rules a module is planned, and
// only this code schedules, plans and checks. A plan that Stowplan makes is always checked, and is
// returned only if it is sound or if the options allow it anyway.
//
// Threads: several threads may call any function at once, each with its own Inputs. Inputs cache
// what was read from their files, so one Inputs belongs to one thread at a time. What the functions
// return is immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/own_code.h"
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

// A file or module that contributes no plan, and why.
struct Leftover {
  std::string path;
  std::string reason;
  bool is_module = false;  // a module without a plan; otherwise a file
  friend bool operator==(const Leftover&, const Leftover&) = default;
};

struct Inputs {
  std::vector<InputModule> modules;   // those with a plan, and those given by name
  std::vector<InputModule> programs;  // modules without a plan, from directories
  std::vector<Leftover> leftovers;
  int64_t other_files = 0;  // files of a dump that are about something else
  bool has_directory = false;
};

// Each path is a file, a dump directory, or "-" for standard input. Files of the same module are
// put together. Fails if a path does not exist.
[[nodiscard]] Result<Inputs> Open(const std::vector<std::string>& paths);
// One module or report, as text or proto, compressed or not. `name` is used in messages.
[[nodiscard]] Result<Inputs> OpenBytes(std::string name, std::string_view bytes);

// ---- Load, plan

enum class Policy : uint8_t { kXla, kBest };

struct PlanOptions {
  std::string module = {};   // which of several modules to use; empty: the largest
  std::string target = {};   // "cpu", "gpu", "tpu-v5e", ...; empty: detected
  std::string release = {};  // of XLA: "jaxlib-0.11.2", "libtpu-0.0.51", ...; empty: detected
  Policy policy = Policy::kXla;

  // Return a plan even if it is not sound, or could not be checked.
  bool allow_unsound = false;
  bool allow_unchecked = false;

  OwnCode own = {};  // which source lines are the user's own

  std::string dialect = {};  // how reports are written; empty: as the release writes them
  std::string preset = {};   // a report or .hlo.pb with XLA's places in a TPU's fast memory
  // The order of execution; empty: the module's schedule, or else the order with the lowest peak of
  // three simple ones. "best": the order of least memory that a search finds, if it beats the
  // module's own.
  std::string scheduler = {};
  // Scheduler best: how much of the work between the starts and dones of asynchronous operations
  // may go elsewhere, in percent.
  int64_t overlap_loss = 0;
  std::optional<int64_t> heap_limit = {};  // no heap grows beyond this; another one is started

  // Policy best: the size that memory space 0 should fit into.
  std::optional<int64_t> memory_limit = {};
  // Policy best: called from time to time; true ends the search with the best plan so far.
  std::function<bool()> should_stop = {};
  // Policy best: search until `should_stop` or a proof, without the usual limit on effort.
  bool searches_on = false;

  // If a module has both text and .hlo.pb, read the latter, whose computations are in XLA's order.
  bool prefers_proto = false;
  std::function<void(std::string_view stage)> on_stage = {};  // called after each stage
  // Called before each of many modules is read.
  std::function<void(size_t row, size_t count, std::string_view name)> on_module = {};
  bool has_stats = false;              // add notes on what each order of execution would need
  Speech speech = Speech::kLibrary;    // how messages spell these options
  std::string caller = "the options";  // where the target was named, for messages
};

// Reads a module from its text or proto, compressed or not.
[[nodiscard]] Result<hlo::Module> ReadModule(const std::string& path);
[[nodiscard]] Result<hlo::Module> ParseModule(std::shared_ptr<const Source> source);

// The plan in a module's files; if there is none, a plan made as XLA does, and checked. A given
// plan is not checked here; Check does that.
[[nodiscard]] Result<PlannedModule> Load(const InputModule& module, const PlanOptions& options);
// The same for the module that the options name; otherwise for the largest, with a note.
[[nodiscard]] Result<PlannedModule> LoadOne(const Inputs& inputs, const PlanOptions& options);

// Makes a new plan for a module, by the policy of the options. Needs the module; `report` and
// `origin` may be those of an existing plan, from which XLA's places in fast memory are taken.
[[nodiscard]] Result<PlannedModule> Plan(const PlannedModule& planned, const PlanOptions& options);
[[nodiscard]] Result<PlannedModule> Plan(hlo::Module module, const PlanOptions& options);

// ---- Check

// The same plan with its verdict. Fails if it cannot be checked: there is no assignment, the
// program is not well-formed, or the machine is not known.
[[nodiscard]] Result<PlannedModule> Check(PlannedModule planned, const PlanOptions& options);

// ---- Write

struct ReportFile {
  std::string name;
  std::string text;
};
// The reports that XLA would write beside the module.
[[nodiscard]] std::vector<ReportFile> ReportFilesOf(const PlannedModule& planned);
// The whole report as one JSON document; see docs/report-schema.md.
[[nodiscard]] std::string JsonOf(const PlannedModule& planned);
// The table "allocations", "values", ... as CSV. Fails if there is no such table, or if the report
// does not have its data.
[[nodiscard]] Result<std::string> CsvOf(const PlannedModule& planned, std::string_view table);

}  // namespace stowplan
