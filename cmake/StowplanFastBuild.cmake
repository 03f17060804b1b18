# SPDX-License-Identifier: Apache-2.0
# Uses ccache and mold if they are installed; both only save time.
find_program(STOWPLAN_CCACHE ccache)
find_program(STOWPLAN_MOLD mold)
mark_as_advanced(STOWPLAN_CCACHE STOWPLAN_MOLD)

if(STOWPLAN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${STOWPLAN_CCACHE}")
endif()

if(STOWPLAN_MOLD)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=mold STOWPLAN_LINKS_WITH_MOLD)
  if(STOWPLAN_LINKS_WITH_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()
