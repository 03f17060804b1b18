# SPDX-License-Identifier: Apache-2.0
# The test embed_example: installs Stowplan, then configures, builds and runs examples/embed against
# the installed package.
include("${CMAKE_CURRENT_LIST_DIR}/embed_steps.cmake")
embed_build("${EXAMPLE_DIR}/embed" "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${flags}")

# The first program, as docs/embedding.md shows it.
file(READ "${EXAMPLE_DIR}/../docs/embedding.md" document)
function(embed_expect_shown text)
  string(FIND "${document}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "docs/embedding.md shows something else than:\n${text}")
  endif()
endfunction()
embed_run(0 "${work}/build/embed_buffers")
embed_expect_shown("$ build/embed/embed_buffers\n${output}```")
embed_run(2 "${work}/build/embed_buffers" 100)
embed_expect_shown("$ build/embed/embed_buffers 100\n${errors}```")
embed_run(2 "${work}/build/embed_buffers" here)
embed_expect("${errors}" "usage")

# The second.
set(module "${EXAMPLE_DIR}/mlp_train_step.txt")
embed_run(0 "${work}/build/embed_module" "${module}" cpu)
embed_expect("${output}" "policy xla: sound\n  [0-9]+ bytes in memory space 0")
embed_expect("${output}" "policy best: sound\n  [0-9]+ bytes in memory space 0\n  of these [0-9]+")
embed_expect_outputs()
embed_run(2 "${work}/build/embed_module" "${module}" abacus)
embed_expect("${errors}" "abacus")
embed_run(2 "${work}/build/embed_module" "${work}/nothing.hlo" cpu)
embed_expect("${errors}" "nothing.hlo")
