# SPDX-License-Identifier: Apache-2.0
# find_package(stowplan) -> target stowplan::stowplan.
include(CMakeFindDependencyMacro)

# The libraries that libstowplan.a needs. FindZstd.cmake is in the same folder.
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
find_dependency(ZLIB)
find_dependency(Zstd)
list(POP_FRONT CMAKE_MODULE_PATH)

include("${CMAKE_CURRENT_LIST_DIR}/stowplanTargets.cmake")
