// SPDX-License-Identifier: Apache-2.0
// Where rows of staged operands begin.
#include <gtest/gtest.h>

#include <vector>

#include "stria/cost/workgroup/output_rows.h"

namespace stria::cost {
namespace {

struct Laid {
  std::vector<int64_t> strides;
  int64_t elements = 0;
  bool operator==(const Laid&) const = default;
};

// Vectors of 4 elements, 32 banks.
Laid lay_out(const std::vector<int64_t>& sizes, const std::vector<bool>& by_output,
             int64_t banks = 32) {
  Laid out{std::vector<int64_t>(sizes.size()), 0};
  out.elements = lay_out_rows(
      sizes.size(), [&](size_t d) { return sizes[d]; }, [&](size_t d) { return by_output[d]; },
      {4, banks}, [&](size_t d, int64_t stride) { out.strides[d] = stride; });
  return out;
}

TEST(OutputRows, AlongTheTensor) {
  EXPECT_EQ(lay_out({16, 8}, {true, false}), (Laid{{1, 16}, 128}));
  EXPECT_EQ(lay_out({64, 8}, {true, false}), (Laid{{1, 68}, 7 * 68 + 64}));  // not all in one bank
  EXPECT_EQ(lay_out({64, 8}, {true, false}, 0), (Laid{{1, 64}, 512}));
  EXPECT_EQ(lay_out({7, 8}, {true, false}), (Laid{{1, 7}, 56}));
}

TEST(OutputRows, AcrossBeginAnOddNumberOfVectorsApart) {
  EXPECT_EQ(lay_out({8, 16}, {false, true}), (Laid{{20, 1}, 7 * 20 + 16}));
  EXPECT_EQ(lay_out({8, 12}, {false, true}), (Laid{{12, 1}, 96}));
  EXPECT_EQ(lay_out({8, 4, 4}, {false, true, true}), (Laid{{20, 1, 4}, 7 * 20 + 16}));
  EXPECT_EQ(lay_out({8, 16}, {false, true}, 0), (Laid{{16, 1}, 128}));
}

TEST(OutputRows, AcrossWithoutVectorsBeginAnOddNumberOfElementsApart) {
  EXPECT_EQ(lay_out({64, 7}, {false, true}), (Laid{{7, 1}, 448}));
  EXPECT_EQ(lay_out({64, 2}, {false, true}), (Laid{{3, 1}, 63 * 3 + 2}));
  EXPECT_EQ(lay_out({64, 2, 4}, {false, true, true}), (Laid{{9, 1, 2}, 63 * 9 + 8}));
}

// A dimension of one element is no row.
TEST(OutputRows, WhatStandsStillSaysNothing) {
  EXPECT_EQ(lay_out({1, 16, 8}, {false, true, false}).strides[2], 16);
  EXPECT_EQ(lay_out({8, 1, 16}, {false, true, true}).strides[0], 20);
  EXPECT_EQ(lay_out({8, 1}, {false, true}), (Laid{{1, 1}, 8}));
  EXPECT_EQ(lay_out({32, 3}, {false, false}), (Laid{{1, 36}, 2 * 36 + 32}));
}

}  // namespace
}  // namespace stria::cost
