// SPDX-License-Identifier: Apache-2.0
// Kernels of published texts as we make them: README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "emit/dialect.h"
#include "stria/base/file.h"
#include "stria/lower/lower.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/semtree/c/program_source.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kFolder = STRIA_SOURCE_DIR "/tests/golden/published/";
const std::string kLogarithmThenProductSum =
    "function (I[X, Y], B[X, Y]) -> (T3) {"
    " T2 = log(I); T0[x: X] = +(T2[x, y] * B[x, y]); T3 = -T0; }";
constexpr DataType kFloat = DataType::fp32;

struct Made {
  std::string said;  // by autotile and thread, of their choices
  stripe::Program program;
  semtree::ProgramSource source;
};

// A Tile function as OpenCL C, for hardware of this folder, by the pipeline in a file.
Result<Made> make(const std::string& text, const std::map<std::string, tile::TensorType>& inputs,
                  const std::string& hardware, const std::string& pipeline_path,
                  const TemplateSettings& settings, opencl::Features features) {
  STRIA_ASSIGN(tile::Program parsed, tile::parse({"published.tile", text}));
  STRIA_ASSIGN(tile::BoundProgram bound, tile::bind_program(parsed, "", inputs));
  STRIA_ASSIGN(stripe::Program program, lower(bound));
  STRIA_ASSIGN(std::string hardware_text, read_file(kFolder + hardware));
  STRIA_ASSIGN(HardwareModel model, load_hardware_model({hardware, hardware_text}));
  STRIA_ASSIGN(std::string pipeline_text, read_file(pipeline_path));
  STRIA_ASSIGN(Pipeline pipeline, parse_pipeline({pipeline_path, pipeline_text}, settings, model,
                                                 passes::pass_registry()));
  PipelineOptions options;
  options.verify_each = true;
  options.explain = "autotile";
  STRIA_ASSIGN(std::vector<StepReport> reports, run_pipeline(program, pipeline, model, options));
  Made out;
  for (const StepReport& report : reports) out.said += report.to_string(true) + "\n";
  semtree::SourceOptions print = opencl::source_options();
  print.group_points = model.settings->threads;
  out.program = std::move(program);
  STRIA_ASSIGN(out.source, semtree::print_program(out.program, opencl::dialect(features), print));
  return out;
}

void expect_file(const std::string& file, const std::string& text) {
  const char* update = std::getenv("STRIA_UPDATE_GOLDEN");
  if (update && std::string_view(update) == "1") {
    ASSERT_TRUE(write_file(kFolder + file, text).ok());
    return;
  }
  Result<std::string> there = read_file(kFolder + file);
  ASSERT_TRUE(there.ok()) << there.status().to_string();
  EXPECT_EQ(*there, text) << file << ": tools/golden_update.sh published rewrites it";
}

// Each part stands behind the one before it.
void expect_in_order(const std::string& text, const std::vector<std::string>& parts) {
  size_t at = 0;
  for (const std::string& part : parts) {
    const size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << "no '" << part << "' behind\n" << text.substr(0, at);
    at = found + part.size();
  }
}

size_t count(const std::string& text, const std::string& part) {
  size_t out = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

// Elements that the layout of an allocation spans, the padding behind the last one included.
int64_t elements_of(const stripe::Block& block, const std::string& allocation) {
  int64_t out = 0;
  if (const stripe::Refinement* ref = block.find_ref(allocation);
      ref && ref->dir == stripe::RefDir::none)
    for (const Dim& dim : ref->shape.dims) out = std::max(out, dim.size * dim.stride);
  for (const stripe::Statement& statement : block.stmts)
    if (const stripe::Block* inner = statement.block())
      out = std::max(out, elements_of(*inner, allocation));
  return out;
}

// The kernel's text alone, with names as the program has them: without their mark.
std::string text_of(const semtree::ProgramSource& source, size_t kernel) {
  const size_t begin = source.text.find("void " + source.kernels[kernel].symbol + "(");
  std::string out;
  for (size_t at = begin; at < source.text.find("\n}\n", begin); ++at) {
    const bool inside = std::isalnum(static_cast<unsigned char>(source.text[at - 1])) != 0;
    if (!inside && source.text.compare(at, 2, "v_") == 0)
      ++at;
    else
      out += source.text[at];
  }
  return out;
}

TEST(Published, ConvolutionAndRelu) {
  auto made = make(
      "function (D[N, X, Y, CI], K[I, J, CO, CI]) -> (R) {"
      " O[n, x, y, co : N, X, Y, CO] = +(D[n, x+i-1, y+j-1, ci] * K[i, j, co, ci]);"
      " R = (O > 0 ? O : 0); }",
      {{"D", {kFloat, {32, 224, 224, 64}}}, {"K", {kFloat, {3, 3, 64, 64}}}}, "lanes_256.json",
      STRIA_SOURCE_DIR "/tests/unit/passes/group_pipeline.json", {{"THREADS", "256"}},
      {.fp64 = false, .fma = true});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  expect_file("convolution_relu.cl", made->source.text);
  EXPECT_THAT(made->said, HasSubstr("1. [ci:8, co:32, i:2, j:3, n:16, x:2, y:2]"));
  ASSERT_EQ(made->source.kernels.size(), 1u);
  const semtree::SourceKernel& kernel = made->source.kernels[0];
  EXPECT_EQ(kernel.group_points, 256);
  EXPECT_EQ(kernel.groups, (std::array<int64_t, 3>{112, 112, 4}));
  EXPECT_EQ(kernel.points, int64_t{112} * 112 * 4 * 256);
  // The text's 1572 and 1590 elements count the padding behind the last one, which no array needs.
  EXPECT_EQ(elements_of(made->program.entry, "D_scratch"), 1572);
  EXPECT_EQ(elements_of(made->program.entry, "K_scratch"), 1590);
  const std::string text = text_of(made->source, 0);
  EXPECT_EQ(count(text, "barrier("), 2u);
  // co 8 x y 2 x x 2 x n 8 lanes.
  expect_in_order(text,
                  {"float O[8];", "__local float D_scratch[1570]", "__local float K_scratch[1588]",
                   "const int y = (int)get_group_id(0);", "const int x = (int)get_group_id(1);",
                   "const int group = (int)get_group_id(2);", "const int n = group % 2;",
                   "const int co = group / 2;", "const int co_0_lane = lane % 8;",
                   "const int y_0 = (lane / 8) % 2;", "const int x_0 = (lane / 16) % 2;",
                   "const int n_0_lane = lane / 32;",
                   // A lane's part of the image, ci 8 x n 16 x j_y 2, and where it goes.
                   "const int i0 = (lane / 8) % 16;", "const int i2_lane = lane / 128;",
                   "((co_0_lane * 49) + (i0 * 3)) + (i2_lane * 393);",
                   // Of the kernel: ci 8 x co 32.
                   "const int i2 = lane / 8;", "(co_0_lane * 33) + i2;",
                   // Where it computes.
                   "((n_0_lane * 3) + x_0) + (y_0 * 393);"});
  std::vector<std::string> phases;
  for (int i = 0; i < 8; ++i) phases.push_back("] = 0.0f;");  // sums start
  for (const char* loop : {"for (int ci = 0; ci < 8; ++ci)", "for (int i = 0; i < 2; ++i)"})
    phases.push_back(loop);
  // Tiles are staged: of the image j_y 2 x i_x 3 in each lane, from -14400 on and inside it ...
  for (const char* from_to :
       {"-14400|]", "-14272| + 786]", "-64| + 1]", "64| + 787]", "14272| + 2]", "14400| + 788]"}) {
    const std::string both = from_to;
    const size_t bar = both.find('|');
    const std::string from = both.substr(0, bar);
    phases.push_back("min(max((o_2 + " + (from[0] == '-' ? "(" + from + ")" : from) +
                     "), 0), 102760447)");
    phases.push_back("D_scratch[o_3" + both.substr(bar + 1));
  }
  // ... of the kernel j_i 6, of which the last three may lie behind its end.
  for (int j_i = 0; j_i < 6; ++j_i) {
    if (j_i == 3) phases.push_back("min(max((o_6 + 12288), 0), 36863)");
    phases.push_back("K_scratch[o_7" + (j_i ? " + " + std::to_string(j_i * 265) : "") + "]");
  }
  phases.push_back("barrier(");
  // The interior tests nothing inside; each side of the border has a block of its own.
  phases.push_back("if (((((1 <= ((i * 2) + (x * 2)))");
  for (const char* loop :
       {"for (int ci_1 = 0; ci_1 < 8;", "for (int i_1 = 0; i_1 < 2;", "for (int j = 0; j < 3;"})
    phases.push_back(loop);
  phases.push_back("D_scratch[o_11]");  // n 2 x co 4 sums, 8 apart
  phases.push_back("K_scratch[o_14]");
  for (int i = 0; i < 8; ++i) phases.push_back("= fma(");
  for (int border = 0; border < 5; ++border) {
    phases.push_back("if (");
    for (int i = 0; i < 8; ++i) phases.push_back("= fma(");
  }
  phases.push_back("barrier(");
  for (int i = 0; i < 8; ++i)
    phases.insert(phases.end(), {"= O[", "0.0f < ", "R[o_"});  // ReLU, store
  expect_in_order(text, phases);
  EXPECT_EQ(count(text, "= fma("), 48u);
}

TEST(Published, LogarithmThenProductSum) {
  auto made = make(kLogarithmThenProductSum, {{"I", {kFloat, {10, 26}}}, {"B", {kFloat, {10, 26}}}},
                   "lanes_32.json", kFolder + "dot.json", {},
                   {.fp64 = false, .fma = true, .fast_math = true});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  expect_file("logarithm_product_sum.cl", made->source.text);
  EXPECT_THAT(made->said, HasSubstr("1. [x:1, y:26]"));
  EXPECT_THAT(made->said, HasSubstr("merging_steps=5"));
  ASSERT_EQ(made->source.kernels.size(), 2u);
  for (const semtree::SourceKernel& kernel : made->source.kernels)
    EXPECT_EQ(kernel.group_points, 32);
  // 260 logarithms in 9 groups, of which the last has 4.
  EXPECT_EQ(made->source.kernels[0].points, 260);
  expect_in_order(text_of(made->source, 0),
                  {"if (point < 260) {", "= I[o];", "= native_log(", "T2[o] = "});
  EXPECT_EQ(made->source.kernels[1].points, 10 * 32);
  const std::string text = text_of(made->source, 1);
  std::vector<std::string> phases = {"__local float T2_scratch[26]",
                                     "__local float B_scratch[26]",
                                     "__local float T0_sum_32[32]",
                                     "get_group_id(0)",
                                     "T0 = 0.0f;",
                                     "if (lane <= 25) {",
                                     "T2_scratch[lane] = ",
                                     "B_scratch[lane] = ",

                                     "= mad(",
                                     "T0_sum_32[lane] = "};
  for (const char* lanes : {"15", "7", "3", "1", "0"})
    phases.insert(phases.end(), {"barrier(", std::string("lane <= ") + lanes + ")", " = lower"});
  phases.insert(phases.end(), {" = -", "T3[x] = "});
  expect_in_order(text, phases);
  EXPECT_EQ(count(text, "barrier("), 5u);
}

// Without being asked for, nothing is rounded otherwise than written.
TEST(Published, LogarithmThenProductSumByDefault) {
  auto made = make(kLogarithmThenProductSum, {{"I", {kFloat, {10, 26}}}, {"B", {kFloat, {10, 26}}}},
                   "lanes_32.json", kFolder + "dot.json", {}, {.fp64 = false, .fma = true});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  expect_in_order(made->source.text, {"= log(", "= fma("});
  EXPECT_THAT(made->source.text, Not(HasSubstr("native_")));
  EXPECT_THAT(made->source.text, Not(HasSubstr("mad(")));
}

}  // namespace
}  // namespace stria
