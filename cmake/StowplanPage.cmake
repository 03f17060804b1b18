# SPDX-License-Identifier: Apache-2.0
# Embeds the viewer's page in the library. Users need no Node: page.html, built from viewer/, is checked in.
set(page "${PROJECT_SOURCE_DIR}/src/view/page.html")
set(page_code "${PROJECT_BINARY_DIR}/generated/view/page_data.cc")
add_custom_command(
  OUTPUT "${page_code}"
  COMMAND "${CMAKE_COMMAND}" "-DPAGE=${page}" "-DCODE=${page_code}"
          -P "${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake"
  DEPENDS "${page}" "${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake"
  VERBATIM)
target_sources(stowplan PRIVATE "${page_code}")
