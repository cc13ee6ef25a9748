// SPDX-License-Identifier: Apache-2.0
// Sampled elements are the elements of the whole result, and cost only what they need.
#include <algorithm>
#include <cmath>
#include <ctime>

#include "random_leaf.h"
#include "stria/interp/check.h"

namespace stria::interp {
namespace {

using namespace testing;

std::vector<TensorArg> args(std::map<std::string, Data>& data) {
  std::vector<TensorArg> out;
  for (auto& [name, one] : data) out.push_back({name, one.bytes.data(), one.shape});
  return out;
}

void expect_same(const Reference& sample, const Reference& whole, const std::string& text) {
  for (size_t i = 0; i < sample.size(); ++i) {
    const auto at = sample.elements.empty() ? i : static_cast<size_t>(sample.elements[i]);
    SCOPED_TRACE(fmt::format("element {} of\n{}", at, text));
    ASSERT_EQ(to_string(sample.typed[i]), to_string(whole.typed[at]));
    ASSERT_EQ(sample.undecided[i], whole.undecided[at]);
    if (std::isnan(whole.value[at])) continue;
    ASSERT_EQ(sample.value[i], whole.value[at]);
    ASSERT_EQ(sample.bound[i], whole.bound[at]);
  }
}

TEST(Sample, EqualsTheWholeOnRandomPrograms) {
  const InterpOptions options{.need_all_outputs = false};
  for (uint32_t seed = 0; seed < 600; ++seed) {
    RandomLeaf leaf(seed);
    leaf.make();
    const stripe::Program program = parsed(leaf.text);
    if (HasFailure()) return;
    auto whole = interpret_with_bounds(program, args(leaf.data), options);
    if (!whole.ok()) continue;
    for (int64_t count : {7, 1 << 20}) {
      auto sample = interpret_sample(program, args(leaf.data), count, seed, options);
      ASSERT_TRUE(sample.ok()) << sample.status().to_string() << leaf.text;
      expect_same(sample->at(0), whole->at(0), leaf.text);
      if (HasFailure()) return;
    }
  }
}

// Several kernels: a contraction with its unwritten border set to zero, an elementwise step, one in
// place, and a row sum.
const char* const kChain =
    "0: #kernel block [x:12] ( // zero\n  out T[x] fp32(1:1)\n) {\n 0: $z = (fp32)0.0\n 1: T = "
    "store($z)\n}\n"
    "1: #kernel block [k:3, x:10] ( // conv\n  in A[k + x] fp32(1:1)\n  inout T[1 + x]:add.fp32 "
    "fp32(1:1)\n) {\n"
    " 0: $a = load(A)\n 1: T = store($a)\n}\n"
    "2: #kernel block [x:12] ( // exp\n  in T[x] fp32(1:1)\n  out U[x] fp32(1:1)\n) {\n"
    " 0: $t = load(T)\n 1: $u = exp.fp32($t)\n 2: U = store($u)\n}\n"
    "3: #kernel block [x:12] ( // twice\n  in V = U[x] fp32(1:1)\n  out U[x] fp32(1:1)\n) {\n"
    " 0: $u = load(V)\n 1: $v = add.fp32($u, $u)\n 2: U = store($v)\n}\n"
    "4: #kernel block [x:12] ( // sum\n  in U[x] fp32(1:1)\n  out S[]:add.fp32 fp32()\n) {\n"
    " 0: $u = load(U)\n 1: S = store($u)\n}\n"
    "5: #kernel block [x:12] ( // norm\n  in U[x] fp32(1:1)\n  in S[] fp32()\n  out O[x] "
    "fp32(1:1)\n) {\n"
    " 0: $u = load(U)\n 1: $s = load(S)\n 2: $o = div.fp32($u, $s)\n 3: O = store($o)\n}\n";

std::string chain() {
  const std::string outer =
      "none new@0x0 A[0] fp32(12:1)\nnone new@0x0 O[0] fp32(12:1)\nnone new@0x0 T[0] fp32(12:1)\n";
  return program_text(outer,
                      "in A[0] fp32(12:1)\nout O[0] fp32(12:1)\ninout T[0] fp32(12:1)\n"
                      "none new@0x0 U[0] fp32(12:1)\nnone new@0x0 S[] fp32()\n",
                      kChain);
}

TEST(Sample, GoesBackThroughKernels) {
  std::map<std::string, Data> data;
  for (const char* name : {"A", "T"}) {
    data[name] = Data(DataType::fp32, {12});
    data[name].randomize(9);
  }
  auto whole = interpret_with_bounds(parsed(chain()), args(data));
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  auto sample = interpret_sample(parsed(chain()), args(data), 5, 3);
  ASSERT_TRUE(sample.ok()) << sample.status().to_string();
  ASSERT_EQ(sample->size(), 2u);
  expect_same(sample->at(0), whole->at(0), kChain);
  expect_same(sample->at(1), whole->at(1), kChain);
}

TEST(Sample, ChoosesFirstLastAndEachOnce) {
  const std::string text =
      program_text("none new@0x0 O[0] i32(1000:1)\n", "out O[0] i32(1000:1)\n",
                   "0: #kernel block [i:1000] ( // k\n  out O[i] i32(1:1)\n) {\n"
                   " 0: $i = load_index(i)\n 1: O = store($i)\n}\n");
  const stripe::Program program = parsed(text);
  std::vector<int64_t> last;
  for (int64_t count : {1, 2, 3, 200, 999, 1000, 5000}) {
    auto sample = interpret_sample(program, {}, count, 42);
    ASSERT_TRUE(sample.ok());
    const auto& elements = sample->at(0).elements;
    EXPECT_EQ(static_cast<int64_t>(elements.size()), std::min<int64_t>(count, 1000));
    EXPECT_EQ(elements.front(), 0);
    if (count > 1) {
      EXPECT_EQ(elements.back(), 999);
    }
    EXPECT_TRUE(std::is_sorted(elements.begin(), elements.end()));
    EXPECT_EQ(std::adjacent_find(elements.begin(), elements.end()), elements.end());
    for (size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(sample->at(0).typed[i].i, elements[i]);
    last = elements;
  }
  EXPECT_NE(interpret_sample(program, {}, 20, 1)->at(0).elements,
            interpret_sample(program, {}, 20, 2)->at(0).elements);
  EXPECT_EQ(interpret_sample(program, {}, 0, 1).status().message(), "a sample of 0 elements");
}

TEST(Sample, NestedProgramsAreInterpretedWhole) {
  const std::string text = program_text(
      "none new@0x0 A[0] fp32(16:1)\nnone new@0x0 O[0] fp32(16:1)\n",
      "in A[0] fp32(16:1)\nout O[0] fp32(16:1)\n",
      "0: #kernel block [o:4] ( // k\n  in A[4*o] fp32(4:1)\n  out O[4*o] fp32(4:1)\n) {\n"
      "  0: block [i:4] (\n    in A[i] fp32(1:1)\n    out O[i] fp32(1:1)\n  ) {\n"
      "   0: $a = load(A)\n   1: $e = exp.fp32($a)\n   2: O = store($e)\n  }\n}\n");
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {16});
  data["A"].randomize(4);
  auto whole = interpret_with_bounds(parsed(text), args(data));
  auto sample = interpret_sample(parsed(text), args(data), 5, 3);
  ASSERT_TRUE(whole.ok() && sample.ok());
  expect_same(sample->at(0), whole->at(0), text);
}

TEST(Sample, ErrorsAreFound) {
  const std::string text = program_text(
      "none new@0x0 A[0] fp32(16:1)\nnone new@0x0 O[0] fp32(16:1)\n",
      "in A[0] fp32(16:1)\nout O[0] fp32(16:1)\n",
      "0: #kernel block [i:15] ( // k\n  in A[2 + i] fp32(1:1)\n  out O[1 + i] fp32(1:1)\n) {\n"
      " 0: $a = load(A)\n 1: O = store($a)\n}\n");
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {16});
  EXPECT_EQ(interpret_sample(parsed(text), args(data), 1, 3).status().message(),
            "output O[0] is never written, or from values that never are");
  EXPECT_EQ(interpret_sample(parsed(text), args(data), 2, 3, {.need_all_outputs = false})
                .status()
                .message(),
            "block k: load outside the allocation: A at offset 16 of an allocation fp32[16]");
}

TEST(Sample, LargeConvolutionTakesWellUnderASecond) {
  const std::string refs =
      "{0} D[0,0,0,0] fp32(1:3211264, 224:14336, 224:64, 64:1)\n"
      "{0} K[0,0,0,0] fp32(3:12288, 3:4096, 64:64, 64:1)\n"
      "{1} R[0,0,0,0] fp32(1:3211264, 224:14336, 224:64, 64:1)\n"
      "{2} O[0,0,0,0] fp32(1:3211264, 224:14336, 224:64, 64:1)\n";
  const std::string text = program_text(
      fmt::format(fmt::runtime(refs), "none new@0x0", "none new@0x0", "none new@0x0"),
      fmt::format(fmt::runtime(refs.substr(0, refs.find("{2}"))), "in", "out") +
          "none new@0x0 O[0,0,0,0] fp32(1:3211264, 224:14336, 224:64, 64:1)\n",
      "0: #kernel block [ci:64, co:64, i:3, j:3, x:224, y:224] ( // kernel_0\n"
      "  -1 + i + x >= 0\n  224 - i - x >= 0\n  -1 + j + y >= 0\n  224 - j - y >= 0\n"
      "  in D[0, -1 + i + x, -1 + j + y, ci] fp32(1:3211264, 1:14336, 1:64, 1:1)\n"
      "  in K[i, j, co, ci] fp32(1:12288, 1:4096, 1:64, 1:1)\n"
      "  out O[0, x, y, co]:add.fp32 fp32(1:3211264, 1:14336, 1:64, 1:1)\n"
      ") {\n 0: $d = load(D)\n 1: $k = load(K)\n 2: $o = mul.fp32($d, $k)\n 3: O = store($o)\n}\n"
      "1: #kernel block [c:64, x:224, y:224] ( // kernel_1\n  in O[0, x, y, c] fp32(1:3211264, "
      "1:14336, 1:64, 1:1)\n"
      "  out R[0, x, y, c] fp32(1:3211264, 1:14336, 1:64, 1:1)\n) {\n"
      " 0: $o = load(O)\n 1: $z = (i32)0\n 2: $r = max.fp32($o, $z)\n 3: R = store($r)\n}\n");
  // The entry's O is not used: the temporary lives in main.
  std::map<std::string, Data> data;
  data["D"] = Data(DataType::fp32, {1, 224, 224, 64});
  data["K"] = Data(DataType::fp32, {3, 3, 64, 64});
  data["K"].randomize(2);
  for (int64_t i = 0; i < data["D"].shape.element_count(); i += 3)
    data["D"].set(i, static_cast<double>(i % 11) - 5);
  const stripe::Program program = parsed(text);
  const std::clock_t start = std::clock();
  auto sample = interpret_sample(program, args(data), 200, 1);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_TRUE(sample.ok()) << sample.status().to_string();
  printf("200 samples of the 224x224x64->64 convolution: %.0f ms\n", seconds * 1e3);
  const Reference& r = sample->at(0);
  ASSERT_EQ(r.size(), 200u);
  for (size_t s = 0; s < r.size(); ++s) {
    const int64_t co = r.elements[s] % 64, y = r.elements[s] / 64 % 224,
                  x = r.elements[s] / 64 / 224;
    double want = 0;
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 3; ++j)
        for (int64_t ci = 0; ci < 64; ++ci) {
          const int64_t dx = x + i - 1, dy = y + j - 1;
          if (dx < 0 || dx > 223 || dy < 0 || dy > 223) continue;
          want += data["D"].at((dx * 224 + dy) * 64 + ci).f *
                  data["K"].at(((i * 3 + j) * 64 + co) * 64 + ci).f;
        }
    EXPECT_NEAR(r.value[s], std::max(want, 0.0), 1e-9);
    EXPECT_LT(r.bound[s], 0.5);
    EXPECT_FALSE(r.undecided[s]);
  }
}

}  // namespace
}  // namespace stria::interp
