// SPDX-License-Identifier: Apache-2.0
// Everything a program that embeds Stowplan needs.
//
//     #include <stowplan/stowplan.h>
//
//     stowplan::Result<stowplan::hlo::Module> module =
//     stowplan::ReadModule("after_optimizations.txt"); if (!module) std::cerr <<
//     stowplan::Render(module.error()); for (const auto& instruction : module->instructions.rows())
//       std::cout << module->view(instruction.name) << '\n';
//
// The library never prints, exits, or reads the environment; no function throws.
#pragma once

#include "stowplan/base/diagnostic.h"
#include "stowplan/base/id.h"
#include "stowplan/base/source.h"
#include "stowplan/hlo/dialect.h"
#include "stowplan/hlo/equal.h"
#include "stowplan/hlo/module.h"
#include "stowplan/hlo/module_builder.h"
#include "stowplan/hlo/print.h"
#include "stowplan/hlo/size.h"
#include "stowplan/hlo/verify.h"
#include "stowplan/proto/parse.h"
#include "stowplan/read.h"
#include "stowplan/target/size.h"
#include "stowplan/target/stats.h"
#include "stowplan/text/parse.h"
