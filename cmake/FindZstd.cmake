# SPDX-License-Identifier: Apache-2.0
# Target Zstd::Zstd: the static library if there is one. Installed with Stowplan, because many
# distributions lack zstd's own CMake configuration.
find_path(Zstd_INCLUDE_DIR zstd.h)
find_library(Zstd_LIBRARY NAMES libzstd.a zstd)
mark_as_advanced(Zstd_INCLUDE_DIR Zstd_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Zstd REQUIRED_VARS Zstd_LIBRARY Zstd_INCLUDE_DIR)

if(Zstd_FOUND AND NOT TARGET Zstd::Zstd)
  add_library(Zstd::Zstd UNKNOWN IMPORTED)
  set_target_properties(Zstd::Zstd PROPERTIES IMPORTED_LOCATION "${Zstd_LIBRARY}")
  target_include_directories(Zstd::Zstd SYSTEM INTERFACE "${Zstd_INCLUDE_DIR}")
endif()
