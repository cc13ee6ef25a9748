// SPDX-License-Identifier: Apache-2.0
// Random legal Tile programs. Each index of a contraction gets a home, an access dimension or a
// constraint that bounds it alone, so every program has a finite meaning; everything else is free.
#include <algorithm>
#include <random>
#include <set>

#include "tile_case.h"

namespace stria::differential {
namespace {

class Generator {
 public:
  Generator(uint64_t seed, const GeneratorOptions& options) : options_(options), random_(seed) {
    program_.seed = seed;
    if (options_.main_type_percent > 0) main_type_ = any_type_of_all();
  }

  GeneratedProgram run() {
    int statements = pick(options_.min_statements, options_.max_statements);
    for (int s = 0; s < statements; ++s) {
      // The first statement walks through all aggregations, combinations and types as seeds go up.
      if (s == 0 || chance(55))
        contraction();
      else if (chance(35))
        special();
      else
        elementwise();
    }
    for (const GeneratedTensor& tensor : program_.tensors)
      if (!read_.count(tensor.name)) program_.outputs.push_back(tensor.name);
    if (program_.outputs.size() > 1) feature("several outputs");
    if (options_.packed_percent > 0) pack_ends();
    return std::move(program_);
  }

 private:
  int pick(int low, int high) {  // not std::uniform_int_distribution: its numbers differ by library
    return low + static_cast<int>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  void feature(std::string name) {
    if (std::find(program_.features.begin(), program_.features.end(), name) ==
        program_.features.end())
      program_.features.push_back(std::move(name));
  }

  Scalar random_value(DataType type) {
    if (is_float(type)) {
      double sum = 0;  // about normal
      if (options_.differentiable && chance(4)) return Scalar::of_float(type, 0);
      for (int n = 0; n < 4; ++n) sum += static_cast<double>(random_() >> 11) * 0x1p-53 - 0.5;
      return Scalar::of_float(type, sum * 1.7);
    }
    if (type == DataType::boolean) return Scalar::of_bool(chance(50));
    if (options_.differentiable) return Scalar::of_int(type, pick(0, 3));
    if (chance(4))
      return Scalar::of_int(type, static_cast<int64_t>(random_()));  // provokes wrapping
    return Scalar::of_int(type, is_unsigned_integer(type) ? pick(0, 15) : pick(-8, 7));
  }

  GeneratedTensor new_input(DataType type, std::vector<int64_t> sizes) {
    GeneratedTensor tensor{fmt::format("I{}", program_.inputs.size()), type, std::move(sizes)};
    int64_t count = dense_shape(type, tensor.sizes).element_count();
    std::vector<Scalar> values;
    for (int64_t n = 0; n < count; ++n) values.push_back(random_value(type));
    program_.inputs.push_back(tensor);
    program_.input_values.push_back(std::move(values));
    return tensor;
  }

  // An assigned tensor of this type and rank, or nothing.
  const GeneratedTensor* existing(DataType type, size_t rank) {
    std::vector<const GeneratedTensor*> fits;
    for (const GeneratedTensor& tensor : program_.tensors)
      if (tensor.type == type && tensor.sizes.size() == rank) fits.push_back(&tensor);
    if (fits.empty() || !chance(options_.reuse_percent)) return nullptr;
    return fits[static_cast<size_t>(pick(0, static_cast<int>(fits.size()) - 1))];
  }

  DataType any_type_of_all() { return static_cast<DataType>(pick(0, kDataTypeCount - 1)); }
  DataType any_type() {
    if (options_.differentiable) return DataType::fp64;
    // No number is drawn if there is no main type: programs of the default options stay as they
    // are.
    if (options_.main_type_percent > 0 && chance(options_.main_type_percent)) return main_type_;
    return any_type_of_all();
  }

  std::string result_name() { return fmt::format("T{}", program_.tensors.size()); }

  void contraction() {
    GeneratedContraction c;
    c.out = result_name();
    static const char kAggs[] = {'+', '*', '>', '<', '='};
    static const char* kCombs[] = {"", "+", "*", "==", "?"};
    const bool first = program_.statements.empty();
    const uint64_t turn = program_.seed / 5;
    c.agg = first ? kAggs[program_.seed % 5] : kAggs[pick(0, 4)];
    c.comb = first ? kCombs[turn % 5] : kCombs[pick(0, 4)];
    DataType type = first ? static_cast<DataType>(turn % kDataTypeCount) : any_type();
    if (options_.differentiable) {
      type = DataType::fp64;
      if (c.comb == "==") c.comb = "?";
    }
    const bool is_sum = c.agg == '+' || c.agg == '*';

    const int out_rank = pick(0, chance(20) ? 5 : 3);
    const int reduced = pick(0, out_rank > 3 ? 1 : 2);
    const int index_count = c.agg == '=' ? out_rank : out_rank + reduced;
    std::vector<std::string> names;
    std::map<std::string, int64_t> extent;
    for (int n = 0; n < index_count; ++n) {
      names.push_back(std::string(1, static_cast<char>('i' + n)));
      extent[names.back()] = pick(1, index_count > 4 ? 3 : index_count > 3 ? 4 : 6);
    }

    // Output dimensions: each the home of one index.
    for (int d = 0; d < out_rank; ++d) {
      const std::string& name = names[static_cast<size_t>(d)];
      int64_t k = chance(80) ? 1 : chance(60) ? 2 : chance(50) ? 3 : -1;
      int64_t constant = k < 0 ? extent[name] - 1 : chance(15) ? pick(-1, 2) : 0;
      Affine form = Affine::of(name, k) + constant;
      int64_t size = std::max<int64_t>(
          1, std::abs(k) * (extent[name] - 1) + 1 + (chance(25) ? pick(-1, 2) : 0));
      c.out_dims.push_back({form, 1});
      c.sizes.push_back(size);
      if (k > 1) feature("skipping output");
      if (k < 0) feature("negative coefficient");
    }

    const int operand_count = c.comb.empty() ? 1 : c.comb == "?" ? 3 : 2;
    // Spread the reduced indices over the operands; each must occur in at least one.
    std::vector<std::vector<std::string>> uses(static_cast<size_t>(operand_count));
    for (size_t n = 0; n < names.size(); ++n) {
      bool reduced_index = static_cast<int>(n) >= out_rank;
      int home = pick(0, operand_count - 1);
      for (int o = 0; o < operand_count; ++o)
        if ((o == home && (reduced_index || chance(90))) || chance(35))
          uses[static_cast<size_t>(o)].push_back(names[n]);
    }
    for (int o = 0; o < operand_count; ++o) {
      const bool compared = options_.differentiable && c.comb == "?" && o < 2;
      c.operands.push_back(operand(c, compared ? DataType::i32 : type, uses[static_cast<size_t>(o)],
                                   names, extent, out_rank));
      read_.insert(c.operands.back().tensor);
    }
    for (int n = 0; n < 2; ++n) {
      if (names.size() < 2 || !chance(20)) continue;
      Affine form =
          Affine::of(names[static_cast<size_t>(pick(0, static_cast<int>(names.size()) - 1))]);
      form -= Affine::of(names[static_cast<size_t>(pick(0, static_cast<int>(names.size()) - 1))],
                         pick(1, 2));
      form += Affine(pick(-1, 2));
      if (form.is_constant()) continue;
      c.constraints.emplace_back(form, pick(1, 6));
      feature("written constraint");
    }

    // Sums and products of integers below 32 bits need room, and bool is counted.
    auto widened = [](DataType t) {
      return t == DataType::boolean ? DataType::i32 : is_integer(t) ? accumulation_type(t) : t;
    };
    DataType out_type = c.comb == "=="                   ? DataType::boolean
                        : c.comb == "+" || c.comb == "*" ? widened(type)
                                                         : type;
    if (is_sum) out_type = widened(out_type);
    GeneratedTensor out{c.out, out_type, c.sizes};
    if (chance(15)) {
      std::string found;
      for (const GeneratedTensor& tensor : program_.tensors)
        if (tensor.type == out.type && tensor.sizes == out.sizes) found = tensor.name;
      c.default_tensor = found.empty() ? new_input(out.type, out.sizes).name : found;
      read_.insert(c.default_tensor);
      feature("default");
    }
    static const std::map<char, std::string> agg_names = {
        {'+', "sum"}, {'*', "product"}, {'>', "max"}, {'<', "min"}, {'=', "assign"}};
    static const std::map<std::string, std::string> comb_names = {
        {"", "none"}, {"+", "add"}, {"*", "mul"}, {"==", "eq"}, {"?", "cond"}};
    feature(fmt::format("{} of {}", agg_names.at(c.agg), comb_names.at(c.comb)));
    feature(fmt::format("{} {}", agg_names.at(c.agg), name_of(type)));
    feature(fmt::format("rank {}", out_rank));
    program_.tensors.push_back(out);
    program_.statements.emplace_back(std::move(c));
  }

  GeneratedAccess operand(GeneratedContraction& c, DataType type,
                          const std::vector<std::string>& used,
                          const std::vector<std::string>& names,
                          const std::map<std::string, int64_t>& extent, int out_rank) {
    std::vector<GeneratedForm> dims;
    std::vector<int64_t> sizes;
    for (const std::string& name : used) {
      const bool reduced = std::find(names.begin(), names.end(), name) - names.begin() >= out_rank;
      int64_t k = chance(75) ? 1 : chance(60) ? 2 : -1;
      GeneratedForm form{Affine::of(name, k), 1};
      int64_t reach = std::abs(k) * (extent.at(name) - 1) + 1;
      if (k > 1) feature("strided");
      if (k < 0) form.form += Affine(reach - 1);
      if (chance(10) && k > 0) {
        form.divisor = 2;
        reach = (reach + 1) / 2;
        feature("fractional");
      }
      // A second index in the same dimension, as a convolution has; the reduced one keeps a bound.
      if (chance(25) && names.size() > 1) {
        const std::string& other =
            names[static_cast<size_t>(pick(0, static_cast<int>(names.size()) - 1))];
        const bool other_reduced =
            std::find(names.begin(), names.end(), other) - names.begin() >= out_rank;
        if (other != name && (!other_reduced || reduced)) {
          form.form.add_term(other, chance(70) ? 1 : chance(50) ? 2 : -1);
          if (reduced) c.constraints.emplace_back(Affine::of(name), extent.at(name));
          if (other_reduced) c.constraints.emplace_back(Affine::of(other), extent.at(other));
          feature("two indices in a dimension");
        }
      }
      if (chance(20)) {
        form.form += Affine(pick(-2, 1));
        feature("offset");
      }
      dims.push_back(form);
      sizes.push_back(std::max<int64_t>(1, reach + (chance(30) ? pick(-1, 2) : 0)));
    }
    if (dims.empty() || chance(5)) {
      dims.push_back({Affine(0), 1});
      sizes.push_back(pick(1, 2));
    }
    // A fractional home in an out-of-place constant never gets an integer: harmless, the set is
    // empty.
    if (const GeneratedTensor* tensor = existing(type, sizes.size())) return {tensor->name, dims};
    return {new_input(type, sizes).name, dims};
  }

  GeneratedExpr leaf(DataType type, const std::vector<int64_t>& sizes) {
    GeneratedExpr e;
    e.type = type;
    if (chance(15) && type != DataType::boolean) {
      e.op = "literal";
      e.literal = is_float(type) ? pick(-20000, 20000) * 1e-4 : pick(0, 9);
      return e;
    }
    e.op = "tensor";
    for (const GeneratedTensor& tensor : program_.tensors)
      if (tensor.type == type && tensor.sizes == sizes && chance(50)) e.tensor = tensor.name;
    if (e.tensor.empty()) {
      std::vector<int64_t> own = sizes;
      if (!own.empty() && chance(30)) {
        own.erase(own.begin(), own.begin() + pick(0, static_cast<int>(own.size()) - 1));
        for (int64_t& size : own)
          if (chance(30)) size = 1;
        feature("broadcast");
      }
      e.tensor = new_input(type, own).name;
    }
    read_.insert(e.tensor);
    return e;
  }

  // An operand tree whose leaves include at least one full-size tensor of `type`.
  GeneratedExpr tree(DataType type, const std::vector<int64_t>& sizes, int depth) {
    if (depth == 0) return leaf(type, sizes);
    GeneratedExpr e;
    e.type = type;
    if (type == DataType::boolean) {
      static const char* kCompare[] = {"cmp_lt", "cmp_gt", "cmp_le", "cmp_ge", "cmp_eq", "cmp_ne"};
      e.op = kCompare[pick(0, 5)];
      DataType of = any_type();
      if (of == DataType::boolean) of = DataType::fp32;
      e.args = {anchored(of, sizes, depth - 1), tree(of, sizes, depth - 1)};
      return e;
    }
    std::vector<std::string> ops = {"add", "sub", "mul", "max", "min", "neg", "abs", "cond"};
    if (is_float(type)) {
      ops.push_back("div");
      if (type == DataType::fp32 || options_.differentiable) ops.push_back("sqrt");
      if (options_.differentiable)
        for (const char* op : {"tanh", "sigmoid", "exp", "sin"}) ops.push_back(op);
    } else {
      for (const char* op : {"div", "mod", "bit_and", "bit_or", "bit_xor"}) ops.push_back(op);
    }
    e.op = ops[static_cast<size_t>(pick(0, static_cast<int>(ops.size()) - 1))];
    feature(e.op);
    static const std::set<std::string> kUnary = {"neg", "abs", "tanh", "sigmoid", "exp", "sin"};
    if (kUnary.count(e.op)) {
      e.args = {anchored(type, sizes, depth - 1)};
    } else if (e.op == "sqrt") {
      GeneratedExpr inner;
      inner.op = "abs";
      inner.type = type;
      inner.args = {anchored(type, sizes, depth - 1)};
      // Of a root or quotient that is infinite nothing can be said, even where it is not chosen.
      e.args = {options_.differentiable ? above_zero(inner) : inner};
    } else if (e.op == "cond") {
      e.args = {tree(DataType::boolean, sizes, 1), anchored(type, sizes, depth - 1),
                tree(type, sizes, depth - 1)};
    } else {
      e.args = {anchored(type, sizes, depth - 1), tree(type, sizes, depth - 1)};
      if (e.op == "div" && options_.differentiable) {
        GeneratedExpr square{"mul", "", 0, {e.args[1], e.args[1]}, type};
        e.args[1] = above_zero(square);
      }
      // A constant zero divisor of integers is refused when the program is bound.
      if ((e.op == "div" || e.op == "mod") && e.args[1].op == "literal" && e.args[1].literal == 0)
        e.args[1].literal = 3;
    }
    return e;
  }

  // A quarter more than `e`.
  GeneratedExpr above_zero(const GeneratedExpr& e) {
    return {"add", "", 0, {e, {"literal", "", 0.25, {}, e.type}}, e.type};
  }

  // Like tree(), but never a bare literal: its type and shape are then known to the reader.
  GeneratedExpr anchored(DataType type, const std::vector<int64_t>& sizes, int depth) {
    while (true) {
      GeneratedExpr e = tree(type, sizes, depth);
      if (e.op != "literal") return e;
    }
  }

  void elementwise() {
    DataType type = any_type();
    std::vector<int64_t> sizes;
    if (!program_.tensors.empty() && chance(70)) {
      const GeneratedTensor& t =
          program_
              .tensors[static_cast<size_t>(pick(0, static_cast<int>(program_.tensors.size()) - 1))];
      type = t.type;
      sizes = t.sizes;
    } else {
      for (int d = pick(0, 4); d > 0; --d) sizes.push_back(pick(1, 5));
    }
    GeneratedElementwise statement;
    statement.out = result_name();
    // Adding a full-size tensor fixes the shape whatever broadcasts inside.
    GeneratedExpr full;
    full.op = "tensor";
    full.type = type;
    full.tensor = new_input(type, sizes).name;
    read_.insert(full.tensor);
    GeneratedExpr value;
    value.type = type;
    if (type == DataType::boolean) {
      value.op = "cond";
      value.args = {tree(DataType::boolean, sizes, 1), full, anchored(DataType::boolean, sizes, 1)};
    } else {
      value.op = chance(50) ? "add" : "max";
      value.args = {full, tree(type, sizes, pick(0, 2))};
    }
    feature(fmt::format("elementwise {}", name_of(type)));
    if (options_.differentiable) {
      // Stays as it is.
    } else if (chance(10) && is_float(type)) {
      GeneratedExpr cast;
      cast.op = "as_int32";
      cast.type = DataType::i32;
      cast.args = {value};
      value = cast;
      feature("as_int");
    } else if (chance(10) && is_integer(type)) {
      GeneratedExpr cast;
      cast.op = "as_float32";
      cast.type = DataType::fp32;
      cast.args = {value};
      value = cast;
      feature("as_float");
    }
    statement.value = value;
    program_.tensors.push_back({statement.out, value.type, sizes});
    program_.statements.emplace_back(std::move(statement));
  }

  // Inputs of types that hold packed ones become such, and outputs get a cast to one. Draws numbers
  // of its own.
  void pack_ends() {
    random_.seed(~program_.seed);
    const auto packed = [&](std::optional<DataType> held) -> std::optional<DataType> {
      if (!chance(options_.packed_percent)) return std::nullopt;
      std::vector<DataType> fits;
      for (int t = kDataTypeCount; t < kAllDataTypeCount; ++t)
        if (!held || held_type(static_cast<DataType>(t)) == *held)
          fits.push_back(static_cast<DataType>(t));
      if (fits.empty()) return std::nullopt;
      return fits[static_cast<size_t>(pick(0, static_cast<int>(fits.size()) - 1))];
    };
    for (size_t n = 0; n < program_.inputs.size(); ++n) {
      GeneratedTensor& input = program_.inputs[n];
      input.packed = packed(input.type);
      if (!input.packed) continue;
      feature(fmt::format("input {}", name_of(*input.packed)));
      for (Scalar& value : program_.input_values[n])
        value = convert(convert(value, *input.packed), input.type);
    }
    for (std::string& output : program_.outputs) {
      const std::optional<DataType> type = packed(std::nullopt);
      if (!type) continue;
      const auto of = std::find_if(program_.tensors.begin(), program_.tensors.end(),
                                   [&](const GeneratedTensor& t) { return t.name == output; });
      GeneratedElementwise statement;
      statement.out = fmt::format("P{}", program_.tensors.size());
      statement.value = {"as_packed", "", 0, {{"tensor", output, 0, {}, of->type}}, *type};
      GeneratedTensor out{statement.out, held_type(*type), of->sizes, type};
      feature(fmt::format("output {}", name_of(*type)));
      output = statement.out;
      program_.tensors.push_back(std::move(out));
      program_.statements.emplace_back(std::move(statement));
    }
  }

  std::vector<int64_t> some_sizes(int most_rank, int most_size) {
    std::vector<int64_t> sizes;
    for (int d = pick(0, most_rank); d > 0; --d) sizes.push_back(pick(1, most_size));
    return sizes;
  }
  DataType integer_type() {
    DataType type;
    do {
      type = any_type_of_all();
    } while (!is_integer(type));
    return type;
  }
  std::string tensor_of(DataType type, const std::vector<int64_t>& sizes) {
    for (const GeneratedTensor& tensor : program_.tensors)
      if (tensor.type == type && tensor.sizes == sizes && chance(50)) return tensor.name;
    return new_input(type, sizes).name;
  }

  void special() {
    GeneratedSpecial s;
    s.out = result_name();
    GeneratedTensor out{s.out, DataType::fp32, {}};
    const int choice = pick(0, options_.differentiable ? 79 : 99);
    const DataType type = any_type(), index = integer_type();
    if (choice < 40) {
      s.function = "gather";
      std::vector<int64_t> data = some_sizes(2, 20), at = some_sizes(2, 9);
      data.insert(data.begin(), pick(1, 9));
      s.operands = {tensor_of(type, data), tensor_of(index, at)};
      out = {s.out, type, at};
      out.sizes.insert(out.sizes.end(), data.begin() + 1, data.end());
    } else if (choice < 80) {
      s.function = "scatter";
      std::vector<int64_t> at = some_sizes(2, 9), row = some_sizes(2, 20), from = at;
      from.insert(from.end(), row.begin(), row.end());
      row.insert(row.begin(), pick(1, 9));
      s.operands = {tensor_of(type, from), tensor_of(index, at), tensor_of(any_type(), {row[0]})};
      const bool widens = type == DataType::boolean || is_integer(type);
      out = {s.out,
             type == DataType::boolean ? DataType::i32
             : widens                  ? accumulation_type(type)
                                       : type,
             row};
    } else if (choice < 90) {
      s.function = "index";
      std::vector<int64_t> sizes = some_sizes(3, 9);
      sizes.push_back(pick(1, 9));
      s.operands = {tensor_of(type, sizes)};
      s.numbers = {pick(0, static_cast<int>(sizes.size()) - 1)};
      out = {s.out, DataType::i32, sizes};
    } else {
      s.function = chance(50) ? "prng_value" : "prng_state";
      std::vector<int64_t> sizes = some_sizes(2, 70);
      s.numbers = sizes;
      // Any bits are a state, if not a good one.
      GeneratedTensor state = new_input(DataType::u32, {3, 2048});
      for (Scalar& word : program_.input_values.back())
        word = Scalar::of_int(DataType::u32, static_cast<int64_t>(random_()));
      s.operands = {state.name};
      out = s.function == "prng_value" ? GeneratedTensor{s.out, DataType::fp32, sizes}
                                       : GeneratedTensor{s.out, DataType::u32, {3, 2048}};
    }
    feature(s.function);
    if (s.function == "gather" || s.function == "scatter") {
      feature(fmt::format("{} {}", s.function, name_of(type)));
      feature(fmt::format("chosen by {}", name_of(index)));
    }
    for (const std::string& name : s.operands) read_.insert(name);
    program_.tensors.push_back(out);
    program_.statements.emplace_back(std::move(s));
  }

  const GeneratorOptions options_;
  std::mt19937_64 random_;
  DataType main_type_ = DataType::fp32;
  GeneratedProgram program_;
  std::set<std::string> read_;
};

}  // namespace

GeneratedProgram generate(uint64_t seed, const GeneratorOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace stria::differential
