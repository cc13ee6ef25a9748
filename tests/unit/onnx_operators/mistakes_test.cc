// SPDX-License-Identifier: Apache-2.0
// Models that are wrong: all that is wrong is told, with node and operator, and in bounded time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "stria/onnx/model/model_check.h"
#include "stria/onnx/translate/opsets.h"
#include "stria/onnx/translate/translate.h"
#include "stria/runtime/host/tile_evaluator.h"

namespace stria::onnx {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ValueInfo float_input(std::string name, std::vector<Dimension> dims = {{2, ""}}) {
  ValueInfo out{std::move(name), {}};
  out.type.kind = ValueType::Kind::tensor;
  out.type.type = ElementType::fp32;
  out.type.dims = std::move(dims);
  return out;
}

Node plain_node(std::string op_type, std::vector<std::string> inputs,
                std::vector<std::string> outputs, std::string domain = "") {
  Node out;
  out.op_type = std::move(op_type);
  out.domain = std::move(domain);
  out.inputs = std::move(inputs);
  out.outputs = std::move(outputs);
  out.name = "n_" + (out.outputs.empty() ? std::string() : out.outputs[0]);
  return out;
}

Model model_of(std::vector<Node> nodes, std::string output = "y", int64_t opset = 21) {
  Model out;
  out.file = "m.onnx";
  out.opsets[""] = opset;
  out.graph.inputs = {float_input("x")};
  out.graph.nodes = std::move(nodes);
  out.graph.outputs = {{std::move(output), {}}};
  return out;
}

Status status_of(const Model& model, TranslateOptions options = {}) {
  options.evaluate = TileEvaluator();
  return translate(model, options).status();
}
std::string failure(const Model& model, const TranslateOptions& options = {}) {
  return std::string(status_of(model, options).message());
}

TEST(Mistakes, AllAreToldBesideWhatIsNotSupported) {
  const Model model =
      model_of({plain_node("Concat", {"x", "x"}, {"a"}), plain_node("Foo", {"x"}, {"b"}),
                plain_node("Transpose", {"x", "x", "x"}, {"c"}),
                plain_node("Flatten", {"nothing"}, {"d"}), plain_node("Add", {"a", "b"}, {"y"})});
  const Status status = status_of(model);
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("what is wrong:\n  Concat 'n_a': "),
                    HasSubstr("Transpose 'n_c': 3 inputs, the operator has 1 at most"),
                    HasSubstr("Flatten 'n_d': nothing before it makes its input 'nothing'"),
                    HasSubstr("operators that are not supported:\n  ai.onnx.Foo (opset 21), "
                              "Foo 'n_b'"),
                    Not(HasSubstr("n_y"))));
}

// Those that are left out at the end do not count.
TEST(Mistakes, MoreThanAnOperatorHas) {
  EXPECT_THAT(failure(model_of({plain_node("Neg", {"x"}, {"y", "z"})})),
              HasSubstr("Neg 'n_y': 2 outputs, the operator has 1 at most"));
  EXPECT_TRUE(status_of(model_of({plain_node("Neg", {"x", ""}, {"y", ""})})).ok());
  EXPECT_TRUE(status_of(model_of({plain_node("Sum", {"x", "x", "x", "x"}, {"y"})})).ok());
  EXPECT_THAT(failure(model_of({plain_node("Clip", {"x", "", "", "x"}, {"y"})})),
              HasSubstr("Clip 'n_y': 4 inputs, the operator has 3 at most"));
}

TEST(Mistakes, OneIsToldWithItsFile) {
  EXPECT_THAT(failure(model_of({plain_node("Neg", {"z"}, {"y"})})),
              "m.onnx: Neg 'n_y': nothing before it makes its input 'z'");
}

TEST(Mistakes, ACycleIsCalledSo) {
  EXPECT_THAT(
      failure(
          model_of({plain_node("Add", {"x", "b"}, {"a"}), plain_node("Neg", {"a"}, {"b"})}, "b")),
      HasSubstr("its input 'b' (Neg 'n_b' makes it: the nodes are out of order, or a cycle)"));
}

TEST(Mistakes, VersionsThatDoNotExist) {
  for (const int64_t version : {0, -3, 99})
    EXPECT_THAT(failure(model_of({plain_node("Neg", {"x"}, {"y"})}, "y", version)),
                AllOf(HasSubstr("of ai.onnx: versions from 1 to 28 are known"),
                      HasSubstr(std::to_string(version)), Not(HasSubstr("Neg"))));
  // An import that no node uses harms nothing, and others count their own versions.
  Model model = model_of({plain_node("Neg", {"x"}, {"y"})});
  model.opsets["ai.onnx.ml"] = 99;
  model.opsets["com.acme"] = 1000;
  EXPECT_EQ(failure(model), "");
}

TEST(Mistakes, OperatorsThatCameLater) {
  EXPECT_THAT(failure(model_of({plain_node("Mish", {"x"}, {"y"})}, "y", 17)),
              HasSubstr("ai.onnx.Mish (opset 17, it came in 18), Mish 'n_y'"));
  EXPECT_EQ(failure(model_of({plain_node("Mish", {"x"}, {"y"})}, "y", 18)), "");
  EXPECT_THAT(failure(model_of({plain_node("Gelu", {"x"}, {"y"}, "com.microsoft")})),
              HasSubstr("com.microsoft.Gelu (no opset of its domain is named)"));
  // Tools wrote it before it came.
  EXPECT_THAT(failure(model_of({plain_node("LayerNormalization", {"x", "x"}, {"y"})}, "y", 11)),
              Not(HasSubstr("it came in")));
}

TEST(Mistakes, AFunctionBehindAnUnknownOperatorIsKnown) {
  Model model = model_of({plain_node("Foo", {"x"}, {"a"}), plain_node("F", {"a"}, {"y"}, "own")});
  model.opsets["own"] = 1;
  Function function;
  function.name = "F";
  function.domain = "own";
  function.inputs = {"p"};
  function.outputs = {"q"};
  function.nodes = {plain_node("Relu", {"p"}, {"q"})};
  model.functions = {function};
  EXPECT_THAT(failure(model), AllOf(HasSubstr("ai.onnx.Foo"), Not(HasSubstr("own.F"))));
}

// Each function calls the next one so often.
Model calls(int functions, int times, bool around) {
  Model model = model_of({plain_node("F0", {"x"}, {"y"}, "own")});
  model.opsets["own"] = 1;
  for (int f = 0; f < functions; ++f) {
    Function function;
    function.name = "F" + std::to_string(f);
    function.domain = "own";
    function.inputs = {"p"};
    function.outputs = {"q"};
    const bool last = f + 1 == functions;
    const std::string next = "F" + std::to_string(last ? 0 : f + 1);
    for (int k = 0; k < times; ++k) {
      const std::string from = k == 0 ? "p" : "q" + std::to_string(k - 1);
      const std::string to = k + 1 == times ? "q" : "q" + std::to_string(k);
      function.nodes.push_back(last && !around ? plain_node("Neg", {from}, {to})
                                               : plain_node(next, {from}, {to}, "own"));
    }
    model.functions.push_back(function);
  }
  return model;
}

TEST(Mistakes, FunctionsThatCallThemselves) {
  EXPECT_THAT(failure(calls(3, 1, true)), HasSubstr("the function 'F0' calls itself"));
  EXPECT_EQ(failure(calls(3, 2, false)), "");
}

TEST(Mistakes, FewFunctionsThatStandForBillionsOfNodes) {
  const Status status = status_of(calls(40, 2, false));
  EXPECT_EQ(status.code(), StatusCode::out_of_range);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the model has more than 1000000 nodes"));
}

// So many calls in a row, each of which holds those before it, end without a deep stack.
TEST(Mistakes, ALongChainEnds) {
  Model model = calls(17, 2, false);
  EXPECT_EQ(failure(model), "");
}

TEST(Mistakes, WhoNeedsTheElementsOfAnInput) {
  EXPECT_THAT(failure(model_of({plain_node("NonZero", {"x"}, {"y"})})),
              HasSubstr("bind them by value:\n  x, by NonZero 'n_y'"));
}

TEST(Mistakes, OutputsOfAnotherType) {
  Model model = model_of({plain_node("Neg", {"x"}, {"y"})});
  model.graph.outputs = {float_input("y")};
  EXPECT_EQ(failure(model), "");
  model.graph.outputs[0].type.type = ElementType::i32;
  EXPECT_EQ(failure(model),
            "m.onnx: the output 'y' has elements of type float, the model says int32");
  // Text is numbers outside, but not where the model says numbers.
  auto text = std::make_shared<TensorData>();
  text->name = "t";
  text->type = ElementType::string;
  text->dims = {1};
  text->strings = {"a"};
  Model texts = model_of({plain_node("Identity", {"t"}, {"y"})});
  texts.graph.initializers.push_back(text);
  texts.graph.outputs = {float_input("y")};
  texts.graph.outputs[0].type.type = ElementType::string;
  EXPECT_EQ(failure(texts), "");
  texts.graph.outputs[0].type.type = ElementType::i64;
  EXPECT_EQ(failure(texts),
            "m.onnx: the output 'y' has elements of type string, the model says int64");
}

TEST(Mistakes, NamesThatAreThereTwice) {
  const auto refusal = [](const auto& change) {
    Model model = model_of({plain_node("Neg", {"x"}, {"y"})});
    model.graph.name = "g";
    change(model);
    return std::string(check_names(model).message());
  };
  EXPECT_EQ(refusal([](Model&) {}), "");
  EXPECT_EQ(refusal([](Model& m) { m.graph.inputs.push_back(float_input("x")); }),
            "graph 'g': the input 'x' is there twice");
  EXPECT_EQ(refusal([](Model& m) { m.graph.outputs.push_back({"y", {}}); }), "");
  EXPECT_EQ(refusal([](Model& m) {
              auto data = std::make_shared<TensorData>();
              data->name = "w";
              m.graph.initializers = {data, data};
            }),
            "graph 'g': the initializer 'w' is there twice");
  EXPECT_EQ(refusal([](Model& m) {
              m.graph.nodes[0].attributes.resize(2);
              for (Attribute& attribute : m.graph.nodes[0].attributes) attribute.name = "axis";
            }),
            "Neg 'n_y': the attribute 'axis' is there twice");
  EXPECT_EQ(refusal([](Model& m) {
              m.functions.resize(2);
              for (Function& function : m.functions) function.name = "f";
            }),
            "function 'f' of the domain '' is there twice");
  EXPECT_EQ(refusal([](Model& m) {
              m.functions.resize(1);
              m.functions[0].name = "f";
              m.functions[0].inputs = {"p", "p"};
            }),
            "function 'f': the input 'p' is there twice");
  // In graphs of attributes, too.
  EXPECT_EQ(refusal([](Model& m) {
              Graph inner;
              inner.name = "then";
              inner.inputs = {{"o", {}}, {"o", {}}};
              m.graph.nodes[0].attributes.resize(1);
              m.graph.nodes[0].attributes[0].g = std::make_shared<const Graph>(inner);
            }),
            "graph 'then': the input 'o' is there twice");
}

KnownCall call_of(const std::string& text, std::vector<KnownCall::Argument> arguments) {
  return {"f",   "function f(X) -> (Y) {\n" + text + "}\n", "Node 'n'", {"X"}, std::move(arguments),
          {true}};
}

// What sizes depend on is computed while the model becomes a program, within bounds.
std::string refused(const std::string& text, const std::vector<int64_t>& sizes) {
  auto x = HostTensor::create(DataType::i8, sizes, "x");
  if (!x.ok()) return "no memory";
  const auto input = std::make_shared<const HostTensor>(*std::move(x));
  return std::string(TileEvaluator()({call_of(text, {{input}})}).status().message());
}

TEST(HostEvaluation, LargeResultsAreRefused) {
  EXPECT_THAT(refused("  Y[i, j : 40000, 40000] = =(X[i] * X[j]);\n", {40000}),
              HasSubstr("its result of 6400000000 bytes is needed while the program is made"));
}

TEST(HostEvaluation, LongOnesAreRefusedBeforeTheyRun) {
  EXPECT_THAT(refused("  Y[i, j : 10000, 10000] = +(X[i, k] * X[k, j]);\n", {10000, 10000}),
              HasSubstr("points of loops; 1e+11 are the most"));
}

// A model is translated again when inputs turn out to decide sizes: names come anew.
TEST(HostEvaluation, FunctionsOfOneNameDiffer) {
  const TileEvaluator evaluate;
  HostTensor x = *HostTensor::create(DataType::i8, {2}, "x");
  x.data()[0] = std::byte{1};
  x.data()[1] = std::byte{3};
  const auto input = std::make_shared<const HostTensor>(std::move(x));
  const auto first = [&](const char* body) {
    const auto out = evaluate({call_of(fmt::format("  Y = {};\n", body), {{input}})});
    return out.ok() ? std::to_integer<int>((*out)[0][0]->data()[1]) : -1;
  };
  EXPECT_EQ(first("X + X"), 6);
  EXPECT_EQ(first("X * X"), 9);
  EXPECT_EQ(first("X + X"), 6);
  EXPECT_GT(evaluate.points(), 0);
}

TEST(HostEvaluation, ACallReadsResultsOfThoseBeforeIt) {
  HostTensor x = *HostTensor::create(DataType::i8, {1}, "x");
  x.data()[0] = std::byte{3};
  const auto input = std::make_shared<const HostTensor>(std::move(x));
  const auto out = TileEvaluator()(
      {call_of("  Y = X + X;\n", {{input}}), call_of("  Y = X * X;\n", {{nullptr, 0, 0}})});
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_EQ(std::to_integer<int>((*out)[1][0]->data()[0]), 36);
}

// Only what would take the interpreter long; and a device may be none.
TEST(HostEvaluation, ADeviceIsAskedWhereItPays) {
  int asked = 0;
  const TileEvaluator evaluate([&](const std::vector<KnownCall>& calls) {
    ++asked;
    EXPECT_EQ(calls.size(), 1u);
    return Result<std::optional<KnownResults>>(std::nullopt);
  });
  const auto square = [&](int64_t size) {
    const auto x =
        std::make_shared<const HostTensor>(*HostTensor::create(DataType::i8, {size, size}, "x"));
    return evaluate(
        {call_of(fmt::format("  Y[i, j : {0}, {0}] = +(X[i, k] * X[k, j]);\n", size), {{x}})});
  };
  EXPECT_TRUE(square(100).ok());
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(square(500).ok());
  EXPECT_EQ(asked, 1);
  EXPECT_GT(evaluate.points(), 1e8);
}

}  // namespace
}  // namespace stria::onnx
