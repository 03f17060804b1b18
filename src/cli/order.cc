// SPDX-License-Identifier: Apache-2.0
// stowplan order: the order of instructions that needs the least memory.
#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/deadline.h"
#include "cli/number.h"
#include "cli/plan_arguments.h"
#include "cli/write_output.h"
#include "page/order_page.h"
#include "session/best_order.h"
#include "session/write_module.h"
#include "stowplan/session.h"

namespace stowplan::cli {
namespace {

// If one of the files is `-`, it goes to standard output in place of the page.
bool HasOneOutput(const Arguments& arguments, Console& console) {
  const bool is_json = arguments.option("format") == "json";
  const bool has_certificate = arguments.option("certificate") == "-";
  if (int{is_json} + int{has_certificate} + int{arguments.option("output") == "-"} < 2) return true;
  console.ShowError(
      "more than one of -o, --certificate and --format=json writes to standard output",
      "write the others to files");
  return false;
}

int RunOrder(const Arguments& arguments, Console& console) {
  PlanOptions options = PlanOptionsOf(arguments, console);
  options.policy = Policy::kBest;
  options.scheduler = "best";
  if (!HasOneOutput(arguments, console)) return kBadUse;
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
  PlanOptions to_load = PlanOptionsOf(arguments, console);
  to_load.prefers_proto = arguments.option("output").ends_with(".pb");
  const std::optional<PlannedModule> loaded = console.Take(LoadOne(*inputs, to_load));
  if (!loaded) return kBadUse;
  const std::string& certificate = arguments.option("certificate");
  const std::optional<BestOrder> found =
      console.Take(FindBestOrder({}, *loaded, options, !certificate.empty()));
  if (!found) return kBadUse;
  const PlannedModule& planned = found->planned;
  console.Show(planned.notes);
  int code = planned.order->bytes < planned.order->given_bytes ? kFinding : kFine;
  const std::string page =
      arguments.option("format") == "json" ? page::OrderJson(planned) : page::OrderPage(planned);
  if (certificate == "-" || arguments.option("output") == "-") {
    console.Note(page);
  } else {
    code = console.Print(page, code);
  }
  if (code != kBadUse && !certificate.empty())
    code = WriteOutput(certificate, found->certificate, code, console);
  if (code == kBadUse || arguments.option("output").empty()) return code;
  return WriteOutput(arguments.option("output"), WriteModule(*planned.module), code, console);
}

}  // namespace

CommandSpec OrderCommand() {
  return {
      .name = "order",
      .summary = "find the order of instructions that needs the least memory",
      .details =
          "Searches for an order of the program's instructions that needs less memory than\n"
          "its own, in the entry and inside loops, branches and calls. Plans it, checks\n"
          "the plan, and says how far it can be from the best possible order. The exit\n"
          "code is 1 if a better order was found, and 0 if not.\n"
          "\n"
          "Effects and collectives keep their order. By default, the work between the start\n"
          "and the done of an asynchronous operation also stays there.\n",
      .examples =
          "  stowplan order dump/                         what the present order costs\n"
          "  stowplan order module.hlo.pb -o new.hlo.pb   the module in the better order\n"
          "  stowplan order module.hlo.pb --overlap=10%   give up some overlap for memory\n"
          "  stowplan order --certificate=c.txt dump/     then: stowplan-certify c.txt\n",
      .positional = "FILE",
      .count = Positionals::kAny,
      .options = WithPlanOptions({
          {.name = "output",
           .short_name = 'o',
           .value = "FILE",
           .help = "write the module in the new order, in the format it came in"},
          {.name = "certificate",
           .value = "FILE",
           .help = "write a certificate for stowplan-certify; `-` is standard output"},
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
