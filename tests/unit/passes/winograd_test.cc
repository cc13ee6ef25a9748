// SPDX-License-Identifier: Apache-2.0
// Short convolutions in fewer products: generated convolutions of every layout, padding and size
// against the interpreter's values of the sum, held to the error that the pass states.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stria/passes/all_passes.h"
#include "stria/stripe/text/printer.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

struct Convolution {
  std::string text;
  std::map<std::string, tile::TensorType> inputs;
  int64_t products = 0;  // of a sum, at most
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  // `type` fp32 or fp64. A dimension of the window is read forward or backward, its taps too.
  Convolution make(DataType type) {
    const int64_t images = 1 + below(2), channels = 1 + below(6), results = 1 + below(5);
    std::string coordinate[2], tap[2];
    int64_t size[2], out[2];
    for (int w = 0; w < 2; ++w) {
      const std::string at = w == 0 ? "y" : "x", index = w == 0 ? "i" : "j";
      const int64_t before = below(3), after = below(3);  // zeros around the image
      const bool backward = below(3) == 0;
      size[w] = 3 + below(10);
      out[w] = size[w] + before + after - 2;
      coordinate[w] = backward ? fmt::format("{} - {} + {}", at, index, 2 - before)
                               : fmt::format("{} + {} - {}", at, index, before);
      tap[w] = below(3) == 0 ? "2 - " + index : index;
    }
    const bool last = below(2) == 0, taps_first = below(2) == 0;
    Convolution made;
    made.products = 9 * channels;
    const std::string image = last ? fmt::format("n, {}, {}, c", coordinate[0], coordinate[1])
                                   : fmt::format("n, c, {}, {}", coordinate[0], coordinate[1]);
    const std::string filter = taps_first ? fmt::format("{}, {}, c, k", tap[0], tap[1])
                                          : fmt::format("k, c, {}, {}", tap[0], tap[1]);
    made.text =
        fmt::format("function (I[{}], F[{}]) -> (O) {{ O[{} : {}] = +(I[{}] * F[{}]); }}",
                    last ? "N, H, W, C" : "N, C, H, W", taps_first ? "A, B, C, K" : "K, C, A, B",
                    last ? "n, y, x, k" : "n, k, y, x",
                    last ? fmt::format("N, {}, {}, K", out[0], out[1])
                         : fmt::format("N, K, {}, {}", out[0], out[1]),
                    image, filter);
    made.inputs["I"] = {type, last ? std::vector<int64_t>{images, size[0], size[1], channels}
                                   : std::vector<int64_t>{images, channels, size[0], size[1]}};
    made.inputs["F"] = {type, taps_first ? std::vector<int64_t>{3, 3, channels, results}
                                         : std::vector<int64_t>{results, channels, 3, 3}};
    return made;
  }

 private:
  int64_t below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }
  std::mt19937_64 random_;
};

// The program after `pipeline`, verified at every step.
Result<stripe::Program> transformed(const TileProgram& original, const std::string& pipeline,
                                    bool& changed) {
  const HardwareModel model = small_model(16, 16);
  STRIA_ASSIGN(Pipeline steps, parse_pipeline({"pipeline", pipeline}, {}, model, pass_registry()));
  stripe::Program program = original.generic;
  PipelineOptions options;
  options.verify_each = true;
  STRIA_ASSIGN(const std::vector<StepReport> reports, run_pipeline(program, steps, model, options));
  changed = reports.at(1).changed > 0;
  return program;
}

struct Errors {
  double largest = 0;  // of an element
  double size = 0;     // root of the mean square of the exact results
};

Result<Errors> errors_of(const stripe::Program& program, TileProgram& original) {
  std::vector<interp::TensorArg> args;
  for (TestTensor& input : original.inputs) args.push_back(input.arg());
  const interp::Reference& expected = original.expected.at(0);
  TestTensor output{expected.name, expected.shape, {}};
  output.bytes.resize(static_cast<size_t>(expected.shape.span_bytes()) + 64, 0x7f);
  args.push_back(output.arg());
  STRIA_RETURN_IF_ERROR(interp::interpret(program, args));
  Errors out;
  for (size_t i = 0; i < expected.value.size(); ++i) {
    const double got =
        load_scalar(expected.shape.type, output.bytes.data(), static_cast<int64_t>(i)).to_double();
    out.largest =
        std::max(out.largest, std::isnan(got) ? HUGE_VAL : std::abs(got - expected.value[i]));
    out.size += expected.value[i] * expected.value[i];
  }
  out.size = std::sqrt(out.size / static_cast<double>(expected.value.size()));
  return out;
}

std::string pipeline_of(int tile) {
  return fmt::format(
      R"([{{"prune": {{}}}}, {{"winograd": {{"tile": {}, "min_channels": 1, "min_tiles": 1}}}}])",
      tile);
}

// n * v * k * gamma(n + 20) * c of the head of winograd.h; the generated values are below 1.
double stated_bound(DataType type, int tile, int64_t products) {
  const double unit = type == DataType::fp32 ? std::ldexp(1.0, -24) : std::ldexp(1.0, -53);
  const double steps = static_cast<double>(products + 20) * unit;
  return static_cast<double>(products) * steps / (1 - steps) * (tile == 2 ? 7.2 : 256);
}

class WinogradTest : public testing::TestWithParam<int> {};

TEST_P(WinogradTest, GeneratedConvolutionsStayWithinTheStatedError) {
  double worst = 0;  // error over what results are like
  int64_t done = 0;
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    const DataType type = seed % 2 == 0 ? DataType::fp32 : DataType::fp64;
    const Convolution convolution = Generator(seed).make(type);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, convolution.text));
    auto original = make_program(convolution.text, convolution.inputs);
    ASSERT_TRUE(original.ok()) << original.status().to_string();
    bool changed = false;
    auto program = transformed(*original, pipeline_of(GetParam()), changed);
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    done += changed;
    auto errors = errors_of(*program, *original);
    ASSERT_TRUE(errors.ok()) << errors.status().to_string();
    ASSERT_LE(errors->largest, stated_bound(type, GetParam(), convolution.products))
        << stripe::print(*program);
    if (type == DataType::fp32 && errors->size > 0)
      worst = std::max(worst, errors->largest / errors->size);
  }
  // Rows of one image that nothing of is left of after pruning are no windows.
  EXPECT_GE(done, 110);
  RecordProperty("largest_error_of_results", fmt::format("{}", worst));
  EXPECT_LE(worst, GetParam() == 2 ? 2e-6 : 2e-5);
}

// Every pass that a processor's pipeline runs finds kernels as any others.
TEST_P(WinogradTest, TheCpuPipelineShapesItsKernels) {
  const HardwareModel model = small_model(16, 16);
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Convolution convolution = Generator(seed).make(DataType::fp64);
    SCOPED_TRACE(convolution.text);
    auto original = make_program(convolution.text, convolution.inputs);
    ASSERT_TRUE(original.ok()) << original.status().to_string();
    bool changed = false;
    auto once = transformed(*original, pipeline_of(GetParam()), changed);
    ASSERT_TRUE(once.ok() && changed);
    auto steps = parse_pipeline({"cpu.json", cpu_pipeline()}, {}, model, pass_registry());
    ASSERT_TRUE(steps.ok()) << steps.status().to_string();
    PipelineOptions options;
    options.verify_each = true;
    auto reports = run_pipeline(*once, *steps, model, options);
    ASSERT_TRUE(reports.ok()) << reports.status().to_string();
    auto errors = errors_of(*once, *original);
    ASSERT_TRUE(errors.ok()) << errors.status().to_string();
    EXPECT_LE(errors->largest, stated_bound(DataType::fp64, GetParam(), convolution.products));
  }
}

INSTANTIATE_TEST_SUITE_P(Tiles, WinogradTest, testing::Values(2, 4));

}  // namespace
}  // namespace stria::passes
