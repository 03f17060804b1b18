// SPDX-License-Identifier: Apache-2.0
// The text of attributes and metadata.
#pragma once

#include <string>

#include "stowplan/hlo/module.h"

namespace stowplan::hlo {

// `name=value`.
void AppendAttribute(const Module& module, const Attribute& attribute, const Dialect& dialect,
                     std::string& out);
void AppendFrontendAttributes(const Module& module, Range rows, const Dialect& dialect,
                              std::string& out);

// Whether XLA prints this metadata at all, and `metadata={...}`.
bool HasPrintedMetadata(const Metadata& metadata);
void AppendMetadata(const Module& module, const Metadata& metadata, const Dialect& dialect,
                    std::string& out);

// {1,0}
void AppendIndex(std::span<const int64_t> index, std::string& out);
// A name, with `%` in the long form.
void AppendName(std::string_view name, const Dialect& dialect, std::string& out);

}  // namespace stowplan::hlo
