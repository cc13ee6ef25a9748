// SPDX-License-Identifier: Apache-2.0
// The device programs that are written by hand for GPUs, through the boundary: as the interpreter
// runs them at cut sizes, and on a GPU at the printed ones by sample.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <random>

#include "../../chosen_device.h"
#include "device_programs.h"
#include "emit/dialect.h"
#include "scripted_host.h"
#include "stria/base/file.h"
#include "stria/hal/device.h"
#include "stria/lower/lower.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/semtree/c/program_source.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/walk.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria {
namespace {

struct Chosen {
  hal::Device device;
  hal::DeviceInfo info;
};

const Chosen& chosen() {
  static const Chosen opened = [] {
    hal::LoadResult loaded =
        hal::load_plugin(hal::built_plugin("opencl"), hal::scripted_host(nullptr));
    STRIA_CHECK(loaded.status().ok(), "{}", loaded.status().to_string());
    const std::vector<hal::DeviceInfo> devices = loaded.plugin.devices().value();
    const std::string id = chosen_device_id("opencl", devices);
    STRIA_CHECK(!id.empty(), "no OpenCL device is available here; the tests need pocl-opencl-icd");
    Chosen out{loaded.plugin.open(id).value(), {}};
    for (const hal::DeviceInfo& info : devices)
      if (info.id == id) out.info = info;
    return out;
  }();
  return opened;
}

// A tensor's elements as the device has them.
struct Tensor {
  TensorShape shape;
  std::vector<char> bytes;
  double at(int64_t element) const {
    return load_scalar(shape.type, bytes.data(), element).to_double();
  }
};
using Tensors = std::map<std::string, Tensor>;

// Inputs are multiples of 1/8 up to 1 in size, of which sums of thousands of products are exact in
// fp32.
Tensors tensors_of(const stripe::Program& program) {
  std::mt19937 random(7);
  Tensors out;
  for (const stripe::Refinement& ref : program.entry.refs) {
    Tensor& tensor = out[ref.into];
    tensor.shape = ref.shape;
    tensor.bytes.resize(static_cast<size_t>(ref.shape.span_bytes()));
    const stripe::Refinement& whole = *program.main()->find_ref(ref.into);
    for (int64_t i = 0; whole.dir == stripe::RefDir::in && i < ref.shape.span_elements(); ++i)
      store_scalar(ref.shape.type, tensor.bytes.data(), i,
                   Scalar::of_float(ref.shape.type, (static_cast<int>(random() % 17) - 8) / 8.0));
  }
  return out;
}

// Builds the program and runs its one kernel; `repeat` times, of which the shortest is returned in
// seconds.
Result<double> run(const stripe::Program& program, Tensors& tensors, int repeat = 1) {
  const hal::Device& device = chosen().device;
  STRIA_ASSIGN(hal::Compiler compiler, device.create_compiler());
  STRIA_ASSIGN(hal::Executor executor, device.create_executor());
  STRIA_ASSIGN(hal::Build build, compiler.build(stripe::print(program)));
  STRIA_RETURN_IF_ERROR(build.done.wait());
  STRIA_ASSIGN(hal::Kernel kernel, executor.prepare(build.library, 0));
  STRIA_ASSIGN(std::vector<hal::KernelInfo> kernels, build.library.kernels());
  std::vector<hal::Argument> arguments;
  std::map<std::string, hal::Buffer> memory;
  for (const hal::ArgumentInfo& argument : kernels[0].arguments) {
    const Tensor& tensor = tensors.at(argument.name);
    STRIA_ASSIGN(hal::Buffer buffer, device.allocate(tensor.bytes.size()));
    STRIA_ASSIGN(hal::Mapping mapping, buffer.map_discard());
    STRIA_RETURN_IF_ERROR(mapping.ready().wait());
    std::memcpy(mapping.data(), tensor.bytes.data(), tensor.bytes.size());
    STRIA_ASSIGN(hal::Event done, mapping.unmap());
    STRIA_RETURN_IF_ERROR(done.wait());
    memory[argument.name] = buffer;
    arguments.push_back({buffer, 0});
  }
  double best = 1e30;
  for (int i = 0; i < repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    STRIA_ASSIGN(hal::Event done, kernel.run(arguments));
    STRIA_RETURN_IF_ERROR(done.wait());
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  for (auto& [name, buffer] : memory) {
    STRIA_ASSIGN(hal::Mapping mapping, buffer.map_current());
    STRIA_RETURN_IF_ERROR(mapping.ready().wait());
    std::memcpy(tensors.at(name).bytes.data(), mapping.data(), tensors.at(name).bytes.size());
  }
  return best;
}

// Compares elements of `output` with `expected(tensors, element)`: all of them, or so many by
// chance.
void expect_values(const Tensors& tensors, const std::string& output, int64_t sample,
                   const std::function<double(const Tensors&, int64_t)>& expected) {
  const Tensor& out = tensors.at(output);
  const int64_t count = out.shape.span_elements();
  std::mt19937_64 random(3);
  for (int64_t n = 0; n < (sample ? sample : count); ++n) {
    const int64_t element =
        sample ? static_cast<int64_t>(random() % static_cast<uint64_t>(count)) : n;
    ASSERT_EQ(out.at(element), expected(tensors, element)) << output << " element " << element;
  }
}

double convolution(const Tensors& tensors, int64_t element) {
  const Tensor& d = tensors.at("D");
  const Tensor& k = tensors.at("K");
  const int64_t x = d.shape.dims[1].size, y = d.shape.dims[2].size, ci = d.shape.dims[3].size;
  const int64_t co = k.shape.dims[2].size;
  const int64_t c = element % co, v = element / co % y, u = element / co / y % x,
                n = element / co / y / x;
  double sum = 0;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t e = 0; u + i >= 1 && u + i <= x && v + j >= 1 && v + j <= y && e < ci; ++e)
        sum += d.at(((n * x + u + i - 1) * y + v + j - 1) * ci + e) *
               k.at(((i * 3 + j) * co + c) * ci + e);
  return sum;
}

double relu_of_convolution(const Tensors& tensors, int64_t element) {
  return std::max(convolution(tensors, element), 0.0);
}

double product(const Tensors& tensors, int64_t element) {
  const Tensor& a = tensors.at("A");
  const Tensor& b = tensors.at("B");
  const int64_t k = a.shape.dims[1].size, n = b.shape.dims[0].size;
  double sum = 0;
  for (int64_t e = 0; e < k; ++e) sum += a.at(element / n * k + e) * b.at(element % n * k + e);
  return sum;
}

bool is_gpu() { return chosen().info.kind == "gpu"; }

TEST(DevicePrograms, ConvolutionInGroups) {
  auto program =
      device_programs::make("conv_gpu", {{"N", 16}, {"X", 6}, {"Y", 8}, {"CI", 16}, {"CO", 64}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  Tensors tensors = tensors_of(*program);
  auto time = run(*program, tensors);
  ASSERT_TRUE(time.ok()) << time.status().to_string();
  expect_values(tensors, "R", 0, relu_of_convolution);
}

TEST(DevicePrograms, ConvolutionAsPrinted) {
  if (!is_gpu()) GTEST_SKIP() << "118 GFLOP: for a GPU";
  auto program = device_programs::make("conv_gpu");
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  Tensors tensors = tensors_of(*program);
  auto time = run(*program, tensors, 10);
  ASSERT_TRUE(time.ok()) << time.status().to_string();
  std::printf("convolution: %.3f ms, %.1f TFLOP/s\n", *time * 1e3, 2 * 59.19001808 / *time / 1e3);
  expect_values(tensors, "R", 2000, relu_of_convolution);
}

using Inputs = std::map<std::string, tile::TensorType>;

// What the pipeline in the file makes of a Tile function for the model.
Result<stripe::Program> made_by(const std::string& path, const HardwareModel& model,
                                const TemplateSettings& settings, const std::string& tile_text,
                                const Inputs& inputs) {
  STRIA_ASSIGN(tile::Program parsed, tile::parse({"test.tile", tile_text}));
  STRIA_ASSIGN(tile::BoundProgram bound, tile::bind_program(parsed, "", inputs));
  STRIA_ASSIGN(stripe::Program program, lower(bound));
  STRIA_ASSIGN(std::string text, read_file(path));
  STRIA_ASSIGN(Pipeline pipeline,
               parse_pipeline({path, text}, settings, model, passes::pass_registry()));
  STRIA_RETURN_IF_ERROR(run_pipeline(program, pipeline, model, {}).status());
  return program;
}

// A Tile function's kernel in groups of lanes, made by passes alone.
Result<stripe::Program> in_groups(const std::string& tile_text, const Inputs& inputs,
                                  const TemplateSettings& settings) {
  STRIA_ASSIGN(HardwareModel model, load_hardware_model({"groups", R"({
      "mem_units": {"LOCAL": {"size_KiB": 32}, "REG": {"count": 1}},
      "exec_units": {"CU": {"count": 4}, "LANE": {"count": 1}}})"}));
  return made_by(STRIA_SOURCE_DIR "/tests/unit/passes/group_pipeline.json", model, settings,
                 tile_text, inputs);
}

// The same for a device of `kind`, cpu or gpu, as the plugin does it.
Result<stripe::Program> by_plugin(const std::string& kind, const std::string& tile_text,
                                  const Inputs& inputs) {
  const std::string plugin = STRIA_SOURCE_DIR "/plugins/opencl/", file = kind + ".json";
  STRIA_ASSIGN(std::string text, read_file(plugin + "hw/" + file));
  STRIA_ASSIGN(HardwareModel model, load_hardware_model({file, text}));
  return made_by(plugin + "passes/" + file, model, {}, tile_text, inputs);
}

const char* const kSame =
    "function (D[N, X, Y, CI], K[I, J, CO, CI]) -> (R) {"
    " R[n, x, y, co : N, X, Y, CO] = +(D[n, x+i-1, y+j-1, ci] * K[i, j, co, ci]); }";
const char* const kByRows =
    "function (A[M, K], B[N, K]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[j, k]); }";

TEST(DevicePrograms, GroupsMadeByPasses) {
  const std::string rows = "function (A[M, K]) -> (S) { S[i : M] = +(A[i, k]); }";
  const DataType f = DataType::fp32;
  const auto check = [&](const Result<stripe::Program>& program, const std::string& output,
                         const std::function<double(const Tensors&, int64_t)>& expected) {
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    Tensors tensors = tensors_of(*program);
    auto time = run(*program, tensors);
    ASSERT_TRUE(time.ok()) << time.status().to_string();
    expect_values(tensors, output, 0, expected);
  };
  check(in_groups(kSame, {{"D", {f, {6, 5, 3, 10}}}, {"K", {f, {3, 3, 20, 10}}}},
                  {{"TILE", R"({"ci": 4, "co": 16, "i": 2, "j": 3, "n": 4, "x": 2, "y": 2})"},
                   {"THREADS", "64"}}),
        "R", convolution);
  check(in_groups(kByRows, {{"A", {f, {70, 50}}}, {"B", {f, {33, 50}}}},
                  {{"TILE", R"({"i": 32, "j": 32, "k": 16})"}, {"THREADS", "64"}, {"DEPTH", "2"}}),
        "C", product);
  // Vectors of what is staged; the sizes leave tiles, runs and lanes over.
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{64, 96}, {70, 33}, {68, 36}})
    check(in_groups(kByRows, {{"A", {f, {m, 50}}}, {"B", {f, {n, 50}}}},
                    {{"TILE", R"({"i": 32, "j": 32, "k": 16})"},
                     {"THREADS", "32"},
                     {"LAYOUT", "outputs"},
                     {"RUN", "16"}}),
          "C", product);
  check(in_groups(kSame, {{"D", {f, {6, 5, 3, 10}}}, {"K", {f, {3, 3, 20, 10}}}},
                  {{"TILE", R"({"ci": 4, "co": 16, "i": 2, "j": 3, "n": 4, "x": 4, "y": 2})"},
                   {"THREADS", "64"},
                   {"LAYOUT", "outputs"},
                   {"RUN", "16"}}),
        "R", convolution);
  // A loop of which some groups skip points, and one whose lanes fetch for themselves alone.
  check(in_groups(kSame, {{"D", {f, {4, 5, 6, 4}}}, {"K", {f, {3, 3, 8, 4}}}},
                  {{"TILE", R"({"ci": 4, "co": 8, "i": 3, "j": 1, "n": 4, "x": 5, "y": 1})"},
                   {"THREADS", "32"},
                   {"DEPTH", "2"},
                   {"LAYOUT", "outputs"}}),
        "R", convolution);
  check(in_groups(kByRows, {{"A", {f, {2, 171}}}, {"B", {f, {9, 171}}}},
                  {{"TILE", R"({"i": 1, "j": 1, "k": 32})"}, {"THREADS", "128"}, {"DEPTH", "2"}}),
        "C", product);
  check(in_groups(rows, {{"A", {f, {5, 1000}}}},
                  {{"TILE", R"({"i": 2, "k": 512})"}, {"THREADS", "64"}, {"DEPTH", "2"}}),
        "S", [](const Tensors& all, int64_t element) {
          double sum = 0;
          for (int64_t k = 0; k < 1000; ++k) sum += all.at("A").at(element * 1000 + k);
          return sum;
        });
}

// Whatever its sizes, a product or convolution has a kernel that the driver takes; and the right
// one, where that is quickly seen.
TEST(DevicePrograms, TheGpuPipelineTakesAllSizes) {
  const DataType f = DataType::fp32;
  std::mt19937 random(9);
  const auto size = [&](double most) {
    return static_cast<int64_t>(
        std::llround(std::pow(2.0, std::uniform_real_distribution<>(0, most)(random))));
  };
  const semtree::SourceOptions options = [] {
    semtree::SourceOptions out = opencl::source_options();
    out.largest_group = 1024;
    out.shared_bytes = 48 << 10;
    return out;
  }();
  const auto check =
      [&](const std::string& text, const Inputs& inputs, double work, const std::string& output,
          const std::function<double(const Tensors&, int64_t)>& expected, int& runs) {
        std::string sizes;
        for (const auto& [name, type] : inputs)
          sizes += fmt::format(" {}[{}]", name, fmt::join(type.sizes, ", "));
        SCOPED_TRACE(sizes);
        auto program = by_plugin("gpu", text, inputs);
        ASSERT_TRUE(program.ok()) << program.status().to_string();
        auto source =
            semtree::print_program(*program, opencl::dialect({.fp64 = true, .fma = true}), options);
        ASSERT_TRUE(source.ok()) << source.status().to_string();
        if (work > 30000 || source->kernels.size() != 1 || --runs < 0) return;
        Tensors tensors = tensors_of(*program);
        auto time = run(*program, tensors);
        ASSERT_TRUE(time.ok()) << time.status().to_string();
        expect_values(tensors, output, 0, expected);
      };
  int products = 4, convolutions = 2;
  for (int i = 0; i < 60; ++i) {
    const int64_t m = size(11), n = size(11), k = size(11);
    check(kByRows, {{"A", {f, {m, k}}}, {"B", {f, {n, k}}}}, static_cast<double>(m * n * k), "C",
          product, products);
  }
  for (int i = 0; i < 12; ++i) {
    const int64_t n = size(3), x = size(6), y = size(6), ci = size(7), co = size(7);
    check(kSame, {{"D", {f, {n, x, y, ci}}}, {"K", {f, {3, 3, co, ci}}}},
          static_cast<double>(9 * n * x * y * ci * co), "R", convolution, convolutions);
  }
}

// PoCL 3.1 miscompiles some loops of larger groups with barriers (passes/cpu.json): there are none.
TEST(DevicePrograms, TheCpuPipelineHasGroupsOfOneWithoutBarriers) {
  const std::string strided =
      "function (A[N, Y, X, CI], B[I, J, CI, CO], F) -> (C) { T[n, y, x, o : N, (Y + 1) / 2, (X + "
      "1) / 2, CO] ="
      " +(A[n, 2*y+i-1, 2*x+j-1, c] * B[i, j, c, o]); C = T + F; }";
  const std::string rows =
      "function (A[M, K]) -> (R) { H[i, 0 : M, 1] = >(A[i, k]); E = A - H; S[i, 0 : M, 1] = +(E[i, "
      "k]); R = E + S; }";
  const std::string transposed = "function (A[M, N]) -> (R) { R[j, i : N, M] = =(A[i, j]); }";
  int kernels = 0;
  for (const DataType type :
       {DataType::i8, DataType::i64, DataType::fp16, DataType::fp32, DataType::fp64})
    for (const int64_t n : {int64_t{3}, int64_t{64}, int64_t{130}})
      for (const auto& [text, inputs] :
           {std::pair<std::string, Inputs>{
                kSame, {{"D", {type, {2, 9, n, 5}}}, {"K", {type, {3, 3, 17, 5}}}}},
            {strided,
             {{"A", {type, {2, 7, n, 4}}}, {"B", {type, {3, 3, 4, 64}}}, {"F", {type, {}}}}},
            {kByRows, {{"A", {type, {n, 300}}}, {"B", {type, {33, 300}}}}},
            {kByRows, {{"A", {type, {1, 5000}}}, {"B", {type, {n, 5000}}}}},
            {rows, {{"A", {type, {n, 700}}}}},
            {transposed, {{"A", {type, {n, 65}}}}}}) {
        auto program = by_plugin("cpu", text, inputs);
        ASSERT_TRUE(program.ok()) << program.status().to_string();
        auto source = semtree::print_program(*program, opencl::dialect({.fp64 = true, .fma = true}),
                                             opencl::source_options());
        ASSERT_TRUE(source.ok()) << source.status().to_string();
        EXPECT_EQ(source->text.find("barrier("), std::string::npos) << source->text;
        EXPECT_EQ(source->text.find("__local "), std::string::npos) << source->text;
        for (const semtree::SourceKernel& kernel : source->kernels) {
          EXPECT_EQ(kernel.group_points, 1) << kernel.symbol;
          ++kernels;
        }
      }
  EXPECT_GE(kernels, 90);
}

TEST(DevicePrograms, GroupsMadeByPassesAsPrinted) {
  if (!is_gpu()) GTEST_SKIP() << "118 and 137 GFLOP: for a GPU";
  const DataType f = DataType::fp32;
  const auto check = [&](const char* what, double gflop, const Result<stripe::Program>& program,
                         const std::string& output,
                         const std::function<double(const Tensors&, int64_t)>& expected) {
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    Tensors tensors = tensors_of(*program);
    auto time = run(*program, tensors, 10);
    ASSERT_TRUE(time.ok()) << time.status().to_string();
    std::printf("%s: %.3f ms, %.1f TFLOP/s\n", what, *time * 1e3, gflop / *time / 1e3);
    expect_values(tensors, output, 2000, expected);
  };
  for (const char* depth : {"1", "2"}) {
    check("convolution made by passes", 2 * 59.19001808,
          in_groups(kSame, {{"D", {f, {32, 224, 224, 64}}}, {"K", {f, {3, 3, 64, 64}}}},
                    {{"TILE", R"({"ci": 8, "co": 32, "i": 2, "j": 3, "n": 16, "x": 2, "y": 2})"},
                     {"THREADS", "256"},
                     {"DEPTH", depth}}),
          "R", convolution);
    check("product made by passes", 2 * 68.719476736,
          in_groups(
              kByRows, {{"A", {f, {4096, 4096}}}, {"B", {f, {4096, 4096}}}},
              {{"TILE", R"({"i": 128, "j": 128, "k": 8})"}, {"THREADS", "256"}, {"DEPTH", depth}}),
          "C", product);
  }
}

// Vectors are read by their own pointers, but only where tensors begin at multiples of them.
TEST(DevicePrograms, TensorsBeginAnywhere) {
  auto program = stripe::parse({"copy.stripe", R"(
0: #program block [] (
    none new@0x0 A[0] fp32(64:1)
    none new@0x0 R[0] fp32(64:1)
) {
  0: #main block [] (
      in A[0] fp32(64:1)
      out R[0] fp32(64:1)
  ) {
    0: #kernel #parallel block [x:4] ( // copy
        in A[16*x] fp32(16:1)
        out R[16*x] fp32(16:1)
    ) {
      0: #vector block [l:16] (
          in A[l] fp32(1:1)
          out R[l] fp32(1:1)
      ) {
        0: $a = load(A)
        1: R = store($a)
      }
    }
  }
}
)"});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  const hal::Device& device = chosen().device;
  hal::Compiler compiler = device.create_compiler().value();
  hal::Executor executor = device.create_executor().value();
  hal::Build build = compiler.build(stripe::print(*program)).value();
  ASSERT_TRUE(build.done.wait().ok());
  EXPECT_NE(build.library.source().value()[0].text.find("STRIA_LOAD_ROW"), std::string::npos);
  hal::Kernel kernel = executor.prepare(build.library, 0).value();
  // At the beginning, at multiples of vectors and elsewhere.
  constexpr std::pair<uint64_t, uint64_t> kPlaces[] = {{0, 0},  {0, 16}, {16, 0}, {0, 3},
                                                       {16, 3}, {5, 16}, {5, 0},  {0, 0}};
  for (const auto& [target, first] : kPlaces) {
    hal::Buffer r = device.allocate(96 * sizeof(float)).value();
    hal::Buffer a = device.allocate(96 * sizeof(float)).value();
    for (const hal::Buffer& buffer : {r, a}) {
      hal::Mapping mapping = buffer.map_discard().value();
      ASSERT_TRUE(mapping.ready().wait().ok());
      float values[96];
      for (int i = 0; i < 96; ++i) values[i] = static_cast<float>(i);
      std::memcpy(mapping.data(), values, sizeof values);
      ASSERT_TRUE(mapping.unmap().value().wait().ok());
    }
    const std::vector<hal::Argument> arguments = {{r, target * sizeof(float)},
                                                  {a, first * sizeof(float)}};
    hal::Event done = kernel.run(arguments).value();
    ASSERT_TRUE(done.wait().ok());
    hal::Mapping mapping = r.map_current().value();
    ASSERT_TRUE(mapping.ready().wait().ok());
    float values[96];
    std::memcpy(values, mapping.data(), sizeof values);
    for (uint64_t i = 0; i < 96; ++i)
      ASSERT_EQ(values[i],
                static_cast<float>(i >= target && i < target + 64 ? i - target + first : i))
          << target << " " << first << " " << i;
  }
}

TEST(DevicePrograms, ProductOnMatrixUnits) {
  for (const bool printed : {false, true}) {
    auto program =
        printed ? device_programs::make("gemm_tensor_core")
                : device_programs::make("gemm_tensor_core", {{"M", 256}, {"N", 128}, {"K", 96}});
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    Tensors tensors = tensors_of(*program);
    auto time = run(*program, tensors, printed ? 10 : 1);
    if (!time.ok() &&
        time.status().message().find("instruction 'mma.m16n8k16'") != std::string::npos)
      GTEST_SKIP() << "no matrix units here: " << time.status().to_string();
    ASSERT_TRUE(time.ok()) << time.status().to_string();
    if (printed)
      std::printf("product: %.3f ms, %.1f TFLOP/s\n", *time * 1e3, 2 * 68.719476736 / *time / 1e3);
    expect_values(tensors, "C", printed ? 2000 : 0, product);
  }
}

}  // namespace
}  // namespace stria
