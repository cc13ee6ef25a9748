// SPDX-License-Identifier: Apache-2.0
// What compile_kernels promises to its callers: the list of kernels and arguments, dumps,
// sub-ranges, several libraries at once, errors that name their place.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <set>
#include <thread>

#include "emit/compiled_kernels.h"
#include "kernel_runner.h"
#include "stria/stripe/text/parser.h"

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
  return program_text(
      {kIn, kOut, kSum},
      {fmt::format(
          "#kernel #parallel block [x:10] ( // doubling\nin {}\nout {}\ninout {}) {{\n"
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

std::string copying(const std::string& name, int x) {
  return fmt::format(
      "#kernel #parallel block [x:10] ( // {}\nin {}\nout {}) {{\n0: $a = load(A)\n1: R = "
      "store($a)\n}}",
      name, element_view(kIn, fmt::format("x, {}", x)),
      element_view(kOut, fmt::format("x, {}", x)));
}

TEST(Interface, CompilesInParallelAsItIsTold) {
  std::vector<std::string> blocks;
  for (int x = 0; x < 6; ++x) blocks.push_back(copying(fmt::format("copy_{}", x), x));
  const stripe::Program program = parsed(program_text({kIn, kOut}, blocks));
  size_t told = 0;
  CompileOptions options;
  options.parallel = [&](size_t count, const std::function<void(size_t)>& job) {
    told = count;
    std::vector<std::thread> threads;
    for (size_t n = count; n-- > 0;) threads.emplace_back([&job, n] { job(n); });
    for (std::thread& thread : threads) thread.join();
  };
  auto compiled = compile_kernels(program, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  EXPECT_EQ(told, 6u);
  ASSERT_EQ((*compiled)->kernels().size(), 6u);
  std::vector<float> in(80), out(80, -1);
  for (size_t i = 0; i < 80; ++i) in[i] = static_cast<float>(i);
  void* args[] = {out.data(), in.data()};
  for (size_t x = 0; x < 6; ++x) {
    EXPECT_EQ((*compiled)->kernels()[x].name, fmt::format("copy_{}", x));
    (*compiled)->kernels()[x].entry(args, 0, 10);
  }
  for (size_t i = 0; i < 80; ++i) EXPECT_EQ(out[i], i % 8 < 6 ? in[i] : -1) << i;
}

TEST(Interface, KernelsThatDifferInNamesAloneAreCompiledOnce) {
  // Columns 2 and 3: the first and the third are one, whatever they and their tensors are called.
  const TestTensor in{"B", DataType::fp32, {10, 8}}, out{"S", DataType::fp32, {10, 8}, "out"};
  const std::string renamed = fmt::format(
      "#kernel #parallel block [row:10] ( // other\nin {}\nout {}) {{\n0: $v = load(B)\n1: S = "
      "store($v)\n}}",
      element_view(in, "row, 2"), element_view(out, "row, 2"));
  auto compiled = compile_kernels(parsed(
      program_text({kIn, kOut, in, out}, {copying("first", 2), copying("second", 3), renamed})));
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  const std::vector<CompiledKernel>& kernels = (*compiled)->kernels();
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].entry, kernels[2].entry);
  EXPECT_NE(kernels[0].entry, kernels[1].entry);
  EXPECT_EQ(kernels[2].name, "other");
  EXPECT_EQ(kernels[2].arguments[0].name, "S");
}

// As the steps of a recurrence do. What is not a multiple of 64 bytes stays in the code, which
// knows how its accesses are aligned.
TEST(Interface, KernelsThatDifferInWhereTheirViewsBeginAreCompiledOnce) {
  const TestTensor in{"A", DataType::fp32, {64, 8}}, out{"R", DataType::fp32, {64, 8}, "out"};
  const auto step = [&](int row) {
    return fmt::format(
        "#kernel #parallel block [x:8] ( // from_{0}\nin {1}\nout {2}) {{\n0: $a = load(A)\n1: R = "
        "store($a)\n}}",
        row, element_view(in, fmt::format("{}, x", row)),
        element_view(out, fmt::format("{}, x", 63 - row)));
  };
  const stripe::Program program = parsed(program_text({in, out}, {step(1), step(3), step(0)}));
  CompileOptions options;
  options.argument_offsets = options.keep_image = true;
  auto compiled = compile_kernels(program, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  const std::vector<CompiledKernel>& kernels = (*compiled)->kernels();
  ASSERT_EQ(kernels.size(), 3u);
  // Rows 1 and 3 are 32 bytes behind a multiple of 64, and written at one; row 0 the other way.
  EXPECT_EQ(kernels[0].entry, kernels[1].entry);
  EXPECT_NE(kernels[0].entry, kernels[2].entry);
  EXPECT_EQ(kernels[0].arguments[0].offset_bytes, 62 * 32);
  EXPECT_EQ(kernels[1].arguments[0].offset_bytes, 60 * 32);
  EXPECT_EQ(kernels[0].arguments[1].offset_bytes, 0);
  EXPECT_EQ(kernels[1].arguments[1].offset_bytes, 64);
  EXPECT_EQ(kernels[1].arguments[1].bytes, 64 * 32);  // the whole tensor
  std::vector<float> a(512), r(512, 0);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  for (const CompiledKernel& kernel : kernels) {
    void* args[] = {reinterpret_cast<std::byte*>(r.data()) + kernel.arguments[0].offset_bytes,
                    reinterpret_cast<std::byte*>(a.data()) + kernel.arguments[1].offset_bytes};
    kernel.entry(args, 0, kernel.trip_count);
  }
  for (const size_t row : {0, 1, 3})
    for (size_t x = 0; x < 8; ++x) EXPECT_EQ(r[(63 - row) * 8 + x], a[row * 8 + x]);
  EXPECT_EQ(r[61 * 8], 0);
  // What is read back has the same offsets.
  auto loaded = load_kernels((*compiled)->take_image());
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  for (size_t k = 0; k < kernels.size(); ++k)
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ((*loaded)->kernels()[k].arguments[i].offset_bytes,
                kernels[k].arguments[i].offset_bytes);
  // Without the option each is its own, and takes the tensors themselves.
  auto apart = compile_kernels(program);
  ASSERT_TRUE(apart.ok());
  EXPECT_NE((*apart)->kernels()[0].entry, (*apart)->kernels()[1].entry);
  EXPECT_EQ((*apart)->kernels()[1].arguments[0].offset_bytes, 0);
}

TEST(Interface, KernelsThatDifferInTypesOrOptionsAreNot) {
  const auto image = [](const std::string& text, bool fast_math) {
    CompileOptions options;
    options.keep_image = true;
    options.fast_math = fast_math;
    auto compiled = compile_kernels(parsed(text), options);
    EXPECT_TRUE(compiled.ok());
    return (*compiled)->take_image();
  };
  const auto text = [](const char* type) {
    const TestTensor in{"A", *parse_data_type(type), {10, 8}},
        out{"R", *parse_data_type(type), {10, 8}, "out"};
    return program_text(
        {in, out},
        {fmt::format("#kernel #parallel block [x:10] ( // k\nin {}\nout {}) {{\n0: $a = load(A)\n"
                     "1: $b = div.{}($a, $a)\n2: R = store($b)\n}}",
                     element_view(in, "x, 0"), element_view(out, "x, 0"), type)});
  };
  const std::set<std::string> images = {image(text("fp32"), false), image(text("fp32"), true),
                                        image(text("fp64"), false), image(text("i32"), false),
                                        image(text("u32"), false)};
  EXPECT_EQ(images.size(), 5u);
}

TEST(Interface, AnImageIsTheKernelsAgain) {
  CompileOptions options;
  options.keep_image = true;
  auto compiled = compile_kernels(parsed(doubling()), options);
  ASSERT_TRUE(compiled.ok());
  const std::string image = (*compiled)->take_image();
  const CompiledKernel made = (*compiled)->kernels()[0];
  compiled->reset();
  auto loaded = load_kernels(image);
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  ASSERT_EQ((*loaded)->kernels().size(), 1u);
  const CompiledKernel& kernel = (*loaded)->kernels()[0];
  EXPECT_EQ(kernel.name, made.name);
  EXPECT_EQ(kernel.trip_count, made.trip_count);
  EXPECT_EQ(kernel.in_prologue, made.in_prologue);
  EXPECT_EQ(kernel.statement, made.statement);
  ASSERT_EQ(kernel.arguments.size(), made.arguments.size());
  for (size_t a = 0; a < made.arguments.size(); ++a) {
    EXPECT_EQ(kernel.arguments[a].name, made.arguments[a].name);
    EXPECT_EQ(kernel.arguments[a].type, made.arguments[a].type);
    EXPECT_EQ(kernel.arguments[a].bytes, made.arguments[a].bytes);
    EXPECT_EQ(kernel.arguments[a].writable, made.arguments[a].writable);
    EXPECT_EQ(kernel.arguments[a].readable, made.arguments[a].readable);
  }
  std::vector<float> in(80, 1.5f), out(80);
  std::vector<int16_t> sums(10);
  void* args[] = {out.data(), sums.data(), in.data()};
  kernel.entry(args, 0, 10);
  EXPECT_EQ(sums[9], 3);
}

TEST(Interface, AnImageThatIsCutIsRefused) {
  CompileOptions options;
  options.keep_image = true;
  auto compiled = compile_kernels(parsed(doubling()), options);
  ASSERT_TRUE(compiled.ok());
  const std::string image = (*compiled)->take_image();
  ASSERT_GT(image.size(), 200u);
  for (size_t size : {size_t{0}, size_t{7}, size_t{8}, size_t{40}, size_t{100}, image.size() / 2,
                      image.size() - 1})
    EXPECT_EQ(load_kernels(image.substr(0, size)).status().code(), StatusCode::invalid_argument)
        << size;
  EXPECT_EQ(load_kernels(image + "x").status().code(), StatusCode::invalid_argument);
  std::string other = image;
  other[10] ^= 1;
  EXPECT_EQ(load_kernels(other).status().code(), StatusCode::invalid_argument);
}

TEST(Interface, RunsOnlyTheRangeAskedFor) {
  auto compiled = compile_kernels(parsed(doubling()));
  ASSERT_TRUE(compiled.ok());
  std::vector<float> in(80, 2), out(80, -1);
  std::vector<int16_t> sums(10, -1);
  void* args[] = {out.data(), sums.data(), in.data()};
  (*compiled)->kernels()[0].entry(args, 4, 6);
  (*compiled)->kernels()[0].entry(args, 7, 7);
  for (int x = 0; x < 10; ++x)
    EXPECT_EQ(sums[static_cast<size_t>(x)], x == 4 || x == 5 ? 4 : -1) << x;
}

TEST(Interface, DumpsOnRequest) {
  CompileOptions options;
  options.dump_semtree = options.dump_ir = options.dump_assembly = true;
  auto compiled = compile_kernels(parsed(doubling()), options);
  ASSERT_TRUE(compiled.ok());
  const CompiledKernel& kernel = (*compiled)->kernels()[0];
  EXPECT_NE(
      kernel.semtree.find("kernel doubling (out R: fp32[80], inout T: i16[10], in A: fp32[80])"),
      std::string::npos)
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
      "#kernel block [x:15] (\nin S = R[x] i32(1:1)\nout R[1 + x] i32(1:1)) {\n0: $a = load(S)\n1: "
      "$one = (i32)1\n"
      "2: $b = add.i32($a, $one)\n3: R = store($b)\n}";
  EXPECT_EQ(difference(program_text({tensor}, {text})), "");
}

// A square or not: rows are stored slot by slot, columns loaded one lane of each slot.
TEST(Interface, ColumnsOfRegistersAreWhatRowsHeld) {
  for (const DataType type : {DataType::fp32, DataType::fp64, DataType::i8})
    for (const auto& [rows, columns] :
         std::vector<std::pair<int, int>>{{4, 4}, {8, 8}, {16, 16}, {2, 2}, {5, 3}, {3, 16}}) {
      const TestTensor in{"A", type, {rows, columns}}, out{"R", type, {columns, rows}, "out"};
      const std::string t = std::string(name_of(type));
      const auto along = [&](const char* name, int stride, const char* what) {
        return fmt::format("{}[{}, 0] {}(1:{}, 1:1)", name, what, t, stride);
      };
      const std::string text = fmt::format(
          "#kernel block [] (\nin A[0, 0] {0}(1:{2}, 1:1)\nout R[0, 0] {0}(1:{1}, 1:1)\n"
          "none new@0x0<REG> T[0, 0] {0}({1}:{2}, {2}:1)) {{\n"
          "0: #unroll block [i:{1}] (\nin {3}\nout {4}) {{\n0: #vector block [j:{2}] (\nin A[0, j] "
          "{0}(1:{2}, 1:1)\n"
          "out T[0, j] {0}(1:{2}, 1:1)) {{\n0: $a = load(A)\n1: T = store($a)\n}}\n}}\n"
          "1: #unroll block [j:{2}] (\nin T[0, j] {0}(1:{2}, 1:1)\nout {5}) {{\n0: #vector block "
          "[i:{1}] (\n"
          "in T[i, 0] {0}(1:{2}, 1:1)\nout R[0, i] {0}(1:{1}, 1:1)) {{\n0: $a = load(T)\n1: R = "
          "store($a)\n}}\n}}\n}}",
          t, rows, columns, along("A", columns, "i"), along("T", columns, "i"),
          along("R", rows, "j"));
      const std::string program = program_text({in, out}, {text});
      EXPECT_EQ(difference(program), "") << rows << " x " << columns << " of " << t;
      CompileOptions options;
      options.dump_semtree = true;
      auto compiled = compile_kernels(parsed(program), options);
      ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
      EXPECT_NE((*compiled)->kernels()[0].semtree.find("registers T"), std::string::npos);
    }
}

// Stores past the caches need addresses that are multiples; others are made as always.
TEST(Interface, StreamedLanesArriveAtAnyAddress) {
  const TestTensor in{"A", DataType::fp32, {64}}, out{"R", DataType::fp32, {64}, "out"};
  const std::string text =
      "#kernel block [x:4] ( // streamed\nin A[16*x] fp32(16:1)\nout R[16*x] fp32(16:1)) {\n0: "
      "#vector block [l:16] (\n"
      "in A[l] fp32(1:1)\n#stream out R[l] fp32(1:1)) {\n0: $a = load(A)\n1: $b = neg.fp32($a)\n2: "
      "R = store($b)\n}\n}";
  CompileOptions options;
  options.dump_ir = true;
  auto compiled = compile_kernels(parsed(program_text({in, out}, {text})), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  EXPECT_NE((*compiled)->kernels()[0].ir.find("!nontemporal"), std::string::npos);
  alignas(64) float from[64 + 16], to[64 + 16];
  for (int i = 0; i < 80; ++i) from[i] = static_cast<float>(i);
  for (int shift = 0; shift < 16; ++shift) {
    std::fill(to, to + 80, -1.0f);
    void* args[] = {to + shift, from};
    (*compiled)->kernels()[0].entry(args, 0, (*compiled)->kernels()[0].trip_count);
    for (int i = 0; i < 80; ++i)
      ASSERT_EQ(to[i], i < shift || i >= shift + 64 ? -1.0f : -static_cast<float>(i - shift))
          << shift << ", " << i;
  }
}

// The next lanes are asked for, also beyond the end, and nothing else changes.
TEST(Interface, WhatComesNextIsAskedFor) {
  const TestTensor in{"A", DataType::fp32, {64}}, out{"R", DataType::fp32, {64}, "out"};
  const std::string program = program_text(
      {in, out},
      {"#kernel block [x:4] (\nin A[16*x] fp32(16:1)\nout R[16*x] fp32(16:1)) {\n0: #vector block "
       "[l:16] (\n"
       "#prefetch=1048576 in A[l] fp32(1:1)\n#prefetch=16 out R[l] fp32(1:1)) {\n0: $a = load(A)\n"
       "1: $b = neg.fp32($a)\n2: R = store($b)\n}\n}"});
  EXPECT_EQ(difference(program), "");
  CompileOptions options;
  options.dump_ir = true;
  auto compiled = compile_kernels(parsed(program), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  const std::string& ir = (*compiled)->kernels()[0].ir;
  EXPECT_NE(ir.find("@llvm.prefetch.p0(ptr"), std::string::npos) << ir;
  EXPECT_NE(ir.find("i32 1, i32 3, i32 1)"), std::string::npos) << ir;
}

// Views that no statement uses are asked for line by line, and nothing else changes.
TEST(Interface, ViewsMarkedToBeFetchedAreAskedFor) {
  const TestTensor in{"A", DataType::fp32, {64}}, out{"R", DataType::fp32, {64}, "out"};
  const std::string program = program_text(
      {in, out},
      {"#kernel block [x:4] (\nin A[16*x] fp32(16:1)\nout R[16*x] fp32(16:1)) {\n0: block [] (\n"
       "#fetch in A[1048576] fp32(48:1)\n#fetch out R[16] fp32(16:1)) {\n}\n1: #vector block "
       "[l:16] (\n"
       "in A[l] fp32(1:1)\nout R[l] fp32(1:1)) {\n0: $a = load(A)\n1: R = store($a)\n}\n}"});
  EXPECT_EQ(difference(program), "");
  CompileOptions options;
  options.dump_ir = true;
  auto compiled = compile_kernels(parsed(program), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  const std::string& ir = (*compiled)->kernels()[0].ir;
  const auto count = [&](const std::string& what) {
    int found = 0;
    for (size_t at = ir.find(what); at != std::string::npos; at = ir.find(what, at + 1)) ++found;
    return found;
  };
  // Of A three lines to read, of R one to write.
  EXPECT_EQ(count("i32 0, i32 3, i32 1)"), 3) << ir;
  EXPECT_EQ(count("i32 1, i32 3, i32 1)"), 1) << ir;
}

TEST(Interface, RefusesByName) {
  const auto message = [](const std::string& text) {
    return compile_kernels(parsed(text)).status().message();
  };
  EXPECT_NE(message(program_text({kOut}, {"#kernel block [] ( // odd\nout R[0, 0] fp32(10:8, 8:1)) "
                                          "{\n0: special fold(; R)\n}"}))
                .find("kernel 'odd': special 'fold'"),
            std::string::npos);
  const std::string large = message(program_text(
      {kOut},
      {"#kernel block [] ( // big\nout R[0, 0] fp32(1:8, 1:1)\nnone new@0x0 t[0] fp32(100000:1)) "
       "{\n"
       "0: block [x:100000] (\nout t[x] fp32(1:1)) {\n0: $a = (fp32)1.0\n1: t = store($a)\n}\n"
       "1: block [x:100000] (\nin t[x] fp32(1:1)\nout R[0, 0] fp32(1:8, 1:1)) {\n0: $a = "
       "load(t)\n1: R = store($a)\n}\n}"}));
  EXPECT_NE(large.find("allocates 400000 bytes"), std::string::npos) << large;
  const std::string unrolled =
      message(program_text({kOut}, {"#kernel block [] ( // many\nout R[0, 0] fp32(1:8, 1:1)) {\n0: "
                                    "#unroll block [a:1000, b:1000] (\nout R[0, 0] fp32(1:8, 1:1)) "
                                    "{\n0: $a = (fp32)1.0\n1: R = store($a)\n}\n}"}));
  EXPECT_NE(unrolled.find("unrolls to more than"), std::string::npos) << unrolled;
  EXPECT_EQ(compile_kernels(parsed(program_text({kOut}, {}))).status().code(), StatusCode::ok);
}

// The variable of host_cpu_name, for the time of a test.
class Processor {
 public:
  explicit Processor(const char* name) {
    if (const char* before = getenv(kName)) before_ = before;
    setenv(kName, name, 1);
  }
  ~Processor() {
    if (before_) {
      setenv(kName, before_->c_str(), 1);
    } else {
      unsetenv(kName);
    }
  }

 private:
  static constexpr const char* kName = "STRIA_LLVM_CPU_PROCESSOR";
  std::optional<std::string> before_;
};

TEST(Interface, MakesCodeForALesserProcessorIfAsked) {
  const std::string key = [] {
    const Processor other("x86-64-v2");
    return code_key({});
  }();
  const Processor processor("x86-64");
  EXPECT_EQ(host_cpu_name(), "x86-64");
  EXPECT_EQ(host_vector_lanes(), 4);
  EXPECT_NE(code_key({}), key);
  CompileOptions options;
  options.dump_assembly = true;
  auto compiled = compile_kernels(parsed(doubling()), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  EXPECT_EQ((*compiled)->kernels()[0].assembly.find("ymm"), std::string::npos);
  EXPECT_EQ((*compiled)->kernels()[0].assembly.find("vadd"), std::string::npos);
}

TEST(Interface, RefusesAProcessorThatIsNotThisOne) {
  const auto message = [](const char* name) {
    const Processor processor(name);
    return compile_kernels(parsed(doubling())).status().message();
  };
  EXPECT_EQ(message("no_such"),
            "STRIA_LLVM_CPU_PROCESSOR is 'no_such': the code generator knows no such processor");
  EXPECT_EQ(message("haswel"),
            "STRIA_LLVM_CPU_PROCESSOR is 'haswel': the code generator knows no such processor, did "
            "you mean 'haswell'?");
  // For these the code generator would end the process.
  for (const char* name : {"i386", "pentium4m", "geode"})
    EXPECT_EQ(message(name),
              std::string("STRIA_LLVM_CPU_PROCESSOR is '") + name + "', which has no 64-bit mode");
  const std::string raw = message("\x1b[31m"), whole = message(std::string(100000, 'x').c_str());
  EXPECT_NE(raw.find("\\x1b[31m"), std::string::npos) << raw;
  EXPECT_LT(whole.size(), 2048u);
  // No machine has all of both makers'.
  const std::string one = message("bdver4"), other = message("sapphirerapids");
  EXPECT_TRUE(one.find("this machine has not") != std::string::npos ||
              other.find("this machine has not") != std::string::npos)
      << one << other;
}

TEST(Interface, NamesTheHost) {
  EXPECT_FALSE(host_cpu_name().empty());
  const int lanes = host_vector_lanes();
  EXPECT_TRUE(lanes == 4 || lanes == 8 || lanes == 16) << lanes;
}

}  // namespace
}  // namespace stria::llvm_cpu
