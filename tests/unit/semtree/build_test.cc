// SPDX-License-Identifier: Apache-2.0
// What the builder promises beside the text of the tree (tests/golden/semtree): parameters, limits,
// errors.
#include "stria/semtree/build/build.h"

#include <gtest/gtest.h>

#include "stria/semtree/tree/print.h"
#include "stria/stripe/text/parser.h"

namespace stria::semtree {
namespace {

// `kernel` in a main with A[n] and R[n].
Result<Function> built(const std::string& kernel, const BuildOptions& options = {},
                       int64_t n = 64) {
  const std::string text = fmt::format(
      "stripe 1.0\n0: #program block [] (\nnone new@0x0 A[0] fp32({0}:1)\nnone new@0x0 R[0] "
      "fp32({0}:1)\n) {{\n0: #main block [] (\n"
      "in A[0] fp32({0}:1)\nout R[0] fp32({0}:1)\ninout S = R[0] fp32({0}:1)\n) {{\n0: "
      "{1}\n}}\n}}\n",
      n, kernel);
  STRIA_ASSIGN(stripe::Program program, stripe::parse({"test", text}));
  const stripe::Block* main = program.main();
  return build(*main->stmts[0].block(), *main, options);
}

TEST(Build, ParametersInArgumentOrderWithTheirMemory) {
  auto made = built(
      "#kernel block [] (\nin A[0] fp32(1:1)\nin B = A[1] fp32(1:1)\nout R[0] fp32(1:1)\nin S[0] "
      "fp32(1:1)) {\n"
      "0: $a = load(A)\n1: R = store($a)\n}");
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  ASSERT_EQ(made->params.size(), 4u);
  EXPECT_EQ(made->params[0].name, "R");
  EXPECT_TRUE(made->params[0].writable && !made->params[0].readable);
  EXPECT_EQ(made->params[0].span, 64);
  EXPECT_EQ(made->params[1].name, "A");
  EXPECT_EQ(made->params[2].name, "B");
  EXPECT_EQ(made->params[3].name, "S");
  // A and B are one tensor, S is R's.
  EXPECT_EQ(made->params[1].alias_group, made->params[2].alias_group);
  EXPECT_EQ(made->params[0].alias_group, made->params[3].alias_group);
  EXPECT_NE(made->params[0].alias_group, made->params[1].alias_group);
}

TEST(Build, ParallelPoints) {
  const auto points = [](const std::string& head) {
    auto made = built(head + " (\nout R[0] fp32(1:1)) {\n0: $a = (fp32)1.0\n1: R = store($a)\n}");
    return made.ok() ? made->trip_count : -1;
  };
  EXPECT_EQ(points("#kernel block [x:8, y:4]"), 1);
  EXPECT_EQ(points("#kernel block<CORE[y]> [x:8, y:4]"), 4);
  EXPECT_EQ(points("#kernel #parallel block [x:8, y:4]"), 32);
  EXPECT_EQ(points("#kernel #parallel block [x:8, y:40, z:7]"), 2240);
  EXPECT_EQ(points("#kernel #parallel block [x:1, y:1]"), 1);
}

// Groups of lanes: as many indices as possible have a dimension of the grid to themselves, the
// fastest one the first, and the groups' order stays.
TEST(Build, GroupsArePackedIntoThreeDimensions) {
  const auto grid = [](const std::string& indices, std::array<int64_t, 3> largest) {
    BuildOptions options;
    options.largest_grid = largest;
    // Every index is used: its element is that of their sum.
    std::string sum = "0";
    for (size_t at = 0; at < indices.size();
         at = std::min(indices.find(", ", at), indices.size() - 2) + 2)
      sum += " + " + indices.substr(at, indices.find(':', at) - at);
    auto made =
        built(fmt::format("#kernel #parallel block<CU> [{}] ( // k\nout R[{}] fp32(1:1)) {{\n"
                          "0: block<LANE[i]> [i:4] (\nout R[0] fp32(1:1)) {{\n"
                          "0: $a = (fp32)1.0\n1: R = store($a)\n}}\n}}",
                          indices, sum),
              options);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    if (!made.ok()) return std::string();
    EXPECT_EQ(made->group_lanes, 4);
    int64_t groups = 1;
    for (const Function::GridDim& dim : made->grid) groups *= dim.size;
    EXPECT_EQ(groups, made->trip_count);
    const std::string text = print(*made);
    std::string out =
        text.substr(text.find("parallel") + 9, text.find(", index") - text.find("parallel") - 9);
    for (const Statement& statement : made->body)
      if (auto* let = std::get_if<Let>(&statement.op);
          let && made->vars[static_cast<size_t>(let->var)].name != "o")
        out += fmt::format("; {} = {}", made->vars[static_cast<size_t>(let->var)].name,
                           print(let->value, *made));
    return out;
  };
  constexpr int64_t kMany = 65535;
  const std::array<int64_t, 3> gpu = {INT32_MAX, kMany, kMany};
  EXPECT_EQ(grid("", gpu), "group in 0 .. 1");
  EXPECT_EQ(grid("x:5", gpu), "x in 0 .. 5");
  EXPECT_EQ(grid("x:5, y:6", gpu), "y in 0 .. 6, x in 0 .. 5");
  EXPECT_EQ(grid("x:5, y:6, z:7", gpu), "z in 0 .. 7, y in 0 .. 6, x in 0 .. 5");
  // The published convolution's.
  EXPECT_EQ(grid("co:2, n:2, x:112, y:112", gpu),
            "y in 0 .. 112, x in 0 .. 112, group in 0 .. 4; n = group % 2; co = group / 2");
  // What a dimension cannot have goes to one before it.
  EXPECT_EQ(grid("x:70000, y:6", gpu), "group in 0 .. 420000; y = group % 6; x = group / 6");
  EXPECT_EQ(grid("x:6, y:70000", gpu), "y in 0 .. 70000, x in 0 .. 6");
  EXPECT_EQ(grid("x:300, y:300, z:2, w:2", gpu),
            "w in 0 .. 2, group in 0 .. 600, x in 0 .. 300; z = group % 2; y = group / 2");
  // One dimension for all.
  EXPECT_EQ(grid("x:5, y:6", BuildOptions().largest_grid),
            "group in 0 .. 30; y = group % 6; x = group / 6");
}

// A view may reach beyond its allocation, and what chooses an element of it is known only when it
// runs.
TEST(Build, ChosenElementsMayBeBeyondTheAllocation) {
  const auto exist = [](const std::string& size, const std::string& loaded) {
    auto made =
        built(fmt::format("#kernel #parallel block<CU[g]> [g:4] ( // k\nout R[4*g] fp32(4:1)\n"
                          "none new@0x0<LOCAL> t[0] fp32(4:1)) {{\n"
                          "0: block<LANE[i]> [i:4] (\nout R[i] fp32(1:1)\nin t[0] fp32({}:1)) {{\n"
                          "0: $c = (i32)3\n1: $a = load({})\n2: R = store($a)\n}}\n}}",
                          size, loaded));
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    std::vector<bool> out;
    if (made.ok())
      walk(made->body, [&](const Statement& statement) {
        if (auto* load = std::get_if<Load>(&statement.op)) out.push_back(load->place.exists);
      });
    return out;
  };
  EXPECT_EQ(exist("1", "t"), std::vector<bool>{true});
  EXPECT_EQ(exist("8", "t[$c]"), std::vector<bool>{false});
}

// Points that may add to one element of an aggregation that runs across them are a loop, not work
// of many threads.
TEST(Build, PointsThatCombineInOneElementAreNotSpread) {
  const auto points = [](const std::string& access) {
    auto made = built(
        fmt::format("#kernel #parallel block [x:4, y:3] (\ninout S[0]:add.fp32 fp32(64:1)) {{\n"
                    "0: block [k:2, px:1 = x, py:1 = y] (\ninout T = S[{}]:add.fp32 fp32(1:1)) {{\n"
                    "0: $a = (fp32)1.0\n1: T = store($a)\n}}\n}}",
                    access));
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() ? made->trip_count : -1;
  };
  EXPECT_EQ(points("0"), 1);
  EXPECT_EQ(points("k"), 1);
  EXPECT_EQ(points("px + k"), 1);
  EXPECT_EQ(points("2*px + k"), 4);
  EXPECT_EQ(points("2*py + k"), 3);
  EXPECT_EQ(points("2*px + 8*py + k"), 12);
  EXPECT_EQ(points("2*px + 7*py + k"), 1);
  EXPECT_EQ(points("8*py + k"), 3);
}

// What only a peephole would make variables of does not count as memory of the stack.
TEST(Build, NoKernelIsRefusedForWantOfAPeephole) {
  const std::string kernel =
      "#kernel block [] (\nin A[0] fp32(64:1)\nout R[0] fp32(64:1)) {\n"
      "0: #unroll block [i:64] (\nin A[i] fp32(1:1)\nout R[i] fp32(1:1)\n"
      "none new@0x0<REG> t[0] fp32(1:1)) {\n"
      "0: block [] (\nin A[0] fp32(1:1)\nout t[0] fp32(1:1)) {\n"
      "0: $a = load(A)\n1: t = store($a)\n}\n"
      "1: block [] (\nin t[0] fp32(1:1)\nout R[0] fp32(1:1)) {\n"
      "0: $a = load(t)\n1: R = store($a)\n}\n}\n}";
  BuildOptions options;
  options.stack_limit_bytes = 128;
  const auto with = built(kernel, options);
  ASSERT_TRUE(with.ok()) << with.status().to_string();
  EXPECT_TRUE(with->arrays.at(0).in_registers);
  options.peepholes = Peepholes::none();
  const auto without = built(kernel, options);
  ASSERT_TRUE(without.ok()) << without.status().to_string();
  EXPECT_EQ(without->arrays.size(), 64u);
  EXPECT_FALSE(without->arrays.at(0).in_registers);
}

TEST(Build, LimitsAreNamed) {
  BuildOptions options;
  options.unrolled_statement_limit = 100;
  Status status = built(
                      "#kernel block [] ( // wide\nout R[0] fp32(1:1)) {\n0: #unroll block [x:64] "
                      "(\nout R[x] fp32(1:1)) {\n"
                      "0: $a = (fp32)1.0\n1: R = store($a)\n}\n}",
                      options)
                      .status();
  EXPECT_EQ(status.code(), StatusCode::out_of_range);
  EXPECT_NE(status.message().find("kernel 'wide' unrolls to more than 100 statements"),
            std::string::npos)
      << status.message();

  // Points that do nothing count as well.
  status = built(
               "#kernel block [] ( // idle\nout R[0] fp32(1:1)) {\n0: #unroll block [x:1000000, "
               "y:1000000] (\n-1 - x >= 0\nout R[0] fp32(1:1)) {\n"
               "0: $a = (fp32)1.0\n1: R = store($a)\n}\n}")
               .status();
  EXPECT_EQ(status.code(), StatusCode::out_of_range);

  options = {};
  options.index_type = DataType::i32;
  status =
      built("#kernel block [] (\nout R[0] fp32(1:1)) {\n0: $a = (fp32)1.0\n1: R = store($a)\n}",
            options, int64_t{1} << 31)
          .status();
  EXPECT_EQ(status.code(), StatusCode::out_of_range);
  EXPECT_NE(status.message().find("2147483648 elements"), std::string::npos) << status.message();
}

TEST(Build, AKernelWithoutPointsIsEmpty) {
  for (const char* head : {"[x:0]", "[x:4, y:0]"}) {
    auto made =
        built(fmt::format("#kernel #parallel block {} (\nout R[0] fp32(1:1)) {{\n0: $a = "
                          "(fp32)1.0\n1: R = store($a)\n}}",
                          head));
    if (!made) continue;  // the parser may refuse the range
    EXPECT_TRUE(made->body.empty() || made->trip_count == 0) << print(*made);
  }
}

TEST(Build, LanesOnlyWhereNoLaneSeesWhatAnotherStores) {
  const auto has_lanes = [](const std::string& refs, const std::string& statements) {
    auto made = built("#kernel #vector block [x:8] (\n" + refs + ") {\n" + statements + "}");
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() && print(*made).find("x8") != std::string::npos;
  };
  const std::string copy = "0: $a = load(A)\n1: R = store($a)\n";
  EXPECT_TRUE(has_lanes("in A[x] fp32(1:1)\nout R[x] fp32(1:1)\n", copy));
  EXPECT_TRUE(has_lanes("in A[0] fp32(1:1)\nout R[x + 1] fp32(1:1)\n", copy));
  // S is R: each lane its own element, or the one that the lane before it stores.
  EXPECT_TRUE(has_lanes("in A = S[x] fp32(1:1)\nout R[x] fp32(1:1)\n", copy));
  EXPECT_FALSE(has_lanes("in A = S[x] fp32(1:1)\nout R[x + 1] fp32(1:1)\n", copy));
  EXPECT_FALSE(has_lanes("in A = R[x] fp32(1:1)\nout R[x + 1] fp32(1:1)\n", copy));
  // What every lane adds to, and what every lane changes in turn.
  EXPECT_TRUE(has_lanes("in A[x] fp32(1:1)\ninout R = S[0]:add.fp32 fp32(1:1)\n", copy));
  const std::string change = "0: $a = load(R)\n1: $b = add.fp32($a, $a)\n2: R = store($b)\n";
  EXPECT_TRUE(has_lanes("inout R = S[x] fp32(1:1)\n", change));
  EXPECT_FALSE(has_lanes("inout R = S[0] fp32(1:1)\n", change));
  EXPECT_FALSE(has_lanes("inout R = S[0]:add.fp32 fp32(1:1)\n", change));
  // Two stores to neighbours: the later point wins.
  const std::string both = "0: $a = load(A)\n1: R = store($a)\n2: Q = store($a)\n";
  EXPECT_FALSE(
      has_lanes("in A[x] fp32(1:1)\nout R[x] fp32(1:1)\nout Q = R[x + 1] fp32(1:1)\n", both));
  EXPECT_TRUE(
      has_lanes("in A[x] fp32(1:1)\ninout R = S[x]:add.fp32 fp32(1:1)\ninout Q = S[x + 1]:add.fp32 "
                "fp32(1:1)\n",
                both));
}

TEST(Build, UnknownNamesAreErrors) {
  for (const char* body : {"0: $a = load(X)\n1: R = store($a)", "0: R = store($b)",
                           "0: $a = (fp32)1.0\n1: X = store($a)",
                           "0: $a = (fp32)1.0\n1: $b = frobnicate.fp32($a)\n2: R = store($b)",
                           "0: $a = (fp32)1.0\n1: $b = add.fp32($a)\n2: R = store($b)"}) {
    Status status =
        built(fmt::format("#kernel block [] ( // k\nout R[0] fp32(1:1)) {{\n{}\n}}", body))
            .status();
    EXPECT_FALSE(status.ok()) << body;
  }
}

}  // namespace
}  // namespace stria::semtree
