// SPDX-License-Identifier: Apache-2.0
// The elements of tensors, from each field that may hold them; dims against bytes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "stria/onnx/model/model_reader.h"
#include "wire_writer.h"

namespace stria::onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using namespace std::string_literals;

constexpr int64_t kHuge = int64_t{1} << 62;

struct Type {
  ElementType type;
  const char* name;
  int bits;
  uint64_t field;
};

constexpr Type kTypes[] = {
    {ElementType::fp32, "float", 32, 4},
    {ElementType::u8, "uint8", 8, 5},
    {ElementType::i8, "int8", 8, 5},
    {ElementType::u16, "uint16", 16, 5},
    {ElementType::i16, "int16", 16, 5},
    {ElementType::i32, "int32", 32, 5},
    {ElementType::i64, "int64", 64, 7},
    {ElementType::boolean, "bool", 8, 5},
    {ElementType::fp16, "float16", 16, 5},
    {ElementType::fp64, "double", 64, 10},
    {ElementType::u32, "uint32", 32, 11},
    {ElementType::u64, "uint64", 64, 11},
    {ElementType::complex64, "complex64", 64, 4},
    {ElementType::complex128, "complex128", 128, 10},
    {ElementType::bf16, "bfloat16", 16, 5},
    {ElementType::fp8e4m3fn, "float8e4m3fn", 8, 5},
    {ElementType::fp8e4m3fnuz, "float8e4m3fnuz", 8, 5},
    {ElementType::fp8e5m2, "float8e5m2", 8, 5},
    {ElementType::fp8e5m2fnuz, "float8e5m2fnuz", 8, 5},
    {ElementType::u4, "uint4", 4, 5},
    {ElementType::i4, "int4", 4, 5},
    {ElementType::fp4e2m1, "float4e2m1", 4, 5},
    {ElementType::fp8e8m0, "float8e8m0", 8, 5},
    {ElementType::u2, "uint2", 2, 5},
    {ElementType::i2, "int2", 2, 5},
    {ElementType::fp6e2m3, "float6e2m3", 6, 5},
    {ElementType::fp6e3m2, "float6e3m2", 6, 5},
};

Result<TensorData> parsed_tensor(const WireWriter& tensor) {
  const auto text = std::make_shared<const std::string>(tensor.text());
  return parse_tensor(*text, text, "t.pb");
}

std::string bytes_of(const WireWriter& tensor) {
  auto out = parsed_tensor(tensor);
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::string(out->bytes) : "";
}

std::string tensor_failure(const WireWriter& tensor) {
  auto out = parsed_tensor(tensor);
  EXPECT_FALSE(out.ok());
  return out.status().message();
}

TEST(TensorReader, KnowsTheTypesOfTheStandard) {
  for (const Type& type : kTypes) {
    EXPECT_EQ(name_of(type.type), type.name);
    EXPECT_EQ(bits_of(type.type), type.bits) << type.name;
  }
  EXPECT_EQ(name_of(ElementType::string), "string");
  EXPECT_EQ(bits_of(ElementType::string), 0);
  EXPECT_EQ(name_of(static_cast<ElementType>(99)), "type 99");
  EXPECT_EQ(bits_of(static_cast<ElementType>(-1)), 0);
}

TEST(TensorReader, ReadsRawBytesOfEachType) {
  for (const Type& type : kTypes) {
    const int64_t count = 5;
    const auto bytes = static_cast<size_t>((count * type.bits + 7) / 8);
    const std::string data(bytes, '\1');
    EXPECT_EQ(bytes_of(tensor_of(type.type, {count}).bytes(9, data)), data) << type.name;
    for (const std::string& wrong : {data + '\1', data.substr(1)})
      EXPECT_THAT(tensor_failure(tensor_of(type.type, {count}).bytes(9, wrong)),
                  HasSubstr(fmt::format("the data has {} bytes, but 5 elements of type {} have {}",
                                        wrong.size(), type.name, bytes)));
  }
}

TEST(TensorReader, ReadsNumbersOfEachType) {
  // 4 elements of each; the last has its highest bit set where numbers are signed.
  EXPECT_EQ(bytes_of(tensor_of(ElementType::i64, {4}).packed(7, {1, 2, 3, -4})),
            WireWriter::bytes_of<int64_t>({1, 2, 3, -4}));
  EXPECT_EQ(bytes_of(tensor_of(ElementType::u64, {2}).packed(11, {1, -1})),
            WireWriter::bytes_of<uint64_t>({1, ~uint64_t{0}}));
  EXPECT_EQ(bytes_of(tensor_of(ElementType::u32, {2}).packed(11, {1, 0xFFFFFFFF})),
            WireWriter::bytes_of<uint32_t>({1, 0xFFFFFFFF}));
  EXPECT_EQ(bytes_of(tensor_of(ElementType::i32, {2}).packed(5, {1, -2})),
            WireWriter::bytes_of<int32_t>({1, -2}));
  // Numbers of these types hold as many elements as a byte does; of 6 bits each has one.
  const WireWriter halves = WireWriter().packed(5, {1, 0x3C00, 0x8000, -1});
  const std::map<int, std::pair<WireWriter, std::string>> by_bits = {
      {16, {halves, WireWriter::bytes_of<uint16_t>({1, 0x3C00, 0x8000, 0xFFFF})}},
      {8, {WireWriter().packed(5, {1, 0x7F, 0x80, -1}), "\x01\x7f\x80\xff"}},
      {6, {WireWriter().packed(5, {0x3F, 0x01, 0x20, 0x15}), "\x7f\x00\x56"s}},
      {4, {WireWriter().packed(5, {0x21, 0xF3}), "\x21\xf3"}},
      {2, {WireWriter().packed(5, {0xE4}), "\xe4"}},
  };
  for (const Type& type : kTypes) {
    if (type.field != 5 || type.bits == 32 || type.type == ElementType::boolean) continue;
    const auto& [numbers, bytes] = by_bits.at(type.bits);
    EXPECT_EQ(bytes_of(tensor_of(type.type, {4}).raw(numbers.text())), bytes) << type.name;
  }
  EXPECT_EQ(bytes_of(tensor_of(ElementType::boolean, {2}).packed(5, {1, 0})), "\1\0"s);
  EXPECT_EQ(bytes_of(tensor_of(ElementType::fp6e2m3, {1}).packed(5, {0x3F})), "\x3f");
  EXPECT_EQ(bytes_of(tensor_of(ElementType::fp6e2m3, {2}).packed(5, {0x3F, 0x01})), "\x7f\x00"s);
  EXPECT_EQ(bytes_of(tensor_of(ElementType::i4, {3}).packed(5, {0x21, 0x03})), "\x21\x03");
}

TEST(TensorReader, ReadsFloatsWhereverTheyLie) {
  const std::string four = WireWriter::bytes_of({1.0f, 2.0f, 3.0f, 4.0f});
  const WireWriter head = tensor_of(ElementType::fp32, {2, 2});
  EXPECT_EQ(bytes_of(WireWriter(head).packed_fixed(4, {1.0f, 2.0f, 3.0f, 4.0f})), four);
  EXPECT_EQ(bytes_of(WireWriter(head).fixed(4, 1.0f).fixed(4, 2.0f).packed_fixed(4, {3.0f, 4.0f})),
            four);
  EXPECT_EQ(bytes_of(tensor_of(ElementType::complex64, {2}).bytes(4, four)), four);
  const std::string doubles = WireWriter::bytes_of({1.0, 2.0});
  EXPECT_EQ(bytes_of(tensor_of(ElementType::fp64, {2}).bytes(10, doubles)), doubles);
  EXPECT_EQ(bytes_of(tensor_of(ElementType::complex128, {1}).fixed(10, 1.0).fixed(10, 2.0)),
            doubles);
}

TEST(TensorReader, ReadsDataBeforeItsType) {
  EXPECT_EQ(bytes_of(WireWriter().packed(5, {7}).varint(2, static_cast<int>(ElementType::i16))),
            "\7\0"s);
  EXPECT_EQ(bytes_of(WireWriter().bytes(9, "ab").varint(2, 2).packed(1, {2})), "ab");
}

TEST(TensorReader, SharesTheBytesOfTheFile) {
  const auto text = std::make_shared<const std::string>(
      tensor_of(ElementType::fp32, {2}).packed_fixed(4, {1.0f, 2.0f}).bytes(8, "w").text());
  const auto raw =
      std::make_shared<const std::string>(tensor_of(ElementType::u8, {3}).bytes(9, "abc").text());
  for (const auto& file : {text, raw}) {
    auto tensor = parse_tensor(*file, file, "t.pb");
    ASSERT_TRUE(tensor.ok());
    EXPECT_GE(tensor->bytes.data(), file->data());
    EXPECT_LE(tensor->bytes.data() + tensor->bytes.size(), file->data() + file->size());
    EXPECT_EQ(file.use_count(), 3);
  }
}

TEST(TensorReader, ReadsTexts) {
  auto tensor =
      parsed_tensor(tensor_of(ElementType::string, {3}).bytes(6, "a").bytes(6, "").bytes(6, "ö"));
  ASSERT_TRUE(tensor.ok()) << tensor.status().message();
  EXPECT_THAT(tensor->strings, ElementsAre("a", "", "ö"));
  EXPECT_EQ(tensor->bytes, "");
  EXPECT_THAT(tensor_failure(tensor_of(ElementType::string, {2}).bytes(6, "")),
              HasSubstr("has 1 texts, but 2 elements of type string have 2"));
  EXPECT_THAT(tensor_failure(tensor_of(ElementType::string, {1}).bytes(9, "a")),
              HasSubstr("not for"));
}

TEST(TensorReader, ReadsNameDimsAndEmptyTensors) {
  auto tensor =
      parsed_tensor(WireWriter().packed(1, {2, 0}).varint(1, 3).varint(2, 1).bytes(8, "w"));
  ASSERT_TRUE(tensor.ok()) << tensor.status().message();
  EXPECT_EQ(tensor->name, "w");
  EXPECT_EQ(tensor->type, ElementType::fp32);
  EXPECT_THAT(tensor->dims, ElementsAre(2, 0, 3));
  EXPECT_EQ(tensor->element_count(), 0);
  EXPECT_EQ(bytes_of(tensor_of(ElementType::u8, {}).bytes(9, "a")), "a") << "rank 0 has an element";
  EXPECT_EQ(bytes_of(tensor_of(ElementType::u8, {0}).bytes(9, "").packed(5, {})), "");
}

TEST(TensorReader, RefusesDimsThatCannotBe) {
  EXPECT_THAT(tensor_failure(tensor_of(1, {2, -1})), HasSubstr("dims: -1 is negative"));
  EXPECT_THAT(tensor_failure(tensor_of(1, {kHuge, 2})), HasSubstr("beyond 64 bits"));
  EXPECT_THAT(tensor_failure(tensor_of(1, {0, kHuge, 4})), HasSubstr("beyond 64 bits"));
  EXPECT_THAT(tensor_failure(tensor_of(1, {kHuge, 4, 0})), HasSubstr("beyond 64 bits"));
  EXPECT_THAT(tensor_failure(tensor_of(1, {kHuge})),
              HasSubstr("number of bytes is beyond 64 bits"));
  // No memory is asked for: there are no bytes.
  EXPECT_THAT(tensor_failure(tensor_of(2, {kHuge})), HasSubstr("the data has 0 bytes, but"));
  EXPECT_THAT(tensor_failure(tensor_of(2, {kHuge}).packed(5, {1})), HasSubstr("has 1 bytes, but"));
  EXPECT_THAT(tensor_failure(tensor_of(ElementType::fp6e2m3, {kHuge / 8}).packed(5, {1})),
              HasSubstr("has 1 bytes, but"));
  EXPECT_THAT(tensor_failure(tensor_of(ElementType::string, {kHuge})), HasSubstr("0 texts, but"));
}

TEST(TensorReader, RefusesNumbersThatAreNoElements) {
  EXPECT_THAT(tensor_failure(tensor_of(ElementType::i8, {1}).packed(5, {256})),
              HasSubstr("int32_data: 256 is not a number from -128 to 255"));
  EXPECT_THAT(tensor_failure(tensor_of(ElementType::fp16, {1}).packed(5, {-32769})),
              HasSubstr("-32769 is not a number from -32768 to 65535"));
  EXPECT_THAT(tensor_failure(tensor_of(ElementType::u32, {1}).packed(11, {int64_t{1} << 32})),
              HasSubstr("uint64_data: 4294967296 is not a number from -2147483648 to 4294967295"));
  EXPECT_THAT(tensor_failure(tensor_of(ElementType::fp6e2m3, {1}).packed(5, {64})),
              HasSubstr("64 is not a number from 0 to 63"));
  EXPECT_THAT(tensor_failure(tensor_of(ElementType::boolean, {1}).packed(5, {2})),
              HasSubstr("2 is not a number from 0 to 1"));
  EXPECT_THAT(tensor_failure(tensor_of(ElementType::boolean, {3}).bytes(9, "\0\1\2"s)),
              HasSubstr("element 2 is no bool: 2"));
  for (const Type& type : kTypes) {
    if (type.field == 4 || type.field == 10) continue;
    EXPECT_THAT(tensor_failure(tensor_of(type.type, {1}).packed(type.field, {1, 1})),
                HasSubstr("more numbers than the tensor has"))
        << type.name;
  }
  EXPECT_THAT(tensor_failure(tensor_of(1, {1}).packed_fixed(4, {1.0f, 2.0f})),
              HasSubstr("more than the 4 bytes of the tensor"));
  EXPECT_THAT(tensor_failure(tensor_of(1, {3}).packed_fixed(4, {1.0f, 2.0f})),
              HasSubstr("has 8 bytes, but 3 elements of type float have 12"));
}

TEST(TensorReader, RefusesDataInTwoOrWrongPlaces) {
  for (const Type& type : kTypes)
    for (uint64_t field : {4, 5, 7, 10, 11}) {
      if (field == type.field) continue;
      WireWriter tensor = tensor_of(type.type, {1});
      if (field == 4 || field == 10)
        tensor.bytes(field, std::string(16, '\0'));
      else
        tensor.packed(field, {1});
      EXPECT_THAT(tensor_failure(tensor), HasSubstr("a field that is not for elements of"))
          << type.name;
    }
  EXPECT_THAT(tensor_failure(tensor_of(1, {1}).fixed(4, 1.0f).bytes(9, "abcd")),
              HasSubstr("data in raw_data and in another field"));
  EXPECT_THAT(tensor_failure(WireWriter().bytes(9, "a")),
              HasSubstr("data_type: undefined has no elements"));
  EXPECT_THAT(tensor_failure(tensor_of(99, {1}).bytes(9, "a")),
              HasSubstr("type 99 has no elements"));
  EXPECT_THAT(tensor_failure(tensor_of(2, {1}).varint(14, 1)), HasSubstr("there is no folder"));
  EXPECT_THAT(tensor_failure(tensor_of(2, {1}).varint(14, 2)), HasSubstr("no data_location 2"));
  auto parts = parsed_tensor(tensor_of(2, {1}).bytes(9, "a").message(3, WireWriter().varint(1, 0)));
  EXPECT_EQ(parts.status().code(), StatusCode::unsupported);
}

}  // namespace
}  // namespace stria::onnx
