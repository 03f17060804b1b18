# SPDX-License-Identifier: Apache-2.0
# Target stowplan_fmt: fmt's headers, for the library and everything that links it.
#
# Header-only fmt makes every file pay for the whole formatter: 5 seconds for one line, against 1. So
# one file of the library (src/base/fmt.cc) instantiates it, and no other file does. The names it
# instantiates are those of fmt 9, Debian 12's; other releases are used header-only.
add_library(stowplan_fmt INTERFACE)
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  target_include_directories(stowplan_fmt SYSTEM INTERFACE
    $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
  target_sources(stowplan PRIVATE src/base/fmt.cc)
else()
  target_link_libraries(stowplan_fmt INTERFACE fmt::fmt-header-only)
endif()
