// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

namespace stowplan::cli {

std::vector<CommandSpec> Commands() {
  return {PrintCommand(),  VerifyCommand(), StatsCommand(),     AssignCommand(),
          OrderCommand(),  FitCommand(),    CheckCommand(),     ReplanCommand(),
          PackCommand(),   ReportCommand(), ExplainCommand(),   ExplainOomCommand(),
          DiffCommand(),   GateCommand(),   InspectCommand(),   RepackCommand(),
          ExportCommand(), ViewCommand(),   CompletionCommand()};
}

}  // namespace stowplan::cli
