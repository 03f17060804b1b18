// SPDX-License-Identifier: Apache-2.0
#include "page/inspect_page.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "base/human_bytes.h"
#include "base/json_writer.h"
#include "base/stable_sort.h"
#include "executable/thunk_check.h"
#include "page/text.h"

namespace stowplan::page {
namespace {

using executable::Effect;
using executable::Executable;
using executable::Thunk;

struct KindRow {
  std::string_view name;
  std::string_view what;  // what rewriting does with them
  int64_t count = 0;
  int64_t slices = 0;
};

std::string_view TreatmentOf(const Thunk& thunk) {
  if (thunk.kind == nullptr || !thunk.is_understood) return "not understood";
  switch (thunk.kind->effect) {
    case Effect::kPure:
      return "may move, and run again";
    case Effect::kEffect:
      return "keeps its place among those with effects";
    case Effect::kControl:
      return "runs other thunks";
  }
  return {};
}

// Thunks by kind, the most frequent first.
std::vector<KindRow> KindsOf(const Executable& executable) {
  std::map<std::pair<std::string_view, std::string_view>, KindRow> rows;
  for (const Thunk& thunk : executable.program.thunks) {
    const std::string_view name = thunk.kind != nullptr ? thunk.kind->name : "unknown";
    KindRow& row = rows[{name, TreatmentOf(thunk)}];
    row.name = name;
    row.what = TreatmentOf(thunk);
    ++row.count;
    row.slices += thunk.slots.count;
  }
  std::vector<KindRow> out;
  out.reserve(rows.size());
  for (const auto& [key, row] : rows) out.push_back(row);
  StableSort(out, std::ranges::greater(), &KindRow::count);
  return out;
}

struct SpaceRow {
  std::string_view name;
  int64_t count = 0;
  int64_t bytes = 0;
};

std::string_view UseOf(const executable::Allocation& allocation) {
  if (allocation.is_thread_local) return "thread-local";
  if (allocation.is_constant) return "constants";
  if (allocation.is_parameter) return allocation.is_live_out ? "aliased" : "parameters";
  return allocation.is_live_out ? "outputs" : "temporaries";
}

std::vector<SpaceRow> AllocationsOf(const Executable& executable) {
  std::vector<SpaceRow> out;
  for (const std::string_view name :
       {"temporaries", "parameters", "aliased", "outputs", "constants", "thread-local"}) {
    SpaceRow row{.name = name};
    for (const executable::Allocation& allocation : executable.assignment.allocations) {
      if (UseOf(allocation) != name) continue;
      ++row.count;
      row.bytes = SaturatingAdd(row.bytes, allocation.size);
    }
    if (row.count != 0) out.push_back(row);
  }
  return out;
}

// The layers of the container, from the outside in.
std::vector<std::string> LayersOf(const Executable& executable) {
  const executable::Container& container = executable.container;
  std::vector<std::string> out;
  if (container.is_pickled) out.emplace_back("pickle");
  if (container.is_zlib) out.emplace_back("zlib");
  if (container.compile_time) out.emplace_back("entry of JAX's compilation cache");
  if (container.header) {
    out.push_back(fmt::format("header of {}, version {}", Printable(executable.runtime),
                              executable.version.value_or(0)));
  }
  const auto text = [](std::string_view what, const executable::SplitMessage& message) {
    return message.is_split ? fmt::format("{} in {} records", what, message.records.size())
                            : std::string(what);
  };
  out.push_back(text("executable and options", container.options));
  out.push_back(text("result", container.result));
  return out;
}

std::string Joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += between;
    out += part;
  }
  return out;
}

}  // namespace

std::string InspectPage(const Executable& executable) {
  using Align = TextTable::Align;
  std::string out =
      fmt::format("{}: module {}, for the {}\n", Printable(executable.source->name()),
                  Printable(executable.module_name),
                  executable.platform() == executable::Platform::kCpu ? "CPU" : "GPU");
  out += "  container: " + Joined(LayersOf(executable), " > ") + "\n";
  if (!executable.machine.empty()) out += "  kernels for " + Printable(executable.machine) + "\n";
  const size_t inner = executable.program.sequences.size() - 1;
  out += fmt::format(
      "\n{} thunks with {} slices of memory{}\n", executable.program.thunks.size(),
      executable.program.slots.size(),
      inner == 0 ? std::string() : fmt::format("; {} sequences of them lie inside others", inner));
  TextTable kinds({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  for (const KindRow& row : KindsOf(executable)) {
    kinds.Add({std::string(row.name), std::to_string(row.count),
               fmt::format("{} slices", row.slices), std::string(row.what)});
  }
  kinds.Append(out);
  out += fmt::format("\n{} allocations with {} values\n", executable.assignment.allocations.size(),
                     executable.assignment.places.size());
  TextTable allocations({Align::kLeft, Align::kRight, Align::kRight});
  for (const SpaceRow& row : AllocationsOf(executable)) {
    allocations.Add(
        {std::string(row.name), std::to_string(row.count), HumanAndExactBytes(row.bytes)});
  }
  allocations.Append(out);
  const std::vector<std::string> obstacles = executable::FindObstacles(executable);
  out += obstacles.empty() ? "\nIts thunks are understood: memory can be laid out anew.\n"
                           : "\nIt would not be rewritten:\n";
  for (const std::string& obstacle : obstacles) out += "  " + Printable(obstacle) + "\n";
  return out;
}

std::string InspectJson(const Executable& executable) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("file", std::string_view(executable.source->name()));
  json.Field("module", executable.module_name);
  json.Field("platform", Name(executable.platform()));
  json.BeginArray("container");
  for (const std::string& layer : LayersOf(executable)) json.Value(std::string_view(layer));
  json.End();
  json.Field("machine", executable.machine);
  json.Field("sequences", static_cast<int64_t>(executable.program.sequences.size()));
  json.Field("slices", static_cast<int64_t>(executable.program.slots.size()));
  json.BeginArray("thunks");
  for (const KindRow& row : KindsOf(executable)) {
    json.BeginObject();
    json.Field("kind", row.name);
    json.Field("count", row.count);
    json.Field("slices", row.slices);
    json.Field("treatment", row.what);
    json.End();
  }
  json.End();
  json.BeginArray("allocations");
  for (const SpaceRow& row : AllocationsOf(executable)) {
    json.BeginObject();
    json.Field("kind", row.name);
    json.Field("count", row.count);
    json.Field("bytes", row.bytes);
    json.End();
  }
  json.End();
  json.Field("values", static_cast<int64_t>(executable.assignment.places.size()));
  json.BeginArray("obstacles");
  for (const std::string& obstacle : executable::FindObstacles(executable))
    json.Value(std::string_view(obstacle));
  json.End();
  json.End();
  return out;
}

}  // namespace stowplan::page
