// SPDX-License-Identifier: Apache-2.0
// A listener that shows nothing: of many modules, most are only tried, and what was wrong is said
// in another place, or not at all.
#pragma once

#include <algorithm>
#include <string_view>

#include "cli/listener.h"

namespace stowplan::cli {

class Keeper : public Listener {
 public:
  // Speaks as `other` does, which outlives it.
  explicit Keeper(const Listener& other) : other_(other) {}

  using Listener::Show;
  void Show(const Diagnostics& diagnostics, size_t /*limit*/) override {
    kept_.insert(kept_.end(), diagnostics.begin(), diagnostics.end());
  }
  void Note(std::string_view /*text*/) override {}
  [[nodiscard]] std::string_view CallerName() const override { return other_.CallerName(); }
  [[nodiscard]] Speech speech() const override { return other_.speech(); }

  [[nodiscard]] const Diagnostics& kept() const { return kept_; }
  // Later errors often follow from it. Null when there is none.
  [[nodiscard]] const Diagnostic* FirstError() const {
    const auto first = std::ranges::find(kept_, Severity::kError, &Diagnostic::severity);
    return first == kept_.end() ? nullptr : &*first;
  }

 private:
  const Listener& other_;
  Diagnostics kept_;
};

}  // namespace stowplan::cli
