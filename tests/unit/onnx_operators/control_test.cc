// SPDX-License-Identifier: Apache-2.0
// Control flow, sequences and strings, where the standard's cases do not reach.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluate_node.h"

namespace stria::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Node node_of(std::string op_type, std::vector<std::string> inputs,
             std::vector<std::string> outputs) {
  Node out;
  out.op_type = std::move(op_type);
  out.inputs = std::move(inputs);
  out.outputs = std::move(outputs);
  return out;
}

ValueInfo tensor(std::string name, ElementType type, std::vector<int64_t> sizes) {
  ValueInfo out{std::move(name), {}};
  out.type.kind = ValueType::Kind::tensor;
  out.type.type = type;
  out.type.dims.emplace();
  for (const int64_t size : sizes) out.type.dims->push_back({size, ""});
  return out;
}

Attribute graph(std::string name, Graph graph) {
  Attribute out;
  out.name = std::move(name);
  out.type = Attribute::Type::g;
  out.g = std::make_shared<const Graph>(std::move(graph));
  return out;
}

Result<Translation> translated(const Model& model, Missing* missing = nullptr) {
  TranslateOptions options;
  options.evaluate = TileEvaluator();
  return translate(model, options, missing);
}

// y = condition ? x + x : other(x)
Model choice(const std::string& other) {
  Graph then, otherwise;
  then.nodes = {node_of("Add", {"x", "x"}, {"a"})};
  then.outputs = {{"a", {}}};
  otherwise.nodes = {node_of(other, {"x"}, {"b"})};
  otherwise.outputs = {{"b", {}}};
  Model model;
  model.opsets[""] = 21;
  Node node = node_of("If", {"condition"}, {"y"});
  node.attributes = {graph("then_branch", then), graph("else_branch", otherwise)};
  model.graph.nodes = {node};
  model.graph.inputs = {tensor("condition", ElementType::boolean, {}),
                        tensor("x", ElementType::fp32, {1, 3})};
  model.graph.outputs = {{"y", {}}};
  return model;
}

TEST(Control, IfChoosesBetweenTheResultsOfBoth) {
  const Result<Translation> made = translated(choice("Neg"));
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(made->text, HasSubstr("add_0("));
  EXPECT_THAT(made->text, HasSubstr("neg_0("));
  EXPECT_EQ(made->inputs.size(), 2U);
}

// Results of other sizes: nobody can choose between them later.
TEST(Control, IfAsksForItsCondition) {
  Missing missing;
  const Result<Translation> made = translated(choice("Squeeze"), &missing);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(missing.inputs_by_value, ElementsAre("condition"));
}

// total += round, and the totals.
Model loop(int64_t rounds) {
  Graph body;
  body.inputs = {{"round", {}}, {"go_on", {}}, {"total", {}}};
  body.nodes = {node_of("Add", {"total", "round"}, {"next"}),
                node_of("Identity", {"next"}, {"each"}),
                node_of("Identity", {"go_on"}, {"goes_on"})};
  body.outputs = {{"goes_on", {}}, {"next", {}}, tensor("each", ElementType::i64, {})};
  Model model;
  model.opsets[""] = 21;
  Node node = node_of("Loop", {"rounds", "", "start"}, {"last", "all"});
  node.attributes = {graph("body", body)};
  model.graph.nodes = {node};
  model.graph.initializers = {
      initializer("rounds", ElementType::i64, {}, std::vector<int64_t>{rounds}),
      initializer("start", ElementType::i64, {}, std::vector<int64_t>{100})};
  model.graph.outputs = {{"last", {}}, {"all", {}}};
  return model;
}

TEST(Control, LoopCollectsWhatEachRoundMakes) {
  const Result<std::vector<EvaluatedOutput>> made = evaluate_model(loop(3));
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(numbers(made->at(0)), ElementsAre(103));
  EXPECT_THAT(numbers(made->at(1)), ElementsAre(100, 101, 103));
}

TEST(Control, LoopOfNoRoundsCollectsNothing) {
  const Result<std::vector<EvaluatedOutput>> made = evaluate_model(loop(0));
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(numbers(made->at(0)), ElementsAre(100));
  EXPECT_THAT(made->at(1).type.sizes, ElementsAre(0));
}

// Where the graph says no sizes, they are those that a round would make.
TEST(Control, LoopOfNoRoundsKnowsWhatItWouldCollect) {
  Graph body;
  body.inputs = {{"round", {}}, {"go_on", {}}, {"total", {}}};
  body.nodes = {node_of("Add", {"total", "total"}, {"next"}),
                node_of("Transpose", {"next"}, {"each"}),
                node_of("Identity", {"go_on"}, {"goes_on"})};
  body.outputs = {{"goes_on", {}}, {"next", {}}, {"each", {}}};
  Model model;
  model.opsets[""] = 21;
  Node node = node_of("Loop", {"rounds", "", "start"}, {"last", "all"});
  node.attributes = {graph("body", body)};
  model.graph.nodes = {node};
  model.graph.initializers = {
      initializer("rounds", ElementType::i64, {}, std::vector<int64_t>{0}),
      initializer("start", ElementType::fp32, {2, 3}, std::vector<float>(6, 1.5F))};
  model.graph.outputs = {{"last", {}}, {"all", {}}};
  const Result<std::vector<EvaluatedOutput>> made = evaluate_model(model);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(numbers(made->at(0)), testing::Each(1.5));
  EXPECT_THAT(made->at(1).type.sizes, ElementsAre(0, 3, 2));
  EXPECT_EQ(made->at(1).type.type, DataType::fp32);
}

TEST(Control, LoopHasALimit) {
  const Result<Translation> made = translated(loop(int64_t{1} << 40));
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(std::string(made.status().message()),
              HasSubstr("a loop of 1099511627776 rounds, which is more than 10000"));
}

TEST(Sequences, PlacesAndWhatIsNotThere) {
  Model model;
  model.opsets[""] = 21;
  model.graph.nodes = {node_of("SequenceConstruct", {"a", "first", "b"}, {"s"}),
                       node_of("SequenceErase", {"s", "first"}, {"t"}),
                       node_of("SequenceAt", {"t", "place"}, {"y"})};
  model.graph.outputs = {{"y", {}}};
  const auto at = [&](int64_t place) {
    model.graph.initializers = {
        initializer("a", ElementType::i64, {}, std::vector<int64_t>{5}),
        initializer("b", ElementType::i64, {}, std::vector<int64_t>{6}),
        initializer("first", ElementType::i64, {}, std::vector<int64_t>{-2}),
        initializer("place", ElementType::i64, {}, std::vector<int64_t>{place})};
    return evaluate_model(model);
  };
  const Result<std::vector<EvaluatedOutput>> last = at(-1);
  ASSERT_TRUE(last.ok()) << last.status().message();
  EXPECT_THAT(numbers(last->at(0)), ElementsAre(6));
  const Result<std::vector<EvaluatedOutput>> beyond = at(2);
  ASSERT_FALSE(beyond.ok());
  EXPECT_THAT(std::string(beyond.status().message()), HasSubstr("place 2 of 2 items"));
  model.graph.nodes = {node_of("Optional", {}, {"o"}), node_of("OptionalGetElement", {"o"}, {"y"})};
  const Result<Translation> nothing = translated(model);
  ASSERT_FALSE(nothing.ok());
  EXPECT_THAT(std::string(nothing.status().message()), HasSubstr("holds nothing"));
}

std::shared_ptr<const TensorData> strings(std::vector<std::string> texts) {
  auto out = std::make_shared<TensorData>();
  out->name = "X";
  out->type = ElementType::string;
  out->dims = {static_cast<int64_t>(texts.size())};
  out->strings = std::move(texts);
  return out;
}

TEST(Strings, PatternsSeeCharactersNotBytes) {
  const auto match = [](std::string pattern) {
    return evaluate_node("RegexFullMatch", 20, {text("pattern", std::move(pattern))},
                         {strings({"\u00e9", "ab", "\xff", ""})});
  };
  const Result<EvaluatedOutput> one = match(".");
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_THAT(numbers(*one), ElementsAre(1, 0, 1, 0));
  EXPECT_EQ(match("(").status().code(), StatusCode::unsupported);
  EXPECT_EQ(match(std::string(2000, '(')).status().code(), StatusCode::unsupported);
}

// A pattern that tries every way of dividing the text would not end.
TEST(Strings, PatternsTakeTimeThatGrowsWithTheText) {
  const Result<EvaluatedOutput> made = evaluate_node(
      "RegexFullMatch", 20, {text("pattern", "(a*)*b")}, {strings({std::string(5000, 'a')})});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(numbers(*made), ElementsAre(0));
}

TEST(Strings, LettersOfAllLanguagesChangeCase) {
  const Result<EvaluatedOutput> made = evaluate_node(
      "StringNormalizer", 10, {text("case_change_action", "UPPER")}, {strings({"\u00e9\u03b1z"})});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(made->texts, ElementsAre("\u00c9\u0391Z"));
}

}  // namespace
}  // namespace stria::onnx
