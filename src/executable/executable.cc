// SPDX-License-Identifier: Apache-2.0
#include "executable/executable.h"

#include <span>
#include <utility>

#include "executable/field_reader.h"
#include "executable/numbers.h"

namespace stowplan::executable {
namespace {

// The records of a split message that are messages, or the message itself: put one after the other
// they are the whole.
std::vector<size_t> MessagesOf(const SplitMessage& message) {
  std::vector<size_t> out;
  for (size_t i = message.is_split ? 1 : 0; i < message.records.size(); ++i) {
    if (message.fields[i] == 0) out.push_back(i);
  }
  return out;
}

// Whether a field that is needed lies in a record of its own, where it is not looked for.
bool HasFieldApart(const Container& container) {
  for (const uint32_t field : container.result.fields) {
    if (field == kModuleWithConfig || field == kAssignmentOfResult || field == kGpuAllocations ||
        field == kGpuThunks) {
      return true;
    }
  }
  return false;
}

struct Parts {
  std::string_view module_with_config;
  std::string_view assignment;
  std::string_view machine;
  std::optional<std::string_view> allocations;  // of a GPU, a second time
  std::vector<std::string_view> thunks;
  std::string_view rest_of_sequence;
  bool has_thunks = false;
};

Result<bool> ReadCpuSequence(const std::string& name, std::string_view bytes, Parts& parts) {
  FieldReader fields(bytes);
  const char* rest = nullptr;
  while (fields.Next()) {
    const Field& field = fields.field();
    if (field.number == kThunksOfSequence && field.is_bytes()) {
      if (rest != nullptr) return Fail(name, "fields of a sequence of thunks are mixed");
      parts.thunks.push_back(field.bytes);
    } else if (rest == nullptr) {
      rest = field.raw.data();
    }
  }
  if (!fields.ok()) return Fail(name, "the sequence of thunks is damaged");
  if (rest != nullptr)
    parts.rest_of_sequence = {rest, static_cast<size_t>(bytes.data() + bytes.size() - rest)};
  return true;
}

Result<Parts> FindParts(const std::string& name, const Container& container) {
  if (HasFieldApart(container))
    return Fail(name, "the executable keeps its module or plan in a record of its own");
  Parts parts;
  const bool is_cpu = container.platform == Platform::kCpu;
  bool has_module = false;
  for (const size_t record : MessagesOf(container.result)) {
    FieldReader fields(container.result.records[record]);
    while (fields.Next()) {
      const Field& field = fields.field();
      if (!field.is_bytes()) continue;
      if (field.number == kModuleWithConfig) {
        if (has_module) return Fail(name, "the executable has two modules");
        has_module = true;
        parts.module_with_config = field.bytes;
      } else if (field.number == kAssignmentOfResult) {
        if (!parts.assignment.empty()) return Fail(name, "the executable has two plans");
        parts.assignment = field.bytes;
      } else if (is_cpu && field.number == kCpuThunks) {
        if (parts.has_thunks) return Fail(name, "the executable has two sequences of thunks");
        parts.has_thunks = true;
        STOWPLAN_TRY([[maybe_unused]] const bool ok, ReadCpuSequence(name, field.bytes, parts));
      } else if (is_cpu && field.number == kCpuMachine) {
        parts.machine = field.bytes;
      } else if (!is_cpu && field.number == kGpuAllocations) {
        if (parts.allocations) return Fail(name, "the executable lists its allocations twice");
        parts.allocations = field.bytes;
      } else if (!is_cpu && field.number == kGpuThunks) {
        parts.has_thunks = true;
        parts.thunks.push_back(field.bytes);
      }
    }
    if (!fields.ok()) return Fail(name, "a message of the executable is damaged");
  }
  return parts;
}

// The sequence of thunks as a message.
std::string CpuSequence(const Program& program) {
  std::string out;
  for (const std::string& thunk : EncodeThunks(program))
    AppendBytesField(kThunksOfSequence, thunk, out);
  out += program.sequences[0].rest;
  return out;
}

// One record of the result with what changed.
class ResultWriter {
 public:
  ResultWriter(const Executable& executable, const Changes& changes)
      : executable_(executable), changes_(changes) {}

  std::string Record(std::string_view record) {
    std::string out;
    FieldReader fields(record);
    while (fields.Next()) Add(fields.field(), out);
    return out;
  }

 private:
  void Add(const Field& field, std::string& out) {
    const bool is_cpu = executable_.platform() == Platform::kCpu;
    if (!field.is_bytes()) {
      out += field.raw;
      return;
    }
    if (field.number == kModuleWithConfig && changes_.module) {
      AppendBytesField(field.number, WithBytes(field.bytes, kModuleOfConfig, *changes_.module),
                       out);
    } else if (field.number == kAssignmentOfResult && changes_.assignment) {
      AppendBytesField(field.number, WriteAssignment(field.bytes, *changes_.assignment), out);
    } else if (is_cpu && field.number == kCpuThunks && changes_.program != nullptr) {
      AppendBytesField(field.number, CpuSequence(*changes_.program), out);
    } else if (!is_cpu && field.number == kGpuAllocations && changes_.assignment) {
      AppendBytesField(field.number, WriteAllocations(field.bytes, *changes_.assignment), out);
    } else if (!is_cpu && field.number == kGpuThunks && changes_.program != nullptr) {
      // All of them stand where the first stood.
      if (std::exchange(are_thunks_written_, true)) return;
      for (const std::string& thunk : EncodeThunks(*changes_.program))
        AppendBytesField(kGpuThunks, thunk, out);
    } else {
      out += field.raw;
    }
  }

  const Executable& executable_;
  const Changes& changes_;
  bool are_thunks_written_ = false;
};

}  // namespace

Result<Executable> ReadExecutable(std::shared_ptr<const Source> source) {
  Executable out;
  const std::string& name = source->name();
  STOWPLAN_TRY(out.container, OpenContainer(name, source->bytes()));
  STOWPLAN_TRY(const Parts parts, FindParts(name, out.container));
  out.module = FindBytes(parts.module_with_config, kModuleOfConfig).value_or("");
  out.module_name = FindBytes(out.module, kModuleName).value_or("");
  out.machine = FindBytes(parts.machine, kTriple).value_or("");
  if (out.container.header) {
    out.runtime = FindBytes(*out.container.header, kHeaderRuntime).value_or("");
    if (const std::optional<uint64_t> version = FindVarint(*out.container.header, kHeaderVersion)) {
      out.version = static_cast<int64_t>(*version);
    }
  }
  out.assignment_bytes = parts.assignment;
  std::optional<Assignment> assignment = ReadAssignment(parts.assignment);
  if (!assignment) return Fail(name, "the executable's buffer assignment is damaged");
  out.assignment = *std::move(assignment);
  if (parts.allocations && !IsListOf(*parts.allocations, out.assignment))
    return Fail(name, "the executable's allocations are not those of its buffer assignment");
  out.has_thunks = parts.has_thunks;
  STOWPLAN_TRY(out.program,
               DecodeProgram(name, out.container.platform, parts.thunks, parts.rest_of_sequence));
  out.source = std::move(source);
  return out;
}

Result<std::shared_ptr<const Source>> ModuleSource(std::shared_ptr<const Source> source) {
  if (!LooksLikeExecutable(source->bytes())) return source;
  STOWPLAN_TRY(const Executable executable, ReadExecutable(source));
  return Source::FromBytes(source->name(), HloProtoOf(executable));
}

std::string HloProtoOf(const Executable& executable) {
  std::string out;
  out.reserve(executable.module.size() + executable.assignment_bytes.size() + 32);
  AppendBytesField(kHloModule, executable.module, out);
  AppendBytesField(kHloAssignment, executable.assignment_bytes, out);
  return out;
}

Result<std::string> WriteExecutable(const Executable& executable, const Changes& changes) {
  const SplitMessage& result = executable.container.result;
  std::vector<std::string> records(result.records.begin(), result.records.end());
  ResultWriter writer(executable, changes);
  for (const size_t record : MessagesOf(result)) records[record] = writer.Record(records[record]);
  return CloseContainer(executable.container, std::move(records));
}

}  // namespace stowplan::executable
