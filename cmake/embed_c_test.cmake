# SPDX-License-Identifier: Apache-2.0
# The test embed_c_example: installs Stowplan, then builds examples/embed_c against it with a C
# compiler, through find_package and through pkg-config, and runs it.
#
# Also given: C_COMPILER and PKG_CONFIG, which may be missing (NOTFOUND); COMPILER, for C++; LIBDIR,
# where libraries are installed.
if(NOT C_COMPILER OR NOT PKG_CONFIG)
  message("skipped: a C compiler (${C_COMPILER}) and pkg-config (${PKG_CONFIG}) are needed")
  return()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/embed_steps.cmake")
set(link_flags ${flags})
if(SANITIZE AND C_COMPILER MATCHES "clang")
  # The library is C++, and the part of the sanitizer that it needs is in the program.
  list(APPEND link_flags -fsanitize-link-c++-runtime -lstdc++)
endif()

# The header is C99, and C++17.
set(strict -pedantic-errors -Wall -Wextra -Wconversion -Wstrict-prototypes -Werror -fsyntax-only)
set(header "${work}/prefix/include/stowplan/stowplan_c.h")
embed_run(0 "${C_COMPILER}" -std=c99 ${strict} -x c "${header}")
list(REMOVE_ITEM strict -Wstrict-prototypes)
embed_run(0 "${COMPILER}" -std=c++17 ${strict} -x c++ "${header}")

# With pkg-config alone.
set(ENV{PKG_CONFIG_PATH} "${work}/prefix/${LIBDIR}/pkgconfig")
embed_run(0 "${PKG_CONFIG}" --cflags --libs stowplan_c)
separate_arguments(package UNIX_COMMAND "${output}")
embed_run(0 "${C_COMPILER}" -std=c99 -pedantic-errors -Wall -Wextra -Werror ${link_flags}
          "${EXAMPLE_DIR}/embed_c/main.c" ${package} -o "${work}/with_pkg_config")

list(JOIN link_flags " " link_flags)
embed_build("${EXAMPLE_DIR}/embed_c" "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_C_FLAGS=${flags}"
            "-DCMAKE_EXE_LINKER_FLAGS=${link_flags}")

set(ENV{LD_LIBRARY_PATH} "${work}/prefix/${LIBDIR}")
set(module "${EXAMPLE_DIR}/mlp_train_step.txt")
foreach(program "${work}/with_pkg_config" "${work}/build/embed_c")
  embed_run(0 "${program}")
  embed_expect("${output}" "^[0-9]+ bytes, and no plan takes less than [0-9]+\n  buffer 0 at 4096\n")
  embed_expect("${output}" "as expected: .*buffer `sum`")
  embed_run(0 "${program}" "${module}" cpu)
  embed_expect("${output}" "policy xla: sound\n  [0-9]+ bytes in memory space 0")
  embed_expect("${output}" "policy best: sound\n  [0-9]+ bytes in memory space 0")
  embed_expect_outputs()
  embed_run(2 "${program}" "${module}" abacus)
  embed_expect("${errors}" "abacus")
  embed_run(2 "${program}" "${work}/nothing.hlo" cpu)
  embed_expect("${errors}" "nothing.hlo")
endforeach()
