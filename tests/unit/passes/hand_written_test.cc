// SPDX-License-Identifier: Apache-2.0
// Legal Stripe that lowering does not make: sibling aggregations, names that stand for one tensor,
// views that overhang theirs. Passes keep its values, with the verifier on.
#include <gtest/gtest.h>

#include "stria/builtins/evaluate.h"
#include "stria/interp/interpret.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

// The i32 tensors that the program writes, by name; its inputs hold 0, 1, 2, …
Result<std::map<std::string, std::vector<int32_t>>> values_of(const stripe::Program& program) {
  STRIA_ASSIGN(auto inputs, interp::program_inputs(program));
  STRIA_ASSIGN(auto outputs, interp::program_outputs(program));
  std::map<std::string, std::vector<int32_t>> memory;
  std::vector<interp::TensorArg> args;
  for (const auto* group : {&inputs, &outputs})
    for (const interp::ProgramTensor& tensor : *group) {
      auto& values = memory[tensor.name];
      for (int64_t i = 0; i < tensor.shape.element_count(); ++i)
        values.push_back(static_cast<int32_t>(i));
      args.push_back(
          {tensor.name, values.data(), dense_shape(DataType::i32, tensor.shape.sizes())});
    }
  STRIA_RETURN_IF_ERROR(interp::interpret(program, args));
  for (const interp::ProgramTensor& tensor : inputs) memory.erase(tensor.name);
  return memory;
}

// A program with the i32 tensors `entry` and this #main.
std::string program(const std::string& entry, const std::string& main) {
  return "stripe 1.0\n0: #program block [] ( // p\n" + entry +
         "\n) {\n0: #main block [] ( // main\n" + main + "\n}\n}\n";
}

// Runs the pipeline, whose every step must keep the values. The text after it.
std::string keeps_values(const std::string& text, const std::string& pipeline) {
  auto before = stripe::parse({"test", text});
  if (!before.ok()) return "does not parse: " + before.status().to_string();
  Status legal = stripe::verify(*before);
  if (!legal.ok()) return "not legal: " + legal.to_string();
  auto wanted = values_of(*before);
  if (!wanted.ok()) return "does not run: " + wanted.status().to_string();
  const HardwareModel model = small_model(16, 8);
  auto steps = parse_pipeline({"pipeline", pipeline}, {{"MIN_WORK", "1"}}, model, pass_registry());
  if (!steps.ok()) return steps.status().to_string();
  stripe::Program after = *before;
  std::string wrong;
  PipelineOptions options;
  options.verify_each = true;
  const EvaluateIntrinsic evaluator = evaluate;
  options.evaluate = &evaluator;
  options.after_step = [&](int, const StepReport& report, const stripe::Program& now) {
    auto got = values_of(now);
    if (wrong.empty() && (!got.ok() || *got != *wanted))
      wrong = fmt::format("wrong after '{}' {}\n{}", report.step,
                          got.ok() ? "" : got.status().to_string(), stripe::print(now));
  };
  auto reports = run_pipeline(after, *steps, model, options);
  if (!reports.ok()) return "fails: " + reports.status().to_string();
  return wrong.empty() ? stripe::print(after) : wrong;
}

#define EXPECT_KEEPS(text, pipeline)                           \
  do {                                                         \
    const std::string result_ = keeps_values(text, pipeline);  \
    EXPECT_TRUE(result_.starts_with("stripe 1.0")) << result_; \
  } while (false)

std::string adds(const std::string& head, const std::string& view, int value) {
  return fmt::format("{} (\n out {} i32(1:1)\n) {{\n 0: $a = (i32){}\n 1: {} = store($a)\n}}\n",
                     head, view, value, view.substr(0, view.find('[')));
}

TEST(HandWritten, SiblingAggregationsStartOnTheirOwn) {
  const std::string text =
      program("none new@0x0 O[0] i32(4:1)",
              "out O[0] i32(4:1)\n) {\n0: " + adds("#kernel block [x:4]", "O[x]:add.i32", 1) +
                  "1: " + adds("#kernel block [k:3, x:4]", "O[x]:add.i32", 2));
  EXPECT_KEEPS(text, R"([{"agg_init": {}}])");
  EXPECT_KEEPS(text, cpu_pipeline());
}

TEST(HandWritten, WidenedSiblingAggregationsStartOnTheirOwn) {
  // 100 + 100 does not fit i8: the running values get a place of their own.
  std::string kernels;
  for (int k = 0; k < 2; ++k)
    kernels += fmt::format(
        "{}: #kernel block [k:{}, x:4] (\n out T[x]:add.i32 i8(1:1)\n) {{\n 0: $a = (i32)1\n 1: T "
        "= store($a)\n}}\n",
        k, 3 + k);
  kernels +=
      "2: #kernel block [x:4] (\n in T[x] i8(1:1)\n out O[x] i32(1:1)\n) {\n 0: $a = load(T)\n 1: "
      "O = store($a)\n}\n";
  const std::string text = program("none new@0x0 O[0] i32(4:1)",
                                   "out O[0] i32(4:1)\nnone new@0x0 T[0] i8(4:1)\n) {\n" + kernels);
  EXPECT_KEEPS(text, R"([{"agg_init": {}}])");
}

TEST(HandWritten, PartsOfOneAggregationShareAStart) {
  const std::string text = program(
      "none new@0x0 O[0] i32(4:1)",
      "out O[0] i32(4:1)\n) {\n0: #kernel block [x:4] (\n out O[x]:add.i32 i32(1:1)\n) {\n0: " +
          adds("block [k:3]", "O[0]:add.i32", 1) + "1: " + adds("block [k:2]", "O[0]:add.i32", 10) +
          "}\n");
  EXPECT_KEEPS(text, R"([{"agg_init": {}}])");
}

TEST(HandWritten, ReusedTemporary) {
  std::string main = "none new@0x0 T[0] i32(8:1)\nout O[0] i32(4:1)\nout Q[0] i32(4:1)\n) {\n0: " +
                     adds("#kernel block [k:3, x:4]", "T[2*x]:add.i32", 1);
  const std::string copy =
      "#kernel block [x:4] (\n in T[2*x] i32(1:1)\n out {0}[x] i32(1:1)\n) {{\n 0: $a = load(T)\n "
      "1: {0} = store($a)\n}}\n";
  main += "1: " + fmt::format(fmt::runtime(copy), "O") +
          "2: " + adds("#kernel block [k:5, x:4]", "T[2*x]:add.i32", 10) +
          "3: " + fmt::format(fmt::runtime(copy), "Q");
  const std::string text = program("none new@0x0 O[0] i32(4:1)\nnone new@0x0 Q[0] i32(4:1)", main);
  EXPECT_KEEPS(text, R"([{"agg_init": {}}])");
  EXPECT_KEEPS(text, cpu_pipeline());
}

// A loop over tiles of which the last has fewer points.
std::string uneven_loop(const std::string& around, const std::string& loop_view) {
  return program("none new@0x0 C[0] i32(4:1)",
                 "out C[0] i32(4:1)\n) {\n0: #kernel block [i:4] (\n out C[i]" + around +
                     " i32(1:1)\n) {\n0: block [k:10] (\n out C[0]" + loop_view +
                     " i32(1:1)\n) {\n0: #unroll block [u:4, k:1 = k] (\n 36 - 4*k - u >= 0\n out "
                     "C[0]:add.i32 i32(1:1)\n) {\n0: $a = (i32)1\n1: C = store($a)\n}\n}\n}\n");
}

TEST(HandWritten, SplitLoopsDoNotStartAgain) {
  EXPECT_KEEPS(uneven_loop("", ":add.i32"), R"([{"split_interior": {}}])");
  const std::string split =
      keeps_values(uneven_loop(":add.i32", ":add.i32"), R"([{"split_interior": {}}])");
  EXPECT_NE(split.find("block [k:9]"), std::string::npos) << split;
}

TEST(HandWritten, WhatIsReadWhileItGrowsKeepsItsOrder) {
  const std::string text =
      program("none new@0x0 S[0] i32(1:1)\nnone new@0x0 P[0, 0] i32(4:4, 4:1)",
              "inout S[0] i32(1:1)\nout P[0, 0] i32(4:4, 4:1)\n) {\n0: #kernel block [a:4, b:4] (\n"
              "inout S[0]:add.i32 i32(1:1)\nout P[a, b]:add.i32 i32(1:4, 1:1)\n) {\n0: $s = "
              "load(S)\n1: P = store($s)\n"
              "2: $one = (i32)1\n3: S = store($one)\n}\n");
  EXPECT_KEEPS(text, R"([{"tile": {"tile_sizes": {"a": 2, "b": 2}}}])");
  EXPECT_KEEPS(text, cpu_pipeline());
}

TEST(HandWritten, ViewsThatOverhangTheirs) {
  const std::string next =
      program("none new@0x0 T[0] i32(101:1)",
              "inout T[0] i32(101:1)\n) {\n0: #kernel block [x:100] (\ninout T[x] i32(1:1)\n) "
              "{\n0: block [] (\nin T[0] i32(1:1)\n"
              "out U = T[1] i32(1:1)\n) {\n0: $a = load(T)\n1: U = store($a)\n}\n}\n");
  EXPECT_KEEPS(next, R"([{"thread": {"min_work": 1, "points_per_core": 1}}])");
  EXPECT_KEEPS(next, cpu_pipeline());
  const std::string buffer = program("none new@0x0 O[0] i32(8:1)",
                                     "out O[0] i32(8:1)\n) {\n0: #kernel block [] (\nout O[0] "
                                     "i32(8:1)\nnone new@0x0 T[0] i32(9:1)\n) {\n0: block [x:8] (\n"
                                     "inout T[x] i32(1:1)\nout O[x] i32(1:1)\n) {\n0: $a = "
                                     "load_index.i32(x)\n1: T = store($a)\n2: block [] (\n"
                                     "inout U = T[1] i32(1:1)\nout O[0] i32(1:1)\n) {\n0: $b = "
                                     "(i32)5\n1: U = store($b)\n2: $c = load(U)\n3: O = store($c)\n"
                                     "}\n}\n}\n");
  EXPECT_KEEPS(buffer, R"([{"localize": {}}])");
}

TEST(HandWritten, TwoNamesOfOneTensor) {
  // Each element is one more than the one before it.
  const std::string line = program(
      "none new@0x0 T[0] i32(9:1)",
      "in P = T[0] i32(9:1)\ninout T[0] i32(9:1)\n) {\n0: #kernel block [x:8] (\nin P[x] "
      "i32(1:1)\nout T[x + 1] i32(1:1)\n"
      ") {\n0: $a = load(P)\n1: $one = (i32)1\n2: $b = add.i32($a, $one)\n3: T = store($b)\n}\n");
  const std::string rows = program(
      "none new@0x0 T[0, 0] i32(9:9, 9:1)",
      "in P = T[0, 0] i32(9:9, 9:1)\ninout T[0, 0] i32(9:9, 9:1)\n) {\n0: #kernel block [y:9, x:8] "
      "(\n"
      "in P[y, x] i32(1:9, 1:1)\nout T[y, x + 1] i32(1:9, 1:1)\n"
      ") {\n0: $a = load(P)\n1: $one = (i32)1\n2: $b = add.i32($a, $one)\n3: T = store($b)\n}\n");
  for (const char* pipeline : {R"([{"thread": {"min_work": 1, "points_per_core": 1}}])",
                               R"([{"vectorize": {"min_range": 2}}])", R"([{"order_indices": {}}])",
                               R"([{"tile": {"tile_sizes": {"x": 3}}}])"}) {
    for (const std::string& text : {line, rows}) {
      const std::string after = keeps_values(text, pipeline);
      EXPECT_TRUE(after.starts_with("stripe 1.0")) << after;
      EXPECT_EQ(after.find("#parallel"), std::string::npos) << after;
      EXPECT_EQ(after.find("#vector"), std::string::npos) << after;
    }
  }
}

TEST(HandWritten, TheOnlyWriterOfWhatIsReadStays) {
  const std::string dead =
      "none new@0x0 T[0] i32(4:1)\nout O[0] i32(4:1)\n) {\n0: #kernel block [x:0] (\nout T[0] "
      "i32(1:1)\n) {\n"
      "0: $a = (i32)1\n1: T = store($a)\n}\n1: #kernel block [x:0] (\nin T[0] i32(1:1)\nout O[0] "
      "i32(1:1)\n) {\n"
      "0: $a = load(T)\n1: O = store($a)\n}\n";
  const std::string last =
      "#kernel block [x:4] (\nout O[x] i32(1:1)\n) {\n0: $a = (i32)1\n1: O = store($a)\n}\n";
  const std::string read = program("none new@0x0 O[0] i32(4:1)",
                                   dead +
                                       "2: #kernel block [x:4, y:4] (\n-1 + x - y >= 0\ny - x >= "
                                       "0\nin T[x] i32(1:1)\nout O[x] i32(1:1)\n) {\n"
                                       "0: $a = load(T)\n1: O = store($a)\n}\n3: " +
                                       last);
  EXPECT_KEEPS(read, R"([{"prune": {}}])");
  // Nobody reads it: both go.
  const std::string after = keeps_values(program("none new@0x0 O[0] i32(4:1)", dead + "2: " + last),
                                         R"([{"prune": {}}])");
  EXPECT_EQ(after.find("[x:0]"), std::string::npos) << after;
}

TEST(HandWritten, EqualLoadsWithStoresBetween) {
  const std::string text = program(
      "none new@0x0 C[0] i32(9:1)\nnone new@0x0 D[0] i32(8:1)",
      "inout C[0] i32(9:1)\nout D[0] i32(8:1)\n) {\n0: #kernel block [x:8] (\nin P = C[x] "
      "i32(1:1)\n"
      "in Q = C[x] i32(1:1)\ninout C[x] i32(1:1)\nout D[x] i32(1:1)\nout N = C[x + 1] i32(1:1)\n) "
      "{\n"
      "0: $a = load(P)\n1: $b = load(Q)\n2: $s = add.i32($a, $b)\n3: $z = (i32)0\n"
      "4: $t = add.i32($s, $z)\n5: N = store($t)\n6: $c = load(Q)\n7: C = store($t)\n8: $d = "
      "load(C)\n9: $e = load(P)\n10: $f = mul.i32($d, $e)\n11: $g = mul.i32($e, $d)\n"
      "12: $h = add.i32($f, $g)\n13: $i = sub.i32($h, $c)\n14: D = store($i)\n}\n");
  const std::string after = keeps_values(
      text, R"([{"constant_fold": {}}, {"common_subexpression": {}}, {"dead_code": {}}])");
  EXPECT_TRUE(after.starts_with("stripe 1.0")) << after;
  EXPECT_EQ(after.find("load(Q)"), after.rfind("load(Q)")) << after;
  EXPECT_EQ(after.find("$g"), std::string::npos) << after;
  EXPECT_KEEPS(text, R"([{"compute_deps": {"inside": true}}, {"common_subexpression": {}},
      {"constant_fold": {}}, {"reorder_blocks": {"reqs": ["kernel"]}}, {"dead_code": {}}])");
}

// Each tile of 3 of 8 points, of which the last has fewer, writes one row of a triangle.
TEST(HandWritten, WrittenOutIndices) {
  const std::string text = program(
      "none new@0x0 O[0, 0] i32(8:8, 8:1)",
      "inout O[0, 0] i32(8:8, 8:1)\n) {\n0: #kernel block [y:8] (\ninout O[y, 0] i32(1:8, 8:1)\n) "
      "{\n0: #tile block [t:3, y:1 = y] (\n4 - t + y >= 0\ninout O[0, 3*t] i32(1:8, 3:1)\n) {\n"
      "0: block [u:3, t:1 = t, y:1 = y] (\n7 - 3*t - u >= 0\ny - 3*t - u >= 0\ninout O[0, u] "
      "i32(1:8, 1:1)\n) {\n0: $i = load_index.i32(3*t + u)\n1: O = store($i)\n}\n}\n}\n");
  for (const char* views : {"false", "true"}) {
    const std::string after =
        keeps_values(text, fmt::format(R"([{{"unroll": {{"reqs": ["tile"], "expand_idx": "t",
            "part_name": "part", "make_views": {}}}}}, {{"constraint_reduction": {{}}}},
            {{"prune": {{}}}}, {{"compute_deps": {{"inside": true}}}}])",
                                       views));
    EXPECT_TRUE(after.starts_with("stripe 1.0")) << after;
    EXPECT_NE(after.find("#part=2"), std::string::npos) << after;
  }
}

TEST(HandWritten, RangesWhoseProductIsBeyond64Bits) {
  const std::string text = program("none new@0x0 O[0] i32(4:1)",
                                   "out O[0] i32(4:1)\n) {\n0: #kernel block [x:4, "
                                   "y:4611686018427387904] (\n-y >= 0\nout O[x] i32(1:1)\n) {\n"
                                   "0: $a = (i32)1\n1: O = store($a)\n}\n");
  auto made = stripe::parse({"test", text});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const HardwareModel model = small_model(16, 8);
  auto steps = parse_pipeline({"pipeline", R"([{"unroll": {"reqs": ["kernel"]}}])"}, {}, model,
                              pass_registry());
  ASSERT_TRUE(steps.ok()) << steps.status().to_string();
  ASSERT_TRUE(run_pipeline(*made, *steps, model).ok());
  EXPECT_EQ(stripe::print(*made).find("#unroll"), std::string::npos);
}

// An index from a form over several values takes all of them: a sum that leaves elements of some of
// them out has no start, for that would overwrite these.
TEST(HandWritten, ASumUnderAnIndexThatMoves) {
  const auto sum_up_to = [](int last) {
    return program("none new@0 C[0] i32(8:1)", fmt::format(R"(
    inout C[0] i32(8:1)
) {{
  0: #kernel block [x:2] ( // kernel
      inout C[0] i32(8:1)
  ) {{
    0: block [j:4 = 4*x] (
        inout C[j] i32(1:1)
    ) {{
      0: block [j_0 = j, k:4] (
          {} - j_0 - k >= 0
          out C[0]:add.i32 i32(1:1)
      ) {{
        0: $a = (i32)1
        1: C = store($a)
      }}
    }}
  }}
)",
                                                           last));
  };
  EXPECT_KEEPS(sum_up_to(7), R"([{"agg_init": {}}])");
  EXPECT_TRUE(keeps_values(sum_up_to(5), R"([{"agg_init": {}}])")
                  .ends_with("constraints on reduction indices leave elements unwritten"));
}

}  // namespace
}  // namespace stria::passes
