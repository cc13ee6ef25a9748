// SPDX-License-Identifier: Apache-2.0
// Rule S9: loads and stores whose coordinates scalars choose, against the same written as loops
// here.
#include <gtest/gtest.h>

#include <cmath>

#include "programs.h"
#include "stria/interp/check.h"

namespace stria::interp {
namespace {

using namespace testing;

// O[n, c] = D[I[n], c]
std::string gather_text(int rows, int columns, int count, const std::string& type,
                        const std::string& index) {
  return program_text(
      fmt::format("none new@0x0 D[0, 0] {2}({0}:{1}, {1}:1)\nnone new@0x0 I[0] {3}({4}:1)\n"
                  "none new@0x0 O[0, 0] {2}({4}:{1}, {1}:1)\n",
                  rows, columns, type, index, count),
      fmt::format("in D[0, 0] {2}({0}:{1}, {1}:1)\nin I[0] {3}({4}:1)\n"
                  "out O[0, 0] {2}({4}:{1}, {1}:1)\n",
                  rows, columns, type, index, count),
      fmt::format("0: #kernel block [c:{1}, n:{4}] ( // k\n  in D[0, c] {2}({0}:{1}, 1:1)\n"
                  "  in I[n] {3}(1:1)\n  out O[n, c] {2}(1:{1}, 1:1)\n) {{\n 0: $i = load(I)\n"
                  " 1: $v = load(D[$i, 0])\n 2: O = store($v)\n}}\n",
                  rows, columns, type, index, count));
}

// V[I[n]] = op over n of E[n], from what stands in V.
std::string scatter_text(int rows, int count, const std::string& type, const std::string& index,
                         const std::string& agg) {
  return program_text(
      fmt::format("none new@0x0 E[0] {0}({1}:1)\nnone new@0x0 I[0] {2}({1}:1)\n"
                  "none new@0x0 V[0] {0}({3}:1)\n",
                  type, count, index, rows),
      fmt::format("in E[0] {0}({1}:1)\nin I[0] {2}({1}:1)\ninout V[0] {0}({3}:1)\n", type, count,
                  index, rows),
      fmt::format("0: #kernel block [n:{1}] ( // k\n  in E[n] {0}(1:1)\n  in I[n] {2}(1:1)\n"
                  "  inout V[0]{4} {0}({3}:1)\n) {{\n 0: $i = load(I)\n 1: $e = load(E)\n"
                  " 2: V[$i] = store($e)\n}}\n",
                  type, count, index, rows, agg));
}

std::vector<TensorArg> args(std::map<std::string, Data>& data) {
  std::vector<TensorArg> out;
  for (auto& [name, one] : data) out.push_back({name, one.bytes.data(), one.shape});
  return out;
}

// What `index` reads at a row: the numbers it can hold, also far outside.
std::vector<double> some_indices(DataType type, int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> out;
  for (int n = 0; n < count; ++n) out.push_back(static_cast<double>(random() % 12) - 3);
  if (is_unsigned_integer(type))
    for (double& value : out) value = std::fabs(value);
  out[0] = is_unsigned_integer(type) ? 255 : -128;
  return out;
}

TEST(S9, LoadsClampTheirCoordinate) {
  for (const char* name : {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"}) {
    SCOPED_TRACE(name);
    const DataType type = *parse_data_type(name);
    std::map<std::string, Data> data = {{"D", Data(DataType::fp32, {5, 3})},
                                        {"I", Data(type, {20})},
                                        {"O", Data(DataType::fp32, {20, 3})}};
    data["D"].randomize(7);
    const std::vector<double> indices = some_indices(type, 20, 3);
    int64_t outside = 0;
    for (int n = 0; n < 20; ++n) {
      data["I"].set(n, indices[static_cast<size_t>(n)]);
      outside += indices[static_cast<size_t>(n)] < 0 || indices[static_cast<size_t>(n)] > 4;
    }
    Events events;
    InterpOptions options;
    options.events = &events;
    ASSERT_TRUE(run(parsed(gather_text(5, 3, 20, "fp32", name)), data, options).ok());
    for (int n = 0; n < 20; ++n) {
      const int row =
          static_cast<int>(std::min(4.0, std::max(0.0, indices[static_cast<size_t>(n)])));
      for (int c = 0; c < 3; ++c)
        EXPECT_EQ(data["O"].at(3 * n + c).f, data["D"].at(3 * row + c).f) << n << " " << c;
    }
    EXPECT_EQ(events.clamped_reads, 3 * outside);
    EXPECT_EQ(events.dropped_writes, 0);
  }
}

TEST(S9, TheIntegerIsTheNumberThatItIs) {
  // 2^64 - 1 and 2^63 are above every size, not below 0.
  std::map<std::string, Data> data = {{"D", Data(DataType::fp32, {3, 1}, {10, 20, 30})},
                                      {"I", Data(DataType::u64, {3})},
                                      {"O", Data(DataType::fp32, {3, 1})}};
  const uint64_t far[] = {~uint64_t{0}, uint64_t{1} << 63, 1};
  std::memcpy(data["I"].bytes.data(), far, sizeof far);
  ASSERT_TRUE(run(parsed(gather_text(3, 1, 3, "fp32", "u64")), data).ok());
  EXPECT_EQ(data["O"].values(), (std::vector<double>{30, 30, 20}));
}

TEST(S9, StoresOutsideDoNothingAndOthersCombine) {
  struct Case {
    const char* agg;
    double (*combine)(double, double);
  };
  const Case cases[] = {{":add.i32", [](double a, double b) { return a + b; }},
                        {":mul.i32", [](double a, double b) { return a * b; }},
                        {":max.i32", [](double a, double b) { return std::max(a, b); }},
                        {":min.i32", [](double a, double b) { return std::min(a, b); }},
                        {"", [](double, double b) { return b; }}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.agg);
    std::map<std::string, Data> data = {{"E", Data(DataType::i32, {24})},
                                        {"I", Data(DataType::i16, {24})},
                                        {"V", Data(DataType::i32, {6}, {1, -1, 2, 3, 5, 7})}};
    data["E"].randomize(11);
    const std::vector<double> indices = some_indices(DataType::i16, 24, 5);
    std::vector<double> expected = data["V"].values();
    int64_t dropped = 0;
    for (int n = 0; n < 24; ++n) {
      const double at = indices[static_cast<size_t>(n)];
      data["I"].set(n, at);
      if (at < 0 || at > 5) {
        ++dropped;
        continue;
      }
      double& element = expected[static_cast<size_t>(at)];
      element = static_cast<int32_t>(
          static_cast<int64_t>(one.combine(element, data["E"].at(n).to_double())));
    }
    Events events;
    InterpOptions options;
    options.events = &events;
    ASSERT_TRUE(run(parsed(scatter_text(6, 24, "i32", "i16", one.agg)), data, options).ok());
    EXPECT_EQ(data["V"].values(), expected);
    EXPECT_EQ(events.dropped_writes, dropped);
    EXPECT_EQ(events.clamped_reads, 0);
  }
}

TEST(S9, SumsCarryTheirBound) {
  std::map<std::string, Data> data = {{"E", Data(DataType::fp32, {40})},
                                      {"I", Data(DataType::i32, {40})},
                                      {"V", Data(DataType::fp32, {4}, {0.1, 0.2, 0.3, 0.4})}};
  data["E"].randomize(3);
  std::vector<double> value = data["V"].values(), magnitude = value;
  std::vector<int> terms(4, 1);
  for (int n = 0; n < 40; ++n) {
    const int at = n % 5;  // 4 is outside
    data["I"].set(n, at);
    if (at == 4) continue;
    value[static_cast<size_t>(at)] += data["E"].at(n).f;
    magnitude[static_cast<size_t>(at)] += std::fabs(data["E"].at(n).f);
    ++terms[static_cast<size_t>(at)];
  }
  auto result =
      interpret_with_bounds(parsed(scatter_text(4, 40, "fp32", "i32", ":add.fp32")), args(data));
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  const Reference& reference = result->at(0);
  for (size_t v = 0; v < 4; ++v) {
    EXPECT_NEAR(reference.value[v], value[v], 1e-12);
    const double ku = (terms[v] + 1) * 0x1p-24;
    EXPECT_NEAR(reference.bound[v], ku / (1 - ku) * magnitude[v], 1e-9) << v;
    EXPECT_FALSE(reference.undecided[v]);
  }
}

TEST(S9, WhatAnUndecidedIndexReachesIsUndecided) {
  // The index is 0 or 1 by a comparison that rounding decides.
  const std::string head =
      "none new@0x0 A[0] fp32(1:1)\nnone new@0x0 D[0] fp32(4:1)\nnone new@0x0 O[0] fp32(4:1)\n";
  const std::string refs = "in A[0] fp32(1:1)\nin D[0] fp32(4:1)\ninout O[0] fp32(4:1)\n";
  const std::string index =
      " 0: $a = load(A)\n 1: $three = (fp32)3.0\n 2: $third = div.fp32($a, $three)\n"
      " 3: $back = mul.fp32($third, $three)\n 4: $c = cmp_lt.fp32($back, $a)\n"
      " 5: $i = ident.i32($c)\n";
  std::map<std::string, Data> data = {{"A", Data(DataType::fp32, {1}, {1})},
                                      {"D", Data(DataType::fp32, {4}, {1, 2, 3, 4})},
                                      {"O", Data(DataType::fp32, {4}, {0, 0, 0, 0})}};
  auto loaded = interpret_with_bounds(
      parsed(program_text(head, refs,
                          "0: #kernel block [] ( // k\n in A[0] fp32(1:1)\n in D[0] fp32(4:1)\n"
                          " inout O[2] fp32(1:1)\n) {\n" +
                              index + " 6: $v = load(D[$i])\n 7: O = store($v)\n}\n")),
      args(data));
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ(loaded->at(0).undecided, (std::vector<uint8_t>{0, 0, 1, 0}));
  for (const char* agg : {"", ":add.fp32"}) {
    auto stored = interpret_with_bounds(
        parsed(program_text(head, refs,
                            "0: #kernel block [] ( // k\n in A[0] fp32(1:1)\n inout O[1]" +
                                std::string(agg) + " fp32(2:1)\n) {\n" + index +
                                " 6: O[$i] = store($a)\n}\n")),
        args(data));
    ASSERT_TRUE(stored.ok()) << stored.status().to_string();
    EXPECT_EQ(stored->at(0).undecided, (std::vector<uint8_t>{0, 1, 1, 0})) << agg;
  }
}

TEST(S9, PoisonDoesNotChooseAnElement) {
  const std::string tensors = "none new@0x0 D[0] fp32(4:1)\nnone new@0x0 O[0] fp32(4:1)\n";
  const std::string refs = "in D[0] fp32(4:1)\ninout O[0] fp32(4:1)\nnone new@0x0 T[0] i32(2:1)\n";
  const std::string half =
      "0: #kernel block [] ( // half\n out T[0] i32(1:1)\n) {\n 0: $x = (i32)1\n 1: T = "
      "store($x)\n}\n";
  std::map<std::string, Data> data = {{"D", Data(DataType::fp32, {4}, {1, 2, 3, 4})},
                                      {"O", Data(DataType::fp32, {4}, {0, 0, 0, 0})}};
  Status stored = run(parsed(program_text(tensors, refs,
                                          half + "1: #kernel block [] ( // k\n in T[1] i32(1:1)\n"
                                                 " in D[0] fp32(1:1)\n inout O[0] fp32(4:1)\n) {\n"
                                                 " 0: $i = load(T)\n 1: $v = load(D)\n"
                                                 " 2: O[$i] = store($v)\n}\n")),
                      data);
  EXPECT_NE(stored.message().find("a value that was never written chooses the element: O[0]"),
            std::string::npos)
      << stored.to_string();
  Status loaded = run(parsed(program_text(tensors, refs,
                                          half + "1: #kernel block [] ( // k\n in T[1] i32(1:1)\n"
                                                 " in D[0] fp32(4:1)\n inout O[0] fp32(1:1)\n) {\n"
                                                 " 0: $i = load(T)\n 1: $v = load(D[$i])\n"
                                                 " 2: O = store($v)\n}\n")),
                      data);
  EXPECT_NE(loaded.message().find("never written reaches a tensor of the caller"),
            std::string::npos)
      << loaded.to_string();
}

TEST(S9, SampledElementsEqualTheWhole) {
  std::map<std::string, Data> data = {{"D", Data(DataType::fp32, {50, 3})},
                                      {"I", Data(DataType::i32, {200})},
                                      {"O", Data(DataType::fp32, {200, 3})},
                                      {"E", Data(DataType::fp32, {200})},
                                      {"V", Data(DataType::fp32, {30})}};
  for (const char* name : {"D", "I", "E", "V"}) data[name].randomize(5);
  for (const std::string& text : {gather_text(50, 3, 200, "fp32", "i32"),
                                  scatter_text(30, 200, "fp32", "i32", ":add.fp32")}) {
    const stripe::Program program = parsed(text);
    std::map<std::string, Data> used;
    for (const stripe::Refinement& ref : program.entry.refs) used[ref.into] = data[ref.into];
    auto whole = interpret_with_bounds(program, args(used));
    auto some = interpret_sample(program, args(used), 20, 9);
    ASSERT_TRUE(whole.ok() && some.ok()) << whole.status().to_string() << some.status().to_string();
    for (size_t s = 0; s < some->at(0).size(); ++s) {
      const auto at = static_cast<size_t>(some->at(0).elements[s]);
      EXPECT_EQ(some->at(0).typed[s].f, whole->at(0).typed[at].f);
      EXPECT_EQ(some->at(0).value[s], whole->at(0).value[at]);
      EXPECT_EQ(some->at(0).bound[s], whole->at(0).bound[at]);
    }
  }
}

}  // namespace
}  // namespace stria::interp
