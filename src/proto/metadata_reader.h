// SPDX-License-Identifier: Apache-2.0
// OpMetadata, FrontendAttributes and StackFrameIndexProto: where instructions came from.
#pragma once

#include <string>
#include <string_view>

#include "proto/context.h"
#include "stowplan/hlo/module.h"

namespace stowplan::proto {

// None if nothing of it would be printed.
hlo::MetadataId ReadMetadata(Context& context, std::string_view bytes);
// As between the braces of metadata={...}; for shardings, which keep the text of theirs.
void AppendMetadataText(Context& context, std::string_view bytes, std::string& out);

// Rows of Module::texts, by key.
Range ReadFrontendAttributes(Context& context, std::string_view bytes);

// A Payload: its own bytes, or the module's with that number.
std::string_view ReadPayload(Context& context, std::string_view bytes);

void ReadStackFrames(Context& context, std::string_view bytes);

}  // namespace stowplan::proto
