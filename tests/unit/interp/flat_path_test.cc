// SPDX-License-Identifier: Apache-2.0
// The flat path gives bit for bit what the general path gives: on random leaf blocks over all
// types, and on the shapes it is made for. Prints its throughput.
#include <cmath>
#include <cstring>
#include <ctime>

#include "programs.h"

namespace stria::interp {
namespace {

using namespace testing;

TEST(FlatPath, ConvolutionThroughput) {
  // 56x56, 64 to 64 channels, 3x3: 114 million multiply-adds.
  const std::string text = program_text(
      "none new@0x0 D[0,0,0,0] fp32(1:200704, 56:3584, 56:64, 64:1)\n"
      "none new@0x0 K[0,0,0,0] fp32(3:12288, 3:4096, 64:64, 64:1)\n"
      "none new@0x0 O[0,0,0,0] fp32(1:200704, 56:3584, 56:64, 64:1)\n",
      "in D[0,0,0,0] fp32(1:200704, 56:3584, 56:64, 64:1)\n"
      "in K[0,0,0,0] fp32(3:12288, 3:4096, 64:64, 64:1)\n"
      "out O[0,0,0,0] fp32(1:200704, 56:3584, 56:64, 64:1)\n",
      "0: #kernel block [ci:64, co:64, i:3, j:3, x:56, y:56] ( // kernel_0\n"
      "  -1 + i + x >= 0\n  56 - i - x >= 0\n  -1 + j + y >= 0\n  56 - j - y >= 0\n"
      "  in D[0, -1 + i + x, -1 + j + y, ci] fp32(1:200704, 1:3584, 1:64, 1:1)\n"
      "  in K[i, j, co, ci] fp32(1:12288, 1:4096, 1:64, 1:1)\n"
      "  out O[0, x, y, co]:add.fp32 fp32(1:200704, 1:3584, 1:64, 1:1)\n"
      ") {\n 0: $d = load(D)\n 1: $k = load(K)\n 2: $o = mul.fp32($d, $k)\n 3: O = store($o)\n}\n");
  stripe::Program program = parsed(text);
  std::map<std::string, Data> data;
  data["D"] = Data(DataType::fp32, {1, 56, 56, 64});
  data["K"] = Data(DataType::fp32, {3, 3, 64, 64});
  data["O"] = Data(DataType::fp32, {1, 56, 56, 64});
  data["D"].randomize(1);
  data["K"].randomize(2);
  const std::clock_t start = std::clock();
  Status status = run(program, data);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_TRUE(status.ok()) << status.to_string();
  const double macs = 64.0 * 64 * (3 * 56 - 2) * (3 * 56 - 2);
  printf("convolution 56x56x64->64 3x3: %.0f million multiply-adds per second\n",
         macs / seconds / 1e6);
}

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
      case 0:
        block += " 3: $r = ident." + op + "($c)\n";
        break;
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
      if (pick(2)) out += Affine::of(fmt::format("i{}", i), pick(2 * most) - most + 1);
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

bool same(const Data& a, const Data& b) {
  for (int64_t i = 0; i < a.shape.element_count(); ++i) {
    const Scalar x = a.at(i), y = b.at(i);
    if (is_float(x.type) && std::isnan(x.f) && std::isnan(y.f)) continue;
    if (std::memcmp(&x.i, &y.i, sizeof x.i) != 0) return false;
  }
  return true;
}

TEST(FlatPath, GivesWhatTheGeneralPathGives) {
  int refused = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomLeaf leaf(seed);
    leaf.make();
    const stripe::Program program = parsed(leaf.text);
    if (HasFailure()) return;
    auto flat = leaf.data, general = leaf.data;
    Events flat_events, general_events;
    InterpOptions options{.need_all_outputs = false, .events = &flat_events};
    const Status a = run(program, flat, options);
    options.flat_path = false;
    options.events = &general_events;
    const Status b = run(program, general, options);
    ASSERT_EQ(a.to_string(), b.to_string()) << "seed " << seed << "\n" << leaf.text;
    refused += !a.ok();
    if (!a.ok()) continue;
    ASSERT_TRUE(same(flat["O"], general["O"])) << "seed " << seed << "\n" << leaf.text;
    ASSERT_EQ(flat_events, general_events) << "seed " << seed << "\n" << leaf.text;
  }
  EXPECT_LT(refused, 100);
}

TEST(FlatPath, InPlaceAndShiftedStoresMeanTheSame) {
  // A[i] = A[i] + A[i - 1] in order: each point sees what the one before wrote.
  for (const char* from : {"i", "1 + i"}) {
    const std::string text =
        program_text("none new@0x0 A[0] fp32(65:1)\n", "inout A[0] fp32(65:1)\n",
                     fmt::format("0: #kernel block [i:64] ( // scan\n  in P = A[{}] fp32(1:1)\n  "
                                 "inout A[1 + i] fp32(1:1)\n) {{\n"
                                 " 0: $p = load(P)\n 1: $one = (fp32)1.0\n 2: $s = add.fp32($p, "
                                 "$one)\n 3: A = store($s)\n}}\n",
                                 from));
    std::map<std::string, Data> data;
    data["A"] = Data(DataType::fp32, {65});
    ASSERT_TRUE(run(parsed(text), data).ok());
    EXPECT_EQ(data["A"].at(64).f, from == std::string("i") ? 64 : 1) << from;
  }
}

}  // namespace
}  // namespace stria::interp
