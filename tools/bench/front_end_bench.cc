// SPDX-License-Identifier: Apache-2.0
// What the front end costs: parse, bind and lower of a generated program, cold and in a process of
// its own, so that the peak of its memory is that of the program.
//   stria_front_end_bench STATEMENTS     prints seconds of parse, bind and lower, then peak KiB
//   stria_front_end_bench STATEMENTS gradient    prints seconds of the gradient by both inputs, and
//                                                its statements
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "measure.h"
#include "stria/base/text.h"
#include "stria/lower/lower.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/gradient/gradient.h"
#include "stria/tile/syntax/parser.h"

namespace {

using namespace stria;

// One statement in ten is a product of matrices, all others are elementwise.
std::string program_of(int64_t statements) {
  std::string text = "function (A[N, N], B[N, N]) -> (R) {\n  T0 = A * 1.0;\n";
  for (int64_t i = 1; i + 1 < statements; ++i)
    text += i % 10 == 0 ? fmt::format("  T{}[i, j : N, N] = +(T{}[i, k] * B[k, j]);\n", i, i - 1)
                        : fmt::format("  T{} = T{} * 0.5 + A;\n", i, i - 1);
  return text + fmt::format("  R = T{} + 1;\n}}\n", statements - 2);
}

template <typename T>
T require(Result<T> result) {
  if (result.ok()) return std::move(result).value();
  std::fprintf(stderr, "stria_front_end_bench: %s\n", result.status().to_string().c_str());
  std::exit(3);
}

int print_gradient(const std::string& text) {
  const tile::Program program = require(tile::parse({"bench.tile", text}));
  tile::Program made;
  const double gradient_s = bench::seconds_of([&] { made = require(tile::gradient(program, {})); });
  std::printf("%.9f %zu\n", gradient_s, made.functions.back().statements.size());
  return 0;
}

int64_t peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

int main(int argc, char** argv) {
  const bool gradient = argc == 3 && std::string_view(argv[2]) == "gradient";
  const int64_t statements = argc == 2 || gradient ? std::atoll(argv[1]) : 0;
  if (statements < 2) {
    std::fprintf(stderr, "usage: stria_front_end_bench STATEMENTS [gradient] (2 or more)\n");
    return 2;
  }
  const std::string text = program_of(statements);
  if (gradient) return print_gradient(text);
  const TensorType matrix{DataType::fp32, {64, 64}};
  tile::Program program;
  tile::BoundProgram bound;
  stripe::Program lowered;
  const double parse_s =
      bench::seconds_of([&] { program = require(tile::parse({"bench.tile", text})); });
  const double bind_s = bench::seconds_of(
      [&] { bound = require(tile::bind_program(program, "", {{"A", matrix}, {"B", matrix}})); });
  const double lower_s = bench::seconds_of([&] { lowered = require(lower(bound)); });
  const auto kernels = static_cast<int64_t>(lowered.main()->stmts.size());
  if (kernels != statements) {
    std::fprintf(stderr, "stria_front_end_bench: %lld kernels of %lld statements\n",
                 static_cast<long long>(kernels), static_cast<long long>(statements));
    return 3;
  }
  std::printf("%.9f %.9f %.9f %lld\n", parse_s, bind_s, lower_s,
              static_cast<long long>(peak_kib()));
  return 0;
}
