// SPDX-License-Identifier: Apache-2.0
// Every function of the tutorial, through the command, on every plugin. What is expected is
// computed here by plain loops written from the tutorial's formulas. Values are multiples of 1/4,
// so sums and products of them are exact in fp32 whatever their order, and results must be equal,
// not near.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "../chosen_device.h"
#include "array_case.h"

namespace stria::end_to_end {
namespace {

using Sizes = std::vector<int64_t>;

// Small deterministic multiples of 1/4 in -2..2, some of them 0.
Array values(Sizes sizes, uint32_t seed) {
  Array array{"<f4", std::move(sizes), {}};
  int64_t count = 1;
  for (int64_t size : array.sizes) count *= size;
  uint32_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    array.values.push_back((static_cast<int>(state >> 16) % 17 - 8) / 4.0);
  }
  return array;
}

// Element access by coordinates.
double& at(Array& array, const Sizes& where) {
  int64_t flat = 0;
  for (size_t d = 0; d < where.size(); ++d) flat = flat * array.sizes[d] + where[d];
  return array.values[static_cast<size_t>(flat)];
}

Array zeros(Sizes sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return {"<f4", std::move(sizes), std::vector<double>(static_cast<size_t>(count))};
}

Case matmul(int64_t m, int64_t l, int64_t n) {
  Case c{"matmul", {{"A", values({m, l}, 1)}, {"B", values({l, n}, 2)}}, {{"C", zeros({m, n})}}};
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t k = 0; k < l; ++k)
        at(c.expected["C"], {i, j}) += at(c.inputs["A"], {i, k}) * at(c.inputs["B"], {k, j});
  return c;
}

// O[n] from the column I[·, n].
Case columns(const std::string& file, int64_t m, int64_t n, int64_t out,
             const std::function<double(const std::vector<double>&)>& reduce) {
  Case c{file, {{"I", values({m, n}, 3)}}, {{"O", zeros({out})}}};
  for (int64_t j = 0; j < std::min(n, out); ++j) {
    std::vector<double> column;
    for (int64_t i = 0; i < m; ++i) column.push_back(at(c.inputs["I"], {i, j}));
    c.expected["O"].values[static_cast<size_t>(j)] = reduce(column);
  }
  return c;
}
double sum(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x;
  return s;
}
double product(const std::vector<double>& v) {
  double p = 1;
  for (double x : v) p *= x;
  return p;
}
double largest(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }
double smallest(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }

// One output element per position, from a function of the position.
Case line(const std::string& file, int64_t n, int64_t out,
          const std::function<double(const std::vector<double>&, int64_t)>& element) {
  Case c{file, {{"I", values({n}, 4)}}, {{"O", zeros({out})}}};
  for (int64_t i = 0; i < out; ++i)
    c.expected["O"].values[static_cast<size_t>(i)] = element(c.inputs["I"].values, i);
  return c;
}

Case conv1d() {
  const int64_t N = 2, L = 11, CI = 3, LK = 4, CO = 5;
  Case c{"conv1d",
         {{"I", values({N, L, CI}, 5)}, {"K", values({LK, CI, CO}, 6)}},
         {{"O", zeros({N, L - LK + 1, CO})}}};
  for (int64_t n = 0; n < N; ++n)
    for (int64_t x = 0; x < L - LK + 1; ++x)
      for (int64_t co = 0; co < CO; ++co)
        for (int64_t k = 0; k < LK; ++k)
          for (int64_t ci = 0; ci < CI; ++ci)
            at(c.expected["O"], {n, x, co}) +=
                at(c.inputs["I"], {n, x + k, ci}) * at(c.inputs["K"], {k, ci, co});
  return c;
}

Case conv2d_dilated() {
  const int64_t N = 2, X = 9, Y = 10, CI = 3, KX = 3, KY = 2, CO = 4;
  const int64_t OX = X - 2 * (KX - 1), OY = Y - 3 * (KY - 1);
  Case c{"conv2d_dilated",
         {{"I", values({N, X, Y, CI}, 7)}, {"K", values({KX, KY, CI, CO}, 8)}},
         {{"O", zeros({N, OX, OY, CO})}}};
  for (int64_t n = 0; n < N; ++n)
    for (int64_t x = 0; x < OX; ++x)
      for (int64_t y = 0; y < OY; ++y)
        for (int64_t co = 0; co < CO; ++co)
          for (int64_t kx = 0; kx < KX; ++kx)
            for (int64_t ky = 0; ky < KY; ++ky)
              for (int64_t ci = 0; ci < CI; ++ci)
                at(c.expected["O"], {n, x, y, co}) +=
                    at(c.inputs["I"], {n, x + 2 * kx, y + 3 * ky, ci}) *
                    at(c.inputs["K"], {kx, ky, ci, co});
  return c;
}

Case conv_relu(int64_t X, int64_t Y, int64_t CI, int64_t CO) {
  Case c{"conv_relu",
         {{"D", values({1, X, Y, CI}, 9)}, {"K", values({3, 3, CO, CI}, 10)}},
         {{"R", zeros({1, X, Y, CO})}}};
  for (int64_t x = 0; x < X; ++x)
    for (int64_t y = 0; y < Y; ++y)
      for (int64_t co = 0; co < CO; ++co) {
        double total = 0;
        for (int64_t i = 0; i < 3; ++i)
          for (int64_t j = 0; j < 3; ++j) {
            const int64_t u = x + i - 1, v = y + j - 1;
            if (u < 0 || u >= X || v < 0 || v >= Y) continue;
            for (int64_t ci = 0; ci < CI; ++ci)
              total += at(c.inputs["D"], {0, u, v, ci}) * at(c.inputs["K"], {i, j, co, ci});
          }
        at(c.expected["R"], {0, x, y, co}) = std::max(total, 0.0);
      }
  return c;
}

Case skipping() {
  const int64_t N = 7, M = 4;
  Case c{"skipping", {{"I", values({N, M}, 11)}}, {{"O", zeros({N})}}};
  for (int64_t i = 0; i < N; i += 2)
    for (int64_t j = 0; j < M; ++j) at(c.expected["O"], {i}) += at(c.inputs["I"], {i, j});
  return c;
}

Case global_min() {
  Case c{"global_min", {{"I", values({3, 4, 5}, 12)}}, {{"O", zeros({})}}};
  c.expected["O"].values[0] = smallest(c.inputs["I"].values);
  return c;
}

Case mean_global(const std::string& file) {
  Case c{file, {{"I", values({4, 8}, 13)}}, {{"O", zeros({})}}};
  c.expected["O"].values[0] = sum(c.inputs["I"].values) / 32;
  return c;
}

Case elementwise() {
  Case c{"elementwise", {{"A", values({5, 6}, 14)}, {"B", values({5, 6}, 15)}}, {}, 1e-6};
  for (double& a : c.inputs["A"].values)
    a = std::fabs(a) + 0.25;  // roots, logarithms and powers are real
  for (double& b : c.inputs["B"].values) b = b == 0 ? 1 : b;
  auto add = [&](const char* name, const char* descr,
                 const std::function<double(double, double)>& f) {
    Array out{descr, {5, 6}, {}};
    for (size_t i = 0; i < 30; ++i)
      out.values.push_back(f(c.inputs["A"].values[i], c.inputs["B"].values[i]));
    c.expected[name] = std::move(out);
  };
  add("Sum", "<f4", [](double a, double b) { return a + b; });
  add("Difference", "<f4", [](double a, double b) { return a - b; });
  add("Product", "<f4", [](double a, double b) { return a * b; });
  add("Quotient", "<f4", [](double a, double b) { return a / b; });
  add("Equal", "|b1", [](double a, double b) { return a == b; });
  add("Unequal", "|b1", [](double a, double b) { return a != b; });
  add("Less", "|b1", [](double a, double b) { return a < b; });
  add("Root", "<f4", [](double a, double) { return std::sqrt(a); });
  add("Exponential", "<f4", [](double a, double) { return std::exp(a); });
  add("Power", "<f4", [](double a, double b) { return std::pow(a, b); });
  add("Sine", "<f4", [](double a, double) { return std::sin(a); });
  add("Tangent", "<f4", [](double a, double) { return std::tanh(a); });
  add("Logarithm", "<f4", [](double a, double) { return std::log(a); });
  add("Logistic", "<f4", [](double a, double) { return 1 / (1 + std::exp(-a)); });
  add("Choice", "<f4", [](double a, double b) { return a < b ? a : b; });
  return c;
}

std::vector<Case> all_cases() {
  auto prefix = [](const std::vector<double>& v, int64_t i) {
    return sum({v.begin(), v.begin() + i + 1});
  };
  auto pair = [](const std::vector<double>& v, int64_t i) {
    const auto first = static_cast<size_t>(2 * i);
    return first + 1 < v.size() ? std::max(v[first], v[first + 1]) : v[first];
  };
  std::vector<Case> cases;
  for (int64_t size : {1, 2, 17}) cases.push_back(matmul(size, size + 3, 2 * size));
  cases.push_back(matmul(3, 0, 2));  // nothing to sum: zeros
  cases.push_back(columns("sum_axis0", 5, 7, 7, sum));
  cases.push_back(columns("sum_axis0_padded", 5, 7, 8, sum));
  cases.push_back(columns("sum_axis0_truncated", 5, 7, 6, sum));
  cases.push_back(columns("max_axis0", 5, 7, 7, largest));
  cases.push_back(columns("min_axis0", 5, 7, 7, smallest));
  cases.push_back(columns("product_axis0", 4, 7, 7, product));
  cases.push_back(columns("mean_axis0", 8, 5, 5, [](const auto& v) { return sum(v) / 8; }));
  cases.push_back(global_min());
  cases.push_back(mean_global("mean_global"));
  cases.push_back(mean_global("mean_global_staged"));
  cases.push_back(line("all_max", 9, 4, [](const auto& v, int64_t) { return largest(v); }));
  cases.push_back(line("maxpool1d", 9, 4, pair));
  cases.push_back(line("maxpool1d", 10, 5, pair));
  cases.push_back(line("maxpool1d_odd", 9, 5, pair));
  cases.push_back(line("cumsum_constraint", 9, 9, prefix));
  cases.push_back(line("cumsum_offset", 9, 9, prefix));
  cases.push_back(skipping());
  cases.push_back(conv1d());
  cases.push_back(conv2d_dilated());
  cases.push_back(conv_relu(5, 6, 3, 4));
  cases.push_back(conv_relu(9, 16, 16, 16));
  cases.push_back(elementwise());
  return cases;
}

class Tutorial : public testing::TestWithParam<const char*> {};

TEST_P(Tutorial, EveryFunction) { run_cases("tutorial", all_cases(), chosen_device(GetParam())); }

// The tutorial leaves nothing out: every program of the folder has a case above.
TEST(TutorialFolder, EveryProgramHasACase) {
  expect_a_case_of_every_program("tutorial", all_cases());
}

INSTANTIATE_TEST_SUITE_P(Plugins, Tutorial, testing::Values(STRIA_PLUGINS),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace stria::end_to_end
