// SPDX-License-Identifier: Apache-2.0
// The wire format by itself: kinds of values, lists in both forms, what is skipped and what is
// refused, and where messages say that it was.
#include "stria/onnx/wire/wire_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "wire_writer.h"

namespace stria::onnx {
namespace {

using testing::HasSubstr;

class WireReaderTest : public testing::Test {
 protected:
  // The reader of the bytes, which stay.
  WireReader reader_of(const WireWriter& writer) {
    text_ = writer.text();
    source_ = {text_, "m.onnx", 3};
    return WireReader(source_);
  }
  // What the reader says about a file of which no field is asked for.
  std::string failure_of(const WireWriter& writer) {
    WireReader reader = reader_of(writer);
    while (reader.next()) {
    }
    return reader.status().message();
  }
  std::string text_;
  WireSource source_;
};

TEST_F(WireReaderTest, ReadsEachKindOfValue) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  WireReader reader = reader_of(WireWriter()
                                    .varint(1, -1)
                                    .varint(2, kLeast)
                                    .varint(536870911, 300)
                                    .bytes(4, "text")
                                    .fixed(5, 1.5f)
                                    .bytes(6, ""));
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.field(), 1u);
  EXPECT_EQ(reader.integer32("a"), -1);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.integer("a"), kLeast);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.field(), 536870911u);
  EXPECT_EQ(reader.integer("a"), 300);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.bytes("a"), "text");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.float32("a"), 1.5f);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.bytes("a"), "");
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.status().ok());
}

TEST_F(WireReaderTest, ReadsListsPackedAndNot) {
  WireReader reader = reader_of(WireWriter()
                                    .packed(1, {1, -2, 300})
                                    .varint(1, 4)
                                    .packed(1, {})
                                    .packed_fixed(2, {1.0f, 2.0f})
                                    .fixed(2, 3.0f)
                                    .packed_fixed(3, {1.0})
                                    .fixed(3, 2.0));
  std::vector<int64_t> numbers;
  std::string floats, doubles;
  while (reader.next()) {
    if (reader.field() == 1) reader.integers("a", [&](int64_t n) { numbers.push_back(n); });
    if (reader.field() == 2) floats += reader.fixed("b", 4);
    if (reader.field() == 3) doubles += reader.fixed("c", 8);
  }
  EXPECT_TRUE(reader.status().ok()) << reader.status().message();
  EXPECT_THAT(numbers, testing::ElementsAre(1, -2, 300, 4));
  EXPECT_EQ(floats, WireWriter::bytes_of({1.0f, 2.0f, 3.0f}));
  EXPECT_EQ(doubles, WireWriter::bytes_of({1.0, 2.0}));
}

TEST_F(WireReaderTest, SkipsWhatNobodyAsksFor) {
  EXPECT_EQ(failure_of(WireWriter().varint(90, 7).fixed(91, 1.0f).fixed(92, 1.0).bytes(93, "abc")),
            "");
}

TEST_F(WireReaderTest, RefusesWhatIsNotTheFormat) {
  const std::string seven_f(9, '\xff');
  EXPECT_EQ(failure_of(WireWriter().varint(1, 1).tag(2, 3)),
            "m.onnx: byte 2: field 2 has the unknown wire type 3");
  EXPECT_THAT(failure_of(WireWriter().tag(2, 4)), HasSubstr("wire type 4"));
  EXPECT_THAT(failure_of(WireWriter().tag(2, 6)), HasSubstr("wire type 6"));
  EXPECT_THAT(failure_of(WireWriter().tag(2, 7)), HasSubstr("wire type 7"));
  EXPECT_THAT(failure_of(WireWriter().varint(0, 1)), HasSubstr("there is no field 0"));
  EXPECT_THAT(failure_of(WireWriter().varint(uint64_t{1} << 29, 1)),
              HasSubstr("there is no field 536870912"));
  EXPECT_THAT(failure_of(WireWriter().tag(1, 0)), HasSubstr("field 1: a number ends too early"));
  EXPECT_THAT(failure_of(WireWriter().raw("\x80")), HasSubstr("byte 0: a number ends too early"));
  // 64 bits are there; the 65th, and an eleventh byte, are none.
  EXPECT_EQ(failure_of(WireWriter().tag(1, 0).raw(seven_f).raw("\x01")), "");
  EXPECT_THAT(failure_of(WireWriter().tag(1, 0).raw(seven_f).raw("\x02")),
              HasSubstr("more than 64 bits"));
  EXPECT_THAT(failure_of(WireWriter().tag(1, 0).raw(seven_f).raw("\x80").raw("\x01")),
              HasSubstr("more than 64 bits"));
  EXPECT_EQ(failure_of(WireWriter().tag(7, 2).number(4).raw("abc")),
            "m.onnx: byte 0: field 7 has 4 bytes, but 3 are left");
  EXPECT_THAT(failure_of(WireWriter().tag(7, 2).number(~uint64_t{0})),
              HasSubstr("field 7 has 18446744073709551615 bytes, but 0 are left"));
  EXPECT_THAT(failure_of(WireWriter().tag(7, 1).raw("1234567")), HasSubstr("8 bytes, but 7"));
  EXPECT_THAT(failure_of(WireWriter().tag(7, 5).raw("123")), HasSubstr("4 bytes, but 3"));
}

TEST_F(WireReaderTest, RefusesValuesOfAnotherKind) {
  const auto failure = [&](const WireWriter& writer, auto&& ask) {
    WireReader reader = reader_of(writer);
    EXPECT_TRUE(reader.next());
    ask(reader);
    EXPECT_FALSE(reader.next()) << "a failure ends it";
    return reader.status().message();
  };
  EXPECT_EQ(failure(WireWriter().bytes(1, "a"), [](WireReader& r) { r.integer("a"); }),
            "m.onnx: byte 0: a: here is a length and bytes, but the field is a varint");
  EXPECT_THAT(failure(WireWriter().varint(1, 1), [](WireReader& r) { r.bytes("a", 2); }),
              HasSubstr("a[2]: here is a varint"));
  EXPECT_THAT(failure(WireWriter().fixed(1, 1.0), [](WireReader& r) { r.float32("a"); }),
              HasSubstr("here is 8 bytes, but the field is 4 bytes"));
  EXPECT_THAT(failure(WireWriter().varint(1, 1), [](WireReader& r) { r.message("a"); }),
              HasSubstr("a: here is a varint"));
  EXPECT_THAT(failure(WireWriter().fixed(1, 1.0), [](WireReader& r) { r.fixed("a", 4); }),
              HasSubstr("here is 8 bytes"));
  EXPECT_THAT(failure(WireWriter().bytes(1, "12345"), [](WireReader& r) { r.fixed("a", 4); }),
              HasSubstr("5 bytes are not numbers of 4 each"));
  EXPECT_THAT(failure(WireWriter().bytes(1, "\x01\x80"),
                      [](WireReader& r) { r.integers("a", [](int64_t) {}); }),
              HasSubstr("byte 3: a: a number ends too early"));
  EXPECT_THAT(
      failure(WireWriter().varint(1, int64_t{1} << 31), [](WireReader& r) { r.integer32("a"); }),
      HasSubstr("2147483648 is not a number of 32 bits"));
}

TEST_F(WireReaderTest, NamesThePathAndTheByte) {
  const WireWriter leaf = WireWriter().varint(1, 1).bytes(2, "x");
  WireReader reader =
      reader_of(WireWriter().varint(9, 1).message(3, WireWriter().message(4, leaf)));
  ASSERT_TRUE(reader.next());
  ASSERT_TRUE(reader.next());
  WireReader middle = reader.message("middle");
  ASSERT_TRUE(middle.next());
  WireReader inner = middle.message("inner", 5);
  ASSERT_TRUE(inner.next());
  ASSERT_TRUE(inner.next());
  inner.integer("leaf", 7);
  EXPECT_EQ(reader.status().message(),
            "m.onnx: byte 8: middle.inner[5].leaf[7]: here is a length and bytes, but the field "
            "is a varint");
  reader.fail("another");
  EXPECT_THAT(reader.status().message(), HasSubstr("leaf[7]")) << "the first failure stays";
}

TEST_F(WireReaderTest, RefusesDeepNestingAndASecondMessage) {
  WireWriter deep;
  for (int level = 0; level < 4; ++level) deep = WireWriter().message(1, deep);
  WireReader top = reader_of(deep);
  ASSERT_TRUE(top.next());
  WireReader one = top.message("a");
  ASSERT_TRUE(one.next());
  WireReader two = one.message("a");
  ASSERT_TRUE(two.next());
  WireReader three = two.message("a");
  EXPECT_TRUE(three.status().ok());
  ASSERT_TRUE(three.next());
  WireReader four = three.message("a");
  EXPECT_EQ(four.status().message(),
            "m.onnx: byte 6: a.a.a.a: more than 3 messages in one another");

  WireReader twice = reader_of(WireWriter().bytes(1, "").bytes(1, "").bytes(2, "").bytes(2, ""));
  twice.next();
  twice.message("list", 0);
  twice.next();
  twice.message("list", 1);
  twice.next();
  twice.message("one");
  EXPECT_TRUE(twice.status().ok());
  twice.next();
  twice.message("one");
  EXPECT_EQ(twice.status().message(), "m.onnx: byte 6: one: the field is there twice");
}

}  // namespace
}  // namespace stria::onnx
