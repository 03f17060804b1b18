// SPDX-License-Identifier: Apache-2.0
#include "advise/arguments.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <string_view>

namespace stowplan::advise {
namespace {

bool IsName(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  return std::ranges::all_of(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

// "params" of params['w'] and of params.w; "args[1]" of args[1]['w'].
std::string_view RootOf(std::string_view path, bool& is_variadic) {
  const size_t end = path.find_first_of("[.<");
  const std::string_view name = path.substr(0, end);
  if (!IsName(name)) return {};
  // JAX calls what `*args` takes `args[0]`, `args[1]`, ...
  is_variadic = name == "args" && end != std::string_view::npos && path[end] == '[' &&
                path.size() > end + 1 &&
                std::isdigit(static_cast<unsigned char>(path[end + 1])) != 0;
  if (!is_variadic) return name;
  const size_t close = path.find(']', end);
  return close == std::string_view::npos ? path : path.substr(0, close + 1);
}

// HLO text escapes quotes in some releases.
std::string Unescaped(std::string_view text) {
  std::string out(text);
  std::erase(out, '\\');
  return out;
}

// "x['w']" of kwargs['x']['w'].
std::string WithoutKeyword(const std::string& path) {
  constexpr std::string_view kBegin = "kwargs['";
  const size_t end = path.find("']");
  if (!path.starts_with(kBegin) || end == std::string::npos) return path;
  return path.substr(kBegin.size(), end - kBegin.size()) + path.substr(end + 2);
}

// 1 of args[1].
std::optional<int64_t> IndexOf(std::string_view name) {
  const char* const begin = name.data() + name.find('[') + 1;
  const char* const end = name.data() + name.size();
  int64_t index = 0;
  const auto [rest, error] = std::from_chars(begin, end, index);
  return error == std::errc() && index >= 0 ? std::optional(index) : std::nullopt;
}

std::string Tuple(const std::vector<std::string>& items) {
  std::string out = "(";
  for (const std::string& item : items) out += (out.size() == 1 ? "" : ", ") + item;
  return out + (items.size() == 1 ? ",)" : ")");
}

}  // namespace

std::vector<Argument> ArgumentsOf(const hlo::Module& module, std::span<const std::string> names) {
  std::vector<Argument> arguments;
  const std::span<const hlo::InstrId> parameters = module.parameters_of(module.entry);
  for (size_t p = 0; p < parameters.size(); ++p) {
    const hlo::Metadata* metadata = module.metadata_of(parameters[p]);
    std::string path =
        metadata == nullptr ? std::string() : Unescaped(module.view(metadata->op_name));
    const bool is_given = path.empty() && p < names.size();
    if (is_given) path = WithoutKeyword(names[p]);
    bool is_variadic = false;
    const std::string name(RootOf(path, is_variadic));
    auto found =
        name.empty() ? arguments.end() : std::ranges::find(arguments, name, &Argument::name);
    if (found == arguments.end()) {
      arguments.push_back({.name = name,
                           .position = static_cast<int64_t>(arguments.size()),
                           .is_variadic = is_variadic,
                           .parameters = {},
                           .paths = {}});
      found = arguments.end() - 1;
      if (is_given && is_variadic) found->position = IndexOf(name).value_or(found->position);
    }
    found->parameters.push_back(static_cast<int64_t>(p));
    found->paths.push_back(path);
  }
  return arguments;
}

std::string DonationNumbers(const std::vector<Argument>& arguments) {
  std::vector<std::string> items;
  items.reserve(arguments.size());
  for (const Argument& argument : arguments) items.push_back(std::to_string(argument.position));
  return "donate_argnums=" + Tuple(items);
}

std::string DonationIfVariadic(const Argument& argument) {
  if (argument.name.empty() || argument.is_variadic) return {};
  std::set<int64_t> positions;
  for (const std::string& path : argument.paths) {
    const std::string_view rest = std::string_view(path).substr(argument.name.size());
    const std::optional<int64_t> index =
        rest.starts_with('[') ? IndexOf(std::string_view(path)) : std::nullopt;
    if (!index) return {};
    positions.insert(argument.position + *index);
  }
  std::vector<std::string> items;
  for (const int64_t position : positions) items.push_back(std::to_string(position));
  return "donate_argnums=" + Tuple(items);
}

std::string DonationSpelling(const std::vector<Argument>& arguments) {
  std::vector<std::string> items;
  for (const Argument& argument : arguments) {
    if (argument.name.empty() || argument.is_variadic || !DonationIfVariadic(argument).empty())
      return DonationNumbers(arguments);
    items.push_back("'" + argument.name + "'");
  }
  return "donate_argnames=" + Tuple(items);
}

}  // namespace stowplan::advise
