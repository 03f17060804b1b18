// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/dialect.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <ranges>
#include <utility>
#include <vector>

#include "base/words.h"

namespace stowplan::hlo {
namespace {

// Each era differs from the next newer one in a few points; the newest stands last.
constexpr Dialect Frames() {
  Dialect d;
  d.async_sugar = false;  // dumps have the long form
  return d;
}
constexpr Dialect Compact() {
  Dialect d = Frames();
  d.compact_tuples = true;
  return d;
}
constexpr Dialect SingleDevice() {
  Dialect d = Compact();
  d.single_device = true;
  return d;
}
constexpr Dialect EndColumns() {
  Dialect d = Frames();
  d.stack_frames = false;
  return d;
}
constexpr Dialect LongAgain() {
  Dialect d = EndColumns();
  d.metadata_ends = false;
  return d;
}
constexpr Dialect Short() {
  Dialect d = LongAgain();
  d.long_form = false;
  d.closing_names = true;
  return d;
}
constexpr Dialect QuotedFrontend() {
  Dialect d = Short();
  d.raw_frontend = false;
  return d;
}
constexpr Dialect Quoted() {
  Dialect d = QuotedFrontend();
  d.raw_config = false;
  d.closing_names = false;
  d.replica_counts = false;
  d.buffer_donors = false;
  return d;
}
constexpr Dialect TightLayout() {
  Dialect d = Quoted();
  d.spaced_entry_layout = false;
  return d;
}
constexpr Dialect LongFirst() {
  Dialect d = TightLayout();
  d.long_form = true;
  d.operand_shapes = true;
  d.entry_layout = false;
  return d;
}
constexpr Dialect BareOutput() {
  Dialect d = LongFirst();
  d.bare_output_propagation = true;
  return d;
}
constexpr Dialect NoComments() {
  Dialect d = BareOutput();
  d.index_comments = false;
  return d;
}
constexpr std::array kDialects = {
    NamedDialect{"tf-2.2", "tf-2.4", NoComments()},
    NamedDialect{"tf-2.6", "", BareOutput()},
    NamedDialect{"tf-2.8", "", LongFirst()},
    NamedDialect{"tf-2.11", "tf-2.12", TightLayout()},
    NamedDialect{"jaxlib-0.4.13", "", Quoted()},
    NamedDialect{"tf-2.15", "", QuotedFrontend()},
    NamedDialect{"jaxlib-0.4.25", "jaxlib-0.4.30 tf-2.16 tf-2.17 tf-2.18", QuotedFrontend()},
    NamedDialect{"jaxlib-0.4.35", "libtpu-0.0.2", Short()},
    NamedDialect{"jaxlib-0.5.0", "libtpu-0.0.8 tf-2.19", Short()},
    NamedDialect{"libtpu-0.0.13", "", LongAgain()},
    NamedDialect{"jaxlib-0.6.0", "", LongAgain()},
    NamedDialect{"tf-2.20", "", EndColumns()},
    NamedDialect{"jaxlib-0.7.2", "libtpu-0.0.23.1 torch_xla-2.9", EndColumns()},
    NamedDialect{"jaxlib-0.8.2", "jaxlib-0.9.0 libtpu-0.0.32.1 tf-2.21", Frames()},
    NamedDialect{"jaxlib-0.10.0", "", Frames()},
    NamedDialect{"jaxlib-0.10.2", "libtpu-0.0.51", Frames()},
    NamedDialect{"jaxlib-0.11.2", "", Compact()},
    NamedDialect{"jaxlib-0.12.0", "", SingleDevice()},
};

// jaxlib-0.10.2: the project and its numbers. Nothing when it is not of this form.
struct Version {
  std::string_view project;
  std::vector<int64_t> numbers;
};
std::optional<Version> SplitVersion(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  Version version = {.project = text.substr(0, dash), .numbers = {}};
  const char* p = text.data() + dash + 1;
  const char* const end = text.data() + text.size();
  for (;; ++p) {
    int64_t number = 0;
    const auto [next, error] = std::from_chars(p, end, number);
    if (error != std::errc() || number < 0) return std::nullopt;
    version.numbers.push_back(number);
    p = next;
    if (p == end) return version;
    if (*p != '.') return std::nullopt;
  }
}

std::string_view LastBefore(std::string_view text) {
  const std::optional<Version> wanted = SplitVersion(text);
  if (!wanted) return {};
  std::string_view best;
  std::vector<int64_t> best_numbers;
  size_t fewest = std::numeric_limits<size_t>::max();
  const auto consider = [&](std::string_view name) {
    std::optional<Version> version = SplitVersion(name);
    if (!version || version->project != wanted->project) return;
    fewest = std::min(fewest, version->numbers.size());
    if (version->numbers > wanted->numbers || version->numbers < best_numbers) return;
    best = name;
    best_numbers = std::move(version->numbers);
  };
  for (const NamedDialect& named : kDialects) {
    consider(named.name);
    for (const auto alias : std::views::split(named.aliases, ' '))
      consider(std::string_view(alias.begin(), alias.end()));
  }
  // jaxlib-0.10 could be any of three.
  return wanted->numbers.size() >= fewest ? best : std::string_view();
}

}  // namespace

std::span<const NamedDialect> Dialects() { return kDialects; }

std::string_view KnownRelease(std::string_view version) {
  for (const NamedDialect& named : kDialects) {
    if (named.name == version || HasWord(named.aliases, version)) return version;
  }
  return LastBefore(version);
}

std::optional<Dialect> FindDialect(std::string_view version) {
  const std::string_view name = KnownRelease(version);
  for (const NamedDialect& named : kDialects) {
    if (named.name == name || HasWord(named.aliases, name)) return named.dialect;
  }
  return std::nullopt;
}

}  // namespace stowplan::hlo
