// SPDX-License-Identifier: Apache-2.0
// Programs with gather, scatter, index, reshape, shape and random numbers, through the command, on
// every plugin. What is expected is computed here by plain loops; random numbers by the generator
// as docs/semantics.md states it (M16), written once more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../chosen_device.h"
#include "array_case.h"

namespace stria::end_to_end {
namespace {

using Sizes = std::vector<int64_t>;
uint32_t next(uint32_t& state) { return state = state * 1664525u + 1013904223u; }

int64_t count_of(const Sizes& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

// Multiples of 1/4 in -2..2: sums of a few hundred are exact in fp32 in every order.
Array values(Sizes sizes, uint32_t seed) {
  Array array{"<f4", std::move(sizes), {}};
  for (int64_t i = count_of(array.sizes); i > 0; --i)
    array.values.push_back((static_cast<int>(next(seed) >> 16) % 17 - 8) / 4.0);
  return array;
}
// Integers in low .. high.
Array integers(const std::string& descr, Sizes sizes, int64_t low, int64_t high, uint32_t seed) {
  Array array{descr, std::move(sizes), {}};
  for (int64_t i = count_of(array.sizes); i > 0; --i)
    array.values.push_back(static_cast<double>(low + (next(seed) >> 8) % (high - low + 1)));
  return array;
}
Array zeros(Sizes sizes, const std::string& descr = "<f4") {
  const auto count = static_cast<size_t>(count_of(sizes));
  return {descr, std::move(sizes), std::vector<double>(count)};
}
size_t row_of(double index, int64_t rows) {
  return static_cast<size_t>(std::min<double>(std::max(index, 0.0), static_cast<double>(rows - 1)));
}

// Index tensors of rank 2 and 0, of several types, with numbers out of range.
Case embedding(const Sizes& index_sizes, const std::string& type, int64_t rows, int64_t width) {
  const int64_t low = type[1] == 'u' ? 0 : -3;
  Case c{"embedding",
         {{"Table", values({rows, width}, 1)},
          {"Words", integers(type, index_sizes, low, rows + 3, 2)}},
         {}};
  Sizes sizes = index_sizes;
  sizes.push_back(width);
  Array out = zeros(sizes);
  const auto w = static_cast<size_t>(width);
  for (size_t i = 0; i < c.inputs["Words"].values.size(); ++i)
    for (size_t d = 0; d < w; ++d)
      out.values[i * w + d] =
          c.inputs["Table"].values[row_of(c.inputs["Words"].values[i], rows) * w + d];
  c.expected["R"] = out;
  return c;
}

Case embedding_gradient(const Sizes& index_sizes, int64_t rows, int64_t width, uint32_t seed) {
  Sizes sizes = index_sizes;
  sizes.push_back(width);
  Case c{"embedding_gradient",
         {{"DR", values(sizes, seed)},
          {"Words", integers("<i4", index_sizes, -2, rows + 1, seed + 1)},
          {"Table", values({rows, width}, seed + 2)}},
         {{"DTable", zeros({rows, width})}}};
  const auto w = static_cast<size_t>(width);
  for (size_t i = 0; i < c.inputs["Words"].values.size(); ++i) {
    const double at = c.inputs["Words"].values[i];
    if (at < 0 || at >= static_cast<double>(rows)) continue;
    for (size_t d = 0; d < w; ++d)
      c.expected["DTable"].values[static_cast<size_t>(at) * w + d] +=
          c.inputs["DR"].values[i * w + d];
  }
  return c;
}

Case gather_vector() {
  Case c{"gather_vector",
         {{"D", values({37}, 5)}, {"I", integers("<i4", {100}, -2, 22, 6)}},
         {{"R", zeros({100})}}};
  for (size_t i = 0; i < 100; ++i)
    c.expected["R"].values[i] =
        c.inputs["D"].values[row_of(c.inputs["I"].values[i] * 2 - 1, 37)] + 1;
  return c;
}

Case gather_or_zero_rows() {
  Case c{"gather_or_zero_rows",
         {{"D", values({37, 3}, 5)}, {"I", integers("<i4", {100}, -2, 22, 6)}},
         {{"R", zeros({100, 3})}}};
  for (size_t i = 0; i < 100; ++i)
    for (size_t d = 0; d < 3; ++d)
      if (const double row = c.inputs["I"].values[i] * 2 - 1; row >= 0 && row < 37)
        c.expected["R"].values[i * 3 + d] = c.inputs["D"].values[static_cast<size_t>(row) * 3 + d];
  return c;
}

Case histogram(int64_t n, int64_t bins) {
  Case c{"histogram",
         {{"I", integers("<u2", {n}, 0, bins, 7)}, {"Bins", zeros({bins})}},
         {{"Count", zeros({bins}, "<i4")}}};
  for (double at : c.inputs["I"].values)
    if (at < static_cast<double>(bins)) ++c.expected["Count"].values[static_cast<size_t>(at)];
  return c;
}

Case one_hot() {
  Case c{"one_hot",
         {{"I", integers("<i4", {19}, -1, 11, 8)}, {"Classes", zeros({11})}},
         {{"R", zeros({19, 11})}}};
  for (size_t i = 0; i < 19; ++i)
    for (size_t k = 0; k < 11; ++k)
      c.expected["R"].values[i * 11 + k] = c.inputs["I"].values[i] == static_cast<double>(k);
  return c;
}

Case argmax() {
  Case c{"argmax", {{"I", values({23, 40}, 9)}}, {{"R", zeros({23}, "<i4")}}};
  for (size_t m = 0; m < 23; ++m) {
    const auto row = c.inputs["I"].values.begin() + static_cast<std::ptrdiff_t>(40 * m);
    c.expected["R"].values[m] = static_cast<double>(std::max_element(row, row + 40) - row);
  }
  return c;
}

Case reshapes() {
  Case c{"reshapes", {{"A", values({6, 35}, 10)}}, {}};
  c.expected["Flat"] = {"<f4", {210}, c.inputs["A"].values};
  c.expected["Back"] = {"<f4", {6, 35}, c.inputs["A"].values};
  for (double& value : c.expected["Back"].values) value *= 2;
  c.expected["Sizes"] = {"<i4", {2}, {6, 35}};
  return c;
}

Case shape_of_vector() {
  return {"shape_of_vector",
          {{"A", zeros({7})}, {"B", zeros({3}, "<i4")}},
          {{"R", {"<i4", {3}, {7, 7, 7}}}}};
}

Case scatter_fp16() {
  // 1 + 2048 times 1/4096 is 1.5; kept in fp16 each sum would round back to 1.
  Case c{"scatter_fp16",
         {{"E", zeros({2049}, "<f2")}, {"I", zeros({2049}, "<i8")}, {"V", zeros({2}, "<f2")}},
         {{"R", {"<f2", {2}, {1.5, 0}}}}};
  for (double& value : c.inputs["E"].values) value = 1.0 / 4096;
  c.inputs["E"].values[0] = 1;
  return c;
}

Case transpose_by_gather() {
  Case c{"transpose_by_gather",
         {{"A", values({5, 8}, 11)}, {"Order", integers("<i2", {12}, 0, 7, 12)}},
         {{"R", zeros({5, 12})}}};
  for (size_t i = 0; i < 5; ++i)
    for (size_t k = 0; k < 12; ++k)
      c.expected["R"].values[i * 12 + k] =
          c.inputs["A"].values[i * 8 + static_cast<size_t>(c.inputs["Order"].values[k])];
  return c;
}

// ---- M16 ----

using State = std::vector<uint32_t>;  // [3][2048]

State seeded(uint32_t seed) {
  State state;
  for (uint32_t n = 1; n <= 3 * 2048; ++n) {
    uint32_t h = seed + 0x9e3779b9u * n;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    state.push_back(h | 16);
  }
  return state;
}

double draw(State& state, size_t stream) {
  uint32_t& a = state[stream];
  uint32_t& b = state[2048 + stream];
  uint32_t& c = state[4096 + stream];
  a = ((a & ~1u) << 12) ^ (((a << 13) ^ a) >> 19);
  b = ((b & ~7u) << 4) ^ (((b << 2) ^ b) >> 25);
  c = ((c & ~15u) << 17) ^ (((c << 3) ^ c) >> 11);
  return ((a ^ b ^ c) >> 8) / 16777216.0;
}

Array numbers(State& state, Sizes sizes) {
  Array out = zeros(std::move(sizes));
  for (size_t p = 0; p < out.values.size(); ++p) out.values[p] = draw(state, p % 2048);
  return out;
}

Array words(const State& state) { return {"<u4", {3, 2048}, {state.begin(), state.end()}}; }

Case random_numbers() {
  State state = seeded(42);
  Case c{"random", {{"S", words(state)}}, {}};
  c.expected["A"] = numbers(state, {50, 7, 13});
  c.expected["B"] = numbers(state, {4096});
  c.expected["State"] = words(state);
  return c;
}

Case random_seed() {
  return {
      "random_seed", {{"Seed", {"<u4", {}, {4000000000.0}}}}, {{"S", words(seeded(4000000000u))}}};
}

Case dropout() {
  State state = seeded(7);
  Case c{"dropout", {{"X", values({30, 100}, 13)}, {"S", words(state)}}, {}};
  Array kept = numbers(state, {30, 100});
  for (size_t i = 0; i < kept.values.size(); ++i)
    kept.values[i] = kept.values[i] < 0.75
                         ? static_cast<float>(static_cast<float>(c.inputs["X"].values[i]) / 0.75f)
                         : 0;
  c.expected = {{"R", kept}, {"State", words(state)}};
  return c;
}

TEST(M16, NumbersLookUniform) {
  State state = seeded(1);
  const Array all = numbers(state, {200000});
  double sum = 0, squares = 0, neighbours = 0;
  for (size_t i = 0; i < all.values.size(); ++i) {
    const double x = all.values[i] - 0.5;
    sum += x;
    squares += x * x;
    if (i > 0) neighbours += x * (all.values[i - 1] - 0.5);
  }
  const double n = static_cast<double>(all.values.size());
  EXPECT_NEAR(sum / n, 0, 0.003);
  EXPECT_NEAR(squares / n, 1.0 / 12, 0.001);
  EXPECT_NEAR(neighbours / n, 0, 0.001);
}

std::vector<Case> all_cases() {
  return {embedding({4, 9}, "<i4", 13, 20),
          embedding({}, "<i8", 5, 3),
          embedding({300}, "|u1", 40, 1),
          embedding({2000}, "<i4", 500, 64),
          embedding_gradient({4, 9}, 13, 20, 20),
          embedding_gradient({3000}, 101, 70, 30),
          embedding_gradient({5000}, 64, 16, 40),
          embedding_gradient({}, 4, 5, 50),
          gather_vector(),
          gather_or_zero_rows(),
          histogram(500, 30),
          histogram(60000, 97),
          one_hot(),
          argmax(),
          reshapes(),
          shape_of_vector(),
          scatter_fp16(),
          transpose_by_gather(),
          random_numbers(),
          random_seed(),
          dropout()};
}

class Specials : public testing::TestWithParam<const char*> {};

TEST_P(Specials, EveryProgram) { run_cases("specials", all_cases(), chosen_device(GetParam())); }

TEST(SpecialsFolder, EveryProgramHasACase) {
  expect_a_case_of_every_program("specials", all_cases());
}

INSTANTIATE_TEST_SUITE_P(Plugins, Specials, testing::Values(STRIA_PLUGINS),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace stria::end_to_end
