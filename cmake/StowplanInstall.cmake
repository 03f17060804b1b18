# SPDX-License-Identifier: Apache-2.0
# `cmake --install`: the binary, the library, its headers, and a package for find_package(stowplan).
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/stowplan")

install(TARGETS stowplan_cli stowplan_certify stowplan_recheck)
install(TARGETS stowplan EXPORT stowplanTargets)
install(EXPORT stowplanTargets NAMESPACE stowplan:: DESTINATION "${package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/stowplan"
                  "${PROJECT_BINARY_DIR}/generated/stowplan"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")

write_basic_package_version_file("${PROJECT_BINARY_DIR}/stowplanConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/stowplanConfig.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindZstd.cmake"
              "${PROJECT_BINARY_DIR}/stowplanConfigVersion.cmake"
        DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
