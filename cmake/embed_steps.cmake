# SPDX-License-Identifier: Apache-2.0
# What the tests of the examples have in common. Installs Stowplan to ${work}/prefix.
#
# Given: NAME of the test, BUILD_DIR, EXAMPLE_DIR (examples/), GENERATOR, SANITIZE.
set(work "${BUILD_DIR}/${NAME}")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}/out")

# A sanitized library needs a sanitized program.
set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()

execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${work}/prefix"
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)

# embed_build(DIRECTORY [CMAKE ARGS]): builds it to ${work}/build against the installed package.
macro(embed_build directory)
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${directory}" -B "${work}/build" -G "${GENERATOR}"
                          ${ARGN} "-DCMAKE_PREFIX_PATH=${work}/prefix"
                  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${work}/build" COMMAND_ERROR_IS_FATAL ANY)
endmacro()

# embed_run(CODE COMMAND...): must exit with CODE; sets `output` and `errors`.
macro(embed_run code)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${work}/out" RESULT_VARIABLE result
                  OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT "${result}" STREQUAL "${code}")
    message(FATAL_ERROR "${ARGN}: ended with ${result}, not ${code}\n${output}\n${errors}")
  endif()
endmacro()

# embed_expect(TEXT PATTERN)
function(embed_expect text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "this does not match `${pattern}`:\n${text}")
  endif()
endfunction()

# The page and the reports are there, and not empty.
function(embed_expect_outputs)
  foreach(name view.html mlp_train_step-buffer-assignment.txt)
    file(READ "${work}/out/${name}" text)
    if(text STREQUAL "")
      message(FATAL_ERROR "${name} is empty")
    endif()
    file(REMOVE "${work}/out/${name}")
  endforeach()
endfunction()
