// SPDX-License-Identifier: Apache-2.0
#include "property/module_generator.h"

#include <algorithm>
#include <array>
#include <random>
#include <string_view>
#include <vector>

namespace stowplan {
namespace {

// A shape and its text with and without layouts.
struct Shape {
  std::string with_layout;
  std::string plain;
  std::string type;             // "f32", "" for tuples, "token"
  std::vector<int64_t> dims;    // of arrays
  std::vector<Shape> elements;  // of tuples
  bool is_tuple = false;
};

struct Value {
  std::string name;
  Shape shape;
};

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) out += separator;
    out += parts[i];
  }
  return out;
}

// `a, b, c, d, e, /*index=5*/f`
std::string JoinNumbered(const std::vector<std::string>& parts) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) out += ", ";
    if (i != 0 && i % 5 == 0) out += "/*index=" + std::to_string(i) + "*/";
    out += parts[i];
  }
  return out;
}

std::string Braced(const std::vector<int64_t>& numbers) {
  std::vector<std::string> parts;
  for (const int64_t n : numbers) parts.push_back(std::to_string(n));
  return "{" + Join(parts, ",") + "}";
}

Shape MakeTuple(std::vector<Shape> elements) {
  std::vector<std::string> with_layout;
  std::vector<std::string> plain;
  for (const Shape& element : elements) {
    with_layout.push_back(element.with_layout);
    plain.push_back(element.plain);
  }
  Shape shape;
  shape.with_layout = "(" + JoinNumbered(with_layout) + ")";
  shape.plain = "(" + JoinNumbered(plain) + ")";
  shape.elements = std::move(elements);
  shape.is_tuple = true;
  return shape;
}

Shape MakeArray(const std::string& type, const std::vector<int64_t>& dims,
                const std::string& layout_parts = {}) {
  Shape shape;
  shape.type = type;
  shape.dims = dims;
  std::vector<std::string> sizes;
  std::vector<std::string> order;
  for (size_t i = 0; i < dims.size(); ++i) {
    sizes.push_back(std::to_string(dims[i]));
    order.push_back(std::to_string(dims.size() - 1 - i));
  }
  shape.plain = type + "[" + Join(sizes, ",") + "]";
  shape.with_layout = shape.plain;
  const std::string layout = Join(order, ",") + (layout_parts.empty() ? "" : ":" + layout_parts);
  if (!layout.empty()) shape.with_layout += "{" + layout + "}";
  return shape;
}

Shape Token() {
  Shape shape;
  shape.type = "token";
  shape.plain = shape.with_layout = "token[]";
  return shape;
}

class Generator {
 public:
  Generator(uint32_t seed, const GeneratorOptions& options) : random_(seed), options_(options) {}

  std::string Module() {
    std::vector<Shape> parameters(1 + Below(7));
    for (Shape& shape : parameters) shape = RandomShape(2);
    const Value entry = Computation(parameters, nullptr, options_.depth, "ENTRY ");
    std::string head = "HloModule random." + std::to_string(Below(1000));
    if (Chance(2)) head += ", is_scheduled=true";
    if (Chance(3)) head += ", buffer_donor={ (0, {}) }";
    if (Chance(2)) {
      std::vector<std::string> shapes;
      for (const Shape& shape : parameters) shapes.push_back(shape.with_layout);
      head += ", entry_computation_layout={(" + JoinNumbered(shapes) + ")->" +
              entry.shape.with_layout + "}";
    }
    if (Chance(4)) head += ", replica_count=2, num_partitions=4";
    return head + "\n\n" + text_;
  }

 private:
  // The instructions of a computation while it is made.
  struct Scope {
    std::vector<Value> values;
    std::string text;
    int depth = 0;
  };

  size_t Below(size_t n) { return random_() % n; }
  bool Chance(size_t n) { return Below(n) == 0; }
  template <class T, size_t N>
  const T& Pick(const std::array<T, N>& from) {
    return from[Below(N)];
  }

  std::string NewName(std::string_view stem) {
    return "%" + std::string(stem) + "." + std::to_string(++names_);
  }

  Shape RandomArray() {
    constexpr std::array<const char*, 7> kTypes = {"f32", "s32", "bf16", "pred", "u8", "s4", "c64"};
    constexpr std::array<const char*, 6> kParts = {
        "", "", "S(1)", "T(8,128)", "T(8,128)(2,1)S(5)", "E(4)"};
    std::vector<int64_t> dims(Below(4));
    for (int64_t& d : dims) d = static_cast<int64_t>(Below(9));
    return MakeArray(Pick(kTypes), dims, dims.empty() ? "" : Pick(kParts));
  }

  Shape RandomShape(int depth) {
    if (depth == 0 || !Chance(4)) return Chance(12) ? Token() : RandomArray();
    std::vector<Shape> elements(Below(8));
    for (Shape& element : elements) element = RandomShape(depth - 1);
    return MakeTuple(std::move(elements));
  }

  std::string RandomTail(const Scope& scope) {
    std::string out;
    if (Chance(10)) {
      constexpr std::array<const char*, 4> kShardings = {
          "{replicated}", "{maximal device=0}", "{devices=[2,1]<=[2]}",
          "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}"};
      out += std::string(", sharding=") + Pick(kShardings);
    }
    if (Chance(12)) out += ", frontend_attributes={a=\"b\\n\",c={\"d\": [1, 2]}}";
    if (Chance(12) && !scope.values.empty()) {
      const std::string& name = scope.values[Below(scope.values.size())].name;
      // XLA's compact form does not show these, so nothing may wait for one.
      if (name.find("get-tuple-element") == std::string::npos) {
        out += ", control-predecessors={" + name + "}";
      }
    }
    if (Chance(3)) {
      out += ", metadata={op_name=\"jit(f)/" + std::to_string(Below(99)) + "\\303\\251\"";
      if (Chance(2)) out += " source_file=\"a.py\" source_line=" + std::to_string(1 + Below(99));
      out += "}";
    }
    if (Chance(8)) out += ", backend_config={\"a\":{\"}\":\"\\\"\"}}";
    return out;
  }

  Value Add(Scope& scope, std::string_view stem, const Shape& shape, const std::string& rest,
            const std::string& attributes = {}) {
    const Value value = {NewName(stem), shape};
    scope.text += "  " + value.name + " = " + shape.with_layout + " " + rest + attributes +
                  RandomTail(scope) + "\n";
    scope.values.push_back(value);
    return value;
  }

  Value AddCall(Scope& scope, const std::string& opcode, const Shape& shape,
                const std::vector<Value>& operands, const std::string& attributes = {}) {
    std::vector<std::string> names;
    for (const Value& operand : operands) names.push_back(operand.name);
    return Add(scope, opcode, shape, opcode + "(" + JoinNumbered(names) + ")", attributes);
  }

  // A value of this very shape: one that is there, or a new one.
  Value OfShape(Scope& scope, const Shape& shape) {
    std::vector<Value> fitting;
    for (const Value& value : scope.values) {
      if (value.shape.with_layout == shape.with_layout) fitting.push_back(value);
    }
    if (!fitting.empty() && !Chance(5)) return fitting[Below(fitting.size())];
    if (shape.is_tuple) {
      std::vector<Value> elements;
      for (const Shape& element : shape.elements) elements.push_back(OfShape(scope, element));
      return AddCall(scope, "tuple", shape, elements);
    }
    if (shape.type == "token") return AddCall(scope, "after-all", shape, {});
    if (shape.dims.empty() && shape.type == "s32") {
      return Add(scope, "constant", shape, "constant(" + std::to_string(Below(100)) + ")");
    }
    if (shape.dims.empty() && shape.type == "pred") {
      return Add(scope, "constant", shape, Chance(2) ? "constant(true)" : "constant(false)");
    }
    int64_t count = 1;
    for (const int64_t d : shape.dims) count *= d;
    // XLA leaves out the elements of larger constants.
    if (count > 10 && Chance(2)) return Add(scope, "constant", shape, "constant({...})");
    return AddCall(scope, "custom-call", shape, {}, ", custom_call_target=\"make\"");
  }

  const Value* RandomArrayValue(const Scope& scope) {
    std::vector<const Value*> arrays;
    for (const Value& value : scope.values) {
      if (!value.shape.is_tuple && value.shape.type != "token") arrays.push_back(&value);
    }
    return arrays.empty() ? nullptr : arrays[Below(arrays.size())];
  }

  void AddSimple(Scope& scope) {
    const Value* picked = RandomArrayValue(scope);
    if (picked == nullptr) {
      OfShape(scope, RandomArray());
      return;
    }
    const Value a = *picked;
    switch (Below(7)) {
      case 0: {
        constexpr std::array<const char*, 5> kUnary = {"negate", "copy", "abs", "tanh", "not"};
        AddCall(scope, Pick(kUnary), a.shape, {a});
        break;
      }
      case 1:
        AddCall(scope, "add", a.shape, {a, OfShape(scope, a.shape)});
        break;
      case 2: {
        const Value b = OfShape(scope, a.shape);
        AddCall(scope, "compare", MakeArray("pred", a.shape.dims), {a, b}, ", direction=NE");
        break;
      }
      case 3: {
        std::vector<int64_t> order(a.shape.dims.size());
        std::vector<int64_t> dims(order.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
        std::ranges::shuffle(order, random_);
        for (size_t i = 0; i < order.size(); ++i) {
          dims[i] = a.shape.dims[static_cast<size_t>(order[i])];
        }
        AddCall(scope, "transpose", MakeArray(a.shape.type, dims), {a},
                ", dimensions=" + Braced(order));
        break;
      }
      case 4: {
        std::vector<Value> operands(Below(9), a);
        AddCall(scope, "custom-call", RandomShape(2), operands,
                ", custom_call_target=\"t\", custom_call_has_side_effect=true");
        break;
      }
      case 5:
        AddAsync(scope, a);
        break;
      default:
        AddElement(scope);
        break;
    }
  }

  void AddElement(Scope& scope) {
    for (size_t i = scope.values.size(); i-- > 0;) {
      const Value tuple = scope.values[i];
      if (!tuple.shape.is_tuple || tuple.shape.elements.empty()) continue;
      const size_t index = Below(tuple.shape.elements.size());
      AddCall(scope, "get-tuple-element", tuple.shape.elements[index], {tuple},
              ", index=" + std::to_string(index));
      return;
    }
  }

  void AddAsync(Scope& scope, const Value& a) {
    const Shape flat = MakeTuple({MakeTuple({a.shape}), a.shape, MakeArray("u32", {})});
    const Value start = AddCall(scope, "negate-start", flat, {a});
    AddCall(scope, "negate-done", a.shape, {start});
    // Chains are not values that others may use.
    std::erase_if(scope.values, [&](const Value& v) { return v.name == start.name; });
  }

  void AddNested(Scope& scope) {
    const int depth = scope.depth - 1;
    const Value a = scope.values[Below(scope.values.size())];
    switch (Below(5)) {
      case 0: {
        const Shape pred = MakeArray("pred", {});
        const std::string condition = Computation({a.shape}, &pred, depth).name;
        const std::string body = Computation({a.shape}, &a.shape, depth).name;
        AddCall(scope, "while", a.shape, {a}, ", condition=" + condition + ", body=" + body);
        break;
      }
      case 1: {
        const Shape result = RandomShape(2);
        const Value chosen = OfShape(scope, MakeArray("pred", {}));
        const std::string yes = Computation({a.shape}, &result, depth).name;
        const std::string no = Computation({a.shape}, &result, depth).name;
        AddCall(scope, "conditional", result, {chosen, a, a},
                ", true_computation=" + yes + ", false_computation=" + no);
        break;
      }
      case 2: {
        const Shape result = RandomShape(2);
        const Value chosen = OfShape(scope, MakeArray("s32", {}));
        std::vector<Value> operands = {chosen};
        std::vector<std::string> branches;
        for (size_t i = 0; i < 1 + Below(3); ++i) {
          operands.push_back(a);
          branches.push_back(Computation({a.shape}, &result, depth).name);
        }
        AddCall(scope, "conditional", result, operands,
                ", branch_computations={" + Join(branches, ", ") + "}");
        break;
      }
      case 3: {
        const Value called = Computation({a.shape}, nullptr, depth);
        AddCall(scope, "call", called.shape, {a}, ", to_apply=" + called.name);
        break;
      }
      default: {
        const Value called = Computation({a.shape, a.shape}, nullptr, 0);
        AddCall(scope, "fusion", called.shape, {a, a}, ", kind=kLoop, calls=" + called.name);
        break;
      }
    }
  }

  // Adds a computation with these parameters, and this result if one is asked for.
  Value Computation(const std::vector<Shape>& parameters, const Shape* result, int depth,
                    const std::string& mark = {}) {
    Scope scope;
    scope.depth = depth;
    std::vector<std::string> declared;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Value p = Add(scope, "p", parameters[i], "parameter(" + std::to_string(i) + ")");
      declared.push_back(p.name.substr(1) + ": " + parameters[i].plain);
    }
    const size_t count = 1 + Below(static_cast<size_t>(options_.instructions));
    for (size_t i = 0; i < count; ++i) {
      if (depth > 0 && Chance(4)) {
        AddNested(scope);
      } else {
        AddSimple(scope);
      }
    }
    const Shape wanted = result != nullptr ? *result : scope.values.back().shape;
    const Value root = OfShape(scope, wanted);
    const size_t at = scope.text.find("  " + root.name + " = ");
    scope.text.insert(at + 2, "ROOT ");
    const std::string name = NewName("computation");
    text_ += mark + name + " (" + Join(declared, ", ") + ") -> " + root.shape.plain + " {\n" +
             scope.text + "}\n\n";
    return {name, root.shape};
  }

  std::mt19937 random_;
  GeneratorOptions options_;
  int names_ = 0;
  std::string text_;  // of the computations
};

}  // namespace

std::string RandomModule(uint32_t seed, const GeneratorOptions& options) {
  return Generator(seed, options).Module();
}

}  // namespace stowplan
