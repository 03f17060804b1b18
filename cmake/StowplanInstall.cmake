# SPDX-License-Identifier: Apache-2.0
# `cmake --install`: the binary, the libraries, their headers, a package for find_package(stowplan),
# and stowplan_c.pc for pkg-config.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/stowplan")

install(TARGETS stowplan_cli stowplan_certify stowplan_recheck)
install(TARGETS stowplan EXPORT stowplanTargets)
install(EXPORT stowplanTargets NAMESPACE stowplan:: DESTINATION "${package_dir}")
set(c_header "")
if(STOWPLAN_BUILD_C)
  # An export of its own: who uses the C interface needs nothing that the C++ library is linked with.
  install(TARGETS stowplan_c EXPORT stowplan_cTargets)
  install(EXPORT stowplan_cTargets NAMESPACE stowplan:: DESTINATION "${package_dir}")
  # Found from where the file lies, so that the prefix can be moved.
  file(RELATIVE_PATH STOWPLAN_PREFIX_FROM_PC
       "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
  configure_file(cmake/stowplan_c.pc.in stowplan_c.pc @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/stowplan_c.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
else()
  set(c_header PATTERN "stowplan_c.h" EXCLUDE)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/stowplan"
                  "${PROJECT_BINARY_DIR}/generated/stowplan"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING ${c_header} PATTERN "*.h" PATTERN "*.def")

write_basic_package_version_file("${PROJECT_BINARY_DIR}/stowplanConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/stowplanConfig.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindZstd.cmake"
              "${PROJECT_BINARY_DIR}/stowplanConfigVersion.cmake"
        DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
