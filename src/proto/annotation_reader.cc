// SPDX-License-Identifier: Apache-2.0
#include "proto/annotation_reader.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "hlo/number.h"
#include "proto/float_text.h"

namespace stowplan::proto {
namespace {

// An array of the original program, and where it stands in the value.
struct Leaf {
  std::vector<int64_t> index;
  std::string text;  // "name" {1}; empty when there is none
};

// No honest value nests deeper, or lacks more of its leaves.
constexpr size_t kMaxIndex = 64;
constexpr size_t kMaxGaps = 1000;

bool HasNegative(std::span<const int64_t> numbers) {
  return std::ranges::any_of(numbers, [](int64_t n) { return n < 0; });
}

// False when the leaf makes the value no value.
bool ReadLeaf(Context& context, std::string_view bytes, Leaf& leaf) {
  bool is_good = true;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(OriginalElementField::kShapeIndex):
      case BytesKey(OriginalElementField::kShapeIndex):
        message.AppendInts(leaf.index);
        break;
      case BytesKey(OriginalElementField::kOriginalArray):
        leaf.text.clear();
        is_good = AppendOriginalArray(context, message.Bytes(), leaf.text);
        break;
      default:
        context.Skip(MessageKind::kOriginalElement, message);
    }
  }
  return is_good && !HasNegative(leaf.index) && leaf.index.size() <= kMaxIndex;
}

// The tree that has these leaves, sorted by index, below a node at `depth`. Nodes in between that
// have a value of their own and nodes below lose the value. `gaps` counts leaves that the tree has
// and `leaves` do not, down from kMaxGaps; the tree is not finished when it gets to 0.
void AppendTree(std::span<const Leaf> leaves, size_t depth, size_t& gaps, std::string& out) {
  while (leaves.size() > 1 && leaves.front().index.size() == depth) leaves = leaves.subspan(1);
  if (leaves.empty() || leaves.front().index.size() == depth) {
    if (leaves.empty()) --gaps;
    out += '{';
    if (!leaves.empty()) out += leaves.front().text;
    out += '}';
    return;
  }
  out += '(';
  for (int64_t child = 0; !leaves.empty() && gaps != 0; ++child) {
    if (child != 0) out += ", ";
    const auto end =
        std::ranges::find_if(leaves, [&](const Leaf& leaf) { return leaf.index[depth] != child; });
    const auto count = static_cast<size_t>(end - leaves.begin());
    AppendTree(leaves.first(count), depth + 1, gaps, out);
    leaves = leaves.subspan(count);
  }
  out += ')';
}

std::string ReadSide(Context& context, std::string_view bytes) {
  int64_t non_zero = 0, block = 0, dimension = 0, stride = 0, idx = 0;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(TensorSparsityField::kNumNonZero):
        non_zero = message.Int64();
        break;
      case VarintKey(TensorSparsityField::kBlockSize):
        block = message.Int64();
        break;
      case VarintKey(TensorSparsityField::kDimension):
        dimension = message.Int64();
        break;
      case VarintKey(TensorSparsityField::kStride):
        stride = message.Int64();
        break;
      case VarintKey(TensorSparsityField::kIdx):
        idx = message.Int32();
        break;
      default:
        context.Skip(MessageKind::kTensorSparsity, message);
    }
  }
  std::string text = "{sparsity=" + std::to_string(non_zero) + "x" + std::to_string(block);
  text += " dimension=" + std::to_string(dimension) + " stride=" + std::to_string(stride);
  // Since 2026-07; never set before.
  if (idx != 0) text += " idx=" + std::to_string(idx);
  return text + "}";
}

}  // namespace

bool AppendOriginalArray(Context& context, std::string_view bytes, std::string& out) {
  std::string_view name;
  std::vector<int64_t> index;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(OriginalArrayField::kInstructionName):
        name = message.Bytes();
        break;
      case VarintKey(OriginalArrayField::kShapeIndex):
      case BytesKey(OriginalArrayField::kShapeIndex):
        message.AppendInts(index);
        break;
      default:
        context.Skip(MessageKind::kOriginalArray, message);
    }
  }
  out.append("\"").append(name).append("\"");
  if (!index.empty()) {
    out += " {";
    hlo::AppendNumbers(index, ",", out);
    out += '}';
  }
  return !HasNegative(index);
}

void AppendOriginalValue(Context& context, std::string_view bytes, std::string& out) {
  std::vector<Leaf> leaves;
  bool is_synthetic = false;
  bool is_good = true;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(OriginalValueField::kElements):
        leaves.emplace_back();
        is_good = ReadLeaf(context, message.Bytes(), leaves.back()) && is_good;
        break;
      case VarintKey(OriginalValueField::kIsSyntheticCall):
        is_synthetic = message.Bool();
        break;
      default:
        context.Skip(MessageKind::kOriginalValue, message);
    }
  }
  if (is_synthetic) {
    out += "{[synthetic_call]}";
    return;
  }
  if (!is_good) return;
  std::ranges::stable_sort(leaves, {}, &Leaf::index);
  size_t gaps = kMaxGaps;
  out += '{';
  AppendTree(leaves, 0, gaps, out);
  out += '}';
  if (gaps == 0) context.Error(bytes, "the original value lacks most of its elements");
}

void AppendStatistics(Context& context, std::string_view bytes, std::string& out) {
  int64_t index = 0;
  std::string statistics;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(StatisticsField::kIndex):
        index = message.Int64();
        break;
      case BytesKey(StatisticsField::kStatistics): {
        std::string_view name;
        double value = 0;
        Message statistic(message.Bytes());
        while (statistic.Next()) {
          switch (statistic.key()) {
            case BytesKey(StatisticField::kName):
              name = statistic.Bytes();
              break;
            case Fixed64Key(StatisticField::kValue):
              value = std::bit_cast<double>(statistic.Fixed64());
              break;
            default:
              context.Skip(MessageKind::kStatistic, statistic);
          }
        }
        statistics.append(",").append(name).append("=");
        AppendShort(value, statistics);
        break;
      }
      default:
        context.Skip(MessageKind::kStatistics, message);
    }
  }
  if (statistics.empty()) return;
  out.append("{visualizing_index=").append(std::to_string(index)).append(statistics).append("}");
}

void AppendResultAccuracy(Context& context, std::string_view bytes, std::string& out) {
  // A oneof: the later of the two counts.
  int64_t mode = 0;
  std::optional<std::string_view> tolerance;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case VarintKey(ResultAccuracyField::kMode):
        mode = message.Int32();
        tolerance.reset();
        break;
      case BytesKey(ResultAccuracyField::kTolerance):
        tolerance = message.Bytes();
        mode = 0;
        break;
      default:
        context.Skip(MessageKind::kResultAccuracy, message);
    }
  }
  if (mode == 1) out += "{mode=highest}";
  if (mode != 0 && mode != 1) context.Error(bytes, "unknown accuracy mode " + std::to_string(mode));
  if (!tolerance) return;
  double atol = 0;
  double rtol = 0;
  int64_t ulps = 0;
  Message parts(*tolerance);
  while (parts.Next()) {
    switch (parts.key()) {
      case Fixed64Key(ToleranceField::kAtol):
        atol = std::bit_cast<double>(parts.Fixed64());
        break;
      case Fixed64Key(ToleranceField::kRtol):
        rtol = std::bit_cast<double>(parts.Fixed64());
        break;
      case VarintKey(ToleranceField::kUlps):
        ulps = parts.Int64();
        break;
      default:
        context.Skip(MessageKind::kTolerance, parts);
    }
  }
  out += "{tolerance={atol=";
  AppendShort(atol, out);
  out += ",rtol=";
  AppendShort(rtol, out);
  out += ",ulps=" + std::to_string(ulps) + "}}";
}

void AppendSparsity(Context& context, std::string_view bytes, std::string& out) {
  std::optional<std::string> lhs;
  std::optional<std::string> rhs;
  Message message(bytes);
  while (message.Next()) {
    switch (message.key()) {
      case BytesKey(SparsityConfigField::kLhs):
        lhs = ReadSide(context, message.Bytes());
        break;
      case BytesKey(SparsityConfigField::kRhs):
        rhs = ReadSide(context, message.Bytes());
        break;
      default:
        context.Skip(MessageKind::kSparsityConfig, message);
    }
  }
  if (!lhs && !rhs) return;
  out += '{';
  if (lhs) out += "lhs=" + *lhs;
  if (rhs) out += (lhs ? " rhs=" : "rhs=") + *rhs;
  out += '}';
}

}  // namespace stowplan::proto
