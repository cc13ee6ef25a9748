// SPDX-License-Identifier: Apache-2.0
// What tiles of a kernel do and show, against the functions that read a block with a tile's ranges.
#include "stria/cost/staged/kernel_shape.h"

#include <gtest/gtest.h>

#include <random>

#include "stria/cost/block/tiled_block.h"
#include "stria/cost/block/unit_operation.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {
namespace {

// A strided convolution with dilation and a batch of products; a block inside that has products of
// its own; a transposed walk that computes no product.
constexpr const char* kKernels = R"(
0: #program block [] (
    none new@0x0 A[0, 0, 0] i8(40:3200, 40:80, 80:1)
    none new@0x0 B[0, 0, 0] i8(6:144, 6:24, 24:1)
    none new@0x0 C[0, 0, 0] i32(8:512, 8:64, 64:1)
    none new@0x0 R[0, 0, 0] fp32(8:512, 8:64, 64:1)
) {
  0: #main block [] (
      in A[0, 0, 0] i8(40:3200, 40:80, 80:1)
      in B[0, 0, 0] i8(6:144, 6:24, 24:1)
      out C[0, 0, 0] i32(8:512, 8:64, 64:1)
      out R[0, 0, 0] fp32(8:512, 8:64, 64:1)
  ) {
    0: #kernel block [x:8, y:8, n:12, i:3, j:2, one:1] ( // strided
        in A[2*x + 3*i, y + 2*j, 2*n] i8(1:3200, 1:80, 1:1)
        in B[i, j, n] i8(1:144, 1:24, 1:1)
        out C[x, y, n]:add.i32 i32(1:512, 1:64, 1:1)
    ) {
      0: $A = load(A)
      1: $B = load(B)
      2: $C = mul.i32($A, $B)
      3: C = store($C)
    }
    1: #kernel block [x:4, k:6, y:5] ( // inside
        in A[x, k, 0] i8(1:3200, 1:80, 16:1)
        in B[k, y, 0] i8(1:144, 1:24, 16:1)
        out C[x, y, 0]:add.i32 i32(1:512, 1:64, 1:1)
    ) {
      0: block [l:16] (
          in A[0, 0, l] i8(1:3200, 1:80, 1:1)
          in B[0, 0, l] i8(1:144, 1:24, 1:1)
          out C[0, 0, 0]:add.i32 i32(1:512, 1:64, 1:1)
      ) {
        0: $A = load(A)
        1: $B = load(B)
        2: $C = mul.i32($A, $B)
        3: C = store($C)
      }
    }
    2: #kernel block [z:64, x:8, y:8] ( // turned
        in C[y, x, z] i32(1:512, 1:64, 1:1)
        out R[x, y, 63 - z] fp32(1:512, 1:64, 1:1)
    ) {
      0: $C = load(C)
      1: $D = ident.fp32($C)
      2: $R = mul.fp32($D, $D)
      3: R = store($R)
    }
  }
}
)";

TEST(KernelShape, IsWhatTheBlockWithTheRangesOfATileIs) {
  const Result<stripe::Program> program = stripe::parse({"kernels", kKernels});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  ExecutionUnit unit;
  unit.name = "U";
  unit.ops_per_cycle = 3;
  ExecutionUnit array = unit;
  array.systolic.emplace();
  array.systolic->rows = 4;
  array.systolic->columns = 3;
  std::mt19937 random(1);
  int compared = 0;
  for (const stripe::Statement& statement : program->main()->stmts) {
    const stripe::Block& block = *statement.block();
    const TiledBlock tiled = tiled_block(block);
    std::vector<size_t> at;
    for (const TiledBlock::Index& index : tiled.indices)
      for (size_t i = 0; i < block.idxs.size(); ++i)
        if (block.idxs[i].name == index.name) at.push_back(i);
    KernelShape shape(block, at);
    for (int n = 0; n < 300; ++n) {
      stripe::Block probe = block;
      Tile tile;
      for (size_t i = 0; i < at.size(); ++i) {
        tile.push_back(std::uniform_int_distribution<int64_t>(1, tiled.indices[i].range)(random));
        // Sizes of one decide which index is the innermost.
        if (random() % 3 == 0) tile.back() = 1;
        probe.idxs[at[i]].range = tile.back();
      }
      const auto where = [&] { return block.name + " " + to_string(tiled, tile); };
      size_t v = 0;
      for (const stripe::Refinement& ref : probe.refs) {
        const Footprint is = shape.footprint(v, tile), expected = footprint_of(probe, ref);
        ASSERT_EQ(is.bytes, expected.bytes) << where() << ref.into;
        ASSERT_EQ(is.run_bytes, expected.run_bytes) << where() << ref.into;
        ASSERT_EQ(is.runs, expected.runs) << where() << ref.into;
        ASSERT_EQ(shape.inner_stride(v, tile), inner_stride_bytes(probe, ref.into))
            << where() << ref.into;
        std::vector<int64_t> packed;
        shape.packed_strides(v, tile, packed);
        ASSERT_EQ(shape.inner_stride(v, tile, packed), inner_stride_bytes(probe, ref.into, packed))
            << where() << ref.into;
        ASSERT_EQ(packed.back(), 1);
        ++v;
      }
      ASSERT_EQ(v, shape.views());
      const BlockWork work = work_of(probe);
      for (const ExecutionUnit& one : {unit, array})
        ASSERT_EQ(*operation_cycles(one, shape.work(tile)), *operation_cycles(one, work))
            << where();
      ++compared;
    }
  }
  EXPECT_EQ(compared, 900);
}

}  // namespace
}  // namespace stria::cost
