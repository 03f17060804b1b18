// SPDX-License-Identifier: Apache-2.0
#include "stowplan/hlo/module_builder.h"

#include <algorithm>
#include <utility>

namespace stowplan::hlo {
namespace {

template <class T>
Range AppendRows(std::vector<T>& pool, std::span<const T> rows) {
  const Range range{static_cast<uint32_t>(pool.size()), static_cast<uint32_t>(rows.size())};
  pool.insert(pool.end(), rows.begin(), rows.end());
  return range;
}

}  // namespace

ModuleBuilder::ModuleBuilder(std::shared_ptr<const Source> source, Format format) {
  module_.source = std::move(source);
  module_.format = format;
}

Text ModuleBuilder::ToText(std::string_view characters) {
  const Source* source = module_.source.get();
  if (source != nullptr && characters.data() >= source->begin() &&
      characters.data() < source->end()) {
    return {static_cast<uint32_t>(characters.data() - source->begin()),
            static_cast<uint32_t>(characters.size())};
  }
  return AddText(characters);
}

Text ModuleBuilder::AddText(std::string_view characters) {
  if (characters.empty()) return {};
  const size_t split = module_.source ? module_.source->size() : 0;
  const Text text{static_cast<uint32_t>(split + module_.made_texts.size()),
                  static_cast<uint32_t>(characters.size())};
  module_.made_texts += characters;
  return text;
}

CompId ModuleBuilder::BeginComputation(Text name) {
  Computation computation;
  computation.name = name;
  computation.first = module_.instructions.next_id();
  return module_.computations.Add(computation);
}

InstrId ModuleBuilder::AddInstruction(const Instruction& head, std::span<const InstrId> operands,
                                      std::span<const Attribute> attributes) {
  Module& m = module_;
  Instruction row = head;
  row.parent = CompId(m.computations.size() - 1);
  row.operands = AppendRows(m.operands, operands);
  row.attributes = AppendRows(m.attributes, attributes);
  const auto begin = m.attributes.end() - static_cast<std::ptrdiff_t>(attributes.size());
  const auto before = [&](const Attribute& a, const Attribute& b) {
    return PrintRank(row.opcode, a.key) < PrintRank(row.opcode, b.key);
  };
  if (!std::is_sorted(begin, m.attributes.end(), before)) {
    std::stable_sort(begin, m.attributes.end(), before);
  }
  row.called.begin = static_cast<uint32_t>(m.called.size());
  for (const Attribute& attribute : attributes) {
    switch (KindOf(attribute.key)) {
      case ValueKind::kComputation:
        m.called.emplace_back(static_cast<size_t>(attribute.number()));
        break;
      case ValueKind::kComputations:
        for (const CompId id : Module::Rows(m.computation_pool, attribute.rows()))
          m.called.push_back(id);
        break;
      default:
        break;
    }
  }
  row.called.count = static_cast<uint32_t>(m.called.size()) - row.called.begin;
  // XLA keeps the body of a while first, whichever way the text has it.
  if (row.opcode == Opcode::kWhile && row.called.count == 2) {
    const Attribute* body = nullptr;
    for (const Attribute& a : attributes) {
      if (a.key == AttributeKey::kBody) body = &a;
    }
    CompId* called = &m.called[row.called.begin];
    if (body != nullptr && called[0] != CompId(static_cast<size_t>(body->number()))) {
      std::swap(called[0], called[1]);
    }
  }
  return m.instructions.Add(row);
}

void ModuleBuilder::EndComputation(InstrId root) {
  Module& m = module_;
  const CompId id(m.computations.size() - 1);
  Computation& computation = m.computations[id];
  computation.count = m.instructions.next_id().index - computation.first.index;
  computation.root =
      root.is_none() && computation.count != 0 ? InstrId(m.instructions.size() - 1) : root;
  computation.parameters.begin = static_cast<uint32_t>(m.instruction_pool.size());
  // By number; a second parameter with the same number stays after the first, for the verifier to
  // see.
  for (uint32_t i = 0; i < computation.count; ++i) {
    const InstrId instr(computation.first.index + i);
    if (m.instructions[instr].opcode == Opcode::kParameter) m.instruction_pool.push_back(instr);
  }
  computation.parameters.count =
      static_cast<uint32_t>(m.instruction_pool.size()) - computation.parameters.begin;
  const auto number = [&](InstrId instr) {
    return m.NumberOr(instr, AttributeKey::kParameterNumber, 0);
  };
  std::stable_sort(m.instruction_pool.begin() + computation.parameters.begin,
                   m.instruction_pool.end(),
                   [&](InstrId a, InstrId b) { return number(a) < number(b); });
}

Range ModuleBuilder::AddInts(std::span<const int64_t> numbers) {
  return AppendRows(module_.ints, numbers);
}
Range ModuleBuilder::AddTexts(std::span<const Text> texts) {
  return AppendRows(module_.texts, texts);
}
Range ModuleBuilder::AddShapes(std::span<const ShapeId> shapes) {
  return AppendRows(module_.shape_pool, shapes);
}
Range ModuleBuilder::AddComputations(std::span<const CompId> computations) {
  return AppendRows(module_.computation_pool, computations);
}
Range ModuleBuilder::AddInstructions(std::span<const InstrId> instructions) {
  return AppendRows(module_.instruction_pool, instructions);
}

Module ModuleBuilder::Build(CompId entry) && {
  module_.entry = entry;
  return std::move(module_);
}

}  // namespace stowplan::hlo
