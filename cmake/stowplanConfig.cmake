# SPDX-License-Identifier: Apache-2.0
# find_package(stowplan)                -> stowplan::stowplan, the C++ library; and, if it is installed,
#                                          stowplan::stowplan_c, the C interface
# find_package(stowplan COMPONENTS cxx) -> the first alone
# find_package(stowplan COMPONENTS c)   -> the second alone, which needs neither C++, zlib nor zstd
include(CMakeFindDependencyMacro)

set(stowplan_wanted ${stowplan_FIND_COMPONENTS})
if(NOT stowplan_wanted)
  set(stowplan_wanted cxx)
  if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/stowplan_cTargets.cmake")
    list(APPEND stowplan_wanted c)
  endif()
endif()

if(cxx IN_LIST stowplan_wanted)
  # What libstowplan.a itself is linked with. FindZstd.cmake lies beside this file.
  list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
  find_dependency(ZLIB)
  find_dependency(Zstd)
  list(POP_FRONT CMAKE_MODULE_PATH)
  include("${CMAKE_CURRENT_LIST_DIR}/stowplanTargets.cmake")
  set(stowplan_cxx_FOUND TRUE)
endif()
if(c IN_LIST stowplan_wanted AND EXISTS "${CMAKE_CURRENT_LIST_DIR}/stowplan_cTargets.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/stowplan_cTargets.cmake")
  set(stowplan_c_FOUND TRUE)
endif()

set(stowplan_FOUND TRUE)
foreach(component IN LISTS stowplan_wanted)
  if(stowplan_FIND_REQUIRED_${component} AND NOT stowplan_${component}_FOUND)
    set(stowplan_FOUND FALSE)
    set(stowplan_NOT_FOUND_MESSAGE "this installation has no component `${component}`")
  endif()
endforeach()
