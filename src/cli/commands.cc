// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

namespace stowplan::cli {

std::vector<CommandSpec> Commands() {
  return {ExplainCommand(), ExplainOomCommand(), ReportCommand(),    ViewCommand(),
          ExportCommand(),  InspectCommand(),    DiffCommand(),      GateCommand(),
          FitCommand(),     OrderCommand(),      RepackCommand(),    AssignCommand(),
          CheckCommand(),   ReplanCommand(),     PackCommand(),      PrintCommand(),
          VerifyCommand(),  StatsCommand(),      CompletionCommand()};
}

}  // namespace stowplan::cli
