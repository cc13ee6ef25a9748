// SPDX-License-Identifier: Apache-2.0
// Every field of a model that is read, by its number; what is skipped; what is refused.
#include "stria/onnx/model/model_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire_writer.h"

namespace stria::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

Result<Model> parse(const WireWriter& model) {
  const auto text = std::make_shared<const std::string>(model.text());
  return parse_model(*text, text, "m.onnx");
}

std::string failure_of(const WireWriter& model) {
  auto out = parse(model);
  EXPECT_FALSE(out.ok());
  return out.status().message();
}

// The model of the graph, or what is wrong with it.
Graph graph_of(const WireWriter& graph) {
  auto out = parse(model_of(graph));
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? out->graph : Graph();
}

// The node's only attribute.
Attribute attribute_of(const WireWriter& attribute) {
  const Graph graph = graph_of(WireWriter().message(1, node_of("Op").message(5, attribute)));
  return graph.nodes.empty() ? Attribute() : graph.nodes[0].attributes.at(0);
}

std::string attribute_failure(const WireWriter& attribute) {
  return failure_of(model_of(WireWriter().message(1, node_of("Op").message(5, attribute))));
}

ValueType type_of(const WireWriter& type) {
  const Graph graph = graph_of(WireWriter().message(11, WireWriter().message(2, type)));
  return graph.inputs.empty() ? ValueType() : graph.inputs[0].type;
}

std::string type_failure(const WireWriter& type) {
  return failure_of(model_of(WireWriter().message(11, WireWriter().message(2, type))));
}

WireWriter attribute(std::string_view name, int type) {
  return WireWriter().bytes(1, name).varint(20, type);
}

WireWriter entry(std::string_view key, std::string_view value) {
  return WireWriter().bytes(1, key).bytes(2, value);
}

WireWriter tensor_type(int element) {
  return WireWriter().message(1, WireWriter().varint(1, element));
}

TEST(ModelReader, ReadsTheModel) {
  const WireWriter function = WireWriter()
                                  .bytes(1, "F")
                                  .bytes(4, "x")
                                  .bytes(5, "y")
                                  .bytes(6, "alpha")
                                  .message(11, attribute("beta", 2).varint(3, 4))
                                  .message(7, node_of("Add"))
                                  .message(9, WireWriter().bytes(1, "").varint(2, 20))
                                  .bytes(10, "local")
                                  .bytes(13, "float");
  auto model = parse(WireWriter()
                         .varint(1, 14)
                         .bytes(2, "writer")
                         .bytes(3, "1.0")
                         .bytes(4, "org")
                         .varint(5, 3)
                         .bytes(6, "doc")
                         .message(7, WireWriter().bytes(2, "graph"))
                         .message(8, WireWriter().bytes(1, "ai.onnx").varint(2, 21))
                         .message(8, WireWriter().bytes(1, "local").varint(2, 1))
                         .message(14, entry("k", "v"))
                         .bytes(20, "training is skipped")
                         .message(25, function)
                         .bytes(26, "devices are skipped"));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->file, "m.onnx");
  EXPECT_EQ(model->ir_version, 14);
  EXPECT_EQ(model->producer, "writer");
  EXPECT_EQ(model->graph.name, "graph");
  EXPECT_THAT(model->opsets, UnorderedElementsAre(Pair("", 21), Pair("local", 1)));
  EXPECT_THAT(model->metadata, ElementsAre(Pair("k", "v")));
  ASSERT_EQ(model->functions.size(), 1u);
  const Function& read = model->functions[0];
  EXPECT_EQ(read.name, "F");
  EXPECT_EQ(read.domain, "local");
  EXPECT_EQ(read.overload, "float");
  EXPECT_THAT(read.inputs, ElementsAre("x"));
  EXPECT_THAT(read.outputs, ElementsAre("y"));
  EXPECT_THAT(read.attributes, ElementsAre("alpha"));
  ASSERT_EQ(read.attribute_protos.size(), 1u);
  EXPECT_EQ(read.attribute_protos[0].i, 4);
  ASSERT_EQ(read.nodes.size(), 1u);
  EXPECT_EQ(read.nodes[0].op_type, "Add");
  EXPECT_THAT(read.opsets, ElementsAre(Pair("", 20)));
}

TEST(ModelReader, ReadsGraphsAndNodes) {
  const WireWriter values = tensor_of(1, {1}).bytes(9, "abcd").bytes(8, "s");
  const WireWriter indices = tensor_of(7, {1}).packed(7, {2});
  const WireWriter sparse = WireWriter().message(1, values).message(2, indices).packed(3, {5});
  const WireWriter node = WireWriter()
                              .bytes(1, "a")
                              .bytes(1, "")
                              .bytes(2, "b")
                              .bytes(3, "n")
                              .bytes(4, "Gemm")
                              .message(5, attribute("p", 2).varint(3, 1))
                              .message(5, attribute("q", 2).varint(3, 2))
                              .bytes(6, "doc")
                              .bytes(7, "com.a")
                              .bytes(8, "o")
                              .message(9, entry("k", "v"));
  const Graph graph = graph_of(WireWriter()
                                   .message(1, node)
                                   .message(1, node_of("Relu").bytes(7, "ai.onnx"))
                                   .bytes(2, "g")
                                   .message(5, tensor_of(2, {1}).bytes(9, "x").bytes(8, "w"))
                                   .bytes(10, "doc")
                                   .message(11, WireWriter().bytes(1, "in"))
                                   .message(12, WireWriter().bytes(1, "out").bytes(3, "doc"))
                                   .message(13, WireWriter().bytes(1, "v"))
                                   .bytes(14, "annotations are skipped")
                                   .message(15, sparse)
                                   .message(16, entry("k", "v")));
  ASSERT_EQ(graph.nodes.size(), 2u);
  const Node& first = graph.nodes[0];
  EXPECT_THAT(first.inputs, ElementsAre("a", ""));
  EXPECT_THAT(first.outputs, ElementsAre("b"));
  EXPECT_EQ(first.name, "n");
  EXPECT_EQ(first.op_type, "Gemm");
  EXPECT_EQ(first.domain, "com.a");
  EXPECT_EQ(first.overload, "o");
  ASSERT_NE(first.find("q"), nullptr);
  EXPECT_EQ(first.find("q")->i, 2);
  EXPECT_EQ(first.find("r"), nullptr);
  EXPECT_EQ(graph.nodes[1].domain, "");
  EXPECT_EQ(graph.name, "g");
  ASSERT_EQ(graph.initializers.size(), 1u);
  EXPECT_EQ(graph.initializers[0]->name, "w");
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.inputs[0].name, "in");
  EXPECT_EQ(graph.inputs[0].type.kind, ValueType::Kind::none);
  ASSERT_EQ(graph.outputs.size(), 1u);
  EXPECT_EQ(graph.outputs[0].name, "out");
  ASSERT_EQ(graph.values.size(), 1u);
  EXPECT_EQ(graph.values[0].name, "v");
  ASSERT_EQ(graph.sparse_initializers.size(), 1u);
  EXPECT_EQ(graph.sparse_initializers[0]->values.name, "s");
  EXPECT_THAT(graph.sparse_initializers[0]->dims, ElementsAre(5));
  EXPECT_EQ(graph.sparse_initializers[0]->indices.element_count(), 1);
}

TEST(ModelReader, ReadsEachKindOfAttribute) {
  using Type = Attribute::Type;
  EXPECT_EQ(attribute_of(attribute("a", 1).fixed(2, 1.5f)).f, 1.5f);
  EXPECT_EQ(attribute_of(attribute("a", 2).varint(3, -7)).i, -7);
  EXPECT_EQ(attribute_of(attribute("a", 3).bytes(4, "text").bytes(13, "doc")).s, "text");
  EXPECT_EQ(attribute_of(attribute("a", 4).message(5, tensor_of(2, {1}).bytes(9, "x"))).t->bytes,
            "x");
  EXPECT_EQ(attribute_of(attribute("a", 5).message(6, WireWriter().bytes(2, "g"))).g->name, "g");
  EXPECT_THAT(attribute_of(attribute("a", 6).fixed(7, 1.0f).packed_fixed(7, {2.0f, 3.0f})).floats,
              ElementsAre(1.0f, 2.0f, 3.0f));
  EXPECT_THAT(attribute_of(attribute("a", 7).packed(8, {1, 2}).varint(8, 3)).ints,
              ElementsAre(1, 2, 3));
  EXPECT_THAT(attribute_of(attribute("a", 8).bytes(9, "x").bytes(9, "")).strings,
              ElementsAre("x", ""));
  const Attribute tensors = attribute_of(attribute("a", 9)
                                             .message(10, tensor_of(2, {1}).bytes(9, "x"))
                                             .message(10, tensor_of(2, {1}).bytes(9, "y")));
  ASSERT_EQ(tensors.tensors.size(), 2u);
  EXPECT_EQ(tensors.tensors[1]->bytes, "y");
  const Attribute graphs = attribute_of(attribute("a", 10).message(11, WireWriter().bytes(2, "g")));
  ASSERT_EQ(graphs.graphs.size(), 1u);
  EXPECT_EQ(graphs.graphs[0]->name, "g");
  const WireWriter sparse =
      WireWriter().message(1, tensor_of(2, {0})).message(2, tensor_of(7, {0, 2})).packed(3, {2, 2});
  EXPECT_THAT(attribute_of(attribute("a", 11).message(22, sparse)).sparse->dims, ElementsAre(2, 2));
  EXPECT_EQ(attribute_of(attribute("a", 13).message(14, tensor_type(7))).value_type->type,
            ElementType::i64);
  const Attribute reference = attribute_of(attribute("a", 1).bytes(21, "alpha"));
  EXPECT_EQ(reference.refers_to, "alpha");
  EXPECT_EQ(reference.type, Type::f);
  // Writers that leave out zeros leave out these.
  EXPECT_EQ(attribute_of(attribute("a", 2)).i, 0);
  EXPECT_EQ(attribute_of(attribute("a", 7)).type, Type::ints);
}

TEST(ModelReader, RefusesAttributesThatAreNone) {
  EXPECT_THAT(attribute_failure(WireWriter().varint(20, 2).varint(3, 1)),
              HasSubstr("graph.node[0].attribute[0]: an attribute without a name"));
  EXPECT_THAT(attribute_failure(WireWriter().bytes(1, "a").varint(3, 1)),
              HasSubstr("without a type"));
  EXPECT_THAT(attribute_failure(attribute("a", 15)), HasSubstr("there is no type 15"));
  EXPECT_THAT(attribute_failure(attribute("a", -1)), HasSubstr("there is no type -1"));
  EXPECT_THAT(attribute_failure(attribute("a", 1).varint(3, 1)),
              HasSubstr("not of the attribute's type 1"));
  EXPECT_THAT(attribute_failure(attribute("a", 2).varint(3, 1).fixed(2, 1.0f)),
              HasSubstr("not of the attribute's type 2"));
  EXPECT_THAT(attribute_failure(attribute("a", 2).varint(3, 1).bytes(21, "b")),
              HasSubstr("ref_attr_name and a value"));
  for (int type : {4, 5, 11, 13})
    EXPECT_THAT(attribute_failure(attribute("a", type)), HasSubstr("without its value")) << type;
  for (int type : {12, 14})
    EXPECT_THAT(attribute_failure(attribute("a", type)), HasSubstr("not supported")) << type;
}

TEST(ModelReader, ReadsEachKindOfType) {
  using Kind = ValueType::Kind;
  const WireWriter shape = WireWriter()
                               .message(1, WireWriter().varint(1, 3).bytes(3, "denotation"))
                               .message(1, WireWriter().bytes(2, "n"))
                               .message(1, WireWriter().varint(1, -1))
                               .message(1, WireWriter());
  for (uint64_t field : {1, 8}) {
    const ValueType type =
        type_of(WireWriter().message(field, WireWriter().varint(1, 10).message(2, shape)));
    EXPECT_EQ(type.kind, field == 1 ? Kind::tensor : Kind::sparse_tensor);
    EXPECT_EQ(type.type, ElementType::fp16);
    ASSERT_TRUE(type.dims.has_value());
    ASSERT_EQ(type.dims->size(), 4u);
    EXPECT_EQ((*type.dims)[0].size, 3);
    EXPECT_EQ((*type.dims)[1].parameter, "n");
    for (size_t dim : {1, 2, 3}) EXPECT_EQ((*type.dims)[dim].size, std::nullopt);
  }
  EXPECT_FALSE(type_of(tensor_type(1)).dims.has_value()) << "any rank";
  EXPECT_TRUE(
      type_of(WireWriter().message(1, WireWriter().varint(1, 1).bytes(2, ""))).dims.has_value())
      << "rank 0";
  const ValueType sequence =
      type_of(WireWriter().message(4, WireWriter().message(1, tensor_type(8))));
  EXPECT_EQ(sequence.kind, Kind::sequence);
  EXPECT_EQ(sequence.element->type, ElementType::string);
  const ValueType optional =
      type_of(WireWriter().message(9, WireWriter().message(1, tensor_type(9))));
  EXPECT_EQ(optional.kind, Kind::optional);
  EXPECT_EQ(optional.element->type, ElementType::boolean);
  EXPECT_EQ(type_of(WireWriter().message(5, WireWriter().varint(1, 7))).kind, Kind::map);
}

TEST(ModelReader, RefusesTypesThatAreNone) {
  EXPECT_THAT(type_failure(WireWriter().message(1, WireWriter())), HasSubstr("without elem_type"));
  EXPECT_THAT(type_failure(WireWriter().message(4, WireWriter())), HasSubstr("without elem_type"));
  EXPECT_THAT(type_failure(tensor_type(1).message(8, WireWriter().varint(1, 1))),
              HasSubstr("two types in one"));
  EXPECT_THAT(type_failure(WireWriter().message(7, WireWriter())), HasSubstr("opaque"));
}

TEST(ModelReader, RefusesSparseTensorsThatAreNone) {
  const auto failure = [](const WireWriter& values, const WireWriter& indices,
                          std::initializer_list<int64_t> dims) {
    const WireWriter sparse = WireWriter().message(1, values).message(2, indices).packed(3, dims);
    auto model = parse(model_of(WireWriter().message(15, sparse)));
    return model.ok() ? std::string() : model.status().message();
  };
  const WireWriter two = tensor_of(2, {2}).bytes(9, "ab");
  EXPECT_EQ(failure(two, tensor_of(7, {2}).packed(7, {0, 5}), {2, 3}), "");
  EXPECT_EQ(failure(two, tensor_of(7, {2, 2}).packed(7, {0, 2, 1, 0}), {2, 3}), "");
  EXPECT_THAT(failure(two, tensor_of(7, {2}).packed(7, {0, 6}), {2, 3}),
              HasSubstr("number 1 is outside of dims"));
  EXPECT_THAT(failure(two, tensor_of(7, {2}).packed(7, {-1, 0}), {2, 3}), HasSubstr("number 0 is"));
  EXPECT_THAT(failure(two, tensor_of(7, {2, 2}).packed(7, {0, 3, 1, 0}), {2, 3}),
              HasSubstr("number 0 is outside of dims"));
  EXPECT_THAT(failure(two, tensor_of(7, {2}).packed(7, {3, 3}), {2, 3}),
              HasSubstr("number 1 does not ascend"));
  EXPECT_THAT(failure(two, tensor_of(7, {2}).packed(7, {0, 1}), {0, 3}), HasSubstr("outside"));
  EXPECT_THAT(failure(two, tensor_of(7, {1}).packed(7, {0}), {2, 3}), HasSubstr("one for each"));
  EXPECT_THAT(failure(two, tensor_of(7, {2, 1}).packed(7, {0, 1}), {2, 3}), HasSubstr("one for"));
  EXPECT_THAT(failure(two, tensor_of(6, {2}).packed(5, {0, 1}), {2, 3}), HasSubstr("int64"));
  EXPECT_THAT(failure(tensor_of(2, {1, 2}).bytes(9, "ab"), tensor_of(7, {1}).packed(7, {0}), {9}),
              HasSubstr("values: they have one dim"));
  EXPECT_THAT(failure(two, tensor_of(7, {2}).packed(7, {0, 1}), {-1}), HasSubstr("negative"));
  EXPECT_THAT(failure_of(model_of(WireWriter().message(15, WireWriter().message(1, two)))),
              HasSubstr("without values or indices"));
}

TEST(ModelReader, RefusesModelsThatLackSomething) {
  const WireWriter opset = WireWriter().varint(2, 21);
  EXPECT_THAT(failure_of(WireWriter().message(8, opset).message(7, WireWriter())),
              HasSubstr("without ir_version"));
  EXPECT_THAT(failure_of(WireWriter().varint(1, 0).message(8, opset).message(7, WireWriter())),
              HasSubstr("below 1"));
  EXPECT_THAT(failure_of(WireWriter().varint(1, 15).message(8, opset).message(7, WireWriter())),
              HasSubstr("ir_version 15, but the newest that is read is 14"));
  EXPECT_THAT(failure_of(WireWriter().varint(1, 8).message(7, WireWriter())),
              HasSubstr("a model without opset_import"));
  EXPECT_THAT(failure_of(WireWriter().varint(1, 8).message(8, opset)),
              HasSubstr("a model without a graph"));
  EXPECT_THAT(failure_of(model_of(WireWriter()).message(7, WireWriter())),
              HasSubstr("graph: the field is there twice"));
  EXPECT_THAT(failure_of(model_of(WireWriter()).message(8, WireWriter().varint(2, 20))),
              HasSubstr("opset_import[1]: versions 21 and 20 of the domain 'ai.onnx'"));
  EXPECT_THAT(failure_of(model_of(WireWriter().message(1, WireWriter().bytes(3, "n")))),
              HasSubstr("graph.node[0]: a node without op_type"));
  EXPECT_THAT(failure_of(model_of(WireWriter()).message(25, WireWriter().bytes(10, "d"))),
              HasSubstr("functions[0]: a function without a name"));
}

}  // namespace
}  // namespace stria::onnx
