// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

namespace stowplan::cli {

std::vector<CommandSpec> Commands() {
  return {PrintCommand(),  VerifyCommand(),  StatsCommand(),      AssignCommand(),
          OrderCommand(),  CheckCommand(),   ReplanCommand(),     PackCommand(),
          ReportCommand(), ExplainCommand(), ExplainOomCommand(), DiffCommand(),
          GateCommand(),   ExportCommand(),  ViewCommand(),       CompletionCommand()};
}

}  // namespace stowplan::cli
