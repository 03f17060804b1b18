// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "executable/executable.h"
#include "proto/parse.h"
#include "stowplan/session.h"
#include "text/parse.h"

namespace stowplan {

Result<hlo::Module> ParseModule(std::shared_ptr<const Source> source) {
  if (source->size() == 0) {
    return Fail(source->name(), "the input is empty",
                "expected HLO text, or a serialized HloProto");
  }
  if (LooksLikeProto(*source)) return ParseProto(std::move(source));
  return ParseText(source);
}

Result<hlo::Module> ReadModule(const std::string& path) {
  STOWPLAN_TRY(std::shared_ptr<const Source> read, ReadSource(path));
  STOWPLAN_TRY(std::shared_ptr<const Source> source, executable::ModuleSource(std::move(read)));
  return ParseModule(std::move(source));
}

}  // namespace stowplan
