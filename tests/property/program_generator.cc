// SPDX-License-Identifier: Apache-2.0
#include "property/program_generator.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <vector>

namespace stowplan {
namespace {

struct Shape {
  std::string text;  // with layouts
  std::string type;  // of arrays
  std::vector<int64_t> dims;
  bool is_tuple = false;
  std::vector<Shape> elements;
};

struct Value {
  std::string name;
  Shape shape;
};

std::string Join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

Shape MakeTuple(std::vector<Shape> elements) {
  Shape shape = {.is_tuple = true};
  std::vector<std::string> texts;
  for (const Shape& element : elements) texts.push_back(element.text);
  shape.text = "(" + Join(texts) + ")";
  shape.elements = std::move(elements);
  return shape;
}

class Generator {
 public:
  Generator(uint32_t seed, const ProgramOptions& options) : random_(seed), options_(options) {
    // Few shapes, so that values often fit each other.
    constexpr const char* kTypes[] = {"f32", "f32", "s32", "bf16", "u8"};
    for (int i = 0; i < 4; ++i) {
      std::vector<int64_t> dims(Below(3));
      for (int64_t& d : dims) d = static_cast<int64_t>(Chance(15) ? 0 : 1 + Below(40));
      arrays_.push_back(Array(kTypes[Below(5)], dims));
    }
  }

  std::string Module() {
    std::vector<Shape> parameters(1 + Below(4));
    for (Shape& shape : parameters) shape = RandomShape();
    const Value entry =
        Computation(parameters, nullptr, options_.depth, "ENTRY ", false, Copies::kTwice);
    std::string head = "HloModule random";
    if (options_.is_scheduled) head += ", is_scheduled=true";
    return head + Donations(parameters, entry.shape) + "\n\n" + text_;
  }

 private:
  struct Scope {
    std::vector<Value> values;
    std::string text;
    int depth = 0;
    bool is_fused = false;
  };
  struct Leaf {
    std::string index;  // "0,1"
    std::string shape;
  };

  size_t Below(size_t n) { return random_() % n; }
  bool Chance(size_t n) { return Below(n) == 0; }
  std::string NewName(std::string_view stem) {
    return std::string(stem) + "." + std::to_string(++names_);
  }

  Shape Array(const std::string& type, const std::vector<int64_t>& dims) const {
    Shape shape = {.type = type, .dims = dims};
    std::string sizes;
    std::string order;
    for (size_t i = 0; i < dims.size(); ++i) {
      sizes += (i == 0 ? "" : ",") + std::to_string(dims[i]);
      order += (i == 0 ? "" : ",") + std::to_string(dims.size() - 1 - i);
    }
    shape.text = type + "[" + sizes + "]";
    std::string layout = order;
    if (options_.has_tiles) layout += dims.size() == 2 ? ":T(8,128)" : ":T(128)";
    if (!layout.empty()) shape.text += "{" + layout + "}";
    return shape;
  }
  Shape Scalar(const std::string& type) const { return Array(type, {}); }

  Shape RandomShape(int depth = 2) {
    if (depth == 0 || !Chance(4)) return arrays_[Below(arrays_.size())];
    std::vector<Shape> elements(Chance(10) ? 0 : 1 + Below(4));
    for (Shape& element : elements) element = RandomShape(depth - 1);
    return MakeTuple(std::move(elements));
  }

  Value Add(Scope& scope, const std::string& opcode, const Shape& shape,
            const std::vector<Value>& operands, const std::string& attributes = {}) {
    std::vector<std::string> names;
    for (const Value& operand : operands) names.push_back(operand.name);
    std::string line = opcode + "(" + Join(names) + ")" + attributes;
    if (Chance(20) && !scope.values.empty())
      line += ", control-predecessors={" + scope.values[Below(scope.values.size())].name + "}";
    return AddLine(scope, opcode, shape, line);
  }
  Value AddLine(Scope& scope, std::string_view stem, const Shape& shape, const std::string& line) {
    const Value value = {NewName(stem), shape};
    scope.text += "  " + value.name + " = " + shape.text + " " + line + "\n";
    scope.values.push_back(value);
    return value;
  }

  // A value of this shape: one that is there, or a new one.
  Value OfShape(Scope& scope, const Shape& shape, bool is_new = false) {
    std::vector<Value> fitting;
    for (const Value& value : scope.values) {
      if (value.shape.text == shape.text) fitting.push_back(value);
    }
    if (!is_new && !fitting.empty() && !Chance(4)) return fitting[Below(fitting.size())];
    if (shape.is_tuple) {
      std::vector<Value> elements;
      for (const Shape& element : shape.elements) elements.push_back(OfShape(scope, element));
      return Add(scope, "tuple", shape, elements);
    }
    if (shape.dims.empty()) {
      const bool is_word = shape.type == "pred";
      return AddLine(scope, "constant", shape, is_word ? "constant(true)" : "constant(3)");
    }
    if (Chance(4)) return AddLine(scope, "constant", shape, "constant({...})");
    const Value scalar = OfShape(scope, Scalar(shape.type));
    return Add(scope, "broadcast", shape, {scalar}, ", dimensions={}");
  }

  // A new value, all arrays of which are copies.
  Value Copy(Scope& scope, const Value& value) {
    if (!value.shape.is_tuple) return Add(scope, "copy", value.shape, {value});
    std::vector<Value> elements;
    for (size_t k = 0; k < value.shape.elements.size(); ++k)
      elements.push_back(Copy(scope, ElementOf(scope, value, k)));
    return Add(scope, "tuple", value.shape, elements);
  }
  Value ElementOf(Scope& scope, const Value& tuple, size_t k) {
    return Add(scope, "get-tuple-element", tuple.shape.elements[k], {tuple},
               ", index=" + std::to_string(k));
  }
  // What an instruction may write over: a copy that nothing else reads.
  Value Own(Scope& scope, const Value& value) {
    if (!options_.has_copies) return value;
    const size_t before = scope.values.size();
    const Value copy = Copy(scope, value);
    scope.values.resize(before);
    return copy;
  }

  Value RandomArrayValue(Scope& scope) {
    std::vector<Value> arrays;
    for (const Value& value : scope.values) {
      if (!value.shape.is_tuple) arrays.push_back(value);
    }
    if (arrays.empty()) return OfShape(scope, arrays_[Below(arrays_.size())]);
    // Mostly recent ones, so that values die.
    const size_t window = Chance(3) ? arrays.size() : std::min<size_t>(arrays.size(), 4);
    return arrays[arrays.size() - 1 - Below(window)];
  }

  // A reducer of scalars of this type.
  std::string Reducer(const std::string& type) {
    const std::string name = NewName("reducer");
    const std::string s = Scalar(type).text;
    text_ += name + " {\n  " + name + ".l = " + s + " parameter(0)\n  " + name + ".r = " + s +
             " parameter(1)\n  ROOT " + name + ".s = " + s + " add(" + name + ".l, " + name +
             ".r)\n}\n\n";
    return name;
  }

  void AddArithmetic(Scope& scope) {
    const Value a = RandomArrayValue(scope);
    switch (Below(6)) {
      case 0:
        Add(scope, "negate", a.shape, {a});
        break;
      case 1:
        Add(scope, "copy", a.shape, {a});
        break;
      case 2: {
        const Value b = OfShape(scope, a.shape);
        const Value which =
            Add(scope, "compare", Array("pred", a.shape.dims), {a, b}, ", direction=NE");
        Add(scope, "select", a.shape, {which, a, b});
        break;
      }
      case 3:
        if (!a.shape.dims.empty()) Add(scope, "reverse", a.shape, {a}, ", dimensions={0}");
        break;
      default:
        Add(scope, "add", a.shape, {a, OfShape(scope, a.shape)});
        break;
    }
  }

  void AddShapely(Scope& scope) {
    const Value a = RandomArrayValue(scope);
    switch (Below(6)) {
      case 0: {  // in place
        const std::vector<int64_t> ones(a.shape.dims.size(), 1);
        const bool has_room = std::ranges::find(a.shape.dims, 0) == a.shape.dims.end();
        if (ones.empty() || !has_room) return;
        if (scope.is_fused && options_.has_copies) return;  // its operand may be read elsewhere
        std::vector<Value> operands = {a, OfShape(scope, Array(a.shape.type, ones))};
        for (size_t i = 0; i < ones.size(); ++i) operands.push_back(OfShape(scope, Scalar("s32")));
        operands[0] = Own(scope, a);
        Add(scope, "dynamic-update-slice", a.shape, operands);
        return;
      }
      case 1: {
        if (a.shape.dims.empty()) return;
        const std::string reducer = Reducer(a.shape.type);
        std::vector<int64_t> left(a.shape.dims.begin() + 1, a.shape.dims.end());
        const Value zero = OfShape(scope, Scalar(a.shape.type));
        Add(scope, "reduce", Array(a.shape.type, left), {a, zero},
            ", dimensions={0}, to_apply=" + reducer);
        return;
      }
      case 2: {
        int64_t count = 1;
        for (const int64_t d : a.shape.dims) count *= d;
        if (!options_.has_tiles) Add(scope, "bitcast", Array(a.shape.type, {count}), {a});
        return;
      }
      case 3: {
        std::vector<Value> elements(1 + Below(3));
        for (Value& element : elements) {
          element = scope.values[Below(scope.values.size())];
          if (element.shape.text.size() > 100) return;
        }
        std::vector<Shape> shapes;
        for (const Value& element : elements) shapes.push_back(element.shape);
        Add(scope, "tuple", MakeTuple(shapes), elements);
        return;
      }
      default:
        AddElement(scope);
        return;
    }
  }

  void AddElement(Scope& scope) {
    for (size_t i = scope.values.size(); i-- > 0;) {
      const Value tuple = scope.values[i];
      if (!tuple.shape.is_tuple || tuple.shape.elements.empty() || Chance(3)) continue;
      const size_t k = Below(tuple.shape.elements.size());
      Add(scope, "get-tuple-element", tuple.shape.elements[k], {tuple},
          ", index=" + std::to_string(k));
      return;
    }
  }

  void AddOpaque(Scope& scope) {
    const Value a = scope.values[Below(scope.values.size())];
    if (Chance(3)) {
      Add(scope, "custom-call", a.shape, {Own(scope, a)},
          ", custom_call_target=\"f\", output_to_operand_aliasing={{}: (0, {})}");
      return;
    }
    if (Chance(4)) {
      Add(scope, "opt-barrier", a.shape, {a});
      return;
    }
    std::vector<Value> operands(1 + Below(3));
    for (Value& operand : operands) operand = scope.values[Below(scope.values.size())];
    Add(scope, "custom-call", RandomShape(), operands, ", custom_call_target=\"f\"");
  }

  void AddAsync(Scope& scope) {
    const Value a = RandomArrayValue(scope);
    const Shape word = Scalar("u32");
    if (Chance(2)) {
      const Value start = Add(scope, "copy-start", MakeTuple({a.shape, a.shape, word}), {a});
      scope.values.pop_back();
      if (Chance(2)) AddArithmetic(scope);
      Add(scope, "copy-done", a.shape, {start});
      return;
    }
    const Value wrapped = Computation({a.shape}, nullptr, 0);
    const Value start =
        Add(scope, "async-start", MakeTuple({MakeTuple({a.shape}), wrapped.shape, word}), {a},
            ", calls=" + wrapped.name);
    scope.values.pop_back();
    for (size_t k = Below(3); k > 0; --k) AddArithmetic(scope);
    Add(scope, "async-done", wrapped.shape, {start});
  }

  void AddControlFlow(Scope& scope) {
    const int depth = scope.depth - 1;
    const Value a = scope.values[Below(scope.values.size())];
    switch (Below(4)) {
      case 0:
      case 1: {
        // A state of several parts, some of which the body hands on.
        const Value state = Chance(3) ? a : OfShape(scope, RandomState());
        const Shape pred = Scalar("pred");
        const std::string condition = Computation({state.shape}, &pred, 0).name;
        const std::string body =
            Computation({state.shape}, &state.shape, depth, "", false, Copies::kState).name;
        Add(scope, "while", state.shape, {Own(scope, state)},
            ", condition=" + condition + ", body=" + body);
        return;
      }
      case 2: {
        const Shape result = RandomShape();
        std::vector<Value> operands = {OfShape(scope, Scalar("s32"))};
        std::vector<std::string> branches;
        for (size_t i = 1 + Below(3); i > 0; --i) {
          operands.push_back(scope.values[Below(scope.values.size())]);
          branches.push_back(
              Computation({operands.back().shape}, &result, depth, "", false, Copies::kAll).name);
        }
        Add(scope, "conditional", result, operands,
            ", branch_computations={" + Join(branches) + "}");
        return;
      }
      default: {
        const Value called = Computation({a.shape}, nullptr, depth);
        Add(scope, "call", called.shape, {a}, ", to_apply=" + called.name);
        if (Chance(4)) Add(scope, "call", called.shape, {a}, ", to_apply=" + called.name);
        return;
      }
    }
  }

  Shape RandomState() {
    std::vector<Shape> elements(1 + Below(5));
    for (Shape& element : elements) element = RandomShape(1);
    return MakeTuple(std::move(elements));
  }

  void AddFusion(Scope& scope) {
    std::vector<Value> operands;
    std::vector<Shape> shapes;
    for (size_t k = 1 + Below(3); k > 0; --k) {
      const Value operand = RandomArrayValue(scope);
      // XLA gives a fusion each operand once.
      if (options_.has_copies &&
          std::ranges::find(operands, operand.name, &Value::name) != operands.end())
        continue;
      operands.push_back(operand);
      shapes.push_back(operand.shape);
    }
    const Value body = Computation(shapes, nullptr, 0, "", true);
    constexpr const char* kKinds[] = {"kLoop", "kLoop", "kInput", "kOutput", "kCustom"};
    Add(scope, "fusion", body.shape, operands,
        std::string(", kind=") + kKinds[Below(5)] + ", calls=" + body.name);
  }

  void AddSomething(Scope& scope) {
    // Nests multiply.
    if (++choices_ > kMaxChoices) return;
    const size_t choice = Below(16);
    if (scope.is_fused) {
      if (choice < 9) {
        AddArithmetic(scope);
      } else {
        AddShapely(scope);
      }
    } else if (choice < 5) {
      AddArithmetic(scope);
    } else if (choice < 9) {
      AddShapely(scope);
    } else if (choice < 11) {
      AddOpaque(scope);
    } else if (choice < 12) {
      AddAsync(scope);
    } else if (choice < 14 || scope.depth <= 0) {
      AddFusion(scope);
    } else {
      AddControlFlow(scope);
    }
  }

  // What of a result is copied. A state may also be handed back in part. Outputs may lie on
  // parameters that are donated, so that all of them are read before the first is written.
  enum class Copies : uint8_t { kNone, kAll, kState, kTwice };

  Value CopyRoot(Scope& scope, const Value& root, Copies copies) {
    if (!options_.has_copies || copies == Copies::kNone) return root;
    if (copies == Copies::kTwice) return Copy(scope, Copy(scope, root));
    const Value parameter = scope.values[0];
    if (copies == Copies::kAll || !root.shape.is_tuple) return Copy(scope, root);
    std::vector<Value> elements;
    for (size_t k = 0; k < root.shape.elements.size(); ++k)
      elements.push_back(Chance(3) ? ElementOf(scope, parameter, k)
                                   : Copy(scope, ElementOf(scope, root, k)));
    return Add(scope, "tuple", root.shape, elements);
  }

  // Adds a computation with these parameters, and this result if one is asked for.
  Value Computation(const std::vector<Shape>& parameters, const Shape* result, int depth,
                    const std::string& mark = {}, bool is_fused = false,
                    Copies copies = Copies::kNone) {
    Scope scope = {.depth = depth, .is_fused = is_fused};
    for (size_t i = 0; i < parameters.size(); ++i)
      AddLine(scope, "p", parameters[i], "parameter(" + std::to_string(i) + ")");
    for (size_t k = Below(static_cast<size_t>(options_.instructions)); k > 0; --k)
      AddSomething(scope);
    Shape wanted = scope.values.back().shape;
    if (result != nullptr) {
      wanted = *result;
    } else if (Chance(3)) {
      std::vector<Shape> shapes;
      for (size_t k = 1 + Below(3); k > 0; --k) {
        const Shape& shape = scope.values[Below(scope.values.size())].shape;
        if (shape.text.size() < 100) shapes.push_back(shape);
      }
      wanted = MakeTuple(shapes);
    }
    const Value root = CopyRoot(scope, OfShape(scope, wanted), copies);
    scope.text.insert(scope.text.find("  " + root.name + " = ") + 2, "ROOT ");
    const std::string name = NewName("computation");
    text_ += mark + name + " {\n" + scope.text + "}\n\n";
    return {name, root.shape};
  }

  static void FindLeaves(const Shape& shape, const std::string& index, std::vector<Leaf>& leaves) {
    if (!shape.is_tuple) leaves.push_back({index, shape.text});
    for (size_t k = 0; k < shape.elements.size(); ++k) {
      const std::string next = (index.empty() ? "" : index + ",") + std::to_string(k);
      FindLeaves(shape.elements[k], next, leaves);
    }
  }

  std::string Donations(const std::vector<Shape>& parameters, const Shape& result) {
    if (Chance(3)) return {};
    std::vector<Leaf> outputs;
    FindLeaves(result, "", outputs);
    std::vector<std::string> aliases;
    for (size_t p = 0; p < parameters.size(); ++p) {
      std::vector<Leaf> inputs;
      FindLeaves(parameters[p], "", inputs);
      for (const Leaf& input : inputs) {
        const auto output = std::ranges::find(outputs, input.shape, &Leaf::shape);
        if (output == outputs.end() || Chance(4)) continue;
        aliases.push_back("{" + output->index + "}: (" + std::to_string(p) + ", {" + input.index +
                          "}, may-alias)");
        outputs.erase(output);
      }
    }
    return aliases.empty() ? "" : ", input_output_alias={ " + Join(aliases) + " }";
  }

  std::mt19937 random_;
  ProgramOptions options_;
  std::vector<Shape> arrays_;
  static constexpr int kMaxChoices = 150;  // in the whole program
  int choices_ = 0;
  int names_ = 0;
  std::string text_;  // of the computations
};

}  // namespace

std::string RandomProgram(uint32_t seed, const ProgramOptions& options) {
  return Generator(seed, options).Module();
}

}  // namespace stowplan
