// SPDX-License-Identifier: Apache-2.0
// How much less memory the training steps of the corpus need if they compute values twice, at 5, 10
// and 20 percent more work by the plain cost model, which does not change over time, and what is
// proved to be the least at that cost. All plans are made by policy `best` and checked. Steps whose
// layers are trips of a loop get as much more work as another forward loop takes, by the model of
// machines: the plain one counts all of an array that a trip updates. Then how long synthetic steps
// take. Prints the tables of docs/fit.md.
//
//     stowplan_bench_fit CORPUS [ONLY]
//
// CORPUS is the unpacked one, or what fit_programs.py has made.
#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cost/machine.h"
#include "cost/work.h"
#include "cpu_seconds.h"
#include "fit/loop_pairs.h"
#include "session/fit.h"
#include "stowplan/session.h"

namespace {

using namespace stowplan;

constexpr double kCosts[] = {0.05, 0.10, 0.20};

struct Archive {
  std::string_view name;
  std::string_view target;
  std::string_view version;
};
constexpr Archive kArchives[] = {
    {"cpu", "cpu", "jaxlib-0.10.2"},
    {"cpu11", "cpu", "jaxlib-0.11.2"},
    {"gpu", "gpu", "jaxlib-0.11.2"},
    {"cpu10", "cpu", "jaxlib-0.10.2"},
};
// Training steps; a program with checkpoints in its source is named after the one without.
struct Program {
  std::string_view name;
  bool is_loop = false;  // its layers are trips of a loop
};
constexpr Program kPrograms[] = {
    {"lm_train_unrolled_12"},
    {"lm_train_unrolled_small"},
    {"cnn_train"},
    {"mlp_train_sgd"},
    {"vit"},
    {"lm_unroll"},
    {"resnet"},
    {"lm_train_scan", true},
    {"lstm_train", true},
    {"mlp_train_adam_scan", true},
    {"scan_gpt", true},
    {"scan_gated", true},
    {"scan_mlp", true},
    {"scan_lstm", true},
};

double Megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

int64_t Temporaries(const PlannedModule& planned) {
  int64_t sum = 0;
  for (const report::Allocation& allocation : planned.report->allocations.rows()) {
    if (allocation.color == 0 && allocation.is_temp()) sum += allocation.size;
  }
  return sum;
}

double SumInEntry(const hlo::Module& module, std::span<const double> costs) {
  double sum = 0;
  for (const hlo::InstrId id : module.schedule_of(module.entry)) sum += costs[id.index];
  return sum;
}

double WholeCost(const hlo::Module& module, std::string_view name) {
  const Target target = *FindTarget(name);
  return SumInEntry(module, cost::FindCosts(module, target, [&](const cost::Work& work) {
                      return cost::PlainCost(work, target);
                    }));
}

// What the loops that stack values take, as a part of the program.
double ForwardPass(const hlo::Module& module, std::string_view name) {
  const Target target = *FindTarget(name);
  const cost::Machine machine = cost::MachineOf(target);
  const std::vector<double> costs = cost::FindCosts(
      module, target, [&](const cost::Work& work) { return cost::SecondsOf(work, machine); });
  double sum = 0;
  for (const fit::LoopPair& pair : fit::FindLoopPairs(module)) {
    if (module.instructions[pair.forward].parent == module.entry) sum += costs[pair.forward.index];
  }
  const double whole = SumInEntry(module, costs);
  return whole > 0 ? sum / whole : 0;
}

std::string FileIn(const std::string& folder) {
  if (!std::filesystem::exists(folder)) return {};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().string().ends_with(".hlo.pb")) return entry.path().string();
  }
  return {};
}

class Bench {
 public:
  explicit Bench(const Archive& archive) : archive_(archive) {}

  bool Run(const std::string& corpus, const Program& shown) {
    const std::string_view program = shown.name;
    const std::string folder = fmt::format("{}/{}/{}", corpus, archive_.name, program);
    const std::string file = FileIn(folder);
    if (file.empty()) return true;
    Result<hlo::Module> module = ReadModule(file);
    if (!module) return false;
    module->buffer_assignment = {};
    PlanOptions options;
    options.target = archive_.target;
    options.release = archive_.version;
    options.policy = Policy::kBest;
    const Result<PlannedModule> given = Plan(*module, options);
    if (!given) return false;
    const double temporaries = Megabytes(Temporaries(*given));
    fmt::print("{:6} {:26} {:6} {:9.1f}", archive_.name, program,
               module->schedule_of(module->entry).size(), temporaries);
    if (shown.is_loop) return RunLoops(corpus, shown, *given, options);
    bool is_fine = true;
    double seconds = 0;
    for (size_t k = 0; k < std::size(kCosts); ++k) {
      const double start = CpuSeconds();
      const Result<Fitted> fitted =
          Fit(*given, {.plan = options, .max_cost = kCosts[k], .model = CostModel::kPlain});
      seconds = std::max(seconds, CpuSeconds() - start);
      if (!fitted || fitted->planned.verdict.soundness != Soundness::kSound) return false;
      const double now = Megabytes(Temporaries(fitted->planned));
      const double cost =
          WholeCost(*fitted->planned.module, archive_.target) / WholeCost(*module, archive_.target);
      is_fine = is_fine && fitted->facts.bytes <= fitted->facts.given_bytes &&
                fitted->facts.cost_bound <= fitted->facts.bytes && cost <= 1 + kCosts[k] + 1e-9;
      const double least = now - Megabytes(fitted->facts.bytes - fitted->facts.cost_bound);
      logs_[k] += std::log(now / temporaries);
      fmt::print(" {:9.1f} {:+6.1f}% {:+6.1f}%", now, 100 * (now / temporaries - 1),
                 100 * (least / temporaries - 1));
    }
    ++count_;
    fmt::print(" {:6.1f} s\n", seconds);
    return CompareWithCheckpoints(corpus, shown, *module, options) && is_fine;
  }

  void PrintMeans() const {
    if (count_ == 0) return;
    fmt::print("{:6} {:26} {:6} {:9}", archive_.name, "geometric mean, unrolled", "", "");
    for (const double log : logs_) fmt::print(" {:9} {:+6.1f}% {:7}", "", MeanOf(log, count_), "");
    fmt::print("\n");
  }
  void AddTo(double (&logs)[std::size(kCosts)], int64_t& count) const {
    for (size_t k = 0; k < std::size(kCosts); ++k) logs[k] += logs_[k];
    count += count_;
  }
  static double MeanOf(double log, int64_t count) {
    return 100 * (std::exp(log / static_cast<double>(count)) - 1);
  }

 private:
  // At the cost of another forward pass, or at most.
  bool RunLoops(const std::string& corpus, const Program& shown, const PlannedModule& given,
                const PlanOptions& options) const {
    const double pass = ForwardPass(*given.module, archive_.target);
    const double start = CpuSeconds();
    const Result<Fitted> fitted = Fit(given, {.plan = options, .max_cost = pass});
    const double seconds = CpuSeconds() - start;
    if (!fitted || fitted->planned.verdict.soundness != Soundness::kSound) return false;
    const double before = Megabytes(Temporaries(given));
    const double now = Megabytes(Temporaries(fitted->planned));
    fmt::print(" {:9.1f} {:+6.1f}% at {:+.1f} % of {:.1f} % for a forward pass {:6.1f} s\n", now,
               100 * (now / before - 1), 100 * fitted->facts.cost, 100 * pass, seconds);
    const std::string file =
        FileIn(fmt::format("{}/{}/{}_remat", corpus, archive_.name, shown.name));
    // The corpus has some of these in other types.
    if (!file.empty() && shown.name.starts_with("scan_")) {
      Result<hlo::Module> theirs = ReadModule(file);
      if (!theirs) return false;
      theirs->buffer_assignment = {};
      PlanOptions in_best_order = options;
      in_best_order.scheduler = "best";
      const Result<PlannedModule> as_it_is = Plan(*theirs, options);
      const Result<PlannedModule> planned = Plan(*theirs, in_best_order);
      if (!planned || !as_it_is) return false;
      const double their_bytes = Megabytes(Temporaries(*planned));
      fmt::print(
          "{:6} {:26} jax.checkpoint of the body: {:.1f}, in the best order {:.1f} ({:+.1f} %)\n",
          "", "", Megabytes(Temporaries(*as_it_is)), their_bytes, 100 * (now / their_bytes - 1));
    }
    return fitted->facts.bytes <= fitted->facts.given_bytes && fitted->facts.cost <= pass + 1e-9;
  }

  // The same source with jax.checkpoint in each layer, at the same cost.
  bool CompareWithCheckpoints(const std::string& corpus, const Program& shown,
                              const hlo::Module& module, const PlanOptions& options) const {
    const std::string file =
        FileIn(fmt::format("{}/{}/{}_remat", corpus, archive_.name, shown.name));
    if (file.empty()) return true;
    Result<hlo::Module> theirs = ReadModule(file);
    if (!theirs) return false;
    theirs->buffer_assignment = {};
    PlanOptions in_best_order = options;
    in_best_order.scheduler = "best";
    const Result<PlannedModule> planned = Plan(*theirs, in_best_order);
    if (!planned) return false;
    const double cost =
        WholeCost(*theirs, archive_.target) / WholeCost(module, archive_.target) - 1;
    const Result<Fitted> ours =
        Fit(*Plan(module, options),
            {.plan = options, .max_cost = std::max(cost, 0.0), .model = CostModel::kPlain});
    if (!ours) return false;
    const double their_bytes = Megabytes(Temporaries(*planned));
    const double our_bytes = Megabytes(Temporaries(ours->planned));
    fmt::print(
        "{:6} {:26} checkpoint per layer: {:.1f} at {:+.1f} %; here {:.1f} at {:+.1f} % "
        "({:+.1f} %; proved: {:+.1f} %)\n",
        "", "", their_bytes, 100 * cost, our_bytes, 100 * ours->facts.cost,
        100 * (our_bytes / their_bytes - 1),
        100 * ((our_bytes - Megabytes(ours->facts.bytes - ours->facts.cost_bound)) / their_bytes -
               1));
    return true;
  }

  const Archive& archive_;
  double logs_[std::size(kCosts)] = {};
  int64_t count_ = 0;
};

// A training step of so many layers: a chain of products and tangents, and its gradient.
std::string SyntheticStep(int layers) {
  std::string text = "HloModule step, is_scheduled=true\n\nENTRY e {\n";
  constexpr std::string_view kType = "f32[256,256]{1,0}";
  const auto line = [&](std::string_view what) { text += fmt::format("  {}\n", what); };
  line(fmt::format("x0 = {} parameter(0)", kType));
  line(fmt::format("w = {} parameter(1)", kType));
  for (int i = 0; i < layers; ++i) {
    line(fmt::format("a{} = {} dot(x{}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
                     i, kType, i));
    line(fmt::format("b{} = {} tanh(a{})", i, kType, i));
    line(fmt::format("c{} = {} multiply(b{}, a{})", i, kType, i, i));
    line(fmt::format("x{} = {} add(c{}, x{})", i + 1, kType, i, i));
  }
  line(fmt::format("g{} = {} negate(x{})", layers, kType, layers));
  for (int i = layers; i-- > 0;) {
    line(fmt::format("d{} = {} multiply(g{}, b{})", i, kType, i + 1, i));
    line(fmt::format("e{} = {} multiply(g{}, a{})", i, kType, i + 1, i));
    line(fmt::format("f{} = {} add(d{}, e{})", i, kType, i, i));
    line(fmt::format("h{} = {} dot(f{}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}",
                     i, kType, i));
    line(fmt::format("g{} = {} add(h{}, g{})", i, kType, i, i + 1));
    line(fmt::format(
        "k{} = {} dot(x{}, f{}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}", i, kType,
        i, i));
    if (i + 1 == layers) {
      line(fmt::format("u{} = {} negate(k{})", i, kType, i));
    } else {
      line(fmt::format("u{} = {} subtract(u{}, k{})", i, kType, i + 1, i));
    }
  }
  line(fmt::format("ROOT r = ({}, {}) tuple(g0, u0)\n}}", kType, kType));
  return text;
}

bool RunSynthetic(int layers) {
  const Result<hlo::Module> module =
      ParseModule(Source::FromBytes("step.hlo", SyntheticStep(layers)));
  if (!module) return false;
  PlanOptions options;
  options.target = "cpu";
  options.policy = Policy::kBest;
  PlannedModule planned;
  planned.name = "step";
  planned.module = std::make_shared<const hlo::Module>(*module);
  const double start = CpuSeconds();
  const Result<Fitted> fitted =
      Fit(planned, {.plan = options, .max_cost = 0.2, .model = CostModel::kPlain});
  if (!fitted) return false;
  fmt::print("{:6} {:26} {:6} {:9.1f} {:9.1f} (proved {:.1f}) at {:+.1f} % {:6.1f} s\n", "",
             "synthetic step", module->schedule_of(module->entry).size(),
             Megabytes(fitted->facts.given_bytes), Megabytes(fitted->facts.bytes),
             Megabytes(fitted->facts.cost_bound), 100 * fitted->facts.cost, CpuSeconds() - start);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: stowplan_bench_fit CORPUS [ONLY]\n");
    return 2;
  }
  const std::string_view only = argc > 2 ? argv[2] : "";
  fmt::print("{:6} {:26} {:>6} {:>9} {:>17} {:>7} {:>17} {:>7} {:>17} {:>7}\n", "",
             "temporaries in MB", "nodes", "given", "+5 %", "proved", "+10 %", "proved", "+20 %",
             "proved");
  bool is_fine = true;
  double logs[std::size(kCosts)] = {};
  int64_t count = 0;
  for (const Archive& archive : kArchives) {
    Bench bench(archive);
    for (const Program& program : kPrograms) {
      if (!only.empty() && program.name != only) continue;
      // The other archive of CPUs has the same programs in the same shape, but for loops.
      if (archive.name == "cpu" && !program.is_loop) continue;
      if (bench.Run(argv[1], program)) continue;
      fmt::print("{}/{}: failed\n", archive.name, program.name);
      is_fine = false;
    }
    bench.PrintMeans();
    bench.AddTo(logs, count);
  }
  if (count > 0) {
    fmt::print("all    geometric mean, {} steps:", count);
    for (const double log : logs) fmt::print(" {:+.1f}%", Bench::MeanOf(log, count));
    fmt::print("\n");
  }
  for (const int layers : {90, 900, 9000}) {
    if (only.empty() || only == "synthetic") is_fine = RunSynthetic(layers) && is_fine;
  }
  return is_fine ? 0 : 1;
}
