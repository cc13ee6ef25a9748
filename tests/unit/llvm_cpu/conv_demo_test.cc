// SPDX-License-Identifier: Apache-2.0
// The demo convolution in hand-written device Stripe: it compiles to code without spills to memory
// in its inner loop, and on two threads gives what three plain loops give.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "emit/compiled_kernels.h"
#include "stria/base/file.h"
#include "stria/stripe/text/parser.h"

namespace stria::llvm_cpu {
namespace {

TEST(ConvDemo, TwoThreadsAgreeWithPlainLoops) {
  const std::string path =
      std::string(STRIA_SOURCE_DIR) + "/tests/golden/device/conv_demo_cpu.stripe";
  Result<std::string> text = read_file(path);
  ASSERT_TRUE(text.ok()) << text.status().to_string();
  Result<stripe::Program> program = stripe::parse({path, *text});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  CompileOptions options;
  options.dump_semtree = options.dump_assembly = true;
  auto compiled = compile_kernels(*program, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  const CompiledKernel& kernel = (*compiled)->kernels()[0];
  EXPECT_NE(kernel.semtree.find("registers O_acc: fp32x16[16]"), std::string::npos);
  if (host_vector_lanes() == 16) {
    EXPECT_NE(kernel.assembly.find("vfmadd"), std::string::npos);
    EXPECT_EQ(kernel.assembly.find("-byte Spill"), std::string::npos);
  }

  const int64_t size = 224, channels = 64;
  std::vector<float> d(size * size * channels), k(9 * channels * channels),
      o(size * size * channels);
  uint32_t state = 1;
  const auto random = [&] {
    return static_cast<float>(static_cast<int32_t>(state = state * 1664525u + 1013904223u)) /
           2147483648.0f;
  };
  for (float& value : d) value = random();
  for (float& value : k) value = random();
  void* args[] = {o.data(), d.data(), k.data()};
  std::thread other([&] { kernel.entry(args, 0, 100); });
  kernel.entry(args, 100, kernel.trip_count);
  other.join();

  const auto at = [&](int64_t x, int64_t y) { return (x * size + y) * channels; };
  for (int64_t n = 0; n < 4000; ++n) {
    const int64_t x = n % 3 == 0 ? (n % 2) * (size - 1) : n % size,
                  y = n % 5 == 0 ? (n % 4 / 2) * (size - 1) : n * 7 % size;
    const int64_t co = n % channels;
    double sum = 0, magnitude = 0;
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 3; ++j) {
        if (x + i < 1 || x + i > size || y + j < 1 || y + j > size) continue;
        for (int64_t ci = 0; ci < channels; ++ci) {
          const double term =
              static_cast<double>(d[static_cast<size_t>(at(x + i - 1, y + j - 1) + ci)]) *
              k[static_cast<size_t>(((i * 3 + j) * channels + co) * channels + ci)];
          sum += term;
          magnitude += std::fabs(term);
        }
      }
    ASSERT_NEAR(o[static_cast<size_t>(at(x, y) + co)], sum, 577 * 6e-8 * magnitude)
        << x << " " << y << " " << co;
  }
}

}  // namespace
}  // namespace stria::llvm_cpu
