// SPDX-License-Identifier: Apache-2.0
// Reads an HLO module, text or proto, and counts its instructions.
#include <iostream>

#include "stowplan/stowplan.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: embed FILE\n";
    return 2;
  }
  const stowplan::Result<stowplan::hlo::Module> module = stowplan::ReadModule(argv[1]);
  if (!module) {
    std::cerr << stowplan::Render(module.error());
    return 2;
  }
  std::cout << module->view(module->header.name) << ": " << module->instructions.size()
            << " instructions\n";
}
