// SPDX-License-Identifier: Apache-2.0
// The flat path gives bit for bit what the general path gives: on random leaf blocks over all
// types, and on the shapes it is made for. Prints its throughput.
#include <cmath>
#include <cstring>
#include <ctime>

#include "random_leaf.h"

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

bool same(const Data& a, const Data& b) {
  for (int64_t i = 0; i < a.shape.element_count(); ++i) {
    const Scalar x = a.at(i), y = b.at(i);
    if (is_float(x.type) && std::isnan(x.f) && std::isnan(y.f)) continue;
    if (std::memcmp(&x.i, &y.i, sizeof x.i) != 0) return false;
  }
  return true;
}

// What was loaded stays what it is when its own element is stored to before it is stored elsewhere.
TEST(FlatPath, ALoadedValueOutlivesAStoreToItsElement) {
  const stripe::Program program = parsed(program_text(
      "none new@0x0 A[0] fp32(4096:1)\nnone new@0x0 B[0] fp32(4096:1)\n",
      "inout A[0] fp32(4096:1)\nout B[0] fp32(4096:1)\n",
      "0: block [i:4096] (\n  inout A[i] fp32(1:1)\n  out B[i] fp32(1:1)\n) {\n"
      " 0: $a = load(A)\n 1: $z = (fp32)0.0\n 2: A = store($z)\n 3: B = store($a)\n}\n"));
  if (HasFailure()) return;
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {4096});
  data["B"] = Data(DataType::fp32, {4096});
  data["A"].randomize(1);
  auto flat = data, general = data;
  InterpOptions options{.need_all_outputs = false};
  ASSERT_TRUE(run(program, flat, options).ok());
  options.flat_path = false;
  ASSERT_TRUE(run(program, general, options).ok());
  EXPECT_TRUE(same(flat["B"], data["A"]));
  for (const char* name : {"A", "B"}) EXPECT_TRUE(same(flat[name], general[name])) << name;
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
