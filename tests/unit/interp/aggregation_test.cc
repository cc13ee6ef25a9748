// SPDX-License-Identifier: Apache-2.0
// Every aggregation in every type, against a loop over the scalar rules: identities, wrapping, NaN,
// running values in the aggregation type, one rounding at the end, and both directions.
#include <cmath>

#include "programs.h"
#include "stria/builtins/builtin.h"

namespace stria::interp {
namespace {

using namespace testing;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  std::string op;
  DataType storage, running;
  std::string dir;
};

std::string reduction(const Case& c, int n) {
  const std::string type(name_of(c.storage)), agg = c.op + "." + std::string(name_of(c.running));
  return program_text(
      fmt::format("none new@0x0 A[0] {}({}:1)\nnone new@0x0 O[] {}()\n", name_of(c.running), n,
                  type),
      fmt::format("in A[0] {}({}:1)\n{} O[] {}()\n", name_of(c.running), n, c.dir, type),
      fmt::format("0: #kernel block [i:{}] ( // reduce\n  in A[i] {}(1:1)\n  {} O[]:{} {}()\n) {{\n"
                  " 0: $a = load(A)\n 1: O = store($a)\n}}\n",
                  n, name_of(c.running), c.dir, agg, type));
}

double expected(const Case& c, const Data& a, const Data& start) {
  const Builtin& op = *find_builtin(c.op);
  const double inf = std::numeric_limits<double>::infinity();
  Scalar running = convert(Scalar::of_float(DataType::fp64, c.op == "add" ? 0 : 1), c.running);
  if (c.op == "max" || c.op == "min") {
    running = convert(Scalar::of_float(DataType::fp64, c.op == "max" ? -inf : inf), c.running);
    if (c.running == DataType::boolean) running = Scalar::of_bool(c.op == "min");
  }
  if (c.dir == "inout") running = convert(start.at(0), c.running);
  for (int64_t i = 0; i < a.shape.element_count(); ++i) {
    const Scalar pair[] = {running, a.at(i)};
    running = op.reference(c.running, pair);
  }
  return convert(running, c.storage).to_double();
}

TEST(Aggregation, EveryOperationInEveryType) {
  for (const char* op : {"add", "mul", "max", "min"})
    for (int t = 0; t < kDataTypeCount; ++t)
      for (DataType running :
           {static_cast<DataType>(t), accumulation_type(static_cast<DataType>(t))})
        for (const char* dir : {"out", "inout"})
          for (bool flat : {true, false})
            for (int n : {1, 2, 3, 300}) {
              const Case c{op, static_cast<DataType>(t), running, dir};
              SCOPED_TRACE(reduction(c, n));
              std::map<std::string, Data> data;
              data["A"] = Data(running, {n});
              data["A"].randomize(static_cast<uint32_t>(t * 7 + n));
              data["O"] = Data(c.storage, {}, {3});
              const double want = expected(c, data["A"], data["O"]);
              ASSERT_TRUE(run(parsed(reduction(c, n)), data, {.flat_path = flat}).ok());
              const double got = data["O"].at(0).to_double();
              if (std::isnan(want))
                ASSERT_TRUE(std::isnan(got));
              else
                ASSERT_EQ(got, want);
            }
}

TEST(Aggregation, NanPropagatesAndInfinitiesAreNoIdentity) {
  for (const char* op : {"add", "mul", "max", "min"})
    for (DataType type : {DataType::fp16, DataType::bf16, DataType::fp32, DataType::fp64})
      for (bool flat : {true, false}) {
        const Case c{op, type, accumulation_type(type), "out"};
        std::map<std::string, Data> data;
        data["A"] = Data(c.running, {6}, {1, 2, kNan, 3, 4, 5});
        data["O"] = Data(type, {});
        ASSERT_TRUE(run(parsed(reduction(c, 6)), data, {.flat_path = flat}).ok());
        EXPECT_TRUE(std::isnan(data["O"].at(0).f)) << op;
        data["A"] = Data(c.running, {6},
                         std::vector<double>(6, op == std::string("max") ? -HUGE_VAL : HUGE_VAL));
        ASSERT_TRUE(run(parsed(reduction(c, 6)), data, {.flat_path = flat}).ok());
        EXPECT_TRUE(std::isinf(data["O"].at(0).f)) << op;
      }
}

TEST(Aggregation, RoundsOnceAtTheEnd) {
  // 2048 ones in fp16: the running fp32 sum reaches 4096; in fp16 it would stick at 2048.
  const Case wide{"add", DataType::fp16, DataType::fp32, "out"};
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {4096}, std::vector<double>(4096, 1.0));
  data["O"] = Data(DataType::fp16, {});
  ASSERT_TRUE(run(parsed(reduction(wide, 4096)), data).ok());
  EXPECT_EQ(data["O"].at(0).f, 4096);
  // 300 times 100 in i8 overflows many times in i8, in i32 not at all: 30000 mod 256 = 48.
  const Case narrow{"add", DataType::i8, DataType::i32, "out"};
  data["A"] = Data(DataType::i32, {300}, std::vector<double>(300, 100));
  data["O"] = Data(DataType::i8, {});
  ASSERT_TRUE(run(parsed(reduction(narrow, 300)), data).ok());
  EXPECT_EQ(data["O"].at(0).i, 48);
}

TEST(Aggregation, TheOutermostRefinementOfAChainDecides) {
  // Outer block: two halves of the sum; inner: its elements. Running value over both, from 0 with
  // `out` outside, from the content with `inout` outside, whatever the inner one says.
  for (const char* outer : {"out", "inout"})
    for (const char* inner : {"out", "inout"}) {
      const std::string text = program_text(
          "none new@0x0 A[0] fp32(8:1)\nnone new@0x0 O[0] fp16(2:1)\n",
          fmt::format("in A[0] fp32(8:1)\n{} O[0] fp16(2:1)\n", outer),
          fmt::format(
              "0: #kernel block [h:2, o:2] ( // outer\n  in A[4*h] fp32(4:1)\n  {} O[o]:add.fp32 "
              "fp16(1:1)\n) {{\n"
              "  0: block [i:4] (\n    in A[i] fp32(1:1)\n    {} O[0]:add.fp32 fp16(1:1)\n  ) {{\n"
              "   0: $a = load(A)\n   1: O = store($a)\n  }}\n}}\n",
              outer, inner));
      std::map<std::string, Data> data;
      data["A"] = Data(DataType::fp32, {8}, {1, 2, 3, 4, 5, 6, 7, 8});
      data["O"] = Data(DataType::fp16, {2}, {100, 200});
      ASSERT_TRUE(run(parsed(text), data).ok());
      const double base = outer == std::string("inout");
      EXPECT_EQ(data["O"].values(), (std::vector<double>{36 + 100 * base, 36 + 200 * base}));
    }
}

// Rule S6: each of two blocks beside each other has a chain of its own.
TEST(Aggregation, BlocksBesideEachOtherStartAgain) {
  const auto sum_of = [](int number, int count) {
    return fmt::format(
        "  {}: block [i:{}] (\n    in A[i] fp32(1:1)\n    out O[0]:add.fp32 fp32(1:1)\n  ) {{\n"
        "   0: $a = load(A)\n   1: O = store($a)\n  }}\n",
        number, count);
  };
  const std::string text = program_text(
      "none new@0x0 A[0] fp32(4:1)\nnone new@0x0 O[0] fp32(1:1)\n",
      "in A[0] fp32(4:1)\nout O[0] fp32(1:1)\n",
      fmt::format("0: #kernel block [] ( // twice\n  in A[0] fp32(4:1)\n  out O[0] fp32(1:1)\n) "
                  "{{\n{}{}}}\n",
                  sum_of(0, 4), sum_of(1, 2)));
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {4}, {1, 2, 3, 4});
  data["O"] = Data(DataType::fp32, {1}, {100});
  ASSERT_TRUE(run(parsed(text), data).ok());
  EXPECT_EQ(data["O"].values(), std::vector<double>{3});
}

TEST(Aggregation, MixedChainsAreRefused) {
  const std::string text =
      program_text("none new@0x0 O[0] fp32(2:1)\n", "out O[0] fp32(2:1)\n",
                   "0: #kernel block [o:2] ( // outer\n  out O[o]:add.fp32 fp32(1:1)\n) {\n"
                   "  0: block [i:4] (\n    out O[0]:max.fp32 fp32(1:1)\n  ) {\n   0: $a = "
                   "(fp32)1.0\n   1: O = store($a)\n  }\n}\n");
  std::map<std::string, Data> data;
  data["O"] = Data(DataType::fp32, {2});
  const Status status = run(parsed(text), data);
  EXPECT_EQ(status.message(),
            "block outer/0: refinement O has aggregation max.fp32, but O around it has add.fp32");
}

}  // namespace
}  // namespace stria::interp
