// SPDX-License-Identifier: Apache-2.0
// What compile_kernels promises to its callers: the list of kernels and arguments, dumps, sub-ranges,
// several libraries at once, errors that name their place.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "emit/compiled_kernels.h"
#include "kernel_runner.h"
#include "stria/stripe/parser.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {
std::atomic<int> threads_left = -1;  // that pthread_create still starts; below 0: any number
}

// Stands before the system's: lets a test run out of threads.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*start)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left == 0) return EAGAIN;
  if (threads_left > 0) --threads_left;
  return create(thread, how, start, argument);
}
#endif

namespace stria::llvm_cpu {
namespace {

using namespace stria::kernels;

stripe::Program parsed(const std::string& text) {
  Result<stripe::Program> program = stripe::parse({"test", text});
  EXPECT_TRUE(program.ok()) << program.status().to_string();
  return *program;
}

const TestTensor kIn{"A", DataType::fp32, {10, 8}}, kOut{"R", DataType::fp32, {10, 8}, "out"},
    kSum{"T", DataType::i16, {10}, "inout"};

std::string doubling() {
  return program_text({kIn, kOut, kSum}, {fmt::format("#kernel #parallel block [x:10] ( // doubling\nin {}\nout {}\ninout {}) {{\n"
                                                      "0: $a = load(A)\n1: $b = add.fp32($a, $a)\n2: R = store($b)\n3: T = store($b)\n}}",
                                                      element_view(kIn, "x, 3"), element_view(kOut, "x, 3"), element_view(kSum, "x"))});
}

TEST(Interface, ListsKernelsAndArguments) {
  auto compiled = compile_kernels(parsed(doubling()));
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  ASSERT_EQ((*compiled)->kernels().size(), 1u);
  const CompiledKernel& kernel = (*compiled)->kernels()[0];
  EXPECT_EQ(kernel.name, "doubling");
  EXPECT_FALSE(kernel.in_prologue);
  EXPECT_EQ(kernel.trip_count, 10);
  ASSERT_EQ(kernel.arguments.size(), 3u);
  EXPECT_EQ(kernel.arguments[0].name, "R");
  EXPECT_EQ(kernel.arguments[0].bytes, 320);
  EXPECT_TRUE(kernel.arguments[0].writable && !kernel.arguments[0].readable);
  EXPECT_EQ(kernel.arguments[1].name, "T");
  EXPECT_EQ(kernel.arguments[1].type, DataType::i16);
  EXPECT_TRUE(kernel.arguments[1].writable && kernel.arguments[1].readable);
  EXPECT_EQ(kernel.arguments[2].name, "A");
  EXPECT_TRUE(!kernel.arguments[2].writable && kernel.arguments[2].readable);
  EXPECT_TRUE(kernel.semtree.empty() && kernel.ir.empty() && kernel.assembly.empty());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Interface, CompilesWithTheThreadsThatTheSystemGives) {
  const std::string kernel = fmt::format("#kernel #parallel block [x:10] (\nin {}\nout {}) {{\n0: $a = load(A)\n1: R = store($a)\n}}",
                                         element_view(kIn, "x, 3"), element_view(kOut, "x, 3"));
  for (int given : {0, 1}) {
    threads_left = given;
    CompileOptions options;
    options.threads = 8;
    auto compiled = compile_kernels(parsed(program_text({kIn, kOut}, std::vector<std::string>(6, kernel))), options);
    threads_left = -1;
    ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
    EXPECT_EQ((*compiled)->kernels().size(), 6u);
  }
}
#endif

TEST(Interface, RunsOnlyTheRangeAskedFor) {
  auto compiled = compile_kernels(parsed(doubling()));
  ASSERT_TRUE(compiled.ok());
  std::vector<float> in(80, 2), out(80, -1);
  std::vector<int16_t> sums(10, -1);
  void* args[] = {out.data(), sums.data(), in.data()};
  (*compiled)->kernels()[0].entry(args, 4, 6);
  (*compiled)->kernels()[0].entry(args, 7, 7);
  for (int x = 0; x < 10; ++x) EXPECT_EQ(sums[static_cast<size_t>(x)], x == 4 || x == 5 ? 4 : -1) << x;
}

TEST(Interface, DumpsOnRequest) {
  CompileOptions options;
  options.dump_semtree = options.dump_ir = options.dump_assembly = true;
  auto compiled = compile_kernels(parsed(doubling()), options);
  ASSERT_TRUE(compiled.ok());
  const CompiledKernel& kernel = (*compiled)->kernels()[0];
  EXPECT_NE(kernel.semtree.find("kernel doubling (out R: fp32[80], inout T: i16[10], in A: fp32[80])"), std::string::npos)
      << kernel.semtree;
  EXPECT_NE(kernel.ir.find("define"), std::string::npos);
  EXPECT_NE(kernel.assembly.find("ret"), std::string::npos);
}

TEST(Interface, CompilesFromSeveralThreadsAndFreesInAnyOrder) {
  const stripe::Program program = parsed(doubling());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      auto first = compile_kernels(program);
      auto second = compile_kernels(program);
      ASSERT_TRUE(first.ok() && second.ok());
      first->reset();
      std::vector<float> in(80, 1.5f), out(80);
      std::vector<int16_t> sums(10);
      void* args[] = {out.data(), sums.data(), in.data()};
      (*second)->kernels()[0].entry(args, 0, 10);
      EXPECT_EQ(sums[9], 3);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Interface, RefinementsOfOneTensorMayOverlap) {
  TestTensor tensor{"R", DataType::i32, {16}, "inout"};
  // The second name of the tensor sees what was stored through the first.
  const char* text =
      "#kernel block [x:15] (\nin S = R[x] i32(1:1)\nout R[1 + x] i32(1:1)) {\n0: $a = load(S)\n1: $one = (i32)1\n"
      "2: $b = add.i32($a, $one)\n3: R = store($b)\n}";
  EXPECT_EQ(difference(program_text({tensor}, {text})), "");
}

TEST(Interface, RefusesByName) {
  const auto message = [](const std::string& text) { return compile_kernels(parsed(text)).status().message(); };
  EXPECT_NE(message(program_text({kOut}, {"#kernel block [] ( // odd\nout R[0, 0] fp32(10:8, 8:1)) {\n0: special fold(; R)\n}"}))
                .find("kernel 'odd': special 'fold'"),
            std::string::npos);
  const std::string large = message(program_text(
      {kOut}, {"#kernel block [] ( // big\nout R[0, 0] fp32(1:8, 1:1)\nnone new@0x0 t[0] fp32(100000:1)) {\n"
               "0: block [x:100000] (\nout t[x] fp32(1:1)) {\n0: $a = (fp32)1.0\n1: t = store($a)\n}\n"
               "1: block [x:100000] (\nin t[x] fp32(1:1)\nout R[0, 0] fp32(1:8, 1:1)) {\n0: $a = load(t)\n1: R = store($a)\n}\n}"}));
  EXPECT_NE(large.find("allocates 400000 bytes"), std::string::npos) << large;
  const std::string unrolled = message(program_text(
      {kOut}, {"#kernel block [] ( // many\nout R[0, 0] fp32(1:8, 1:1)) {\n0: #unroll block [a:1000, b:1000] (\nout R[0, 0] fp32(1:8, 1:1)) "
               "{\n0: $a = (fp32)1.0\n1: R = store($a)\n}\n}"}));
  EXPECT_NE(unrolled.find("unrolls to more than"), std::string::npos) << unrolled;
  EXPECT_EQ(compile_kernels(parsed(program_text({kOut}, {}))).status().code(), StatusCode::ok);
}

TEST(Interface, NamesTheHost) {
  EXPECT_FALSE(host_cpu_name().empty());
  const int lanes = host_vector_lanes();
  EXPECT_TRUE(lanes == 4 || lanes == 8 || lanes == 16) << lanes;
}

}  // namespace
}  // namespace stria::llvm_cpu
