// SPDX-License-Identifier: Apache-2.0
// stowplan order: the order of instructions that needs the least memory.
#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/deadline.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "page/order_page.h"
#include "session/write_module.h"
#include "stowplan/session.h"

namespace stowplan::cli {
namespace {

// Returns the exit code, `code` if all is well.
int WriteModuleTo(const std::string& path, const hlo::Module& module, int code, Console& console) {
  const std::optional<std::string> bytes = console.Take(WriteModule(module));
  if (!bytes) return kBadUse;
  const std::unique_ptr<Output> output = console.Open(path);
  if (output == nullptr) return kBadUse;
  output->Write(*bytes);
  return console.Finish(*output, code);
}

int RunOrder(const Arguments& arguments, Console& console) {
  PlanOptions options = PlanOptionsOf(arguments, console);
  options.policy = Policy::kBest;
  options.scheduler = "best";
  const std::optional<int64_t> loss = OverlapLossOf(arguments, console);
  if (!loss) return kBadUse;
  options.overlap_loss = *loss;
  if (!arguments.option("time-limit").empty()) {
    const std::optional<double> seconds = ReadSeconds("time-limit", arguments, console);
    if (!seconds) return kBadUse;
    options.should_stop = StopAfter(*seconds);
  }
  const std::optional<Inputs> inputs = console.Take(Open(arguments.positionals));
  if (!inputs) return kBadUse;
  const std::optional<PlannedModule> loaded =
      console.Take(LoadOne(*inputs, PlanOptionsOf(arguments, console)));
  if (!loaded) return kBadUse;
  const std::optional<PlannedModule> planned = console.Take(Plan(*loaded, options));
  if (!planned) return kBadUse;
  console.Show(planned->notes);
  const bool is_better = planned->order->bytes < planned->order->given_bytes;
  const int code = is_better ? kFinding : kFine;
  const std::string page =
      arguments.option("format") == "json" ? page::OrderJson(*planned) : page::OrderPage(*planned);
  const int printed = console.Print(page, code);
  if (printed == kBadUse || arguments.option("output").empty()) return printed;
  return WriteModuleTo(arguments.option("output"), *planned->module, code, console);
}

}  // namespace

CommandSpec OrderCommand() {
  return {
      .name = "order",
      .summary = "find the order of instructions that needs the least memory",
      .details =
          "Searches for an order of the program's instructions that needs less memory than\n"
          "its own, for the entry and inside loops, branches and calls; plans it; checks the\n"
          "plan; and says how far from the best order of all it can be at most. The exit\n"
          "code is 1 if a better order was found, and 0 if not.\n"
          "\n"
          "The order of effects and collectives is kept. So is, by default, the work between\n"
          "the start and the done of each asynchronous operation.\n",
      .examples =
          "  stowplan order dump/                         what the order of your program "
          "costs\n"
          "  stowplan order module.hlo.pb -o new.hlo.pb   the module in the better order\n"
          "  stowplan order module.hlo.pb --overlap=10%   give up some overlap for memory\n",
      .positional = "FILE",
      .count = Positionals::kAny,
      .options = WithPlanOptions({
          {.name = "output",
           .short_name = 'o',
           .value = "FILE",
           .help = "write the module in the new order, in the format it came in"},
          OverlapOption(),
          {.name = "time-limit", .value = "S", .help = "stop searching after S seconds"},
          {.name = "format",
           .value = "KIND",
           .help = "output format",
           .fallback = "text",
           .choices = {"text", "json"}},
      }),
      .run = RunOrder,
  };
}

}  // namespace stowplan::cli
