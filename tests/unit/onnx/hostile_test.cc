// SPDX-License-Identifier: Apache-2.0
// Files that are none, or that somebody has made to do harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/onnx/model/model_reader.h"
#include "wire_writer.h"

namespace stria::onnx {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::string_literals;

Result<Model> parse_copy(std::string_view text) {
  // In memory of just that size, so that a sanitizer sees who reads beyond it.
  const std::shared_ptr<char[]> copy(new char[text.size()]);
  std::copy(text.begin(), text.end(), copy.get());
  return parse_model({copy.get(), text.size()}, copy, "m.onnx");
}

std::string refusal_of(std::string_view text) {
  auto out = parse_copy(text);
  EXPECT_FALSE(out.ok());
  EXPECT_EQ(out.status().code(), StatusCode::invalid_argument);
  return out.status().message();
}

// A model with something of everything.
WireWriter full_model() {
  const WireWriter type = WireWriter().message(
      4,
      WireWriter().message(
          1, WireWriter().message(1, WireWriter().varint(1, 1).message(
                                         2, WireWriter().message(1, WireWriter().varint(1, 9))))));
  const WireWriter body = WireWriter().message(1, node_of("Neg").bytes(1, "x").bytes(2, "y"));
  const WireWriter node = node_of("If")
                              .message(5, WireWriter().bytes(1, "g").varint(20, 5).message(6, body))
                              .message(5, WireWriter().bytes(1, "i").varint(20, 7).packed(8, {300}))
                              .message(5, WireWriter().bytes(1, "f").varint(20, 1).fixed(2, 1.0f));
  const WireWriter sparse = WireWriter()
                                .message(1, tensor_of(10, {2}).packed(5, {1, 300}))
                                .message(2, tensor_of(7, {2}).packed(7, {1, 3}))
                                .packed(3, {4});
  return model_of(WireWriter()
                      .message(1, node)
                      .message(5, tensor_of(11, {2}).packed_fixed(10, {1.0, 2.0}).bytes(8, "w"))
                      .message(5, tensor_of(8, {2}).bytes(6, "a").bytes(6, "bc"))
                      .message(11, WireWriter().bytes(1, "in").message(2, type))
                      .message(15, sparse))
      .message(25, WireWriter().bytes(1, "F").message(7, node_of("Add")))
      .message(14, WireWriter().bytes(1, "k").bytes(2, "v"));
}

TEST(Hostile, EachCutOfAModelIsAnError) {
  const std::string text = full_model().text();
  auto whole = parse_copy(text);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  size_t read = 0;
  for (size_t size = 0; size < text.size(); ++size) {
    auto model = parse_copy(text.substr(0, size));
    // A cut between two fields of the outermost message is a model with fewer of them.
    if (model.ok()) {
      ++read;
      EXPECT_EQ(model->graph.nodes.size(), 1u);
      continue;
    }
    EXPECT_THAT(model.status().message(), StartsWith("m.onnx: ")) << size;
  }
  EXPECT_EQ(read, 2u) << "before the function, and before the metadata";
}

TEST(Hostile, EachChangedByteIsReadOrAnError) {
  const std::string text = full_model().text();
  size_t failed = 0;
  for (size_t at = 0; at < text.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      auto model = parse_copy(changed);
      failed += model.ok() ? 0 : 1;
      if (!model.ok()) {
        EXPECT_THAT(model.status().message(), StartsWith("m.onnx: "));
      }
    }
  EXPECT_GT(failed, text.size()) << "most bytes matter";
}

TEST(Hostile, SaysWhatIsNoModel) {
  EXPECT_EQ(refusal_of(""), "m.onnx: not an ONNX file: it is empty");
  EXPECT_EQ(refusal_of("function (A[N]) -> (R) {\n  R = A;\n}\n"),
            "m.onnx: not an ONNX file: it is a text, 'function (A[N]) -> (R) {'");
  EXPECT_THAT(refusal_of("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
              HasSubstr("not an ONNX file: it is a text, 'version https://git-lfs"));
  EXPECT_EQ(refusal_of("PK\3\4\x14\0\0\0\b\0"s),
            "m.onnx: not an ONNX file: it has no ir_version, no opset_import and no graph");
  EXPECT_EQ(refusal_of("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s),
            "m.onnx: not an ONNX file: it has no ir_version, no opset_import and no graph");
  EXPECT_EQ(refusal_of(std::string(100, '\0')),
            "m.onnx: not an ONNX file: it has no ir_version, no opset_import and no graph");
  const std::string graph = model_of(WireWriter().bytes(2, std::string(100, 'g'))).text();
  EXPECT_EQ(refusal_of(graph.substr(0, graph.size() - 60)),
            "m.onnx: not an ONNX file: it is cut off or damaged: byte 6: field 7 has 102 bytes, "
            "but 42 are left");
}

TEST(Hostile, NamesOfFilesAreShown) {
  auto model = parse_model("", nullptr, "a\x1b[31m\n");
  EXPECT_THAT(model.status().message(), StartsWith("a\\x1b[31m\\x0a: "));
}

TEST(Hostile, NestingHasALimit) {
  // Graphs in attributes of nodes of graphs.
  WireWriter graph;
  for (int level = 0; level < 1000; ++level) {
    const WireWriter attribute = WireWriter().bytes(1, "g").varint(20, 5).message(6, graph);
    graph = WireWriter().message(1, node_of("If").message(5, attribute));
  }
  EXPECT_THAT(refusal_of(model_of(graph).text()),
              HasSubstr("more than 64 messages in one another"));
  // Sequences of sequences.
  WireWriter type = WireWriter().message(1, WireWriter().varint(1, 1));
  for (int level = 0; level < 10'000; ++level)
    type = WireWriter().message(4, WireWriter().message(1, type));
  const WireWriter value = WireWriter().bytes(1, "v").message(2, type);
  EXPECT_THAT(refusal_of(model_of(WireWriter().message(11, value)).text()),
              HasSubstr("more than 64 messages in one another"));
}

TEST(Hostile, SizesThatAFileClaimsAreNotBelieved) {
  // A graph, a node in it, a tensor and a list that say they are longer than what holds them.
  for (uint64_t size : {uint64_t{1} << 31, uint64_t{1} << 62, ~uint64_t{0}, uint64_t{3}}) {
    const WireWriter longer = WireWriter().tag(1, 2).number(size).raw("ab");
    EXPECT_THAT(refusal_of(model_of(longer).text()), HasSubstr("graph: field 1 has"));
    EXPECT_THAT(refusal_of(model_of(WireWriter().message(5, longer)).text()),
                HasSubstr("graph.initializer[0]: field 1 has"));
    EXPECT_THAT(refusal_of(WireWriter().varint(1, 8).raw(longer.text()).text()),
                HasSubstr("cut off or damaged"));
  }
  const WireWriter tensor = tensor_of(1, {int64_t{1} << 40, int64_t{1} << 10});
  EXPECT_THAT(refusal_of(model_of(WireWriter().message(5, tensor)).text()),
              HasSubstr("graph.initializer[0]: the data has 0 bytes, but 1125899906842624 elements "
                        "of type float have 4503599627370496"));
}

}  // namespace
}  // namespace stria::onnx
