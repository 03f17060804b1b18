# SPDX-License-Identifier: Apache-2.0
# Target Protozero::Protozero. Its packages contain headers but no CMake configuration.
find_path(Protozero_INCLUDE_DIR protozero/pbf_reader.hpp)
mark_as_advanced(Protozero_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Protozero REQUIRED_VARS Protozero_INCLUDE_DIR)

if(Protozero_FOUND AND NOT TARGET Protozero::Protozero)
  add_library(Protozero::Protozero INTERFACE IMPORTED)
  target_include_directories(Protozero::Protozero SYSTEM INTERFACE "${Protozero_INCLUDE_DIR}")
endif()
