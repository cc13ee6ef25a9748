// SPDX-License-Identifier: Apache-2.0
// What is wrong with an ONNX model, or with the sizes and values for it, is told with its name.
#include <gmock/gmock.h>

#include "onnx_file.h"

namespace stria {
namespace {

using onnx::ElementType;
using onnx::GraphWriter;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class OnnxRefusalTest : public OnnxFileTest {
 protected:
  std::string program_failure(const GraphWriter& graph, const OnnxOptions& options = {}) const {
    return failure(read(graph).program(options));
  }
};

GraphWriter sum() {
  GraphWriter out;
  out.input("first", ElementType::fp32, {"rows", 2}).input("second", ElementType::fp32, {"", 2});
  out.node("Add", {"first", "second"}, {"sum"}).output("sum");
  return out;
}

TEST_F(OnnxRefusalTest, Files) {
  EXPECT_THAT(failure(OnnxModel::read(path("none.onnx"))), StartsWith("not_found: "));
  write("text.onnx", "function (A[N]) -> (B) { B = A; }");
  EXPECT_THAT(failure(OnnxModel::read(path("text.onnx"))),
              AllOf(StartsWith("invalid_argument: "), HasSubstr("text.onnx")));
  write("cut.onnx", sum().model().substr(0, 40));
  EXPECT_THAT(failure(OnnxModel::read(path("cut.onnx"))),
              AllOf(StartsWith("invalid_argument: "), HasSubstr("cut.onnx")));
  EXPECT_THAT(failure(Program::from_onnx(path("cut.onnx"))), HasSubstr("cut.onnx"));
}

TEST_F(OnnxRefusalTest, UnknownNamesHaveTheNearest) {
  EXPECT_EQ(
      program_failure(sum(), {.sizes = {{"frist", {1, 2}}}}),
      "not_found: 'model' has no input 'frist', did you mean 'first'? (it has: first, second)");
  EXPECT_THAT(program_failure(sum(), {.values = {{"secnd", floats({1, 2}, {1, 2})}}}),
              HasSubstr("no input 'secnd', did you mean 'second'?"));
  EXPECT_THAT(program_failure(sum(), {.at_hand = {{"sum", floats({1, 2}, {1, 2})}}}),
              HasSubstr("no input 'sum'"));
  EXPECT_EQ(program_failure(sum(), {.dims = {{"row", 1}}}),
            "not_found: 'model' has no named dimension 'row', did you mean 'rows'? (it has: rows)");
}

TEST_F(OnnxRefusalTest, AllOpenSizesAreToldAtOnce) {
  EXPECT_THAT(program_failure(sum()),
              AllOf(StartsWith("invalid_argument: "),
                    HasSubstr("input 'first': the model leaves sizes open: [rows, 2]"),
                    HasSubstr("input 'second': the model leaves sizes open: [?, 2]")));
  EXPECT_THAT(program_failure(sum(), {.dims = {{"rows", 3}}}),
              AllOf(Not(HasSubstr("first")), HasSubstr("second")));
}

TEST_F(OnnxRefusalTest, SizesThatDoNotFit) {
  const auto with = [&](std::vector<int64_t> first, std::vector<int64_t> second) {
    return program_failure(sum(), {.sizes = {{"first", first}, {"second", second}}});
  };
  EXPECT_THAT(
      with({1, 3}, {1}),
      AllOf(HasSubstr("input 'first': dimension 1 has 3 elements, the model says [rows, 2]"),
            HasSubstr("input 'second': 1 size is given, the model says [?, 2]")));
  EXPECT_THAT(with({-1, 2}, {1, 2}), HasSubstr("'first': dimension 0 has -1 elements"));
  // The node and its operator are named.
  EXPECT_THAT(with({3, 2}, {4, 2}),
              AllOf(StartsWith("invalid_argument: "), HasSubstr("Add that makes 'sum'")));
  EXPECT_THAT(program_failure(sum(), {.sizes = {{"second", {4, 2}}}, .dims = {{"rows", -3}}}),
              HasSubstr("'first': dimension 0 has -3 elements"));
}

TEST_F(OnnxRefusalTest, ValuesThatDoNotFit) {
  EXPECT_THAT(program_failure(
                  sum(), {.sizes = {{"second", {1, 2}}}, .values = {{"first", integers({1, 2})}}}),
              HasSubstr("input 'first': elements of type i64 are given, the model says float"));
  EXPECT_THAT(program_failure(sum(), {.sizes = {{"second", {1, 2}}},
                                      .values = {{"first", floats({3}, {1, 2, 3})}}}),
              HasSubstr("input 'first': sizes [3] are given, the model says [rows, 2]"));
}

TEST_F(OnnxRefusalTest, AllThatIsMissingIsToldAtOnce) {
  GraphWriter graph;
  graph.input("x", ElementType::fp32, {6}).input("shape", ElementType::i64, {2});
  graph.node("Frobnicate", {"x"}, {"a"}).node("Reshape", {"x", "shape"}, {"b"});
  graph.node("Grumble", {"a"}, {"c"}).output("c").output("b");
  const std::string message = program_failure(graph);
  EXPECT_THAT(message,
              AllOf(StartsWith("unsupported: "), HasSubstr("ai.onnx.Frobnicate (opset 21)"),
                    HasSubstr("ai.onnx.Grumble (opset 21), Grumble that makes 'c'"),
                    HasSubstr("bind them by value:\n  shape")));
  // A value at hand is not bound in vain: the operators are still missing.
  EXPECT_THAT(program_failure(graph, {.at_hand = {{"shape", integers({2, 3})}}}),
              HasSubstr("Frobnicate"));
  EXPECT_THAT(program_failure(graph, {.values = {{"shape", integers({2, 3})}}}),
              Not(HasSubstr("bind them")));
}

TEST_F(OnnxRefusalTest, TypesThatNoTensorHas) {
  GraphWriter text;
  text.input("t", ElementType::string, {1}).node("Identity", {"t"}, {"u"}).output("u");
  EXPECT_THAT(program_failure(text),
              AllOf(StartsWith("unsupported: "), HasSubstr("bind them by value:\n  t")));
  EXPECT_THAT(program_failure(text, {.texts = {{"t", {{"a", "b"}, {2}}}}}),
              HasSubstr("input 't': sizes [2] are given, the model says [1]"));
  EXPECT_THAT(program_failure(text, {.texts = {{"t", {{"a", "b"}, {3}}}}}),
              HasSubstr("input 't': 2 texts for sizes [3]"));
  EXPECT_THAT(program_failure(sum(), {.texts = {{"first", {{"a"}, {1}}}}}),
              HasSubstr("input 'first': texts are given, the model says float"));
  GraphWriter complex;
  complex.input("z", ElementType::complex64, {1}).node("Identity", {"z"}, {"y"}).output("y");
  EXPECT_THAT(program_failure(complex), StartsWith("unsupported: "));
  GraphWriter weight;
  weight.weights<float>("w", ElementType::complex64, {1}, {1, 2}).output("w");
  EXPECT_THAT(program_failure(weight), AllOf(StartsWith("unsupported: "), HasSubstr("complex64")));
}

TEST_F(OnnxRefusalTest, AnOutputThatNothingMakes) {
  GraphWriter graph;
  graph.input("x", ElementType::fp32, {1}).node("Neg", {"x"}, {"y"}).output("z");
  EXPECT_THAT(program_failure(graph),
              AllOf(StartsWith("invalid_argument: "), HasSubstr("the output 'z'")));
}

TEST_F(OnnxRefusalTest, OtherTypesAndSizesThanThoseOfTheProgram) {
  const Program program =
      made(read(sum()).program({.sizes = {{"first", {1, 2}}, {"second", {1, 2}}}}));
  EXPECT_EQ(failure(device_.compile(program, {{"first", {DataType::fp32, {2, 2}}}})),
            "invalid_argument: 'model': input 'first' is fp32[2, 2], the program was made for "
            "fp32[1, 2]");
  EXPECT_THAT(failure(device_.compile(program, {{"first", {DataType::fp64, {1, 2}}}})),
              HasSubstr("is fp64[1, 2]"));
  EXPECT_TRUE(device_.compile(program, {{"first", {DataType::fp32, {1, 2}}}}).ok());
  CompileOptions options;
  options.constants = {"frist"};
  EXPECT_THAT(failure(device_.compile(program, {}, options)), HasSubstr("did you mean 'first'?"));
  // A run names the model's tensors, and sees no weights.
  const Executable executable = compile(program);
  const Tensor right = made(device_.create_tensor<float>({1, 2}, {1, 2}));
  const Tensor wrong = made(device_.create_tensor<float>({2, 2}, {1, 2, 3, 4}));
  const Tensor sum = made(device_.create_tensor(executable.outputs()[0]));
  EXPECT_THAT(failure(executable.run({right, wrong}, {sum})), HasSubstr("'second'"));
  EXPECT_THAT(failure(executable.run({right}, {sum})), HasSubstr("2 inputs"));
}

}  // namespace
}  // namespace stria
