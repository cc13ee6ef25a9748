// SPDX-License-Identifier: Apache-2.0
// Error bounds: that they hold, that they are not loose, what is undecided, what a device may lose
// that takes subnormal numbers for zero, and what the comparison says about right and wrong
// results.
#include "stria/interp/check.h"

#include <cmath>

#include "random_leaf.h"

namespace stria::interp {
namespace {

using namespace testing;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<TensorArg> args(std::map<std::string, Data>& data) {
  std::vector<TensorArg> out;
  for (auto& [name, one] : data) out.push_back({name, one.bytes.data(), one.shape});
  return out;
}

Reference bounds(const std::string& text, std::map<std::string, Data>& data,
                 const InterpOptions& options = {}) {
  auto result = interpret_with_bounds(parsed(text), args(data), options);
  EXPECT_TRUE(result.ok()) << result.status().to_string() << "\n" << text;
  return result.ok() ? result->at(0) : Reference();
}

std::string unary(const std::string& type, int n, const std::string& statements,
                  const std::string& out_type = "") {
  const std::string to = out_type.empty() ? type : out_type;
  return program_text(
      fmt::format("none new@0x0 A[0] {}({}:1)\nnone new@0x0 O[0] {}({}:1)\n", type, n, to, n),
      fmt::format("in A[0] {}({}:1)\nout O[0] {}({}:1)\n", type, n, to, n),
      fmt::format("0: #kernel block [i:{}] ( // k\n  in A[i] {}(1:1)\n  out O[i] {}(1:1)\n) {{\n"
                  " 0: $a = load(A)\n{}}}\n",
                  n, type, to, statements));
}

std::string sum(const std::string& type, int n, const std::string& agg) {
  return program_text(
      fmt::format("none new@0x0 A[0] {}({}:1)\nnone new@0x0 O[] {}()\n", type, n, type),
      fmt::format("in A[0] {}({}:1)\nout O[] {}()\n", type, n, type),
      fmt::format("0: #kernel block [i:{}] ( // k\n  in A[i] {}(1:1)\n  out O[]:{} {}()\n) {{\n"
                  " 0: $a = load(A)\n 1: O = store($a)\n}}\n",
                  n, type, agg, type));
}

TEST(Bounds, HoldForTheTypedResultOfRandomPrograms) {
  int64_t elements = 0, skipped = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    RandomLeaf leaf(seed);
    leaf.make();
    const stripe::Program program = parsed(leaf.text);
    if (HasFailure()) return;
    auto typed = leaf.data;
    const InterpOptions flat{.need_all_outputs = false},
        general{.flat_path = false, .need_all_outputs = false};
    if (!run(program, typed, flat).ok()) continue;
    auto a = interpret_with_bounds(program, args(leaf.data), flat);
    auto b = interpret_with_bounds(program, args(leaf.data), general);
    ASSERT_TRUE(a.ok() && b.ok()) << leaf.text;
    const Reference &x = a->at(0), &y = b->at(0);
    auto report = compare({"O", typed["O"].bytes.data(), typed["O"].shape}, x);
    ASSERT_TRUE(report.ok());
    ASSERT_TRUE(report->passed()) << "seed " << seed << "\n" << leaf.text << report->worst_text;
    elements += report->compared;
    skipped += report->skipped;
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(x.undecided[i], y.undecided[i]) << "seed " << seed << " element " << i << "\n"
                                                << leaf.text;
      if (x.undecided[i]) continue;
      ASSERT_TRUE(x.value[i] == y.value[i] || (std::isnan(x.value[i]) && std::isnan(y.value[i])))
          << "seed " << seed;
      ASSERT_EQ(x.bound[i], y.bound[i]) << "seed " << seed << "\n" << leaf.text;
      if (!is_float(x.typed[i].type)) {
        ASSERT_EQ(x.bound[i], 0);
      }
    }
  }
  EXPECT_GT(elements, 10000);
  printf("bounds: %lld elements, %lld undecided or unwritten\n", static_cast<long long>(elements),
         static_cast<long long>(skipped));
}

// Rule M11.
TEST(Bounds, OfASumIsGammaTimesTheMagnitudes) {
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {1000}, std::vector<double>(1000, -3));
  const Reference reference = bounds(sum("fp32", 1000, "add.fp32"), data);
  const double u = std::ldexp(1, -24);
  EXPECT_EQ(reference.value[0], -3000);
  EXPECT_NEAR(reference.bound[0], 1001 * u / (1 - 1001 * u) * 3000, 1e-9);
  // One rounding to fp16 is added.
  data["A"] = Data(DataType::fp16, {1000}, std::vector<double>(1000, -3));
  const Reference half = bounds(sum("fp16", 1000, "add.fp32"), data);
  EXPECT_NEAR(half.bound[0], 1001 * u / (1 - 1001 * u) * 3000 + 1, 1e-9);  // ulp of fp16 there is 2
}

TEST(Bounds, HoldForAnyOrderOfSummationAndAreNotLoose) {
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {4000});
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 4000; ++i) data["A"].set(i, normal(random));
  const Reference reference = bounds(sum("fp32", 4000, "add.fp32"), data);
  float lanes[16] = {}, backwards = 0;
  for (int i = 0; i < 4000; ++i) lanes[i % 16] += static_cast<float>(data["A"].at(i).f);
  for (int i = 4000; i-- > 0;) backwards += static_cast<float>(data["A"].at(i).f);
  Data result(DataType::fp32, {});
  float total = 0;
  for (float lane : lanes) total += lane;
  for (float candidate : {total, backwards}) {
    result.set(0, candidate);
    EXPECT_TRUE(compare({"O", result.bytes.data(), result.shape}, reference)->passed());
  }
  result.set(0, total + 2 * reference.bound[0]);
  auto report = compare({"O", result.bytes.data(), result.shape}, reference);
  EXPECT_EQ(report->failures, 1);
  EXPECT_LT(reference.bound[0], 1.0);
}

// The bounds of what one view sees of the sum that another adds to: point by point, row by row, and
// with the wider running value that is not in memory yet.
TEST(Bounds, OfASumThatAnotherViewSeesGrow) {
  for (const char* agg : {"add.fp32", "add.fp64", "max.fp32", "max.fp64"}) {
    const std::string text = program_text(
        "none new@0x0 A[0] fp32(6:1)\nnone new@0x0 S[] fp32()\nnone new@0x0 P[0] fp32(6:1)\n",
        "in A[0] fp32(6:1)\nout P[0] fp32(6:1)\ninout S[] fp32()\n",
        fmt::format("0: #kernel block [i:6] ( // k\n  in A[i] fp32(1:1)\n  out P[i] fp32(1:1)\n"
                    "  inout S[]:{} fp32()\n  in T = S[] fp32()\n) {{\n 0: $t = load(T)\n"
                    " 1: P = store($t)\n 2: $a = load(A)\n 3: S = store($a)\n"
                    " 4: block [j:1] ( // leaf\n  in T[] fp32()\n  out P[j] fp32(1:1)\n) {{\n"
                    "  0: $t = load(T)\n  1: P = store($t)\n }}\n}}\n",
                    agg));
    std::map<std::string, Data> data;
    data["A"] = Data(DataType::fp32, {6}, {0.5, 1.5, -2, 4, 8, 0.25});
    data["S"] = Data(DataType::fp32, {}, {3});
    for (const bool flat : {true, false}) {
      const Reference seen = bounds(text, data, {.flat_path = flat});
      ASSERT_EQ(seen.size(), 6u);
      for (size_t i = 0; i < seen.size(); ++i) {
        if (seen.undecided[i]) continue;
        EXPECT_NEAR(seen.value[i], seen.typed[i].to_double(), seen.bound[i]) << agg << " " << i;
        EXPECT_LT(seen.bound[i], 1e-3);
      }
      const bool widened = std::string(agg).ends_with("fp64");
      EXPECT_EQ(std::count(seen.undecided.begin(), seen.undecided.end(), 0), widened ? 0 : 6)
          << agg;
    }
  }
}

// Who loads a running value of a wider type rounds it.
TEST(Bounds, OfARunningValueThatIsLoadedNarrower) {
  for (const char* agg : {"add", "max", "mul"}) {
    const std::string text = program_text(
        "none new@0x0 A[0] fp32(4:1)\nnone new@0x0 S[] fp16()\nnone new@0x0 P[0] fp32(4:1)\n",
        "in A[0] fp32(4:1)\nout P[0] fp32(4:1)\ninout S[] fp16()\n",
        fmt::format("0: #kernel block [i:4] ( // k\n  in A[i] fp32(1:1)\n  out P[i] fp32(1:1)\n"
                    "  inout S[]:{}.fp32 fp16()\n) {{\n 0: $a = load(A)\n 1: S = store($a)\n"
                    " 2: block [j:1] ( // leaf\n  in S[] fp16()\n  out P[j] fp32(1:1)\n) {{\n"
                    "  0: $s = load(S)\n  1: P = store($s)\n }}\n}}\n",
                    agg));
    std::map<std::string, Data> data;
    data["A"] = Data(DataType::fp32, {4}, {1001.3, 1.1, 12.7, 3.3});
    data["S"] = Data(DataType::fp16, {}, {1});
    const Reference seen = bounds(text, data);
    ASSERT_EQ(seen.size(), 4u);
    for (size_t i = 0; i < seen.size(); ++i) {
      if (seen.undecided[i]) continue;
      EXPECT_NEAR(seen.value[i], seen.typed[i].to_double(), seen.bound[i]) << agg << " " << i;
    }
  }
}

TEST(Bounds, OfBuiltins) {
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {3}, {0.5, 2, 10});
  Reference reference = bounds(
      unary("fp32", 3, " 1: $e = exp.fp32($a)\n 2: $s = mul.fp32($e, $e)\n 3: O = store($s)\n"),
      data);
  for (int i = 0; i < 3; ++i) {
    const double a = data["A"].at(i).f, want = std::exp(2 * a);
    EXPECT_DOUBLE_EQ(reference.value[static_cast<size_t>(i)], want);
    EXPECT_GT(reference.bound[static_cast<size_t>(i)], 3 * 2 * want * std::ldexp(1, -25));
    EXPECT_LT(reference.bound[static_cast<size_t>(i)], 8 * 2 * want * std::ldexp(1, -23));
  }
  // Subtraction of near values keeps the absolute error; a loss of digits, not of the bound.
  reference = bounds(
      unary("fp32", 3, " 1: $e = sin.fp32($a)\n 2: $s = sub.fp32($e, $a)\n 3: O = store($s)\n"),
      data);
  EXPECT_GT(reference.bound[0], 0);
  EXPECT_LT(reference.bound[0], 1e-6);
}

TEST(Bounds, UndecidedComparisonsAreSkippedUnlessTheBranchesMeet) {
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {3}, {1, 2, 0});
  // exp(log(a)) against a: equal but for rounding.
  const std::string near =
      " 1: $l = log.fp32($a)\n 2: $e = exp.fp32($l)\n 3: $c = cmp_gt.fp32($e, $a)\n";
  Reference step = bounds(
      unary("fp32", 3,
            near + " 4: $k = (fp32)5.0\n 5: $r = cond.fp32($c, $k, $a)\n 6: O = store($r)\n"),
      data);
  EXPECT_TRUE(step.undecided[0] && step.undecided[1]);
  Reference clamp =
      bounds(unary("fp32", 3, near + " 4: $r = cond.fp32($c, $e, $a)\n 5: O = store($r)\n"), data);
  EXPECT_FALSE(clamp.undecided[0] || clamp.undecided[1]);
  EXPECT_GT(clamp.bound[1], 0);
  EXPECT_LT(clamp.bound[1], 1e-5);
  // Exact operands decide: a > 0.
  Reference relu =
      bounds(unary("fp32", 3,
                   " 1: $z = (i32)0\n 2: $c = cmp_gt.fp32($a, $z)\n 3: $r = cond.fp32($c, $a, $z)\n"
                   " 4: O = store($r)\n"),
             data);
  EXPECT_EQ(relu.undecided, (std::vector<uint8_t>{0, 0, 0}));
  EXPECT_EQ(relu.bound, (std::vector<double>{0, 0, 0}));
  // A conversion that rounding may tip over, and one it may not.
  Reference cut = bounds(unary("fp32", 3,
                               " 1: $l = log.fp32($a)\n 2: $e = exp.fp32($l)\n 3: $i = "
                               "ident.i32($e)\n 4: O = store($i)\n",
                               "i32"),
                         data);
  EXPECT_TRUE(cut.undecided[1]);
  data["A"] = Data(DataType::fp32, {3}, {1.5, 2.5, 3.5});
  cut = bounds(unary("fp32", 3,
                     " 1: $l = log.fp32($a)\n 2: $e = exp.fp32($l)\n 3: $i = ident.i32($e)\n 4: O "
                     "= store($i)\n",
                     "i32"),
               data);
  EXPECT_EQ(cut.undecided, (std::vector<uint8_t>{0, 0, 0}));
}

// ---- rule M23: a device that takes subnormal numbers for zero

constexpr double kLeast = 0x1p-126;  // the smallest normal number
constexpr double kTiny = 0x1p-130;

InterpOptions flushing(bool flat_path = true) {
  InterpOptions out{.flat_path = flat_path};
  out.flushed.add(DataType::fp32);
  return out;
}

int64_t failures(const Reference& reference, const std::vector<double>& results) {
  Data data(reference.shape.type, reference.shape.sizes(), results);
  auto report = compare({"O", data.bytes.data(), data.shape}, reference);
  EXPECT_TRUE(report.ok());
  return report->failures;
}

TEST(FlushedSubnormals, ArithmeticMayLoseThemAndNothingElse) {
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {5}, {kTiny, -kTiny, 0, kLeast, 1});
  const std::string text = unary("fp32", 5, " 1: $r = add.fp32($a, $a)\n 2: O = store($r)\n");
  const std::vector<double> kept = {2 * kTiny, -2 * kTiny, 0, 2 * kLeast, 2};
  const std::vector<double> lost = {0, -0.0, 0, 2 * kLeast, 2};
  const Reference strict = bounds(text, data);
  EXPECT_EQ(failures(strict, kept), 0);
  EXPECT_EQ(failures(strict, lost), 2);
  for (bool flat : {true, false}) {
    const Reference reference = bounds(text, data, flushing(flat));
    EXPECT_EQ(reference.undecided, std::vector<uint8_t>(5, 0));
    EXPECT_EQ(failures(reference, kept), 0);
    EXPECT_EQ(failures(reference, lost), 0);
    // A zero of exact operands, and what is of normal size, is what it was.
    EXPECT_EQ(reference.bound[2], strict.bound[2]);
    EXPECT_EQ(reference.bound[4], strict.bound[4]);
    EXPECT_EQ(failures(reference, {0, 0, kTiny, 2 * kLeast, 2}), 1);
    EXPECT_EQ(failures(reference, {0, 0, 0, 0, 2}), 1) << "a normal number was lost";
    EXPECT_EQ(failures(reference, {0, 0, 0, 2 * kLeast, 2 + 0x1p-20}), 1);
    EXPECT_EQ(failures(reference, {0, 2 * kLeast, 0, 2 * kLeast, 2}), 1);
  }
  auto sample = interpret_sample(parsed(text), args(data), 5, 1, flushing());
  ASSERT_TRUE(sample.ok());
  EXPECT_EQ((*sample)[0].bound, bounds(text, data, flushing()).bound);
}

TEST(FlushedSubnormals, ErrorsPropagate) {
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {3}, {kTiny, 3 * kLeast, 1});
  // Lost by the product, and made large again.
  const Reference scaled =
      bounds(unary("fp32", 3,
                   " 1: $h = (fp32)0.125\n 2: $l = (fp32)1267650600228229401496703205376.0\n"
                   " 3: $m = mul.fp32($a, $h)\n 4: $r = mul.fp32($m, $l)\n 5: O = store($r)\n"),
             data, flushing());
  EXPECT_EQ(failures(scaled, {0, 0, 0x1p97}), 0);
  EXPECT_EQ(failures(scaled, {0, 0x1p-20, 0x1p97}), 1);
  EXPECT_EQ(failures(scaled, {0, 0, 0x1.001p97}), 1);
  // A function with a pole may be anywhere; elsewhere it is held.
  const Reference log =
      bounds(unary("fp32", 3, " 1: $r = log.fp32($a)\n 2: O = store($r)\n"), data, flushing());
  EXPECT_EQ(log.undecided, (std::vector<uint8_t>{1, 0, 0}));
  EXPECT_LT(log.bound[1], 1e-4);
}

TEST(FlushedSubnormals, ConditionsAndSelections) {
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {4}, {kTiny, -kTiny, -1, kLeast});
  const Reference is_true = bounds(
      unary("fp32", 4, " 1: $r = ident.bool($a)\n 2: O = store($r)\n", "bool"), data, flushing());
  EXPECT_EQ(is_true.undecided, (std::vector<uint8_t>{1, 1, 0, 0}));
  const Reference above =
      bounds(unary("fp32", 4,
                   " 1: $z = (fp32)0.0\n 2: $r = cmp_gt.fp32($a, $z)\n 3: O = store($r)\n", "bool"),
             data, flushing());
  EXPECT_EQ(above.undecided, (std::vector<uint8_t>{1, 1, 0, 0}));
  // Either operand of a maximum, or zero; what is normal stays exact.
  for (const char* relu : {" 1: $r = relu.fp32($a)\n 2: O = store($r)\n",
                           " 1: $z = (fp32)0.0\n 2: $r = max.fp32($a, $z)\n"
                           " 3: O = store($r)\n"}) {
    const Reference reference = bounds(unary("fp32", 4, relu), data, flushing());
    EXPECT_EQ(reference.undecided, std::vector<uint8_t>(4, 0));
    EXPECT_EQ(failures(reference, {0, -kTiny, 0, kLeast}), 0);
    EXPECT_EQ(failures(reference, {0, -kTiny, kTiny, kLeast}), 1);
    EXPECT_EQ(failures(reference, {0, -kTiny, 0, 0}), 1);
  }
}

TEST(FlushedSubnormals, Sums) {
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {1000}, std::vector<double>(1000, kTiny));
  const std::string text = sum("fp32", 1000, "add.fp32");
  EXPECT_EQ(failures(bounds(text, data), {0}), 1);
  EXPECT_EQ(failures(bounds(text, data, flushing()), {0}), 0);
  EXPECT_EQ(failures(bounds(text, data, flushing(false)), {0}), 0);
  data["A"] = Data(DataType::fp32, {1000}, std::vector<double>(1000, 0x1p-100));
  EXPECT_EQ(failures(bounds(text, data, flushing()), {0}), 1);
  data["A"] = Data(DataType::fp32, {1000}, std::vector<double>(1000, 0));
  EXPECT_EQ(failures(bounds(text, data, flushing()), {kTiny}), 1);
}

TEST(FlushedSubnormals, OfOtherTypes) {
  std::map<std::string, Data> data;
  const auto lost = [&](DataType type, double value) {
    data["A"] = Data(type, {1}, {value});
    const std::string name(name_of(type));
    return failures(bounds(unary(name, 1, " 1: $r = neg." + name + "($a)\n 2: O = store($r)\n"),
                           data, flushing()),
                    {0}) == 0;
  };
  EXPECT_TRUE(lost(DataType::bf16, kTiny));
  EXPECT_FALSE(lost(DataType::fp16, 0x1p-20));
  EXPECT_FALSE(lost(DataType::fp64, 0x1p-1030));
}

// What is infinite is so on every device: its operands were exact.
TEST(Bounds, InfinityOfExactOperandsIsExact) {
  std::map<std::string, Data> data;
  data["A"] = Data(DataType::fp32, {4}, {0, -0.0, HUGE_VAL, 4});
  const Reference reference = bounds(
      unary("fp32", 4, " 1: $r = recip.fp32($a)\n 2: $n = neg.fp32($r)\n 3: O = store($n)\n"),
      data);
  EXPECT_EQ(reference.undecided, (std::vector<uint8_t>{0, 0, 0, 0}));
  EXPECT_EQ(reference.value[0], -HUGE_VAL);
  EXPECT_EQ(reference.value[1], HUGE_VAL);
  EXPECT_EQ(reference.bound[0], 0);
  EXPECT_GT(reference.bound[3], 0);
  // A number that may be 0 or near it: nobody knows.
  data["A"] = Data(DataType::fp32, {4}, {1, 2, 3, 4});
  const Reference open = bounds(unary("fp32", 4,
                                      " 1: $l = log.fp32($a)\n 2: $e = exp.fp32($l)\n"
                                      " 3: $d = sub.fp32($e, $a)\n 4: $r = recip.fp32($d)\n"
                                      " 5: O = store($r)\n"),
                                data);
  EXPECT_EQ(open.undecided, (std::vector<uint8_t>{1, 1, 1, 1}));
}

TEST(Compare, NumbersNansAndOverflow) {
  Reference reference;
  reference.name = "O";
  reference.shape = dense_shape(DataType::fp32, {2, 2});
  reference.value = {1, kNan, 3.4e38, 0};
  reference.bound = {0.1, 0, 1e37, 0};
  reference.undecided = {0, 0, 0, 0};
  for (double v : reference.value) reference.typed.push_back(Scalar::of_float(DataType::fp32, v));
  const auto report = [&](std::vector<double> values) {
    Data result(DataType::fp32, {2, 2}, values);
    return *compare({"O", result.bytes.data(), result.shape}, reference);
  };
  EXPECT_TRUE(report({1.05, kNan, HUGE_VAL, 0}).passed());
  EXPECT_EQ(report({1.05, kNan, -HUGE_VAL, 0}).failures, 1);
  EXPECT_EQ(report({kNan, 1, 3.4e38, 1e-30}).failures, 3);
  const CheckReport one = report({1.25, kNan, 3.4e38, 0});
  EXPECT_EQ(one.failures, 1);
  EXPECT_EQ(one.worst_element, 0);
  EXPECT_EQ(one.worst_text, "O[0, 0]: got 1.25, expected 1.0 within 0.1");
  EXPECT_EQ(one.compared, 4);
  EXPECT_EQ(one.max_abs_error > 1e30, true);  // 3.4e38 in fp32 is not 3.4e38
  reference.undecided[0] = 1;
  EXPECT_EQ(report({7, kNan, 3.4e38, 0}).skipped, 1);
  EXPECT_TRUE(report({7, kNan, 3.4e38, 0}).passed());
  Data other(DataType::fp32, {4});
  EXPECT_EQ(compare({"O", other.bytes.data(), other.shape}, reference).status().message(),
            "tensor O is fp32[4], the program has fp32[2, 2]");
}

TEST(Compare, IntegersAreExact) {
  Reference reference;
  reference.name = "N";
  reference.shape = dense_shape(DataType::i64, {2});
  reference.typed = {Scalar::of_int(DataType::i64, (int64_t{1} << 60) + 1),
                     Scalar::of_int(DataType::i64, 2)};
  reference.value = {0x1p60, 2};
  reference.bound = {0, 0};
  reference.undecided = {0, 0};
  int64_t values[] = {(int64_t{1} << 60) + 1, 2};
  EXPECT_TRUE(compare({"N", values, reference.shape}, reference)->passed());
  values[0] -= 1;
  const auto report = compare({"N", values, reference.shape}, reference);
  EXPECT_EQ(report->failures, 1);
  EXPECT_EQ(report->worst_text, "N[0]: got 1152921504606846976, expected 1152921504606846977");
}

TEST(Bounds, ProgramInputsAreNotWritten) {
  const std::string text =
      program_text("none new@0x0 O[0] fp32(4:1)\n", "inout O[0] fp32(4:1)\n",
                   "0: #kernel block [i:4] ( // k\n  inout O[i]:add.fp32 fp32(1:1)\n) {\n"
                   " 0: $a = (fp32)1.5\n 1: O = store($a)\n}\n");
  std::map<std::string, Data> data;
  data["O"] = Data(DataType::fp32, {4}, {1, 2, 3, 4});
  const Reference reference = bounds(text, data);
  EXPECT_EQ(reference.value, (std::vector<double>{2.5, 3.5, 4.5, 5.5}));
  EXPECT_EQ(data["O"].values(), (std::vector<double>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace stria::interp
