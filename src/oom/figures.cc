// SPDX-License-Identifier: Apache-2.0
// The figures: what was requested, what was available, what it is made of; and what is not known.
#include <fmt/format.h>

#include "oom/causes.h"
#include "oom/size.h"

namespace stowplan::oom {
namespace {

std::string Percent(const Size& part, const Size& whole) {
  if (whole.bytes <= 0) return {};
  return fmt::format("{:.1f}%",
                     100.0 * static_cast<double>(part.bytes) / static_cast<double>(whole.bytes));
}

class Table {
 public:
  void Add(std::string name, const std::optional<Size>& size, std::string note = {},
           int depth = 0) {
    if (size) rows_.push_back({std::move(name), *size, std::move(note), depth});
  }
  std::vector<Figure> Take() { return std::move(rows_); }

 private:
  std::vector<Figure> rows_;
};

void AddProgram(const Case& one, Table& table) {
  const Program& program = one.incident.program;
  const bool has_list = !program.parts.empty();
  const std::optional<Size>& total = program.total;
  const auto share = [&](const std::optional<Size>& part) {
    return part && total ? Percent(*part, *total) : std::string();
  };
  table.Add("the program needs", total);
  if (has_list) {
    for (const Part& part : program.parts) table.Add(part.name, part.size, share(part.size), 1);
  } else {
    table.Add("arguments", program.arguments, share(program.arguments), 1);
    table.Add("outputs", program.outputs, share(program.outputs), 1);
    const std::optional<Size> shared = SharedOutputs(program);
    if (shared && shared->bytes > 0)
      table.Add("of both, shared", shared, "outputs in arguments' memory", 1);
    table.Add("constants", program.constants, share(program.constants), 1);
    table.Add("temporaries", program.temporaries, share(program.temporaries), 1);
  }
  if (program.unpadded && program.padded) {
    table.Add("of it data", program.unpadded, {}, 2);
    table.Add("of it padding", Minus(program.padded, program.unpadded),
              Percent(*Minus(program.padded, program.unpadded), *program.padded), 2);
  }
  table.Add("holes between values", program.fragmentation, {}, 2);
  if (has_list) {
    table.Add("arguments", program.arguments);
    table.Add("outputs", program.outputs);
    if (program.shared && program.shared->bytes > 0)
      table.Add("of both, shared", program.shared, "outputs in arguments' memory");
  }
}

}  // namespace

std::string HeadlineOf(const Case& one) {
  const Incident& incident = one.incident;
  const std::string space = SpaceWords(incident);
  const auto text = [](const std::optional<Size>& size) { return SizeText(*size); };
  switch (incident.kind) {
    case Kind::kCompile:
      if (incident.used && incident.limit)
        return fmt::format(
            "The compiler gave up: the program needs {} of {}, but there are only {}.",
            text(incident.used), space, text(incident.limit));
      return fmt::format("The compiler gave up: the program does not fit into {}.", space);
    case Kind::kScoped: {
      const std::string who = incident.instruction.empty()
                                  ? std::string("one instruction")
                                  : fmt::format("`{}`", incident.instruction);
      if (incident.used && incident.limit)
        return fmt::format(
            "The compiler gave up: {} needs {} of scratch in {}, but the limit is {}.", who,
            text(incident.used), space, text(incident.limit));
      return fmt::format("The compiler gave up: the scratch memory of {} does not fit into {}.",
                         who, space);
    }
    case Kind::kLoad:
      return fmt::format(
          "The program was compiled, but could not be loaded: it needs {} of {} in one piece, but "
          "only {} free.",
          text(incident.requested), space,
          incident.free ? text(incident.free) + " are" : "less is");
    case Kind::kHost:
      if (!incident.is_failure && incident.requested)
        return fmt::format(
            "A warning, not a failure: one allocation of {} is a large part of the free space in "
            "{}.",
            text(incident.requested), space);
      if (incident.requested)
        return fmt::format("A request for {} of {} in one piece failed.", text(incident.requested),
                           space);
      return "The host's own memory ran out, not that of a device.";
    case Kind::kDriver:
      if (incident.requested)
        return fmt::format("The driver refused {} of {}.", text(incident.requested), space);
      return "A library or the driver found no GPU memory outside XLA's pool.";
    case Kind::kBuffer:
      if (!incident.is_failure && incident.requested)
        return fmt::format(
            "A warning, not a failure: {} in one piece were not available, and XLA went on "
            "without.",
            text(incident.requested));
      if (!incident.requested)
        return "An allocation failed; the log does not say how large it was.";
      if (const std::optional<Size> free = FreeOf(incident); free && free->bytes >= 0)
        return fmt::format("A request for {} in one piece failed: {} has {} free.",
                           text(incident.requested), space, text(free));
      return fmt::format("A request for {} of {} in one piece failed.", text(incident.requested),
                         space);
    case Kind::kOther:
      break;
  }
  return "Memory ran out, with a message that Stowplan does not know: " + incident.message;
}

std::vector<Figure> FiguresOf(const Case& one) {
  const Incident& incident = one.incident;
  Table table;
  if (incident.used) {
    table.Add("needed", incident.used);
  } else {
    table.Add("wanted", incident.requested, "in one piece");
  }
  if (incident.kind == Kind::kLoad || incident.kind == Kind::kBuffer) {
    table.Add(
        "free", FreeOf(incident),
        FreeOf(incident) == Minus(incident.pool.limit, incident.pool.in_use) && incident.pool.limit
            ? "limit minus in use"
            : "");
    table.Add("largest free piece", incident.largest_free);
  }
  table.Add("there is", incident.limit,
            incident.pool.limit
                ? fmt::format("limit of the pool{}{}", incident.pool.name.empty() ? "" : " ",
                              incident.pool.name)
                : "");
  table.Add("in use", incident.pool.in_use,
            incident.pool.in_use && incident.limit
                ? Percent(*incident.pool.in_use, *incident.limit) + " of the limit"
                : "");
  table.Add("most in use so far", incident.pool.max_in_use);
  table.Add("free on the device", incident.device_free, "says the driver");
  table.Add("the device has", incident.device_total, "says the driver");
  table.Add(
      "lacking", one.lack,
      one.lack && incident.used ? Percent(*one.lack, *incident.used) + " of what is needed" : "");
  AddProgram(one, table);
  table.Add("reserved by the system", incident.reserved);
  return table.Take();
}

std::vector<std::string> UnknownOf(const Case& one) {
  const Incident& incident = one.incident;
  std::vector<std::string> unknown;
  const bool is_device = incident.kind != Kind::kHost && incident.kind != Kind::kScoped;
  if (incident.used && incident.limit && incident.exceeded &&
      !Agree(*Minus(incident.used, incident.limit), *incident.exceeded))
    unknown.push_back(fmt::format(
        "The figures do not add up: {} minus {} is not {}. The text may be damaged.",
        SizeText(*incident.used), SizeText(*incident.limit), SizeText(*incident.exceeded)));
  if (is_device && !one.limit)
    unknown.emplace_back("How much memory there is: no line of the log says so.");
  if (incident.kind == Kind::kBuffer && !incident.pool.in_use && !incident.free)
    unknown.emplace_back(
        "What was in use: allocators print that before the error (Stats: Limit, InUse), but these "
        "lines are missing.");
  if (is_device && incident.buffers.empty())
    unknown.emplace_back("Which buffers the memory is for: the log has no list of them.");
  if (incident.kind == Kind::kBuffer && incident.backend == Backend::kGpu &&
      !incident.program.total)
    unknown.emplace_back(
        "What the program needs in total: XLA prints that under `BufferAssignment stats`, which is "
        "missing.");
  if (incident.kind == Kind::kCompile && incident.space == "hbm" && !incident.program.arguments)
    unknown.emplace_back("How much of it is for arguments.");
  return unknown;
}

}  // namespace stowplan::oom
