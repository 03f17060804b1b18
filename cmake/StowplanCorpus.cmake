# SPDX-License-Identifier: Apache-2.0
# Target stowplan_corpus: unpacks the archives of corpus/ into STOWPLAN_CORPUS_DIR if one has changed.
set(archives cpu cpu11 dialects donate errors executables explain figures frameworks gpu libraries oracle oracle_tpu packing/idealloc scale tpu)
list(TRANSFORM archives REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/corpus/\\1.tar.xz")

add_custom_command(
  OUTPUT "${STOWPLAN_CORPUS_DIR}/.unpacked"
  COMMAND ${CMAKE_COMMAND} -D "ARCHIVES=${archives}" -D "CORPUS_DIR=${STOWPLAN_CORPUS_DIR}"
          -P "${PROJECT_SOURCE_DIR}/cmake/unpack_corpus.cmake"
  DEPENDS ${archives}
  COMMENT "Unpacking the corpus"
  VERBATIM)
add_custom_target(stowplan_corpus DEPENDS "${STOWPLAN_CORPUS_DIR}/.unpacked")
