// SPDX-License-Identifier: Apache-2.0
// Kernels in which subgroups hold matrices: right ones give what they should, whoever holds which
// element, and what is wrong in them is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "matrix_kernel.h"
#include "matrix_values.h"
#include "product_run.h"
#include "program_run.h"
#include "stria/base/file.h"
#include "stria/semtree/tree/expr.h"
#include "stria/stripe/text/parser.h"

namespace stria::lanes {
namespace {

using namespace semtree;
using test::MatrixKernel;
using testing::AllOf;
using testing::HasSubstr;

constexpr DataType kIndex = DataType::i32;

ExprRef number(int64_t value) { return integer(kIndex, value); }
ExprRef index(int which) { return variable(which, {kIndex, 1}); }

std::string found(const std::function<void(Function&)>& change) {
  return ProductRun(MatrixKernel{}).found(change);
}

// The statement with this operation in `body`, and in those inside it; null: there is none.
template <typename Op>
Op* first(
    Body& body, const std::function<bool(const Op&)>& wanted = [](const Op&) { return true; }) {
  Op* out = nullptr;
  walk(body, [&](Statement& statement) {
    auto* op = std::get_if<Op>(&statement.op);
    if (!out && op && wanted(*op)) out = op;
  });
  return out;
}
MatrixLoad& load_from(Function& f, int memory) {
  return *first<MatrixLoad>(f.body,
                            [&](const MatrixLoad& l) { return l.from.place.memory == memory; });
}

TEST(MatrixRun, ProductsAreRight) {
  for (const int64_t subgroup : {4, 8, 16, 32, 64, 128})
    for (const bool columns : {false, true})
      for (const auto& [operand, sum, result] :
           {std::array{DataType::fp16, DataType::fp32, DataType::fp32},
            std::array{DataType::fp16, DataType::fp32, DataType::fp16},
            std::array{DataType::i8, DataType::i32, DataType::i32},
            std::array{DataType::bf16, DataType::fp32, DataType::bf16}}) {
        ProductRun run({subgroup, operand, sum, result, columns});
        EXPECT_EQ(run.message(static_cast<uint64_t>(subgroup)), "");
        EXPECT_EQ(run.wrong(), "") << subgroup << ", columns: " << columns;
        EXPECT_EQ(run.counts.products, 4);
        EXPECT_EQ(run.counts.stores, MatrixKernel::kRows * MatrixKernel::kColumns);
      }
}

// Every lane holds some element of a matrix, and of different forms different ones.
TEST(MatrixRun, HoldersDependOnTheForm) {
  Array array{.name = "m", .type = DataType::fp32, .count = 1};
  const auto holders = [&](Array::Fragment form, DataType type) {
    array.fragment = form;
    array.type = type;
    std::vector<int64_t> out;
    for (int64_t i = 0; i < 256; ++i) out.push_back(holder(array, i, 32));
    return out;
  };
  using Use = Array::Fragment::Use;
  const auto sums = holders({Use::sum, 16, 16}, DataType::fp32);
  for (int64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(std::count(sums.begin(), sums.end(), lane), 8);
  EXPECT_EQ(sums, holders({Use::sum, 16, 16}, DataType::fp32));
  EXPECT_NE(sums, holders({Use::left, 16, 16}, DataType::fp32));
  EXPECT_NE(sums, holders({Use::sum, 16, 8}, DataType::fp32));
  EXPECT_NE(sums, holders({Use::sum, 16, 16}, DataType::i32));
}

TEST(MatrixRun, ALaneThatIsMissing) {
  const ExprRef some = binary(Op::lt, index(MatrixKernel::kLane), number(40));
  // Around the fill, the load of the bias, the loop over elements, the store.
  for (const size_t i : {1, 3, 4, 5})
    EXPECT_THAT(
        found([&](Function& f) { f.body[i] = {If{some, {Statement(f.body[i])}, {}}}; }),
        HasSubstr("lanes 32 and 40 of group 0 do not come together to the matrices in `if lane <"))
        << i;
  // A whole subgroup that is missing leaves a part of R out.
  ProductRun run(MatrixKernel{});
  const ExprRef half = binary(Op::lt, index(MatrixKernel::kLane), number(32));
  EXPECT_EQ(run.found([&](Function& f) { f.body[5] = {If{half, {Statement(f.body[5])}, {}}}; }),
            "");
  EXPECT_THAT(run.wrong(), HasSubstr("R[16, 0] is 0.0 (never written)"));
  EXPECT_THAT(
      found([&](Function& f) {
        const int round = static_cast<int>(f.vars.size());
        f.vars.push_back({"round", {kIndex, 1}});
        f.body[1] = {For{round, number(0), index(MatrixKernel::kLane), {Statement(f.body[1])}}};
      }),
      HasSubstr("do not come together to the matrices in `for round in"));
}

TEST(MatrixRun, APlaceOfEachLane) {
  EXPECT_THAT(found([](Function& f) {
                Place& place = load_from(f, MatrixKernel::kA).from.place;
                place.offset = binary(Op::mul, index(MatrixKernel::kLane), number(16));
              }),
              HasSubstr("lanes 0 and 1 of group 0 do not come together to the matrices in "
                        "`left[0] = matrix A["));
}

TEST(MatrixRun, AWrongStride) {
  // Shorter than a row: rows overlap.
  EXPECT_THAT(found([](Function& f) { first<MatrixStore>(f.body)->to.row_stride = 8; }),
              HasSubstr("touch element 8 of 'R'"));
  EXPECT_THAT(found([](Function& f) { first<MatrixStore>(f.body)->to.row_stride = 0; }),
              HasSubstr("touch element 0 of 'R'"));
  EXPECT_THAT(found([](Function& f) { load_from(f, MatrixKernel::kA).from.row_stride = 64; }),
              HasSubstr("of 'A', which has 1024"));
  EXPECT_THAT(found([](Function& f) { load_from(f, MatrixKernel::kA).from.column_stride = 2; }),
              HasSubstr("no step of 1"));
  // Rows for columns.
  ProductRun turned(MatrixKernel{});
  EXPECT_EQ(turned.found([](Function& f) {
    MatrixPlace& from = load_from(f, MatrixKernel::kS).from;
    std::swap(from.row_stride, from.column_stride);
  }),
            "");
  EXPECT_THAT(turned.wrong(), HasSubstr("R[0, 0] is "));
}

TEST(MatrixRun, ABarrierThatIsMissing) {
  for (const size_t which : {1, 5}) {
    const std::string text = found([&](Function& f) {
      Body& step = first<For>(f.body)->body;
      ASSERT_TRUE(std::holds_alternative<Barrier>(step[which].op));
      step.erase(step.begin() + static_cast<std::ptrdiff_t>(which));
    });
    EXPECT_THAT(text, AllOf(HasSubstr("of 'S' with no barrier between"), HasSubstr("S[")));
  }
}

TEST(MatrixRun, SubgroupsThatStoreTheSame) {
  EXPECT_THAT(found([](Function& f) { first<MatrixStore>(f.body)->to.place.offset = nullptr; }),
              HasSubstr("touch element "));
}

// Of matrices of another form or type a lane holds other elements.
TEST(MatrixRun, ElementsOfTwoForms) {
  EXPECT_THAT(found([](Function& f) { f.array(MatrixKernel::kAdded).type = DataType::fp64; }),
              HasSubstr("'sum' and 'added' are not of one form and type"));
  EXPECT_THAT(found([](Function& f) { f.array(MatrixKernel::kAdded).fragment->columns = 8; }),
              HasSubstr("'sum' and 'added' are not of one form and type"));
}

TEST(MatrixRun, PromisesOfTheTree) {
  EXPECT_THAT(found([](Function& f) { f.array(MatrixKernel::kRight).fragment->rows = 8; }),
              HasSubstr("`sum[0] += left[0] * right[0]`: the matrices do not fit together"));
  EXPECT_THAT(
      found([](Function& f) { first<MatrixFill>(f.body)->value = Scalar::of_int(kIndex, 0); }),
      HasSubstr("fills with i32"));
  EXPECT_THAT(found([](Function& f) { first<MatrixFill>(f.body)->to.number = 1; }),
              HasSubstr("there is no matrix 1 of 'sum'"));
  EXPECT_THAT(found([](Function& f) { load_from(f, MatrixKernel::kA).from.place.multiple = 1024; }),
              HasSubstr("in 'A' is no multiple of 1024"));
  EXPECT_THAT(found([](Function& f) { f.params[MatrixKernel::kR].writable = false; }),
              HasSubstr("'R', or it is only read"));
  EXPECT_THAT(found([](Function& f) { f.array(MatrixKernel::kS).shared = false; }),
              HasSubstr("lanes do not share 'S'"));
  // Outside of a loop over elements.
  EXPECT_THAT(found([](Function& f) {
                Body inner = first<ElementLoop>(f.body)->body;
                f.body.insert(f.body.end() - 1, inner.begin(), inner.end());
              }),
              HasSubstr("touches a matrix, and is no single element"));
  ProductRun odd(MatrixKernel{});
  odd.function.group_lanes = 48;
  EXPECT_THAT(odd.message(), HasSubstr("groups of 48 lanes are no whole subgroups of 32"));
}

// What was never written stays so through a product.
TEST(MatrixRun, MatricesThatWereNeverWritten) {
  ProductRun run(MatrixKernel{});
  EXPECT_EQ(run.found([](Function& f) { f.body.erase(f.body.begin() + 1); }), "");
  EXPECT_THAT(run.wrong(), HasSubstr("(never written)"));
}

// R = A * B + C as the builder makes it of Stripe.
TEST(MatrixRun, OfADeviceProgram) {
  constexpr int64_t kRows = 32, kTile = 16;
  const std::string file = STRIA_SOURCE_DIR "/tests/golden/vulkan/matrices.test";
  const std::string all = read_file(file).value();
  const size_t begin = all.find("stripe 1.0");
  auto program = stripe::parse({file, all.substr(begin, all.find("// ----") - begin)});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  std::vector<uint16_t> a(kRows * kTile), b(kTile * kTile), r(kRows * kTile);
  std::vector<float> c(kTile);
  const auto half = [](std::vector<uint16_t>& to, size_t i, double value) {
    store_scalar(DataType::fp16, to.data(), static_cast<int64_t>(i),
                 Scalar::of_float(DataType::fp16, value));
  };
  for (size_t i = 0; i < a.size(); ++i) half(a, i, static_cast<double>(i * 7 % 11) - 5);
  for (size_t i = 0; i < b.size(); ++i) half(b, i, static_cast<double>(i * 5 % 7) - 3);
  for (size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i);
  SourceOptions options;
  options.build.subgroup_lanes = 32;
  RunCounts counts;
  const Status status = run_program(*program, options,
                                    {{"A", a.data(), dense_shape(DataType::fp16, {kRows, kTile})},
                                     {"B", b.data(), dense_shape(DataType::fp16, {kTile, kTile})},
                                     {"C", c.data(), dense_shape(DataType::fp32, {kTile})},
                                     {"R", r.data(), dense_shape(DataType::fp16, {kRows, kTile})}},
                                    1, counts);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(counts.products, 2);
  const auto value = [](const std::vector<uint16_t>& of, int64_t i) {
    return load_scalar(DataType::fp16, of.data(), i).f;
  };
  for (int64_t m = 0; m < kRows; ++m)
    for (int64_t n = 0; n < kTile; ++n) {
      double sum = static_cast<double>(n);
      for (int64_t k = 0; k < kTile; ++k) sum += value(a, m * kTile + k) * value(b, k * kTile + n);
      ASSERT_EQ(value(r, m * kTile + n), sum) << m << ", " << n;
    }
}

// Two subgroups of 4 lanes. Each lane has written an element of the array that all share; then
// `rest`, in which `lane` and `first` (of its subgroup) are variables.
std::string found_behind_writes(const std::function<Body(int lane, int first, int value)>& rest) {
  enum { kLane, kFirst, kValue };
  Function f;
  f.name = "k";
  f.index_type = kIndex;
  f.arrays = {{.name = "S", .type = kIndex, .count = 8, .shared = true}};
  for (const char* name : {"lane", "first", "value"}) f.vars.push_back({name, {kIndex, 1}});
  f.lane_var = kLane;
  f.group_lanes = 8;
  f.body = {{Let{kFirst, binary(Op::mul, binary(Op::div, index(kLane), number(4)), number(4))}},
            {Store{{.memory = 0, .offset = index(kLane)}, index(kLane)}},
            {SubgroupBarrier{}}};
  for (Statement& statement : rest(kLane, kFirst, kValue)) f.body.push_back(std::move(statement));
  std::string out;
  for (const uint64_t seed : {1, 2, 3}) {
    RunCounts counts;
    const std::string now(run_kernel(f, {}, seed, counts, 4).message());
    if (now.empty()) return "";
    out = now;
  }
  return out;
}

TEST(MatrixRun, BarriersOfSubgroups) {
  const auto read = [](ExprRef element, int into) {
    return Statement{Load{into, {.memory = 0, .offset = std::move(element)}}};
  };
  EXPECT_EQ(found_behind_writes([&](int lane, int, int value) {
              return Body{read(binary(Op::bit_xor, index(lane), number(1)), value)};
            }),
            "");
  const std::string race = "with no barrier between that orders it";
  EXPECT_THAT(found_behind_writes([&](int lane, int, int value) {
                return Body{read(binary(Op::bit_xor, index(lane), number(4)), value)};
              }),
              HasSubstr(race))
      << "they do not order what another subgroup does";
  // Readers before a barrier do not hide those behind it.
  const auto written = [&](bool at_once) {
    return found_behind_writes([&](int lane, int first, int value) {
      Body out = {read(index(first), value), {SubgroupBarrier{}}, read(index(first), value)};
      if (!at_once) out.push_back({SubgroupBarrier{}});
      const ExprRef third = binary(Op::eq, binary(Op::sub, index(lane), index(first)), number(2));
      out.push_back({If{third, {{Store{{.memory = 0, .offset = index(first)}, number(5)}}}, {}}});
      return out;
    });
  };
  EXPECT_EQ(written(false), "");
  EXPECT_THAT(written(true), HasSubstr(race));
}

}  // namespace
}  // namespace stria::lanes
