# SPDX-License-Identifier: Apache-2.0
# The test embed_example: installs Stowplan, then configures, builds and runs examples/embed against
# the installed package.
set(work "${BUILD_DIR}/embed_example")
file(REMOVE_RECURSE "${work}")

# A sanitized library needs a sanitized program.
set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()

set(quiet COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${work}/prefix"
                ${quiet})
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${EXAMPLE_DIR}" -B "${work}/build" -G "${GENERATOR}"
                        "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${flags}"
                        "-DCMAKE_PREFIX_PATH=${work}/prefix" ${quiet})
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${work}/build" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${work}/build/embed" "${EXAMPLE_DIR}/axpy.hlo" COMMAND_ERROR_IS_FATAL ANY)
