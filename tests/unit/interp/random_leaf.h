// SPDX-License-Identifier: Apache-2.0
// Random programs of one leaf block, for the comparisons of the interpreter's paths with each
// other.
#pragma once

#include "programs.h"

namespace stria::interp::testing {

// A random leaf block: one to four indices, two inputs, one output, constraints, any type.
class RandomLeaf {
 public:
  explicit RandomLeaf(uint32_t seed) : random_(seed) {}

  std::string text;
  std::map<std::string, Data> data;

  void make() {
    const bool long_row = pick(4) == 0;
    const int count = 1 + pick(long_row ? 2 : 4);
    for (int i = 0; i < count; ++i)
      ranges_.push_back(long_row && i == count - 1 ? 200 + pick(400) : 1 + pick(7));
    type_ = static_cast<DataType>(pick(kDataTypeCount));
    const DataType other = pick(3) == 0 ? static_cast<DataType>(pick(kDataTypeCount)) : type_;
    const DataType op_type = compute_type(pick(4) == 0 ? other : type_);
    const std::string op = name_of(op_type).data();
    tensor("A", "in", type_, "", 3, false);
    tensor("B", "in", other, "", 3, false);
    const char* aggs[] = {"", "add", "mul", "max", "min"};
    std::string agg = aggs[pick(5)];
    if (!agg.empty())
      agg = ":" + agg + "." + std::string(name_of(pick(2) ? type_ : accumulation_type(type_)));
    tensor("O", pick(2) ? "out" : "inout", type_, agg, 2, agg.empty());
    std::string block = "0: #kernel block [";
    for (size_t i = 0; i < ranges_.size(); ++i)
      block += fmt::format("{}i{}:{}", i ? ", " : "", i, ranges_[i]);
    block += "] ( // leaf\n";
    for (int c = pick(3); c > 0; --c) block += "  " + form(pick(9) - 2, 2).to_string() + " >= 0\n";
    block += refs_ + ") {\n 0: $a = load(A)\n 1: $b = load(B)\n";
    const char* ops[] = {"add", "mul", "sub", "max", "min", "div", "mod", "pow"};
    block += fmt::format(" 2: $c = {}.{}($a, $b)\n", ops[pick(is_float(op_type) ? 6 : 8)], op);
    switch (pick(4)) {
      case 0: block += " 3: $r = ident." + op + "($c)\n"; break;
      case 1:
        block += " 3: $t = cmp_lt." + op + "($a, $c)\n 4: $r = cond." + op + "($t, $c, $b)\n";
        break;
      case 2:
        block += " 3: $x = load_index(" + form(1, 3).to_string() + ")\n 4: $r = add." + op +
                 "($c, $x)\n";
        break;
      default:
        block += " 3: $k = (i16)3\n 4: $u = mul.i16($k, $k)\n 5: $r = sub." + op + "($c, $u)\n";
    }
    block += fmt::format(" {}: O = store($r)\n}}\n", block.find(" 5: ") != std::string::npos   ? 6
                                                     : block.find(" 4: ") != std::string::npos ? 5
                                                                                               : 4);
    text = program_text(entry_, main_, block);
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  Affine form(int64_t constant, int most) {
    Affine out(constant);
    for (size_t i = 0; i < ranges_.size(); ++i)
      if (pick(2)) out += Affine::of(fmt::format("i{}", i), pick(2 * most + 1) - most);
    return out;
  }

  // Rank 0 to 3, each dimension large enough for every point. `distinct`: one index a dimension,
  // each index used, so that no two points share an element.
  void tensor(const std::string& name, const std::string& dir, DataType type,
              const std::string& agg, int most, bool distinct) {
    std::map<std::string, Interval> box;
    for (size_t i = 0; i < ranges_.size(); ++i) box[fmt::format("i{}", i)] = {0, ranges_[i] - 1};
    std::vector<Affine> access;
    std::vector<int64_t> sizes;
    int64_t size = 1;
    const int rank = distinct ? static_cast<int>(ranges_.size()) : pick(4);
    for (int d = 0; d < rank; ++d) {
      Affine one = distinct ? Affine::of(fmt::format("i{}", d), pick(2) ? 1 : -1) : form(0, most);
      Interval range = interval_of(one, box);
      if (size * (range.upper - range.lower + 1) > 20000) one = Affine(0), range = {0, 0};
      size *= range.upper - range.lower + 1;
      access.push_back(one - Affine(range.lower));
      sizes.push_back(range.upper - range.lower + 1);
    }
    data[name] = Data(type, sizes);
    data[name].randomize(random_());
    const TensorShape& shape = data[name].shape;
    std::vector<std::string> zeros, forms, whole, one;
    for (int d = 0; d < rank; ++d) {
      const auto stride = shape.dims[static_cast<size_t>(d)].stride;
      zeros.push_back("0");
      forms.push_back(access[static_cast<size_t>(d)].to_string());
      whole.push_back(fmt::format("{}:{}", sizes[static_cast<size_t>(d)], stride));
      one.push_back(fmt::format("1:{}", stride));
    }
    const auto join = [](const auto& all) { return fmt::format("{}", fmt::join(all, ", ")); };
    entry_ +=
        fmt::format("none new@0x0 {}[{}] {}({})\n", name, join(zeros), name_of(type), join(whole));
    main_ += fmt::format("{} {}[{}] {}({})\n", dir, name, join(zeros), name_of(type), join(whole));
    refs_ +=
        fmt::format("{} {}[{}]{} {}({})\n", dir, name, join(forms), agg, name_of(type), join(one));
  }

  std::mt19937 random_;
  std::vector<int64_t> ranges_;
  DataType type_ = DataType::fp32;
  std::string entry_, main_, refs_;
};

}  // namespace stria::interp::testing
