# SPDX-License-Identifier: Apache-2.0
# stowplan_set_up(target): what every target of this project has in common.
#
# Compile options are set per target, not globally, so that they never reach a project that embeds
# Stowplan.
function(stowplan_set_up target)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 23 CXX_STANDARD_REQUIRED ON
                        CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                           -Wsign-conversion
                                           # Designated initializers leave out what has a default.
                                           -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    # std::stable_sort of libstdc++ 12 calls what it declares deprecated; g++ reports our uses.
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations
                                             -Wno-missing-designated-field-initializers)
  else()
    # g++ 12 warns about std::optional values that are read only if they are set.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()
  if(STOWPLAN_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(STOWPLAN_SANITIZE)
    # A finding must end the program, or tests would ignore it.
    set(flags -fsanitize=${STOWPLAN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(${target} PRIVATE ${flags})
    target_link_options(${target} PRIVATE -fsanitize=${STOWPLAN_SANITIZE})
  endif()
  if(STOWPLAN_BUILD_FUZZERS)
    # Coverage for libFuzzer; only the fuzz targets themselves link its main().
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# stowplan_optimize_less(target): for code that runs once per command.
function(stowplan_optimize_less target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# stowplan_compile_together(target): a unity build of the target, if STOWPLAN_UNITY_BUILD says so.
#
# Two dozen files are compiled as one, in a third of the time: most of what compiling a file takes is reading
# headers and instantiating templates that its neighbours need too. Names local to a file must then be unique
# in their namespace (tools/check_local_names.py).
function(stowplan_compile_together target)
  if(STOWPLAN_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # g++ would begin to collect its garbage at 128 MB, which such a file always needs.
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=524288)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${STOWPLAN_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 24)
endfunction()
