# SPDX-License-Identifier: Apache-2.0
# Unpacks ARCHIVES into CORPUS_DIR, unless that has been done since they changed: the build trees of
# all presets share one unpacked corpus, and each of them asks.
set(stamp "${CORPUS_DIR}/.unpacked")
set(is_current TRUE)
foreach(archive IN LISTS ARCHIVES)
  # Also true when the stamp does not exist.
  if("${archive}" IS_NEWER_THAN "${stamp}")
    set(is_current FALSE)
  endif()
endforeach()
if(is_current)
  return()
endif()

# Start from scratch, so that nothing from an older archive remains.
file(REMOVE_RECURSE "${CORPUS_DIR}")
foreach(archive IN LISTS ARCHIVES)
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${CORPUS_DIR}")
endforeach()
file(TOUCH "${stamp}")
