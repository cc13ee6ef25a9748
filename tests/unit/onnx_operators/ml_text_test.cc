// SPDX-License-Identifier: Apache-2.0
// Strings and maps that depend on inputs: numbers of texts, and columns of keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluate_node.h"
#include "one_node.h"

namespace stria::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

OneNode classifier() {
  return OneNode("LinearClassifier", 1, "ai.onnx.ml")
      .input({3, 1}, {-1, 2, 0.5})
      .set_floats("coefficients", {1, -1})
      .set_strings("classlabels_strings", {"large", "small"});
}

TEST(Texts, LabelsAreKnownOrNumbersOfTexts) {
  OneNode known = classifier();
  EXPECT_THAT(known.texts_of(*known.run()), ElementsAre("small", "large", "large"));
  EXPECT_EQ(known.outputs()[0].element, ElementType::i64);

  OneNode late = classifier().when_run();
  const auto made = late.run();
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(*made, ElementsAre(1, 0, 0));
  EXPECT_EQ(late.outputs()[0].element, ElementType::i64);
  EXPECT_THAT(late.outputs()[0].texts, ElementsAre("large", "small"));
}

TEST(Texts, LabelEncodersChooseThem) {
  const auto made = [] {
    return OneNode("LabelEncoder", 2, "ai.onnx.ml")
        .input({3}, {7, 1, 5}, DataType::i64)
        .set_list("keys_int64s", {5, 7})
        .set_strings("values_strings", {"five", "seven"})
        .set("default_string", "other");
  };
  OneNode known = made();
  EXPECT_THAT(known.texts_of(*known.run()), ElementsAre("seven", "other", "five"));
  OneNode late = made().when_run();
  const auto numbers = late.run();
  ASSERT_TRUE(numbers.ok()) << numbers.status().message();
  EXPECT_THAT(*numbers, ElementsAre(2, 0, 1));
  EXPECT_THAT(late.outputs()[0].texts, ElementsAre("other", "five", "seven"));
}

TEST(Texts, LabelEncodersOfVersion1NumberThem) {
  const auto made = [] {
    return OneNode("LabelEncoder", 1, "ai.onnx.ml").set_strings("classes_strings", {"a", "b"});
  };
  EXPECT_THAT(*made().input_strings({"b", "x", "a"}).run(), ElementsAre(1, -1, 0));
  OneNode known = made().input({2}, {1, 0}, DataType::i64);
  EXPECT_THAT(known.texts_of(*known.run()), ElementsAre("b", "a"));
}

TEST(Texts, CategoriesAreMappedBothWays) {
  const auto made = [] {
    return OneNode("CategoryMapper", 1, "ai.onnx.ml")
        .set_list("cats_int64s", {5, 7})
        .set_strings("cats_strings", {"five", "seven"});
  };
  EXPECT_THAT(*made().input_strings({"seven", "six", "five"}).run(), ElementsAre(7, -1, 5));
  OneNode late = made().input({2}, {7, 6}, DataType::i64).when_run();
  const auto numbers = late.run();
  ASSERT_TRUE(numbers.ok()) << numbers.status().message();
  EXPECT_THAT(*numbers, ElementsAre(2, 0));
  EXPECT_THAT(late.outputs()[0].texts, ElementsAre("_Unused", "five", "seven"));
  EXPECT_THAT(OneNode("CategoryMapper", 1, "ai.onnx.ml")
                  .input_strings({"a"})
                  .set_list("cats_int64s", {1})
                  .failure(),
              HasSubstr("'cats_strings' has 0 keys, 'cats_int64s' has 1 values"));
}

TEST(OnnxMl, LabelsThatAreWrongAreNamed) {
  const auto encoder = [] { return OneNode("LabelEncoder", 4, "ai.onnx.ml").input({1}, {1}); };
  EXPECT_THAT(encoder().failure(), HasSubstr("'keys_strings', 'keys_int64s', 'keys_floats' and"));
  EXPECT_THAT(encoder().set_floats("keys_floats", {1, 2}).set_list("values_int64s", {1}).failure(),
              HasSubstr("'keys_floats' has 2 keys, 'values_int64s' has 1 values"));
  EXPECT_THAT(encoder().set_floats("keys_floats", {}).set_list("values_int64s", {}).failure(),
              HasSubstr("'keys_floats' has no keys"));
  EXPECT_THAT(
      encoder()
          .set_floats("keys_floats", {1})
          .set_list("values_int64s", {1})
          .set_tensor("default_tensor", DataType::i64, {1, 2})
          .failure(),
      HasSubstr("'default_tensor' is not one label of the type of those in 'values_int64s'"));
  EXPECT_THAT(encoder().set_strings("keys_strings", {"a"}).set_list("values_int64s", {1}).failure(),
              HasSubstr("'keys_strings' has strings, input 0 ('x0') is none"));
}

// A graph of several nodes over one input x, fp32 [2, 2], that is not known.
class Graphs {
 public:
  Graphs() {
    model_.opsets = {{"", 17}, {"ai.onnx.ml", 3}};
    ValueInfo x{"x", {ValueType::Kind::tensor, ElementType::fp32, {}, nullptr}};
    x.type.dims = {{2, ""}, {2, ""}};
    model_.graph.inputs = {x};
    x_ = std::make_shared<HostTensor>(*HostTensor::create(DataType::fp32, {2, 2}, "x"));
    for (int64_t e = 0; e < 4; ++e)
      store_scalar(DataType::fp32, x_->data(), e,
                   Scalar::of_float(DataType::fp64, static_cast<double>(e) + 1));
  }
  Node& add(std::string operation, std::string domain, std::vector<std::string> inputs,
            std::string output) {
    Node node;
    node.op_type = std::move(operation);
    node.domain = std::move(domain);
    node.inputs = std::move(inputs);
    node.outputs = {std::move(output)};
    model_.graph.nodes.push_back(std::move(node));
    return model_.graph.nodes.back();
  }
  void add_integers(const std::string& name, const std::vector<int64_t>& values) {
    model_.graph.initializers.push_back(vector_input(name, ElementType::i64, values));
  }
  void add_strings(const std::string& name, std::vector<std::string> values) {
    auto tensor = std::make_shared<TensorData>();
    tensor->name = name;
    tensor->type = ElementType::string;
    tensor->dims = {static_cast<int64_t>(values.size())};
    tensor->strings = std::move(values);
    model_.graph.initializers.push_back(std::move(tensor));
  }
  Result<EvaluatedOutput> run(const std::string& output) {
    model_.graph.outputs = {{output, {}}};
    STRIA_ASSIGN(std::vector<EvaluatedOutput> made, evaluate_model(model_, {}, {{"x", x_}}));
    return std::move(made[0]);
  }
  Model& model() { return model_; }

 private:
  Model model_;
  std::shared_ptr<HostTensor> x_;
};

Attribute strings(std::string name, std::vector<std::string> values) {
  Attribute out;
  out.name = std::move(name);
  out.type = Attribute::Type::strings;
  out.strings = std::move(values);
  return out;
}

Attribute integers(std::string name, std::vector<int64_t> values) {
  Attribute out;
  out.name = std::move(name);
  out.type = Attribute::Type::ints;
  out.ints = std::move(values);
  return out;
}

TEST(Texts, AreMovedByTheirNumbers) {
  Graphs graph;
  graph.add_strings("classes", {"a", "b", "c"});
  graph.add_strings("more", {"d"});
  graph.add_integers("shape", {2, 1});
  graph.add("ArgMax", "", {"x"}, "largest").attributes = {integer("axis", 1)};
  graph.add("ArrayFeatureExtractor", "ai.onnx.ml", {"classes", "largest"}, "chosen");
  graph.add("Reshape", "", {"chosen", "shape"}, "reshaped");
  graph.add("Concat", "", {"more", "classes"}, "all").attributes = {integer("axis", 0)};
  graph.add("Identity", "", {"reshaped"}, "same");
  auto made = graph.run("same");
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(numbers(*made), ElementsAre(1, 1));
  EXPECT_THAT(made->texts, ElementsAre("a", "b", "c"));
  EXPECT_THAT(made->type.sizes, ElementsAre(2, 1));
  // What does not depend on x is known.
  auto known = graph.run("all");
  ASSERT_TRUE(known.ok()) << known.status().message();
  EXPECT_THAT(numbers(*known), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(known->texts, ElementsAre("d", "a", "b", "c"));
  // Numbers behind those of another tensor.
  graph.add("Flatten", "", {"reshaped"}, "flat");
  graph.add_integers("four", {4});
  graph.add("Reshape", "", {"flat", "minus"}, "line");
  graph.add_integers("minus", {-1});
  graph.add("Concat", "", {"more", "line"}, "joined").attributes = {integer("axis", 0)};
  auto joined = graph.run("joined");
  ASSERT_TRUE(joined.ok()) << joined.status().message();
  EXPECT_THAT(numbers(*joined), ElementsAre(0, 2, 2));
  EXPECT_THAT(joined->texts, ElementsAre("d", "a", "b", "c"));
}

TEST(Texts, OfClassesAreEncodedAgain) {
  Graphs graph;
  graph.add_strings("classes", {"a", "b"});
  graph.add("ArgMax", "", {"x"}, "largest").attributes = {integer("axis", 1)};
  graph.add("ArrayFeatureExtractor", "ai.onnx.ml", {"classes", "largest"}, "chosen");
  graph.add("LabelEncoder", "ai.onnx.ml", {"chosen"}, "numbers").attributes = {
      strings("keys_strings", {"b", "a"}), integers("values_int64s", {10, 20})};
  graph.add("OneHotEncoder", "ai.onnx.ml", {"chosen"}, "columns").attributes = {
      strings("cats_strings", {"x", "b"})};
  auto made = graph.run("numbers");
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(numbers(*made), ElementsAre(10, 10));
  auto columns = graph.run("columns");
  ASSERT_TRUE(columns.ok()) << columns.status().message();
  EXPECT_THAT(numbers(*columns), ElementsAre(0, 1, 0, 1));
}

TEST(Maps, AreColumnsOfTheirKeys) {
  Graphs graph;
  graph.add("ZipMap", "ai.onnx.ml", {"x"}, "maps").attributes = {
      strings("classlabels_strings", {"yes", "no"})};
  auto made = graph.run("maps");
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(numbers(*made), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(made->type.sizes, ElementsAre(2, 2));
  EXPECT_THAT(made->keys, ElementsAre("yes", "no"));
}

TEST(Maps, AreTakenFromSequencesAndRead) {
  Graphs graph;
  graph.add_integers("second", {1});
  graph.add("ZipMap", "ai.onnx.ml", {"x"}, "maps").attributes = {
      integers("classlabels_int64s", {4, 2})};
  graph.add("SequenceAt", "", {"maps", "second"}, "map");
  graph.add("CastMap", "ai.onnx.ml", {"map"}, "dense");
  graph.add("CastMap", "ai.onnx.ml", {"map"}, "sparse").attributes = {
      text("map_form", "SPARSE"), text("cast_to", "TO_INT64"), integer("max_map", 5)};
  graph.add("DictVectorizer", "ai.onnx.ml", {"map"}, "vector").attributes = {
      integers("int64_vocabulary", {2, 3, 4})};
  const auto run = [&](const char* name) {
    auto made = graph.run(name);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? numbers(*made) : std::vector<double>();
  };
  EXPECT_THAT(run("map"), ElementsAre(3, 4));
  EXPECT_THAT(run("dense"), ElementsAre(4, 3));
  EXPECT_THAT(run("sparse"), ElementsAre(0, 0, 4, 0, 3));
  EXPECT_THAT(run("vector"), ElementsAre(4, 0, 3));
}

TEST(Maps, WrongOnesAreTold) {
  const auto fails = [](std::vector<Attribute> attributes, const char* wanted) {
    Graphs graph;
    graph.add("ZipMap", "ai.onnx.ml", {"x"}, "maps").attributes = std::move(attributes);
    EXPECT_THAT(graph.run("maps").status().message(), HasSubstr(wanted));
  };
  fails({integers("classlabels_int64s", {1, 2, 3})}, "3 keys for rows of 2 values");
  fails({}, "0 keys in 'classlabels_int64s' and 0");
  Graphs graph;
  graph.add("ZipMap", "ai.onnx.ml", {"x"}, "maps").attributes = {
      strings("classlabels_strings", {"yes", "no"})};
  graph.add("Abs", "", {"maps"}, "abs");
  EXPECT_THAT(graph.run("abs").status().message(),
              HasSubstr("input 0 ('maps') is no tensor of numbers but a map"));
  // A graph's own input cannot be a map.
  Graphs other;
  ValueInfo map{"m", {}};
  map.type.kind = ValueType::Kind::map;
  other.model().graph.inputs.push_back(map);
  other.add("DictVectorizer", "ai.onnx.ml", {"m"}, "y").attributes = {
      strings("string_vocabulary", {"a"})};
  EXPECT_THAT(other.run("y").status().message(), HasSubstr("input 'm' is a map"));
}

}  // namespace
}  // namespace stria::onnx
