// SPDX-License-Identifier: Apache-2.0
// Tiles that are counted wrongly are found, whatever the size of subgroups they were made for: the
// test of vulkan_lanes_test.cc.
#include "tile_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "kernel_shapes.h"
#include "program_run.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "vulkan_machine.h"

namespace stria::lanes {
namespace {

using enum DataType;
using testing::HasSubstr;

struct Shape {
  const char* text;
  std::map<std::string, tile::TensorType> inputs;
};

// A product, a convolution, rows, a transpose and something elementwise, none a multiple of a tile.
std::vector<Shape> shapes() {
  return {
      {"function (A[M, K], B[K, N], V[N]) -> (R) { C[i, j : M, N] = +(A[i, k] * B[k, j]);"
       " R = C + V; }",
       {{"A", {fp32, {150, 20}}}, {"B", {fp32, {20, 140}}}, {"V", {fp32, {140}}}}},
      {"function (D[N, X, Y, K], W[I, J, K, L]) -> (O) { O[n, x, y, c : N, X, Y, L] ="
       " +(D[n, x + i - 1, y + j - 1, e] * W[i, j, e, c]); }",
       {{"D", {i32, {2, 19, 21, 3}}}, {"W", {i32, {3, 3, 3, 18}}}}},
      {"function (A[M, N]) -> (R) { H[i, 0 : M, 1] = >(A[i, j]); E = exp(A - H);"
       " S[i, 0 : M, 1] = +(E[i, j]); R = E / S; }",
       {{"A", {fp32, {37, 333}}}}},
      {"function (A[M, N]) -> (R) { R[j, i : N, M] = =(A[i, j]); }", {{"A", {fp32, {150, 135}}}}},
      {"function (A[M, N]) -> (R) { R[i : M] = >(A[i, j]); }", {{"A", {i32, {300, 77}}}}},
      {"function (A[M, N], B[N]) -> (R) { R = (A + B) * A; }",
       {{"A", {fp32, {90, 77}}}, {"B", {fp32, {77}}}}},
  };
}

TEST(TileFaults, AreFoundAtEverySizeOfSubgroups) {
  std::map<std::string, int> found;
  for (const Shape& shape : shapes()) {
    auto program = passes::make_program(shape.text, shape.inputs);
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    std::set<std::string> seen;
    for (const VulkanMachine& on : vulkan_machines(false)) {
      const auto device = run_passes(on.machine, program->generic);
      ASSERT_TRUE(device.ok()) << device.status().to_string();
      if (!seen.insert(stripe::print(*device)).second) continue;
      const std::vector<TileFault> faults = tile_faults(*device);
      EXPECT_GE(faults.size(), 3u) << shape.text;
      for (const TileFault& fault : faults) {
        RunCounts counts;
        const std::string what =
            passes::wrong_values(*program, [&](const std::vector<interp::TensorArg>& tensors) {
              return run_program(fault.program, on.machine.options, tensors, 1, counts);
            });
        EXPECT_NE(what, "") << fault.what << " on the machine '" << on.machine.name << "'\n"
                            << stripe::print(*device);
        std::string kind = "by values, or else";
        for (const char* part : {"stored twice", "never written", "with no barrier between",
                                 "groups ", ", which has "})
          if (what.find(part) != std::string::npos) kind = part;
        ++found[kind];
      }
    }
  }
  for (const auto& [kind, count] : found) std::cout << fmt::format("'{}': {}\n", kind, count);
  for (const char* kind : {"stored twice", "never written", "groups "}) EXPECT_GT(found[kind], 0);
}

// Tiles of one lane, and copies: nothing but the count of stores can tell that they overlap.
TEST(TileFaults, OfOneLane) {
  const auto run = [](int64_t step, int64_t tiles) {
    const std::string text = fmt::format(
        R"(stripe 1.0
0: #program block [] ( // copy
    none new@0 A[0] fp32(16:1)
    none new@0 R[0] fp32(16:1)
) {{
  0: #main block [] ( // main
      in A[0] fp32(16:1)
      out R[0] fp32(16:1)
  ) {{
    0: #kernel block [t:{1}] ( // copy
        in A[{0}*t] fp32(4:1)
        out R[{0}*t] fp32(4:1)
    ) {{
      0: block [i:4] ( // tile
          in A[i] fp32(1:1)
          out R[i] fp32(1:1)
      ) {{
        0: $a = load(A)
        1: R = store($a)
      }}
    }}
  }}
}}
)",
        step, tiles);
    std::vector<float> a(16, 3), r(16);
    RunCounts counts;
    const TensorShape shape = dense_shape(fp32, {16});
    const auto program = stripe::parse({"copy", text});
    EXPECT_TRUE(program.ok()) << program.status().to_string();
    return std::string(
        run_program(*program, {}, {{"A", a.data(), shape}, {"R", r.data(), shape}}, 1, counts)
            .message());
  };
  EXPECT_EQ(run(4, 4), "");
  EXPECT_THAT(run(3, 5), HasSubstr("element 3 of 'R' is stored twice"));
  EXPECT_THAT(run(6, 3), HasSubstr("element 4 of the output 'R' was never written"));
  EXPECT_THAT(run(4, 3), HasSubstr("element 12 of the output 'R' was never written"));
  EXPECT_THAT(run(5, 4), HasSubstr("which has 16"));
}

// A dispatch that has one group too few, of whatever it counts.
TEST(TileFaults, OfDispatches) {
  auto program = passes::make_program(shapes()[0].text, shapes()[0].inputs);
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  for (const VulkanMachine& on : vulkan_machines(false)) {
    const auto device = run_passes(on.machine, program->generic);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    auto kernels = vulkan::build_kernels(*device, on.features, on.machine.options);
    ASSERT_TRUE(kernels.ok()) << kernels.status().to_string();
    TileCounts counts;
    EXPECT_EQ(wrong_dispatch(on, *device, *kernels, counts), "");
    for (vulkan::KernelCode& kernel : *kernels)
      for (int64_t* number : {&kernel.groups[0], &kernel.groups[1], &kernel.group_lanes}) {
        if (*number < 2) continue;
        --*number;
        EXPECT_NE(wrong_dispatch(on, *device, *kernels, counts), "") << on.machine.name;
        ++*number;
      }
  }
}

}  // namespace
}  // namespace stria::lanes
