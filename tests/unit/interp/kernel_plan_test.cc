// SPDX-License-Identifier: Apache-2.0
// Kernels from raw pointers: argument order, several runs at once, what cannot be made ready.
#include "stria/interp/kernel_plan.h"

#include <thread>

#include "programs.h"

namespace stria::interp {
namespace {

using namespace testing;

const char* const kKernels =
    "0: #kernel block [i:100, j:7] ( // dot\n  in B[j] fp32(1:1)\n  in A[i, j] fp32(1:7, 1:1)\n"
    "  out O[i]:add.fp32 fp32(1:1)\n) {\n"
    " 0: $a = load(A)\n 1: $b = load(B)\n 2: $p = mul.fp32($a, $b)\n 3: O = store($p)\n}\n"
    "1: special zero(; O)\n2: special copy(T; O)\n";

stripe::Program program() {
  const std::string refs =
      "{} A[0, 0] fp32(100:7, 7:1)\n{} B[0] fp32(7:1)\n{} T[0] fp32(100:1)\n{} O[0] fp32(100:1)\n";
  const auto with = [&](const char* in, const char* out) {
    return fmt::format(fmt::runtime(refs), in, in, in, out);
  };
  return parsed(program_text(with("none new@0x0", "none new@0x0"), with("in", "out"), kKernels));
}

TEST(KernelPlan, ArgumentsAreOutputsThenInputsAsPrinted) {
  const stripe::Program p = program();
  auto plan = KernelPlan::make(*p.main(), 0);
  ASSERT_TRUE(plan.ok()) << plan.status().to_string();
  ASSERT_EQ(plan->arguments().size(), 3u);
  EXPECT_EQ(plan->name(), "dot");
  EXPECT_EQ(plan->arguments()[0].name, "O");
  EXPECT_EQ(plan->arguments()[1].name, "B");
  EXPECT_EQ(plan->arguments()[2].name, "A");
  EXPECT_EQ(plan->arguments()[2].shape.sizes(), (std::vector<int64_t>{100, 7}));
  EXPECT_EQ(plan->arguments()[0].dir, stripe::RefDir::out);
}

TEST(KernelPlan, RunsAtOnceFromSeveralThreads) {
  const stripe::Program p = program();
  auto plan = KernelPlan::make(*p.main(), 0);
  ASSERT_TRUE(plan.ok());
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> a(700, static_cast<float>(t + 1)), b(7, 2), o(100, -1);
      void* arguments[] = {o.data(), b.data(), a.data()};
      for (int repeat = 0; repeat < 50; ++repeat) {
        wrong[static_cast<size_t>(t)] += !plan->run(arguments).ok();
        for (float value : o)
          wrong[static_cast<size_t>(t)] += value != 14.0f * static_cast<float>(t + 1);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(KernelPlan, SpecialsAreKernels) {
  const stripe::Program p = program();
  std::vector<float> o(100, 5), t(100, 7);
  auto zero = KernelPlan::make(*p.main(), 1);
  ASSERT_TRUE(zero.ok()) << zero.status().to_string();
  void* one[] = {o.data()};
  ASSERT_TRUE(zero->run(one).ok());
  EXPECT_EQ(o, std::vector<float>(100, 0));
  auto copy = KernelPlan::make(*p.main(), 2);
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  void* two[] = {o.data(), t.data()};
  ASSERT_TRUE(copy->run(two).ok());
  EXPECT_EQ(o, t);
}

TEST(KernelPlan, OverlappingMemoryStillMeansTheSame) {
  // The copy of a tensor onto itself through raw pointers, and of a shifted one, point by point.
  const stripe::Program p = parsed(program_text(
      "none new@0x0 A[0] i32(64:1)\nnone new@0x0 O[0] i32(64:1)\n",
      "in A[0] i32(64:1)\nout O[0] i32(64:1)\n",
      "0: #kernel block [i:64] ( // add_one\n  in A[i] i32(1:1)\n  out O[i] i32(1:1)\n) {\n"
      " 0: $a = load(A)\n 1: $k = (i32)1\n 2: $s = add.i32($a, $k)\n 3: O = store($s)\n}\n"));
  auto plan = KernelPlan::make(*p.main(), 0);
  ASSERT_TRUE(plan.ok());
  std::vector<int32_t> memory(65, 0);
  void* arguments[] = {memory.data() + 1, memory.data()};
  ASSERT_TRUE(plan->run(arguments).ok());
  for (int i = 0; i < 65; ++i) EXPECT_EQ(memory[static_cast<size_t>(i)], i);
}

TEST(KernelPlan, WhatIsNoKernelIsRefused) {
  const stripe::Program p = program();
  EXPECT_EQ(KernelPlan::make(*p.main(), 3).status().message(),
            "block main has 3 statements, there is no kernel 3");
  auto plan = KernelPlan::make(*p.main(), 0);
  void* arguments[] = {nullptr, nullptr, nullptr};
  EXPECT_EQ(plan->run(arguments).message(), "kernel dot: argument 0 (O) has no memory");
}

}  // namespace
}  // namespace stria::interp
