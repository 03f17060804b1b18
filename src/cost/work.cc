// SPDX-License-Identifier: Apache-2.0
#include "cost/work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>

#include "cost/trips.h"
#include "target/size.h"

namespace stowplan::cost {
namespace {

using hlo::AttributeKey;
using hlo::CompId;
using hlo::InstrId;
using hlo::Module;
using hlo::Opcode;
using hlo::ShapeId;

// What hands values on, or is there without being computed.
bool IsFree(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kOptBarrier:
    case Opcode::kDomain:
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
      return true;
    default:
      return false;
  }
}

// What moves elements without arithmetic.
bool IsMove(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kCopy:
    case Opcode::kCopyDone:
    case Opcode::kCopyStart:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    default:
      return false;
  }
}

class Worker {
 public:
  Worker(const Module& module, const Target& target) : module_(module), target_(target) {
    FindShapes();
    FindFused();
    FindUsers();
  }

  std::vector<Work> Find() const {
    std::vector<Work> works(module_.instructions.size());
    std::vector<Work> sums(module_.computations.size());
    // Callees precede their callers.
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      const hlo::Computation& computation = module_.computations[CompId(c)];
      for (uint32_t k = 0; k < computation.count; ++k) {
        const InstrId id(size_t{computation.first.index} + k);
        works[id.index] = WorkOf(id, sums);
        if (is_fused_[c] != 0)
          works[id.index] = {.flops = works[id.index].flops, .products = works[id.index].products};
        sums[c] += works[id.index];
      }
    }
    return works;
  }

  std::vector<double> FindCosts(const std::function<double(const Work&)>& kernel_cost) const {
    std::vector<double> costs;
    for (const Work& work : Find()) costs.push_back(kernel_cost(work));
    std::vector<double> sums(module_.computations.size(), 0);
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      const hlo::Computation& computation = module_.computations[CompId(c)];
      for (uint32_t k = 0; k < computation.count; ++k) {
        const InstrId id(size_t{computation.first.index} + k);
        if (is_fused_[c] == 0 && IsControl(module_.instructions[id].opcode))
          costs[id.index] = CalledCost(id, sums);
        sums[c] += costs[id.index];
      }
    }
    return costs;
  }

 private:
  struct Measure {
    double bytes = 0;
    double elements = 0;  // of the largest array
  };

  void FindShapes() {
    measures_.resize(module_.shapes.size());
    // Elements precede their tuples.
    for (size_t s = 0; s < measures_.size(); ++s) {
      const ShapeId id(s);
      if (module_.shapes.is_tuple(id)) {
        for (const ShapeId element : module_.shapes.elements(id)) {
          measures_[s].bytes += measures_[element.index].bytes;
          measures_[s].elements =
              std::max(measures_[s].elements, measures_[element.index].elements);
        }
        continue;
      }
      if (const auto bytes = ByteSize(module_.shapes, id, target_); bytes)
        measures_[s].bytes = static_cast<double>(*bytes);
      double elements = 1;
      for (const int64_t size : module_.shapes.dims(id))
        elements *= static_cast<double>(std::max<int64_t>(size, 0));
      measures_[s].elements = elements;
    }
  }

  // Computations whose instructions are parts of one kernel.
  void FindFused() {
    is_fused_.assign(module_.computations.size(), 0);
    // Callers follow their callees.
    for (size_t i = module_.instructions.size(); i-- > 0;) {
      const InstrId id(i);
      const hlo::Instruction& row = module_.instructions[id];
      const bool is_inside = is_fused_[row.parent.index] != 0;
      if (!is_inside && IsControl(row.opcode)) continue;
      for (const CompId callee : module_.called_by(id)) is_fused_[callee.index] = 1;
    }
  }
  static bool IsControl(Opcode opcode) {
    return opcode == Opcode::kCall || opcode == Opcode::kWhile || opcode == Opcode::kConditional ||
           opcode == Opcode::kAsyncStart;
  }

  [[nodiscard]] double CalledCost(InstrId id, std::span<const double> sums) const {
    double called = 0;
    for (const CompId callee : module_.called_by(id)) called += sums[callee.index];
    const bool is_loop = module_.instructions[id].opcode == Opcode::kWhile;
    return is_loop ? called * static_cast<double>(KnownTrips(module_, id).value_or(1)) : called;
  }

  [[nodiscard]] const Measure& MeasureOf(InstrId id) const {
    return measures_[module_.instructions[id].shape.index];
  }

  [[nodiscard]] Work WorkOf(InstrId id, std::span<const Work> sums) const {
    const Opcode opcode = module_.instructions[id].opcode;
    if (IsFree(opcode)) return {};
    Work called;
    for (const CompId callee : module_.called_by(id)) called += sums[callee.index];
    if (opcode == Opcode::kWhile)
      return called * static_cast<double>(KnownTrips(module_, id).value_or(1));
    if (IsControl(opcode)) return called;
    Work work = {.whole_bytes = MeasureOf(id).bytes,
                 .flops = FlopsOf(id, called),
                 .products = called.products,
                 .launches = 1};
    if (IsProduct(id) && !IsExact(id)) work.products[WidthOf(id)] += work.flops;
    for (const InstrId operand : module_.operands_of(id))
      work.whole_bytes += MeasureOf(operand).bytes;
    work.bytes = WrittenBytes(id);
    for (size_t k = 0; k < module_.operands_of(id).size(); ++k) work.bytes += ReadBytes(id, k);
    return work;
  }

  // An update in place writes the part that is updated.
  [[nodiscard]] double UpdatedBytes(InstrId id) const {
    while (module_.instructions[id].opcode == Opcode::kBitcast && !module_.operands_of(id).empty())
      id = module_.operands_of(id)[0];
    const bool is_update = module_.instructions[id].opcode == Opcode::kDynamicUpdateSlice &&
                           module_.operands_of(id).size() > 1;
    return MeasureOf(is_update ? module_.operands_of(id)[1] : id).bytes;
  }
  [[nodiscard]] double WrittenBytes(InstrId id) const {
    if (module_.instructions[id].opcode == Opcode::kCustomCall && IsProductCall(id))
      return FirstOf(id).bytes;
    if (module_.instructions[id].opcode != Opcode::kFusion || module_.called_by(id).empty())
      return UpdatedBytes(id);
    const InstrId root = module_.computations[module_.called_by(id)[0]].root;
    if (module_.instructions[root].opcode != Opcode::kTuple) return UpdatedBytes(root);
    double bytes = 0;
    for (const InstrId part : module_.operands_of(root)) bytes += UpdatedBytes(part);
    return bytes;
  }

  // What `user` reads of its operand.
  [[nodiscard]] double PartOf(InstrId user, InstrId operand) const {
    const std::span<const InstrId> operands = module_.operands_of(user);
    const bool is_first =
        !operands.empty() && operands[0] == operand && std::ranges::count(operands, operand) == 1;
    switch (module_.instructions[user].opcode) {
      case Opcode::kSlice:
      case Opcode::kDynamicSlice:
      case Opcode::kGather:
        if (is_first) return std::min(MeasureOf(user).bytes, MeasureOf(operand).bytes);
        break;
      case Opcode::kDynamicUpdateSlice:
        if (is_first) return 0;
        break;
      default:
        break;
    }
    return MeasureOf(operand).bytes;
  }
  // A fusion reads what the users of its parameter do, at most the whole.
  [[nodiscard]] double ReadBytes(InstrId id, size_t k) const {
    const InstrId operand = module_.operands_of(id)[k];
    if (module_.instructions[id].opcode != Opcode::kFusion || module_.called_by(id).empty())
      return PartOf(id, operand);
    const std::span<const InstrId> parameters = module_.parameters_of(module_.called_by(id)[0]);
    if (k >= parameters.size()) return MeasureOf(operand).bytes;
    double bytes = 0;
    const uint32_t parameter = parameters[k].index;
    for (uint32_t u = user_begins_[parameter]; u < user_begins_[parameter + 1]; ++u)
      bytes += PartOf(users_[u], parameters[k]);
    return std::min(bytes, MeasureOf(operand).bytes);
  }

  // By instruction inside of fusions: who reads it.
  void FindUsers() {
    user_begins_.assign(module_.instructions.size() + 1, 0);
    const auto for_each = [&](auto visit) {
      for (size_t i = 0; i < module_.instructions.size(); ++i) {
        if (is_fused_[module_.instructions[InstrId(i)].parent.index] == 0) continue;
        for (const InstrId operand : module_.operands_of(InstrId(i))) visit(operand, InstrId(i));
      }
    };
    for_each([&](InstrId operand, InstrId) { ++user_begins_[operand.index + 1]; });
    std::partial_sum(user_begins_.begin(), user_begins_.end(), user_begins_.begin());
    users_.resize(user_begins_.back());
    std::vector<uint32_t> next(user_begins_.begin(), user_begins_.end() - 1);
    for_each([&](InstrId operand, InstrId user) { users_[next[operand.index]++] = user; });
  }

  // A call of a library also returns memory to work in, after its result.
  [[nodiscard]] const Measure& FirstOf(InstrId id) const {
    const hlo::ShapeId shape = module_.instructions[id].shape;
    const bool has_parts =
        module_.shapes.is_tuple(shape) && !module_.shapes.elements(shape).empty();
    return measures_[(has_parts ? module_.shapes.elements(shape)[0] : shape).index];
  }

  // The side lengths of a product of matrices follow from the sizes of the three: each is the
  // product of two of the lengths. A convolution's kernel is small because it is used again and
  // again, and the same estimate holds.
  [[nodiscard]] double ProductFlops(InstrId id) const {
    const std::span<const InstrId> operands = module_.operands_of(id);
    if (operands.size() < 2) return MeasureOf(id).elements;
    return 2 * std::sqrt(MeasureOf(operands[0]).elements) *
           std::sqrt(MeasureOf(operands[1]).elements) * std::sqrt(FirstOf(id).elements);
  }

  // The elements of a convolution's window; its kernel has each pair of features that often.
  [[nodiscard]] double WindowOf(InstrId id) const {
    const hlo::Attribute* window = module_.FindAttribute(id, AttributeKey::kWindow);
    if (window == nullptr) return 1;
    constexpr size_t kFields = 7;
    const auto fields = Module::Rows(module_.ints, window->rows());
    double elements = 1;
    for (size_t i = 0; i < fields.size(); i += kFields) elements *= static_cast<double>(fields[i]);
    return std::max(elements, 1.0);
  }

  // A call of a product of matrices says over which dimensions of its first operand it sums; of a
  // batch of products the sizes do not tell.
  [[nodiscard]] double CallFlops(InstrId id) const {
    const hlo::Attribute* config = module_.FindAttribute(id, AttributeKey::kBackendConfig);
    const std::span<const InstrId> operands = module_.operands_of(id);
    constexpr std::string_view kKey = "\"lhs_contracting_dimensions\":[";
    std::string_view text = config == nullptr ? "" : module_.view(config->text());
    const size_t at = text.find(kKey);
    if (at == std::string_view::npos || operands.empty())
      return ProductFlops(id) * std::sqrt(WindowOf(id));
    text.remove_prefix(at + kKey.size());
    text = text.substr(0, text.find(']'));
    const auto sizes = module_.shapes.dims(module_.instructions[operands[0]].shape);
    double depth = 1;
    for (const char c : text) {
      if (c >= '0' && c <= '9' && static_cast<size_t>(c - '0') < sizes.size())
        depth *= static_cast<double>(sizes[static_cast<size_t>(c - '0')]);
    }
    return 2 * depth * FirstOf(id).elements;
  }

  [[nodiscard]] double DotFlops(InstrId id) const {
    const std::span<const InstrId> operands = module_.operands_of(id);
    const hlo::Attribute* contracted = module_.FindAttribute(id, AttributeKey::kLhsContractingDims);
    double depth = 1;
    if (contracted != nullptr && !operands.empty()) {
      const auto sizes = module_.shapes.dims(module_.instructions[operands[0]].shape);
      for (const int64_t dimension : Module::Rows(module_.ints, contracted->rows())) {
        if (dimension >= 0 && static_cast<size_t>(dimension) < sizes.size())
          depth *= static_cast<double>(sizes[static_cast<size_t>(dimension)]);
      }
    }
    return 2 * depth * MeasureOf(id).elements;
  }

  [[nodiscard]] bool IsProductCall(InstrId id) const {
    const hlo::Attribute* target = module_.FindAttribute(id, AttributeKey::kCustomCallTarget);
    if (target == nullptr) return false;
    const std::string_view name = module_.view(target->text());
    return std::ranges::any_of(
        std::to_array<std::string_view>({"gemm", "matmul", "dot", "conv"}),
        [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
  }

  [[nodiscard]] bool IsProduct(InstrId id) const {
    switch (module_.instructions[id].opcode) {
      case Opcode::kDot:
      case Opcode::kConvolution:
        return true;
      case Opcode::kCustomCall:
        return IsProductCall(id);
      default:
        return false;
    }
  }
  // Asks for all bits of its operands, which matrix units do not take.
  [[nodiscard]] bool IsExact(InstrId id) const {
    if (const auto* words = module_.FindAttribute(id, AttributeKey::kOperandPrecision)) {
      for (const auto& word : Module::Rows(module_.texts, words->rows())) {
        if (module_.view(word) == "highest") return true;
      }
    }
    const hlo::Attribute* config = module_.FindAttribute(id, AttributeKey::kBackendConfig);
    return config != nullptr &&
           module_.view(config->text()).find("HIGHEST") != std::string_view::npos;
  }
  // A row of kProductBits.
  [[nodiscard]] size_t WidthOf(InstrId id) const {
    const std::span<const InstrId> operands = module_.operands_of(id);
    const ShapeId shape = module_.instructions[operands.empty() ? id : operands[0]].shape;
    const int bits = hlo::BitWidth(module_.shapes[shape].type);
    size_t width = 0;
    while (width + 1 < std::size(kProductBits) && kProductBits[width] > bits) ++width;
    return width;
  }

  [[nodiscard]] double FlopsOf(InstrId id, const Work& called) const {
    const Opcode opcode = module_.instructions[id].opcode;
    if (IsMove(opcode)) return 0;
    switch (opcode) {
      case Opcode::kDot:
        return DotFlops(id);
      case Opcode::kConvolution:
        return ProductFlops(id);
      case Opcode::kCustomCall:
        return IsProductCall(id) ? CallFlops(id) : MeasureOf(id).elements;
      case Opcode::kFusion:
        return called.flops;
      case Opcode::kReduce:
      case Opcode::kReduceWindow:
        return module_.operands_of(id).empty() ? 0 : MeasureOf(module_.operands_of(id)[0]).elements;
      case Opcode::kSort:
      case Opcode::kScatter:
        return 10 * MeasureOf(id).elements;
      default:
        return MeasureOf(id).elements;
    }
  }

  const Module& module_;
  const Target& target_;
  std::vector<Measure> measures_;      // by shape
  std::vector<uint8_t> is_fused_;      // by computation
  std::vector<uint32_t> user_begins_;  // by instruction: its rows in `users_`
  std::vector<InstrId> users_;
};

}  // namespace

std::vector<Work> FindWork(const Module& module, const Target& target) {
  return Worker(module, target).Find();
}

std::vector<double> FindCosts(const Module& module, const Target& target,
                              const std::function<double(const Work&)>& kernel_cost) {
  return Worker(module, target).FindCosts(kernel_cost);
}

}  // namespace stowplan::cost
