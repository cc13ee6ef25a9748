// SPDX-License-Identifier: Apache-2.0
// Rows whose stores wait for the next row, through the CPU's whole pipeline: the values stay at
// every step, whatever the number of rows, their length and what is stored of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tile_program.h"

namespace stria::passes {
namespace {

const char* const kSoftmax =
    "function (A[R, C]) -> (O) { M[i, 0 : R, 1] = >(A[i, j]); E = exp(A - M);"
    " S[i, 0 : R, 1] = +(E[i, j]); O = E / S; }";
// The store reads the row itself as well.
const char* const kResidual =
    "function (A[R, C], B[R, C]) -> (O) { E = exp(A - B); S[i, 0 : R, 1] = +(E[i, j]);"
    " O = E / S + A * B; }";
const char* const kTanh =
    "function (A[R, C], G[C]) -> (O) { M[i, 0 : R, 1] = +(A[i, j]); E = tanh(A - M);"
    " S[i, 0 : R, 1] = >(E[i, j]); O = E * S * G; }";

// The pipeline with small results stored past the caches, a vector at a time.
std::string pipeline(int vector_bytes) {
  std::string text = cpu_pipeline();
  const std::string defaults = R"("stream_stores": {})";
  const size_t at = text.find(defaults);
  EXPECT_NE(at, std::string::npos);
  return text.replace(
      at, defaults.size(),
      fmt::format(R"("stream_stores": {{"min_bytes": 1, "line_bytes": {}}})", vector_bytes));
}

int64_t delayed(const std::string& text, int64_t rows, int64_t columns, int vector_bytes) {
  std::map<std::string, tile::TensorType> inputs = {{"A", {DataType::fp32, {rows, columns}}}};
  if (text == kResidual) inputs["B"] = {DataType::fp32, {rows, columns}};
  if (text == kTanh) inputs["G"] = {DataType::fp32, {columns}};
  auto program = make_program(text, inputs);
  EXPECT_TRUE(program.ok()) << program.status().to_string();
  if (!program.ok()) return 0;
  std::map<std::string, int64_t> counters;
  EXPECT_EQ(wrong_step(pipeline(vector_bytes), {{"MIN_WORK", "1"}}, small_model(vector_bytes, 32),
                       *program, &counters),
            "")
      << rows << " x " << columns << "\n"
      << text;
  return counters["delay_stores: kernels_changed"];
}

TEST(DelayStores, KeepsTheValuesOfRows) {
  for (const int vector_bytes : {16, 64})
    for (const char* text : {kSoftmax, kResidual, kTanh})
      for (const int64_t rows : {5, 6, 32, 37})
        EXPECT_EQ(delayed(text, rows, 1024, vector_bytes), 1) << vector_bytes << " " << rows << "\n"
                                                              << text;
}

// Four short rows are worked on side by side.
TEST(DelayStores, KeepsTheValuesOfShortRows) {
  for (const int64_t rows : {64, 96}) EXPECT_EQ(delayed(kSoftmax, rows, 128, 64), 1) << rows;
  for (const int64_t rows : {5, 37}) delayed(kSoftmax, rows, 128, 64);
}

TEST(DelayStores, LeavesOtherRowsAlone) {
  for (const int64_t columns : {48, 513, 1030})
    EXPECT_EQ(delayed(kSoftmax, 7, columns, 64), 0) << columns;
}

}  // namespace
}  // namespace stria::passes
