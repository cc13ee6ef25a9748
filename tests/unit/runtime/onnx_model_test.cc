// SPDX-License-Identifier: Apache-2.0
// ONNX models through the public interface: what is read, and programs for given sizes and values.
#include "stria/runtime/onnx_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx_file.h"

namespace stria {
namespace {

using onnx::ElementType;
using onnx::GraphWriter;
using testing::ElementsAre;
using testing::HasSubstr;

class OnnxModelTest : public OnnxFileTest {};

// y = x * w + b, of rows that are open; b has a default that may be given.
GraphWriter affine() {
  GraphWriter out;
  out.input("x", ElementType::fp32, {"rows", 2}).input("b", ElementType::fp32, {2});
  out.weights<float>("w", ElementType::fp32, {2}, {10, 100});
  out.weights<float>("b", ElementType::fp32, {2}, {1, 2});
  out.node("Mul", {"x", "w"}, {"xw"}).node("Add", {"xw", "b"}, {"y"}).output("y");
  return out;
}

TEST_F(OnnxModelTest, SaysWhatItTakesAndGives) {
  GraphWriter graph = affine();
  graph.input("picture", ElementType::u8, {"", 3, "rows"});
  graph.input("text", ElementType::string, {1});
  graph.input("list",
              WireWriter().message(4, WireWriter().message(1, tensor_type(ElementType::fp32, {}))));
  graph.input("any", WireWriter().message(1, WireWriter().varint(1, 10)));
  graph.output("xw");
  const OnnxModel model = read(graph);
  EXPECT_TRUE(model.valid());
  EXPECT_FALSE(OnnxModel().valid());
  EXPECT_EQ(model.name(), "model");
  EXPECT_THAT(model.outputs(), ElementsAre("y", "xw"));
  std::vector<std::string> texts;
  for (const OnnxInput& input : model.inputs()) texts.push_back(input.text());
  EXPECT_THAT(texts, ElementsAre("x: fp32[rows, 2]", "b: fp32[2]", "picture: u8[?, 3, rows]",
                                 "text: string[1]", "list: sequence(float)", "any: fp16"));
  EXPECT_FALSE(model.inputs()[0].has_default);
  EXPECT_TRUE(model.inputs()[1].has_default);
  EXPECT_EQ(model.inputs()[0].dims[0].name, "rows");
  EXPECT_FALSE(model.inputs()[0].dims[0].size);
  EXPECT_EQ(model.inputs()[0].dims[1].size, 2);
  EXPECT_EQ(model.inputs()[2].element, "uint8");
  EXPECT_FALSE(model.inputs()[3].type);
  EXPECT_FALSE(model.inputs()[5].has_dims);
}

TEST_F(OnnxModelTest, OneModelServesManySizes) {
  const OnnxModel model = read(affine());
  for (const int64_t rows : {1, 3, 5}) {
    // By the input, and by the name of its dimension.
    for (const OnnxOptions& options :
         {OnnxOptions{.sizes = {{"x", {rows, 2}}}}, OnnxOptions{.dims = {{"rows", rows}}}}) {
      const Program program = made(model.program(options));
      ASSERT_EQ(program.inputs().size(), 1u);
      EXPECT_EQ(program.inputs()[0].text(), "x: fp32[" + std::to_string(rows) + ", 2]");
      std::vector<float> x(static_cast<size_t>(2 * rows), 1), y;
      for (int64_t r = 0; r < rows; ++r) y.insert(y.end(), {11, 102});
      EXPECT_EQ(run(program, {{"x", x}}), y);
    }
  }
}

TEST_F(OnnxModelTest, ADefaultIsAnInputIfItIsAskedFor) {
  const OnnxModel model = read(affine());
  const Program program = made(model.program({.sizes = {{"x", {1, 2}}, {"b", {2}}}}));
  EXPECT_EQ(program.inputs()[1].text(), "b: fp32[2]");
  EXPECT_EQ(run(program, {{"x", {1, 1}}, {"b", {5, 6}}}), (std::vector<float>{15, 106}));
}

TEST_F(OnnxModelTest, ABoundValueIsNoInput) {
  const OnnxModel model = read(affine());
  const Program program =
      made(model.program({.sizes = {{"x", {1, 2}}}, .values = {{"b", floats({2}, {7, 8})}}}));
  EXPECT_EQ(program.inputs().size(), 1u);
  EXPECT_EQ(run(program, {{"x", {1, 1}}}), (std::vector<float>{17, 108}));
}

// y = Reshape(x, shape): the sizes depend on the elements of an input.
GraphWriter reshape() {
  GraphWriter out;
  out.input("x", ElementType::fp32, {"n"}).input("shape", ElementType::i64, {2});
  out.node("Reshape", {"x", "shape"}, {"y"}).output("y");
  return out;
}

TEST_F(OnnxModelTest, ValuesAtHandAreBoundWhereSizesDependOnThem) {
  const OnnxModel model = read(reshape());
  const OnnxOptions options{
      .at_hand = {{"x", floats({6}, {1, 2, 3, 4, 5, 6})}, {"shape", integers({2, -1})}}};
  const Program program = made(model.program(options));
  ASSERT_EQ(program.inputs().size(), 1u);
  EXPECT_EQ(program.inputs()[0].text(), "x: fp32[6]");
  const Executable executable = compile(program);
  EXPECT_EQ(executable.outputs()[0].sizes, (std::vector<int64_t>{2, 3}));
  // Another value is another program of the same model.
  const Program other =
      made(model.program({.sizes = {{"x", {6}}}, .values = {{"shape", integers({6, 1})}}}));
  EXPECT_EQ(compile(other).outputs()[0].sizes, (std::vector<int64_t>{6, 1}));
}

// The second one tells nothing that is new; it is no fault of its own.
TEST_F(OnnxModelTest, SeveralNodesMayNeedTheElementsOfOneInput) {
  GraphWriter graph = reshape();
  graph.node("Reshape", {"x", "shape"}, {"z"}).output("z");
  const OnnxModel model = read(graph);
  const Program program = made(
      model.program({.at_hand = {{"x", floats({4}, {1, 2, 3, 4})}, {"shape", integers({2, -1})}}}));
  EXPECT_EQ(program.inputs().size(), 1u);
}

// m = x * x; places = NonZero(m > limit), of which only a run says how many there are; and
// twice = m + m.
GraphWriter places(int size) {
  GraphWriter out;
  out.input("x", ElementType::fp32, {size, size});
  out.weights<float>("limit", ElementType::fp32, {}, {3});
  out.node("MatMul", {"x", "x"}, {"m"}).node("Add", {"m", "m"}, {"twice"});
  out.node("Greater", {"m", "limit"}, {"above"}).node("NonZero", {"above"}, {"places"});
  out.output("places").output("twice");
  return out;
}

TEST_F(OnnxModelTest, ADeviceComputesWhatSizesDependOn) {
  for (const int size : {20, 500}) {
    const OnnxModel model = read(places(size));
    std::vector<float> x(static_cast<size_t>(size * size), 0);
    x[0] = 2;                               // m[0, 0] = 4
    x[static_cast<size_t>(size) + 1] = -2;  // m[1, 1] = 4
    std::vector<std::string> ran;
    OnnxOptions options{.at_hand = {{"x", floats({size, size}, x)}}};
    options.open_device = [&](const Program& program) {
      EXPECT_EQ(program.outputs().size(), 2u);  // m and `above`
      ran.push_back(device_.name());
      return Result<Device>(device_);
    };
    const Program program = made(model.program(options));
    EXPECT_EQ(ran.size(), size == 500 ? 1u : 0u);
    const std::string note =
        device_.name() +
        " ran a program while this one was made: sizes depend on the elements of 'x' (NonZero that "
        "makes 'places')";
    EXPECT_EQ(program.notes(), size == 500 ? std::vector{note} : std::vector<std::string>());
    const Executable executable = compile(program);
    EXPECT_EQ(executable.outputs()[0].sizes, (std::vector<int64_t>{2, 2}));
    const std::vector<float> twice = run(program, {}, 1);
    EXPECT_EQ(twice[0], 8);
    EXPECT_EQ(twice[static_cast<size_t>(size) + 1], 8);
    EXPECT_EQ(twice[1], 0);
  }
}

// What a later node reads is kept: nothing runs twice. Also if it is small, for what it was made of
// was not.
TEST_F(OnnxModelTest, WhatALaterNodeReadsIsComputedOnce) {
  for (const auto& [rows, columns] : {std::pair(500, 500), std::pair(60, 30000)}) {
    GraphWriter graph;
    graph.input("x", ElementType::fp32, {rows, columns});
    graph.weights<float>("limit", ElementType::fp32, {}, {3});
    graph.node("Transpose", {"x"}, {"across"}).node("MatMul", {"x", "across"}, {"m"});
    graph.node("Greater", {"m", "limit"}, {"above"}).node("NonZero", {"above"}, {"high"});
    graph.node("Less", {"m", "limit"}, {"below"}).node("NonZero", {"below"}, {"low"});
    graph.output("high").output("low").output("m");
    std::vector<float> x(static_cast<size_t>(rows * columns), 0);
    x[0] = 2;  // m[0, 0] = 4, all others are 0
    int ran = 0;
    OnnxOptions options{.at_hand = {{"x", floats({rows, columns}, x)}}};
    options.open_device = [&](const Program&) {
      ++ran;
      return Result<Device>(device_);
    };
    const Program program = made(read(graph).program(options));
    EXPECT_EQ(ran, 1) << rows;
    const Executable executable = compile(program);
    EXPECT_EQ(executable.outputs()[0].sizes, (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(executable.outputs()[1].sizes, (std::vector<int64_t>{2, rows * rows - 1}));
    EXPECT_EQ(run(program, {}, 2)[0], 4);
  }
}

TEST_F(OnnxModelTest, ADeviceThatCannotBeOpenedFailsTheModel) {
  const OnnxModel model = read(places(500));
  OnnxOptions options{.at_hand = {{"x", floats({500, 500}, std::vector<float>(250000, 1))}}};
  options.open_device = [&](const Program&) { return runtime_->open("nosuch"); };
  EXPECT_THAT(failure(model.program(options)), HasSubstr("nosuch"));
  // None is asked for: the interpreter.
  options.open_device = [&](const Program&) { return Result<Device>(Device()); };
  EXPECT_THAT(made(model.program(options)).notes(), ElementsAre(HasSubstr("the host computed")));
}

TEST_F(OnnxModelTest, NamesMayHoldAnything) {
  GraphWriter graph;
  graph.input("a/b:0", ElementType::fp32, {"d/0"}).input("a_b_0", ElementType::fp32, {"d/0"});
  graph.weights<float>("a b 0", ElementType::fp32, {1}, {100});
  graph.node("Sub", {"a/b:0", "a_b_0"}, {"in/out"}).node("Add", {"in/out", "a b 0"}, {"α"});
  graph.output("α").output("in/out");
  const Program program = made(read(graph).program({.dims = {{"d/0", 2}}}));
  EXPECT_EQ(program.name(), "model");
  EXPECT_EQ(program.inputs()[0].name, "a/b:0");
  EXPECT_THAT(program.outputs(), ElementsAre("α", "in/out"));
  EXPECT_EQ(run(program, {{"a/b:0", {5, 6}}, {"a_b_0", {1, 1}}}, 0),
            (std::vector<float>{104, 105}));
  EXPECT_EQ(run(program, {{"a/b:0", {5, 6}}, {"a_b_0", {1, 1}}}, 1), (std::vector<float>{4, 5}));
}

// One value under two names, an input, a weight, and what is known before the run.
TEST_F(OnnxModelTest, OutputsMayBeAnyValue) {
  GraphWriter graph;
  graph.input("x", ElementType::fp32, {2});
  graph.weights<float>("w", ElementType::fp32, {2}, {3, 4});
  graph.node("Neg", {"x"}, {"y"}).node("Identity", {"y"}, {"same"});
  graph.node("Add", {"w", "w"}, {"known"});
  for (const char* name : {"y", "same", "x", "w", "known", "y"}) graph.output(name);
  const Program program = made(read(graph).program());
  EXPECT_THAT(program.outputs(), ElementsAre("y", "same", "x", "w", "known", "y"));
  const std::vector<std::vector<float>> expected = {{-1, -2}, {-1, -2}, {1, 2},
                                                    {3, 4},   {6, 8},   {-1, -2}};
  for (size_t k = 0; k < expected.size(); ++k)
    EXPECT_EQ(run(program, {{"x", {1, 2}}}, k), expected[k]) << k;
}

TEST_F(OnnxModelTest, ItemsOfASequenceAreOutputs) {
  GraphWriter graph;
  graph.input("x", ElementType::fp32, {2});
  graph.node("Neg", {"x"}, {"y"}).node("SequenceConstruct", {"x", "y"}, {"both"});
  graph.node("SequenceEmpty", {}, {"nothing"}).output("both").output("nothing");
  const Program program = made(read(graph).program());
  EXPECT_THAT(program.outputs(), ElementsAre("both[0]", "both[1]"));
  EXPECT_EQ(run(program, {{"x", {1, 2}}}, 1), (std::vector<float>{-1, -2}));
  EXPECT_THAT(program.notes(), ElementsAre("the output 'nothing' is known: it holds nothing"));
}

TEST_F(OnnxModelTest, KnownTextIsItsNumber) {
  GraphWriter graph;
  graph.input("x", ElementType::fp32, {1}).node("Neg", {"x"}, {"y"});
  graph.strings("left", {"a", "b"}).strings("right", {"c", "\n"});
  graph.node("StringConcat", {"left", "right"}, {"text"}).output("text").output("y");
  const Program program = made(read(graph).program());
  EXPECT_THAT(program.outputs(), ElementsAre("text", "y"));
  EXPECT_THAT(program.notes(),
              ElementsAre("the output 'text' is text, by number: 0 'ac', 1 'b\\x0a'"));
  GraphWriter alone;
  alone.strings("left", {"a"}).node("StringConcat", {"left", "left"}, {"text"}).output("text");
  GraphWriter none;
  none.strings("left", {}).node("Identity", {"left"}, {"text"}).output("text");
  EXPECT_THAT(made(read(none).program()).notes(),
              ElementsAre("the output 'text' is text, by number: none"));
  const Program known = made(read(alone).program());
  EXPECT_THAT(known.outputs(), ElementsAre("text"));
  EXPECT_THAT(known.notes(), ElementsAre("the output 'text' is text, by number: 0 'aa'"));
}

TEST_F(OnnxModelTest, TextThatDependsOnInputsIsItsNumber) {
  GraphWriter graph;
  graph.input("x", ElementType::fp32, {2, 2}).strings("classes", {"cat", "dog"});
  graph.node("ArgMax", {"x"}, {"largest"},
             {onnx::integer_attribute("axis", 1), onnx::integer_attribute("keepdims", 0)});
  graph.node("Gather", {"classes", "largest"}, {"label"}).output("label");
  const Program program = made(read(graph).program());
  EXPECT_THAT(program.outputs(), ElementsAre("label"));
  EXPECT_THAT(program.notes(),
              ElementsAre("the output 'label' is text, by number: 0 'cat', 1 'dog'"));
}

TEST_F(OnnxModelTest, ADerivativeHasTheNamesOfTheModel) {
  GraphWriter graph;
  graph.input("a/x", ElementType::fp32, {2}).input("steps", ElementType::i64, {2});
  graph.weights<float>("w", ElementType::fp32, {2}, {10, 100});
  graph.node("Mul", {"a/x", "w"}, {"a/y"}).output("a/y");
  const Program program = made(read(graph).program());
  // Integers have none, weights have one if they are asked for.
  const Program by_all = made(program.gradient());
  EXPECT_THAT(by_all.outputs(), ElementsAre("Da/x"));
  // The derivative by an output has no type before it is compiled.
  EXPECT_EQ(by_all.inputs()[0].text(), "a/x: fp32[2]");
  EXPECT_EQ(by_all.inputs()[2].text(), "Da/y");
  const Executable slope = compile(by_all, {{"Da/y", {DataType::fp32, {2}}}});
  EXPECT_EQ(run(slope, {{5, 6}, {}, {1, 2}}), (std::vector<float>{10, 200}));
  const Program kept = made(program.gradient({.wrt = {"a/x"}, .of = "a/y", .keep_results = true}));
  EXPECT_THAT(kept.outputs(), ElementsAre("a/y", "Da/x"));
  EXPECT_THAT(failure(program.gradient({.wrt = {"a/z"}})), HasSubstr("did you mean 'a/x'?"));
  EXPECT_THAT(failure(program.gradient({.of = "a/z"})), HasSubstr("did you mean 'a/y'?"));
}

TEST_F(OnnxModelTest, WeightsStayHiddenAndServeManyRuns) {
  const Program program = made(read(affine()).program({.dims = {{"rows", 1}}}));
  for (const char* device : {"reference", "llvm_cpu"}) {
    open(device);
    const Executable first = compile(program), second = compile(program);
    ASSERT_EQ(first.inputs().size(), 1u);
    EXPECT_EQ(first.inputs()[0].name, "x");
    EXPECT_EQ(first.name(), "model");
    for (int n = 0; n < 3; ++n) {
      const float v = static_cast<float>(n);
      EXPECT_EQ(run(first, {{v, v}}), (std::vector<float>{10 * v + 1, 100 * v + 2})) << device;
      EXPECT_EQ(run(second, {{v, 0}}), (std::vector<float>{10 * v + 1, 2})) << device;
    }
  }
}

// What the model has from the file is there after model and file are gone.
TEST_F(OnnxModelTest, AProgramOutlivesItsModel) {
  const Program program = [&] {
    const OnnxModel model = read(affine());
    return made(model.program({.dims = {{"rows", 1}}}));
  }();
  remove_files();
  EXPECT_EQ(run(program, {{"x", {1, 1}}}), (std::vector<float>{11, 102}));
}

TEST_F(OnnxModelTest, ReadsWithoutAModelInBetween) {
  GraphWriter graph;
  graph.input("x", ElementType::fp32, {2}).node("Neg", {"x"}, {"y"}).output("y");
  write("neg.onnx", graph.model());
  EXPECT_EQ(run(made(Program::read(path("neg.onnx"))), {{"x", {1, 2}}}),
            (std::vector<float>{-1, -2}));
  EXPECT_THAT(failure(Program::read(path("neg.onnx"), "main")),
              HasSubstr("has one graph, and no function 'main'"));
  write("open.onnx", affine().model());
  EXPECT_THAT(failure(Program::read(path("open.onnx"))), HasSubstr("[rows, 2]"));
  EXPECT_EQ(
      run(made(Program::from_onnx(path("open.onnx"), {.dims = {{"rows", 1}}})), {{"x", {1, 1}}}),
      (std::vector<float>{11, 102}));
}

}  // namespace
}  // namespace stria
