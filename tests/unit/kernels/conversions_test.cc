// SPDX-License-Identifier: Apache-2.0
// Every type into every type, at a store and by the cast intrinsic, bit for bit as the interpreter
// does it.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel_runner.h"

namespace stria::kernels {
namespace {

constexpr int64_t kCount = 256;

// One kernel from type `from` to all types: by store alone, and by the cast intrinsic before it.
std::string kernel(const TestTensor& in, std::vector<TestTensor>& all, int64_t lanes) {
  std::string outer = fmt::format("in {}\n", element_view(in, fmt::format("{}*x", lanes)));
  std::string inner = fmt::format("in {}\n", element_view(in, "l"));
  std::string statements = "0: $a = load(A)\n";
  int number = 1;
  for (int t = 0; t < kDataTypeCount; ++t) {
    const DataType to = static_cast<DataType>(t);
    if ((t + static_cast<int>(in.type)) % std::min(kOneOf, 3) != 0) continue;
    statements += fmt::format("{}: $c{} = ident.{}($a)\n", number++, t, name_of(to));
    for (const char* way : {"stored", "cast"}) {
      all.push_back({fmt::format("{}_{}_{}", way, name_of(to), lanes), to, {kCount}, "out"});
      outer += fmt::format("out {}\n", element_view(all.back(), fmt::format("{}*x", lanes)));
      inner += fmt::format("out {}\n", element_view(all.back(), "l"));
      statements += fmt::format("{}: {} = store(${})\n", number++, all.back().name,
                                way[0] == 'c' ? fmt::format("c{}", t) : "a");
    }
  }
  return fmt::format(
      "#kernel #parallel block [x:{}] (\n{}) {{\n0: #vector block [l:{}] (\n{}) {{\n{}}}\n}}",
      kCount / lanes, outer, lanes, inner, statements);
}

TEST(Conversions, EveryPairOfTypes) {
  for (int f = 0; f < kDataTypeCount; ++f) {
    std::vector<TestTensor> all{{"A", static_cast<DataType>(f), {kCount}}};
    std::vector<std::string> kernels;
    for (int64_t lanes : {1, 16})
      kernels.push_back(kernel({"A", static_cast<DataType>(f), {kCount}}, all, lanes));
    SCOPED_TRACE(name_of(static_cast<DataType>(f)));
    EXPECT_EQ(difference(program_text(all, kernels), 0, 0, {}, 7 + static_cast<uint64_t>(f)), "");
  }
}

// 64-bit integers and doubles beside the middle of two neighbours of a 16-bit type: rounding twice
// is wrong.
TEST(Conversions, SixteenBitFloatsRoundOnce) {
  std::vector<Scalar> numbers, doubles;
  for (int64_t base :
       {int64_t{257} << 54, int64_t{259} << 54, (int64_t{257} << 10), (int64_t{4097} << 3)})
    for (int64_t step : {-1, 0, 1})
      for (int64_t sign : {1, -1})
        numbers.push_back(Scalar::of_int(DataType::i64, sign * (base + step)));
  for (double base : {1.0 + 0x1p-8, 1.0 + 3 * 0x1p-8, 1.0 + 0x1p-11, 1.0 + 3 * 0x1p-11, 65520.0,
                      0x1p-25, 3 * 0x1p-25})
    for (double step : {-0x1p-40, 0.0, 0x1p-40})
      for (double sign : {1.0, -1.0})
        doubles.push_back(Scalar::of_float(DataType::fp64, sign * base * (1 + step)));
  for (DataType to : {DataType::bf16, DataType::fp16}) {
    for (const auto* values : {&numbers, &doubles}) {
      const int64_t count = static_cast<int64_t>(values->size());
      TestTensor in{"A", values->front().type, {count}}, out{"R", to, {count}, "out"};
      EXPECT_EQ(difference(program_text(
                               {in, out},
                               {fmt::format("#kernel #parallel block [x:{}] (\nin {}\nout {}) {{\n"
                                            "0: $a = load(A)\n1: R = store($a)\n}}",
                                            count, element_view(in, "x"), element_view(out, "x"))}),
                           0, 0, {{"A", *values}}),
                "");
    }
  }
}

}  // namespace
}  // namespace stria::kernels
