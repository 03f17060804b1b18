// SPDX-License-Identifier: Apache-2.0
// Random small fusions that write over an operand, against trying all pairs of elements.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "unit/check/checking.h"

namespace stowplan::check {
namespace {

using Dims = std::vector<int64_t>;
using Bytes64 = uint64_t;  // a bit for each element of x: no more than 64

int64_t Count(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Counts through an array, the last dimension fastest.
bool Next(Dims& index, const Dims& dims) {
  for (size_t d = dims.size(); d-- > 0;) {
    if (++index[d] < dims[d]) return true;
    index[d] = 0;
  }
  return false;
}
int64_t NumberOf(const Dims& index, const Dims& dims) {
  int64_t number = 0;
  for (size_t d = 0; d < dims.size(); ++d) number = number * dims[d] + index[d];
  return number;
}

std::string Join(const Dims& numbers, const char* between = ",") {
  std::string text;
  for (const int64_t number : numbers)
    text += (text.empty() ? "" : between) + std::to_string(number);
  return text;
}

// Where an element lies: `order` has the dimensions from the outermost inwards.
int64_t PlaceOf(const Dims& index, const Dims& dims, const Dims& order) {
  int64_t place = 0;
  for (const int64_t d : order)
    place = place * dims[static_cast<size_t>(d)] + index[static_cast<size_t>(d)];
  return place;
}

struct Value {
  std::string text;  // behind the name and shape
  Dims dims;
  Dims order;
  // What each element is made of, by the offsets i and j: a bit for each element of x by its place.
  std::vector<std::vector<Bytes64>> reads;
  // Which elements may differ from what lies in x in their place.
  std::vector<std::vector<uint8_t>> changes;
  bool is_update = false;
  [[nodiscard]] std::string shape() const {
    Dims minor(order.rbegin(), order.rend());
    return "f32[" + Join(dims) + "]{" + Join(minor) + "}";
  }
};

constexpr int64_t kOffsets = 5;  // values of i and of j: slices may begin anywhere
constexpr size_t kRuns = kOffsets * kOffsets;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  int64_t Draw(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

  // Parameters 0 (x) and 1 (y) have the same shape.
  void Begin() {
    static const Dims kShapes[] = {{5}, {4, 4}, {2, 5}, {5, 4}, {2, 3, 4}, {4, 1, 5}, {16}};
    Value x;
    x.dims = kShapes[Draw(0, std::ssize(kShapes) - 1)];
    x.order = Order(x.dims.size());
    Value y = x;
    x.text = "parameter(0)";
    y.text = "parameter(1)";
    Fill(x, [&](size_t, const Dims& at) { return Bytes64{1} << PlaceOf(at, x.dims, x.order); });
    Fill(y, [&](size_t, const Dims&) { return Bytes64{0}; });
    x.changes.assign(kRuns, std::vector<uint8_t>(static_cast<size_t>(Count(x.dims)), 0));
    values = {x, y};
  }

  // One more instruction.
  void Grow() {
    const size_t before = values.size();
    while (values.size() == before) {
      const auto a = static_cast<size_t>(Draw(0, 3) == 0 ? Draw(0, std::ssize(values) - 1)
                                                         : std::ssize(values) - 1);
      switch (Draw(0, 11)) {
        case 0:
          ByElement(a);
          break;
        case 1:
          Transpose(a);
          break;
        case 2:
          Reshape(a, false);
          break;
        case 3:
          Reshape(a, true);
          break;
        case 4:
          Broadcast(a);
          break;
        case 5:
          Slice(a);
          break;
        case 6:
          Pad(a);
          break;
        case 7:
          Reverse(a);
          break;
        case 8:
          DynamicSlice(a);
          break;
        case 9:
        case 10:
          Update(a);
          break;
        default:
          Draw(0, 1) == 0 ? Reduce(a) : Concatenate(a);
          break;
      }
    }
  }

  std::vector<Value> values;

 private:
  Dims Order(size_t rank) {
    Dims order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (Draw(0, 2) == 0) std::shuffle(order.begin(), order.end(), random_);
    return order;
  }
  static std::string Name(size_t k) { return "v" + std::to_string(k); }

  template <class Function>
  void Fill(Value& value, Function&& reads) {
    const auto count = static_cast<size_t>(Count(value.dims));
    value.reads.assign(kRuns, {});
    value.changes.assign(kRuns, std::vector<uint8_t>(count, 1));
    for (size_t run = 0; run < kRuns; ++run) {
      Dims at(value.dims.size(), 0);
      do value.reads[run].push_back(reads(run, at));
      while (Next(at, value.dims));
    }
  }
  [[nodiscard]] Bytes64 At(size_t k, size_t run, const Dims& at) const {
    return values[k].reads[run][static_cast<size_t>(NumberOf(at, values[k].dims))];
  }
  void Add(Value value) {
    if (Count(value.dims) <= 64) values.push_back(std::move(value));
  }

  void ByElement(size_t a) {
    Value value;
    value.dims = values[a].dims;
    value.order = Order(value.dims.size());
    const auto b = static_cast<size_t>(Draw(0, std::ssize(values) - 1));
    if (values[b].dims == value.dims && Draw(0, 1) == 0) {
      value.text = "add(" + Name(a) + ", " + Name(b) + ")";
      Fill(value, [&](size_t run, const Dims& at) { return At(a, run, at) | At(b, run, at); });
    } else {
      value.text = (Draw(0, 1) == 0 ? "negate(" : "copy(") + Name(a) + ")";
      Fill(value, [&](size_t run, const Dims& at) { return At(a, run, at); });
    }
    Add(std::move(value));
  }
  void Transpose(size_t a) {
    const size_t rank = values[a].dims.size();
    Dims from(rank);
    std::iota(from.begin(), from.end(), 0);
    std::shuffle(from.begin(), from.end(), random_);
    Value value;
    for (const int64_t d : from) value.dims.push_back(values[a].dims[static_cast<size_t>(d)]);
    value.order = Order(rank);
    value.text = "transpose(" + Name(a) + "), dimensions={" + Join(from) + "}";
    Fill(value, [&](size_t run, const Dims& at) {
      Dims source(rank);
      for (size_t d = 0; d < rank; ++d) source[static_cast<size_t>(from[d])] = at[d];
      return At(a, run, source);
    });
    Add(std::move(value));
  }
  Dims Split(int64_t count) {
    Dims dims;
    for (int64_t rest = count; rest > 1;) {
      int64_t factor = Draw(2, rest);
      while (rest % factor != 0) --factor;
      if (factor < 2) factor = rest;
      dims.push_back(factor);
      rest /= factor;
    }
    if (dims.empty() || Draw(0, 3) == 0) dims.insert(dims.begin() + Draw(0, std::ssize(dims)), 1);
    return dims;
  }
  // A bitcast keeps places, a reshape keeps numbers.
  void Reshape(size_t a, bool is_bitcast) {
    Value value;
    const Value& from = values[a];
    value.dims = Split(Count(from.dims));
    value.order = Order(value.dims.size());
    value.text = (is_bitcast ? "bitcast(" : "reshape(") + Name(a) + ")";
    std::map<int64_t, int64_t> by_place;  // numbers in `from`
    Dims index(from.dims.size(), 0);
    do by_place[PlaceOf(index, from.dims, from.order)] = NumberOf(index, from.dims);
    while (Next(index, from.dims));
    const auto source = [&](const Dims& at) {
      return static_cast<size_t>(is_bitcast ? by_place[PlaceOf(at, value.dims, value.order)]
                                            : NumberOf(at, value.dims));
    };
    Fill(value, [&](size_t run, const Dims& at) { return from.reads[run][source(at)]; });
    value.is_update = is_bitcast && from.is_update;
    if (is_bitcast) {
      for (size_t run = 0; run < kRuns; ++run) {
        Dims at(value.dims.size(), 0);
        do
          value.changes[run][static_cast<size_t>(NumberOf(at, value.dims))] =
              from.changes[run][source(at)];
        while (Next(at, value.dims));
      }
    }
    Add(std::move(value));
  }
  void Broadcast(size_t a) {
    Value value;
    value.dims = values[a].dims;
    const auto where = static_cast<size_t>(Draw(0, std::ssize(value.dims)));
    value.dims.insert(value.dims.begin() + static_cast<std::ptrdiff_t>(where), Draw(1, 3));
    value.order = Order(value.dims.size());
    Dims to;
    for (size_t d = 0; d < value.dims.size(); ++d) {
      if (d != where) to.push_back(static_cast<int64_t>(d));
    }
    value.text = "broadcast(" + Name(a) + "), dimensions={" + Join(to) + "}";
    Fill(value, [&](size_t run, Dims at) {
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(where));
      return At(a, run, at);
    });
    Add(std::move(value));
  }
  void Slice(size_t a) {
    Value value;
    Dims starts;
    Dims strides;
    std::string slices;
    for (const int64_t dim : values[a].dims) {
      const int64_t start = Draw(0, 1) == 0 ? 0 : Draw(0, dim - 1);
      const int64_t limit = Draw(0, 1) == 0 ? dim : Draw(start + 1, dim);
      const int64_t stride = Draw(0, 2) == 0 ? 2 : 1;
      value.dims.push_back((limit - start + stride - 1) / stride);
      starts.push_back(start);
      strides.push_back(stride);
      slices += (slices.empty() ? "[" : ", [") + std::to_string(start) + ":" +
                std::to_string(limit) + ":" + std::to_string(stride) + "]";
    }
    value.order = Order(value.dims.size());
    value.text = "slice(" + Name(a) + "), slice={" + slices + "}";
    Fill(value, [&](size_t run, Dims at) {
      for (size_t d = 0; d < at.size(); ++d) at[d] = starts[d] + strides[d] * at[d];
      return At(a, run, at);
    });
    Add(std::move(value));
  }
  void Pad(size_t a) {
    Value value;
    Dims lows;
    Dims steps;
    std::string padding;
    for (const int64_t dim : values[a].dims) {
      const int64_t low = Draw(-1, 2);
      const int64_t high = Draw(-1, 2);
      const int64_t interior = Draw(0, 3) == 0 ? 1 : 0;
      const int64_t size = dim + (dim - 1) * interior + low + high;
      if (size < 1) return;
      value.dims.push_back(size);
      lows.push_back(low);
      steps.push_back(interior + 1);
      padding += (padding.empty() ? "" : "x") + std::to_string(low) + "_" + std::to_string(high) +
                 "_" + std::to_string(interior);
    }
    value.order = Order(value.dims.size());
    value.text = "pad(" + Name(a) + ", zero), padding=" + padding;
    const Dims dims = values[a].dims;
    Fill(value, [&](size_t run, Dims at) -> Bytes64 {
      for (size_t d = 0; d < at.size(); ++d) {
        at[d] -= lows[d];
        if (at[d] < 0 || at[d] % steps[d] != 0 || at[d] / steps[d] >= dims[d]) return 0;
        at[d] /= steps[d];
      }
      return At(a, run, at);
    });
    Add(std::move(value));
  }
  void Reverse(size_t a) {
    Value value;
    value.dims = values[a].dims;
    value.order = Order(value.dims.size());
    const auto d = static_cast<size_t>(Draw(0, std::ssize(value.dims) - 1));
    value.text = "reverse(" + Name(a) + "), dimensions={" + std::to_string(d) + "}";
    Fill(value, [&](size_t run, Dims at) {
      at[d] = value.dims[d] - 1 - at[d];
      return At(a, run, at);
    });
    Add(std::move(value));
  }

  // An offset: a constant, i, j, or what is computed from one of them.
  struct Offset {
    std::string name;
    std::array<int64_t, kRuns> values;
  };
  Offset NewOffset() {
    Offset offset;
    const int64_t kind = Draw(0, 3);
    static const char* kNames[] = {"ni", "ni2", "j", "three"};
    offset.name = kNames[kind];
    for (size_t run = 0; run < kRuns; ++run) {
      const int64_t i = static_cast<int64_t>(run) % kOffsets;
      const int64_t j = static_cast<int64_t>(run) / kOffsets;
      offset.values[run] = kind == 2 ? j : kind == 3 ? 3 : 4 - i;
    }
    return offset;
  }
  static int64_t Clamped(int64_t start, int64_t bound) {
    return std::clamp<int64_t>(start, 0, bound);
  }
  std::vector<Offset> Offsets(size_t rank) {
    std::vector<Offset> offsets;
    for (size_t d = 0; d < rank; ++d) offsets.push_back(NewOffset());
    // Often those of another one, so that slices meet.
    if (!offsets_[rank].empty() && Draw(0, 2) != 0)
      return offsets_[rank][static_cast<size_t>(Draw(0, std::ssize(offsets_[rank]) - 1))];
    offsets_[rank].push_back(offsets);
    return offsets;
  }
  static std::string Names(const std::vector<Offset>& offsets) {
    std::string text;
    for (const Offset& offset : offsets) text += ", " + offset.name;
    return text;
  }

  void DynamicSlice(size_t a) {
    Value value;
    const Dims dims = values[a].dims;
    if (std::ranges::max(dims) > kOffsets) return;
    for (const int64_t dim : dims) value.dims.push_back(Draw(0, 1) == 0 ? dim : Draw(1, dim));
    value.order = Order(value.dims.size());
    const std::vector<Offset> offsets = Offsets(dims.size());
    value.text = "dynamic-slice(" + Name(a) + Names(offsets) + "), dynamic_slice_sizes={" +
                 Join(value.dims) + "}";
    Fill(value, [&](size_t run, Dims at) {
      for (size_t d = 0; d < at.size(); ++d)
        at[d] += Clamped(offsets[d].values[run], dims[d] - value.dims[d]);
      return At(a, run, at);
    });
    Add(std::move(value));
  }
  void Update(size_t u) {
    // Some array of the same rank that is not smaller.
    const Dims sizes = values[u].dims;
    const auto a = static_cast<size_t>(Draw(0, 1) == 0 ? 0 : Draw(0, std::ssize(values) - 1));
    Value value;
    value.dims = values[a].dims;
    value.order = values[a].order;
    if (value.dims.size() != sizes.size() || std::ranges::max(value.dims) > kOffsets) return;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] > value.dims[d]) return;
    }
    const std::vector<Offset> offsets = Offsets(sizes.size());
    value.text = "dynamic-update-slice(" + Name(a) + ", " + Name(u) + Names(offsets) + ")";
    std::vector<std::vector<uint8_t>> changes = values[a].changes;
    const Dims dims = value.dims;
    Fill(value, [&](size_t run, Dims at) {
      const auto number = static_cast<size_t>(NumberOf(at, dims));
      Dims inside = at;
      bool is_inside = true;
      for (size_t d = 0; d < at.size(); ++d) {
        inside[d] -= Clamped(offsets[d].values[run], dims[d] - sizes[d]);
        is_inside = is_inside && inside[d] >= 0 && inside[d] < sizes[d];
      }
      if (is_inside) changes[run][number] = 1;
      return is_inside ? At(u, run, inside) : At(a, run, at);
    });
    value.changes = std::move(changes);
    value.is_update = true;
    Add(std::move(value));
  }
  void Reduce(size_t a) {
    Value value;
    value.dims = values[a].dims;
    if (value.dims.size() < 2) return;
    const auto d = static_cast<size_t>(Draw(0, std::ssize(value.dims) - 1));
    const int64_t size = value.dims[d];
    value.dims.erase(value.dims.begin() + static_cast<std::ptrdiff_t>(d));
    value.order = Order(value.dims.size());
    value.text =
        "reduce(" + Name(a) + ", zero), dimensions={" + std::to_string(d) + "}, to_apply=sum";
    Fill(value, [&](size_t run, Dims at) {
      at.insert(at.begin() + static_cast<std::ptrdiff_t>(d), 0);
      Bytes64 all = 0;
      for (; at[d] < size; ++at[d]) all |= At(a, run, at);
      return all;
    });
    Add(std::move(value));
  }
  void Concatenate(size_t a) {
    const auto b = static_cast<size_t>(Draw(0, std::ssize(values) - 1));
    Value value;
    value.dims = values[a].dims;
    if (values[b].dims.size() != value.dims.size()) return;
    const auto d = static_cast<size_t>(Draw(0, std::ssize(value.dims) - 1));
    for (size_t e = 0; e < value.dims.size(); ++e) {
      if (e != d && values[b].dims[e] != value.dims[e]) return;
    }
    const int64_t first = value.dims[d];
    value.dims[d] += values[b].dims[d];
    value.order = Order(value.dims.size());
    value.text =
        "concatenate(" + Name(a) + ", " + Name(b) + "), dimensions={" + std::to_string(d) + "}";
    Fill(value, [&](size_t run, Dims at) {
      if (at[d] < first) return At(a, run, at);
      at[d] -= first;
      return At(b, run, at);
    });
    Add(std::move(value));
  }

  std::mt19937 random_;
  std::map<size_t, std::vector<std::vector<Offset>>> offsets_;  // by rank
};

std::string ProgramOf(const std::vector<Value>& values, size_t root, int64_t other) {
  const bool is_pair = other >= 0;
  const std::string shape = values[root].shape();
  const std::string all =
      is_pair ? "(" + shape + ", " + values[static_cast<size_t>(other)].shape() + ")" : shape;
  std::string text = "HloModule m, is_scheduled=true, input_output_alias={ {" +
                     std::string(is_pair ? "0" : "") + R"(}: (0, {}, must-alias) }
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
fused {
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  zero = f32[] constant(0)
  three = s32[] constant(3)
  four = s32[] constant(4)
  four2 = s32[] constant(4)
  ni = s32[] subtract(four, i)
  ni2 = s32[] subtract(four2, i)
)";
  for (size_t k = 0; k < values.size(); ++k) {
    text += "  " + std::string(!is_pair && k == root ? "ROOT " : "") + "v" + std::to_string(k) +
            " = " + values[k].shape() + " " + values[k].text + "\n";
    if (!is_pair && k == root) break;
  }
  if (is_pair)
    text += "  ROOT both = " + all + " tuple(v" + std::to_string(root) + ", v" +
            std::to_string(other) + ")\n";
  return text + "}\nENTRY main {\n  p = " + values[0].shape() +
         " parameter(0)\n  q = " + values[1].shape() + R"( parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT f = )" +
         all + " fusion(p, q, i, j), kind=kLoop, calls=fused\n}\n";
}

// Whether an element that is written over x is read for another element.
bool Clashes(const Value& written, const Value& read) {
  for (size_t run = 0; run < kRuns; ++run) {
    Dims at(written.dims.size(), 0);
    do {
      const int64_t number = NumberOf(at, written.dims);
      const Bytes64 place = Bytes64{1} << PlaceOf(at, written.dims, written.order);
      if (written.changes[run][static_cast<size_t>(number)] == 0) continue;
      for (int64_t other = 0; other < Count(read.dims); ++other) {
        if (other != number && (read.reads[run][static_cast<size_t>(other)] & place) != 0)
          return true;
      }
    } while (Next(at, written.dims));
  }
  return false;
}

TEST(FusionProperty, AgreesWithAllPairsOfElements) {
  int safe = 0;
  int clashes = 0;
  int unknown = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Generator generator(seed);
    generator.Begin();
    for (int64_t k = generator.Draw(1, 7); k > 0; --k) generator.Grow();
    const std::vector<Value>& values = generator.values;
    // The last one that fits over x, and perhaps one of the same dimensions.
    size_t root = 0;
    for (int tries = 0; root < 2 && tries < 6; ++tries, generator.Grow()) {
      root = values.size() - 1;
      while (root > 1 && Count(values[root].dims) != Count(values[0].dims)) --root;
    }
    // Those that have nothing to do with x say little.
    const auto reads_any = [](const std::vector<Bytes64>& run) {
      return std::ranges::any_of(run, [](Bytes64 read) { return read != 0; });
    };
    if (root < 2 || !std::ranges::any_of(values[root].reads, reads_any)) continue;
    int64_t other = -1;
    for (size_t k = 2; k < values.size() && generator.Draw(0, 1) == 0; ++k) {
      // Two updates in place may be one loop over their slices: another question.
      if (values[k].is_update && values[root].is_update) continue;
      if (k != root && values[k].dims == values[root].dims) other = static_cast<int64_t>(k);
    }
    const std::string program = ProgramOf(values, root, other);
    const std::string size = std::to_string(4 * Count(values[0].dims));
    const Verdict verdict =
        CheckText(program, "p0 " + size + (other >= 0 ? ": p@0 f{0}@0\np1 " : ": p@0 f@0\np1 ") +
                               size + ": q@0\np2 4: i@0\np3 4: j@0" +
                               (other >= 0 ? "\nout 16: f@0\nout " + size + ": f{1}@0" : ""));
    const bool is_harmful =
        Clashes(values[root], values[root]) ||
        (other >= 0 && Clashes(values[root], values[static_cast<size_t>(other)]));
    const std::string summary = Summary(verdict);
    if (!verdict.is_unsound() && !verdict.doubt.empty()) {
      // A sum may be added up in the place of what it is made of, and nobody says so.
      EXPECT_NE(program.find(" reduce("), std::string::npos) << program;
      EXPECT_FALSE(is_harmful) << program;
      ++unknown;
      continue;
    }
    ASSERT_TRUE(summary.empty() || summary.starts_with("in-place p ")) << summary << program;
    ASSERT_EQ(!summary.empty(), is_harmful) << "seed " << seed << "\n" << program;
    ++(is_harmful ? clashes : safe);
  }
  EXPECT_GT(safe, 300);
  EXPECT_GT(clashes, 150);
  EXPECT_LT(unknown, 20);
  RecordProperty("unknown", unknown);
  RecordProperty("safe", safe);
  RecordProperty("clashes", clashes);
}

}  // namespace
}  // namespace stowplan::check
