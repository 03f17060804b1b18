// SPDX-License-Identifier: Apache-2.0
#include "explain/labels.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "explain/makers.h"
#include "explain/op_slots.h"
#include "explain/own_line.h"
#include "report/summary.h"

namespace stowplan::explain {

using hlo::CompId;
using hlo::InstrId;
using hlo::Opcode;

Opcode OpcodeOfText(std::string_view text) {
  const size_t equals = text.find(" = ");
  if (equals == std::string_view::npos) return Opcode::kUnknown;
  text.remove_prefix(equals + 3);
  // The shape ends at the blank outside its brackets, the opcode at the next bracket.
  int depth = 0;
  size_t i = 0;
  for (; i < text.size() && (depth != 0 || text[i] != ' '); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == ']' || text[i] == '}') --depth;
  }
  if (i == text.size()) return Opcode::kUnknown;
  text.remove_prefix(i + 1);
  return hlo::FindOpcode(text.substr(0, text.find('('))).value_or(Opcode::kUnknown);
}

Opcode OpcodeOfName(std::string_view name) {
  return hlo::FindOpcode(name.substr(0, name.find('.'))).value_or(Opcode::kUnknown);
}

namespace {

class Labeller {
 public:
  Labeller(const PictureOptions& options, Picture& picture)
      : options_(options), picture_(picture), report_(*picture.report) {}

  void Run() {
    AddOps();
    if (picture_.module != nullptr) {
      AddFrames();
      makers_.emplace(*picture_.module);
      FindKinds();
      FindInstructions();
    }
    AddValues();
    AddOwnLines();
    AddParameterPaths();
  }

 private:
  void AddOps() {
    ReserveOps(report_.live_ranges ? report_.live_ranges->sequence.size() : report_.values.size(),
               picture_);
    if (report_.live_ranges) {
      int64_t time = 0;
      for (const std::string_view name : report_.live_ranges->sequence) {
        Op& op = picture_.ops[AddOp(name, picture_)];
        if (op.time < 0) op.time = time;
        ++time;
      }
    }
    picture_.values.resize(report_.values.size());
    NearOps near(picture_);
    for (size_t i = 0; i < report_.values.size(); ++i) {
      const std::string_view name = report_.values[report::ValueId(i)].instruction;
      const OpId op = near.Find(name);
      picture_.values[i].op = op.is_none() ? AddOp(name, picture_) : op;
    }
  }

  // The module's frames, callers before the called. A frame of a loop of frames has no caller.
  void AddFrames() {
    const hlo::StackFrames& stacks = picture_.module->stack_frames;
    frames_.resize(stacks.frames.size());
    std::vector<uint8_t> is_on_way(stacks.frames.size(), 0);
    std::vector<size_t> way;
    const auto has_row = [](int32_t number, const auto& rows) {
      return number > 0 && static_cast<size_t>(number) <= rows.size();
    };
    for (size_t i = 0; i < stacks.frames.size(); ++i) {
      way.clear();
      FrameId parent;
      for (size_t at = i;;) {
        if (!frames_[at].is_none()) {
          parent = frames_[at];
          break;
        }
        if (is_on_way[at] != 0) break;
        is_on_way[at] = 1;
        way.push_back(at);
        if (!has_row(stacks.frames[at].parent, stacks.frames)) break;
        at = static_cast<size_t>(stacks.frames[at].parent) - 1;
      }
      for (; !way.empty(); way.pop_back()) {
        Frame frame;
        frame.parent = parent;
        const int32_t place = stacks.frames[way.back()].location;
        if (has_row(place, stacks.locations)) {
          const hlo::StackFrames::Location& location =
              stacks.locations[static_cast<size_t>(place) - 1];
          frame.line = location.line;
          if (has_row(location.file, stacks.files))
            frame.file =
                picture_.module->view(stacks.files[static_cast<size_t>(location.file) - 1]);
          if (has_row(location.function, stacks.functions))
            frame.function =
                picture_.module->view(stacks.functions[static_cast<size_t>(location.function) - 1]);
        }
        parent = picture_.frames.Add(frame);
        frames_[way.back()] = parent;
      }
    }
  }

  FrameId FrameAt(std::string_view file, int32_t line) {
    if (file.empty()) return {};
    const auto [row, is_new] = places_.try_emplace({file, line});
    if (is_new) {
      Frame frame;
      frame.file = file;
      frame.line = line;
      row->second = picture_.frames.Add(frame);
    }
    return row->second;
  }

  // Which metadata is of parameters, and which computations are of fusions.
  void FindKinds() {
    const hlo::Module& module = *picture_.module;
    is_of_parameter_.resize(module.metadata.size(), 0);
    for (const InstrId parameter : module.parameters_of(module.entry)) {
      const hlo::MetadataId words = module.instructions[parameter].metadata;
      if (!words.is_none()) is_of_parameter_[words.index] = 1;
    }
    is_fused_.resize(module.computations.size(), 0);
    for (size_t i = 0; i < module.instructions.size(); ++i) {
      if (module.instructions[InstrId(i)].opcode != Opcode::kFusion) continue;
      for (const CompId called : module.called_by(InstrId(i))) is_fused_[called.index] = 1;
    }
  }

  // Names are unique in what XLA writes; elsewhere, those outside fusions are meant.
  void FindInstructions() {
    const hlo::Module& module = *picture_.module;
    NearOps near(picture_);
    for (const bool is_fused : {false, true}) {
      for (size_t i = 0; i < module.instructions.size(); ++i) {
        const hlo::Instruction& instruction = module.instructions[InstrId(i)];
        if ((is_fused_[instruction.parent.index] != 0) != is_fused) continue;
        const OpId found = near.Find(module.view(instruction.name));
        if (found.is_none()) continue;
        Op& op = picture_.ops[found];
        if (!op.instruction.is_none()) continue;
        op.instruction = InstrId(i);
        op.opcode = instruction.opcode;
        SetWords(makers_->WordsOf(op.instruction), op);
        const hlo::Metadata* own = module.metadata_of(op.instruction);
        op.is_wordless = instruction.called.count == 0 || IsAsync(op.opcode);
        op.is_wordless = op.is_wordless && (own == nullptr || own->op_name.size == 0);
      }
    }
  }

  static bool IsAsync(Opcode opcode) {
    return opcode == Opcode::kAsyncStart || opcode == Opcode::kAsyncUpdate ||
           opcode == Opcode::kAsyncDone;
  }

  template <class Labelled>
  void SetWords(const hlo::Metadata* words, Labelled& to) {
    if (words == nullptr) return;
    const hlo::Module& module = *picture_.module;
    to.op_name = module.view(words->op_name);
    if (words->stack_frame > 0 && static_cast<size_t>(words->stack_frame) <= frames_.size()) {
      to.frame = frames_[static_cast<size_t>(words->stack_frame) - 1];
    } else {
      to.frame = FrameAt(module.view(words->source_file), words->source_line);
    }
  }

  std::string_view Store(std::string text) {
    if (text.empty()) return {};
    return *picture_.texts.emplace_back(std::make_unique<std::string>(std::move(text)));
  }

  // What the report itself has of the op.
  void SetWordsOfText(std::string_view text, Op& op) {
    op.opcode = text.empty() ? OpcodeOfName(op.name) : OpcodeOfText(text);
    const report::Origin origin = report::OriginOfText(text);
    op.op_name = Store(origin.op_name);
    op.is_wordless = op.op_name.empty() && op.opcode != Opcode::kUnknown &&
                     op.opcode != Opcode::kFusion && op.opcode != Opcode::kWhile &&
                     op.opcode != Opcode::kCall && op.opcode != Opcode::kConditional;
    std::string_view source = Store(origin.source);
    int32_t line = 0;
    if (const size_t colon = source.rfind(':'); colon != std::string_view::npos) {
      const std::string_view digits = source.substr(colon + 1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
      if (error == std::errc() && end == digits.data() + digits.size()) {
        source = source.substr(0, colon);
      } else {
        line = 0;
      }
    }
    op.frame = FrameAt(source, line);
  }

  void AddValues() {
    for (size_t i = 0; i < report_.values.size(); ++i) {
      const report::Value& value = report_.values[report::ValueId(i)];
      ValueFact& fact = picture_.values[i];
      Op& op = picture_.ops[fact.op];
      if (op.instruction.is_none() && op.opcode == Opcode::kUnknown)
        SetWordsOfText(value.instruction_text, op);
      fact.op_name = op.op_name;
      fact.frame = op.frame;
      if (op.instruction.is_none()) continue;
      const Maker maker = makers_->Of(op.instruction, report_.numbers(value.index));
      SetWords(maker.words, fact);
      fact.slices = maker.slices;
      fact.is_parameter_copy = IsParameterCopy(op, fact, maker.words);
    }
    // What no value is born at has no text.
    for (size_t i = 0; i < picture_.ops.size(); ++i) {
      Op& op = picture_.ops[OpId(i)];
      if (op.opcode == Opcode::kUnknown && op.instruction.is_none())
        op.opcode = OpcodeOfName(op.name);
    }
  }

  // Callers come before the called.
  void AddOwnLines() {
    Owners owners(options_.own);
    std::vector<Owner> nearest;
    for (size_t i = 0; i < picture_.frames.size(); ++i) {
      const Frame& frame = picture_.frames[FrameId(i)];
      nearest.push_back(owners.Of(frame.file));
      picture_.own_lines.push_back(FrameId(i));
      if (frame.parent.is_none() || nearest[frame.parent.index] >= nearest[i]) continue;
      nearest[i] = nearest[frame.parent.index];
      picture_.own_lines[i] = picture_.own_lines[frame.parent.index];
    }
  }

  // Parameters have an op_name, their path, and no line of source.
  [[nodiscard]] bool IsParameterCopy(const Op& op, const ValueFact& fact,
                                     const hlo::Metadata* words) const {
    if (op.opcode == Opcode::kParameter || fact.op_name.empty() || !fact.frame.is_none())
      return false;
    const hlo::Module& module = *picture_.module;
    return words != nullptr &&
           is_of_parameter_[static_cast<size_t>(words - module.metadata.rows().data())] != 0;
  }

  void AddParameterPaths() {
    picture_.parameter_paths.resize(report_.allocations.size());
    for (size_t i = 0; i < report_.allocations.size(); ++i) {
      const report::Allocation& allocation = report_.allocations[report::AllocationId(i)];
      if (!allocation.parameter) continue;
      std::string path;
      for (const report::ValueId id : allocation.values) {
        const Op& op = picture_.ops[picture_.values[id.index].op];
        if (op.opcode == Opcode::kParameter) path = PathOf(op.op_name);
        if (!path.empty()) break;
      }
      const auto number = static_cast<uint64_t>(*allocation.parameter);
      if (path.empty() && number < options_.parameter_names.size())
        path = options_.parameter_names[number];
      if (path.empty()) path = "parameter " + std::to_string(*allocation.parameter);
      if (allocation.parameter_index.numbers.count != 0) {
        path += '{';
        for (const int64_t n : report_.numbers(allocation.parameter_index)) {
          if (path.back() != '{') path += ',';
          path += std::to_string(n);
        }
        path += '}';
      }
      picture_.parameter_paths[i] = std::move(path);
    }
  }

  // JAX writes the pytree path of a parameter as its op_name, in some versions with escaped quotes.
  static std::string PathOf(std::string_view op_name) {
    if (op_name.find('/') != std::string_view::npos && op_name.find('/') < op_name.find('['))
      return {};  // the path of an operation
    std::string path;
    for (size_t i = 0; i < op_name.size(); ++i) {
      const bool is_escape = op_name[i] == '\\' && i + 1 < op_name.size() &&
                             (op_name[i + 1] == '\'' || op_name[i + 1] == '"');
      if (!is_escape) path += op_name[i];
    }
    return path;
  }

  const PictureOptions& options_;
  Picture& picture_;
  const report::Report& report_;
  std::vector<FrameId> frames_;           // by the module's row
  std::optional<Makers> makers_;          // of the module, if there is one
  std::vector<uint8_t> is_fused_;         // by computation
  std::vector<uint8_t> is_of_parameter_;  // by metadata: of the entry computation
  std::map<std::pair<std::string_view, int32_t>, FrameId> places_;
};

}  // namespace

void AddLabels(const PictureOptions& options, Picture& picture) {
  Labeller(options, picture).Run();
}

}  // namespace stowplan::explain
