// SPDX-License-Identifier: Apache-2.0
// .npy files: expected bytes are spelled out here, after the format's description, not made by the
// code under test.
#include "stria/tensor_io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "stria/type/scalar.h"

namespace stria {
namespace {

using testing::HasSubstr;

// A version-1 file with this dictionary, padded as numpy pads it, and this data.
std::string file(std::string dictionary, std::string_view data, int version = 1) {
  const size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + dictionary.size() + 1) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  std::string out("\x93NUMPY", 6);
  out += static_cast<char>(version);
  out += '\0';
  out += static_cast<char>(dictionary.size() & 0xff);
  out += static_cast<char>(dictionary.size() >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + dictionary + std::string(data);
}
std::string dictionary(std::string_view descr, std::string_view shape, bool fortran = false) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr,
                     fortran ? "True" : "False", shape);
}
template <typename T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
template <typename T>
std::vector<T> values(const HostTensor& tensor) {
  std::vector<T> out(static_cast<size_t>(tensor.element_count()));
  std::memcpy(out.data(), tensor.data(), tensor.byte_count());
  return out;
}
std::string failure(std::string_view bytes, std::optional<DataType> carried = std::nullopt) {
  Result<HostTensor> result = parse_npy(bytes, "a.npy", carried);
  return result.ok() ? "ok" : result.status().message();
}

TEST(Npy, ReadsEveryType) {
  const std::pair<const char*, DataType> kTypes[] = {
      {"|b1", DataType::boolean}, {"|i1", DataType::i8},   {"<i2", DataType::i16},
      {"<i4", DataType::i32},     {"<i8", DataType::i64},  {"|u1", DataType::u8},
      {"<u2", DataType::u16},     {"<u4", DataType::u32},  {"<u8", DataType::u64},
      {"<f2", DataType::fp16},    {"<f4", DataType::fp32}, {"<f8", DataType::fp64}};
  for (auto [descr, type] : kTypes) {
    std::string data;
    for (int64_t i = 0; i < 6 * byte_size(type); ++i)
      data += static_cast<char>(type == DataType::boolean ? i % 2 : 17 * i + 3);
    for (int version : {1, 2, 3}) {
      auto tensor = parse_npy(file(dictionary(descr, "(2, 3)"), data, version), "a.npy");
      ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
      EXPECT_EQ(tensor->type(), type);
      EXPECT_EQ(tensor->sizes(), (std::vector<int64_t>{2, 3}));
      EXPECT_EQ(tensor->bytes(), data) << descr;
    }
  }
}

TEST(Npy, WritesWhatItReadsForEveryTypeAndRank) {
  for (int t = 0; t < kDataTypeCount; ++t) {
    const auto type = static_cast<DataType>(t);
    for (const auto& sizes : std::vector<std::vector<int64_t>>{
             {}, {1}, {0}, {7}, {2, 3}, {3, 0, 2}, {1, 2, 3, 4, 5}, std::vector<int64_t>(32, 1)}) {
      auto tensor = HostTensor::create(type, sizes, "t");
      ASSERT_TRUE(tensor.ok());
      for (size_t i = 0; i < tensor->byte_count(); ++i)
        tensor->data()[i] = static_cast<std::byte>(type == DataType::boolean ? i % 2 : i * 7);
      std::string bytes = format_npy(*tensor);
      EXPECT_EQ((bytes.size() - tensor->byte_count()) % 64, 0u);
      auto back =
          parse_npy(bytes, "b.npy", type == DataType::bf16 ? std::optional(type) : std::nullopt);
      ASSERT_TRUE(back.ok()) << back.status().to_string();
      EXPECT_EQ(back->type(), type);
      EXPECT_EQ(back->sizes(), sizes);
      EXPECT_EQ(back->bytes(), tensor->bytes());
    }
  }
}

TEST(Npy, WritesTheDocumentedBytes) {
  auto tensor = HostTensor::create(DataType::fp32, {2}, "t");
  const float numbers[] = {1.5f, -2.0f};
  std::memcpy(tensor->data(), numbers, sizeof numbers);
  EXPECT_EQ(format_npy(*tensor), file(dictionary("<f4", "(2,)"), raw<float>({1.5f, -2.0f})));
}

TEST(Npy, AHeaderBeyond65535BytesBecomesVersion2) {
  // 256 dimensions of 20 digits are still short; the rank limit keeps version 1 in practice.
  auto tensor = HostTensor::create(DataType::u8, std::vector<int64_t>(256, 1), "t");
  std::string bytes = format_npy(*tensor);
  EXPECT_EQ(bytes[6], 1);
  EXPECT_TRUE(parse_npy(bytes, "a.npy").ok());
  auto wide = HostTensor::create(DataType::u8, std::vector<int64_t>(30000, 1), "t");
  EXPECT_EQ(format_npy(*wide)[6], 2);
}

TEST(Npy, BigEndian) {
  const char two[] = {0x12, 0x34, 0x56, 0x78};
  auto words = parse_npy(file(dictionary(">u2", "(2,)"), {two, 4}), "a.npy");
  EXPECT_EQ(values<uint16_t>(*words), (std::vector<uint16_t>{0x1234, 0x5678}));
  auto one =
      parse_npy(file(dictionary(">f4", "()"), std::string_view("\x3f\xc0\x00\x00", 4)), "a.npy");
  EXPECT_EQ(values<float>(*one), (std::vector<float>{1.5f}));
  EXPECT_TRUE(one->sizes().empty());
  auto eight =
      parse_npy(file(dictionary(">i8", "(1,)"), std::string_view("\0\0\0\0\0\0\1\2", 8)), "a.npy");
  EXPECT_EQ(values<int64_t>(*eight), (std::vector<int64_t>{0x102}));
}

TEST(Npy, FortranOrder) {
  // t[i][j][k] = 100 i + 10 j + k, the first dimension fastest.
  for (bool big : {false, true}) {
    std::string data;
    std::vector<int16_t> expected;
    for (int k = 0; k < 4; ++k)
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 2; ++i) {
          int value = 100 * i + 10 * j + k;
          char low = static_cast<char>(value & 0xff), high = static_cast<char>(value >> 8);
          data += big ? high : low;
          data += big ? low : high;
        }
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 4; ++k) expected.push_back(static_cast<int16_t>(100 * i + 10 * j + k));
    auto tensor =
        parse_npy(file(dictionary(big ? ">i2" : "<i2", "(2, 3, 4)", true), data), "a.npy");
    ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
    EXPECT_EQ(values<int16_t>(*tensor), expected);
  }
  EXPECT_TRUE(parse_npy(file(dictionary("<f4", "(3, 0)", true), ""), "a.npy").ok());
  EXPECT_EQ(values<int8_t>(*parse_npy(file(dictionary("|i1", "(3,)", true), "\1\2\3"), "a.npy")),
            (std::vector<int8_t>{1, 2, 3}));
}

TEST(Npy, BooleansAreNormalised) {
  auto tensor = parse_npy(file(dictionary("|b1", "(3,)"), std::string_view("\0\1\7", 3)), "a.npy");
  EXPECT_EQ(values<uint8_t>(*tensor), (std::vector<uint8_t>{0, 1, 1}));
}

TEST(Npy, Bf16CarriedAsU16OrOpaque) {
  for (const char* descr : {"<u2", "|V2", "<V2"}) {
    auto tensor = parse_npy(file(dictionary(descr, "(1,)"), std::string_view("\x80\x3f", 2)),
                            "a.npy", DataType::bf16);
    ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
    EXPECT_EQ(tensor->type(), DataType::bf16);
    EXPECT_EQ(values<uint16_t>(*tensor), (std::vector<uint16_t>{0x3f80}));
  }
  EXPECT_THAT(failure(file(dictionary("|V2", "(1,)"), "ab")), HasSubstr("a.npy:bf16"));
  EXPECT_THAT(failure(file(dictionary("<f4", "(1,)"), "abcd"), DataType::bf16),
              HasSubstr("':bf16' needs"));
}

// ml_dtypes has one element in each byte, and so have the files; tensors have them packed.
TEST(Npy, PackedTypesAreOneByteEach) {
  const std::pair<const char*, DataType> kNames[] = {{"float8_e4m3fn", DataType::fp8_e4m3},
                                                     {"float8_e5m2", DataType::fp8_e5m2},
                                                     {"float4_e2m1fn", DataType::fp4},
                                                     {"int4", DataType::i4},
                                                     {"uint4", DataType::u4},
                                                     {"int2", DataType::i2},
                                                     {"uint2", DataType::u2}};
  for (const auto& [name, type] : kNames) {
    SCOPED_TRACE(name);
    const int bits = bit_width(type);
    for (const auto& sizes : std::vector<std::vector<int64_t>>{{}, {1}, {0}, {2, 3}, {5, 7}}) {
      auto tensor = HostTensor::create(type, sizes, "t");
      ASSERT_TRUE(tensor.ok());
      for (int64_t i = 0; i < tensor->element_count(); ++i)
        store_scalar(type, tensor->data(), i, Scalar::of_int(DataType::i32, i % 6));
      const std::string bytes = format_npy(*tensor);
      EXPECT_EQ((bytes.size() - static_cast<size_t>(tensor->element_count())) % 64, 0u);
      auto back = parse_npy(bytes, "b.npy", type);
      ASSERT_TRUE(back.ok()) << back.status().to_string();
      EXPECT_EQ(back->type(), type);
      EXPECT_EQ(back->sizes(), sizes);
      EXPECT_EQ(back->bytes(), tensor->bytes());
    }
    // Opaque bytes, and those whose file says what they carry: the bits above the element are no
    // part of it.
    const std::string_view data("\xf1\x02\xfb", 3);
    for (const char* descr : {"|V1", "<f1", name}) {
      auto tensor = parse_npy(file(dictionary(descr, "(3,)"), data), "a.npy", type);
      ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
      const int mask = (1 << bits) - 1;
      const DataType plain = bits == 8 ? DataType::u8 : bits == 4 ? DataType::u4 : DataType::u2;
      for (int64_t i = 0; i < 3; ++i)
        EXPECT_EQ(load_scalar(plain, tensor->data(), i).i,
                  static_cast<uint8_t>(data[static_cast<size_t>(i)]) & mask);
    }
    EXPECT_EQ(parse_npy(file(dictionary(name, "(3,)"), data), "a.npy")->type(), type);
  }
  EXPECT_EQ(failure(file(dictionary("|i1", "(2,)"), "\1\x8"), DataType::i4),
            "'a.npy': element 1 is 8, i4 is between -8 and 7");
  EXPECT_EQ(failure(file(dictionary("|u1", "(1,)"), "\x10"), DataType::fp4),
            "'a.npy': element 0 is 16, a pattern of fp4 is between 0 and 15");
  EXPECT_EQ(failure(file(dictionary("int4", "(1,)"), "a"), DataType::u4),
            "'a.npy' holds i4, not u4");
  EXPECT_EQ(failure(file(dictionary("|u1", "(1,)"), "a"), DataType::i4),
            "'a.npy' holds u8[1], ':i4' needs i4 carried as i8");
  EXPECT_THAT(failure(file(dictionary("|V1", "(1,)"), "a")), HasSubstr("a.npy:fp8_e4m3"));
}

TEST(Npy, Python2AndOtherSpellings) {
  EXPECT_EQ(failure(file("{\"shape\": (2L,), \"fortran_order\": False, \"descr\": '=i1'}", "ab")),
            "ok");
  EXPECT_EQ(failure(file("{'descr':'|i1','fortran_order':False,'shape':(1,2)}", "ab")), "ok");
}

TEST(Npy, TruncatedAtEveryByteIsAnError) {
  const std::string whole = file(dictionary("<f4", "(2, 2)"), raw<float>({1, 2, 3, 4}));
  for (size_t length = 0; length < whole.size(); ++length) {
    // An exact-size copy, so that a sanitizer sees reads beyond the end.
    std::vector<char> part(whole.begin(), whole.begin() + length);
    auto result = parse_npy({part.data(), part.size()}, "a.npy");
    ASSERT_FALSE(result.ok()) << length;
    EXPECT_THAT(result.status().message(), HasSubstr("'a.npy'"));
    if (length >= 8) {
      EXPECT_THAT(result.status().message(), HasSubstr("truncated")) << length;
    }
  }
  EXPECT_THAT(failure(whole + "x"), HasSubstr("1 bytes after its data"));
}

TEST(Npy, EveryByteOfTheHeaderMayBeWrong) {
  const std::string whole = file(dictionary("<f4", "(2, 2)"), raw<float>({1, 2, 3, 4}));
  for (size_t at = 0; at < whole.size() - 16; ++at)
    for (int value : {0, 1, 0x27, 0x28, 0x39, 0x7f, 0xff}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(value);
      auto result = parse_npy(bytes, "a.npy");  // must not crash or hang
      if (result.ok()) {
        EXPECT_EQ(result->byte_count(), 16u);
      }
    }
}

TEST(Npy, HostileHeaders) {
  auto with = [](std::string_view text) { return failure(file(std::string(text), "abcd")); };
  EXPECT_THAT(failure(""), HasSubstr("not a .npy file"));
  EXPECT_THAT(failure("PK\3\4hello"), HasSubstr("not a .npy file"));
  EXPECT_THAT(failure(file(dictionary("<f4", "(1,)"), "abcd", 4)), HasSubstr("version 4.0"));
  EXPECT_THAT(with(dictionary("<c8", "(1,)")), HasSubstr("'<c8', which stria does not have"));
  EXPECT_THAT(with(dictionary("|O", "(1,)")), HasSubstr("'|O'"));
  EXPECT_THAT(with(dictionary("", "(1,)")), HasSubstr("elements of type ''"));
  EXPECT_THAT(with("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}"),
              HasSubstr("records"));
  EXPECT_THAT(with(dictionary("<f4", "(-1,)")), HasSubstr("expected a size"));
  EXPECT_THAT(with(dictionary("<f4", "(1)")), HasSubstr("tuple of one"));
  EXPECT_THAT(with(dictionary("<f4", "1")), HasSubstr("expected '('"));
  EXPECT_THAT(with(dictionary("<f4", "(1,")), HasSubstr("malformed"));
  EXPECT_THAT(with(dictionary("<f4", "(99999999999999999999,)")), HasSubstr("63 bits"));
  EXPECT_THAT(with(dictionary("<f4", "(4611686018427387904, 4)")), HasSubstr("2^63 bytes"));
  EXPECT_THAT(with(dictionary("<f4", "(0, 4611686018427387904, 4)")), HasSubstr("2^63 bytes"));
  EXPECT_THAT(with(dictionary("<f4", "(1000000000000,)")), HasSubstr("truncated"));
  EXPECT_THAT(with("{'descr': '<f4', 'fortran_order': False}"), HasSubstr("'shape' is missing"));
  EXPECT_THAT(with("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}"),
              HasSubstr("True or False"));
  EXPECT_THAT(with("{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}"), HasSubstr("stands twice"));
  EXPECT_THAT(with("{'descr': '<f4', 'color': 1}"), HasSubstr("unknown key 'color'"));
  EXPECT_THAT(with("{'descr: '<f4'}"), HasSubstr("malformed"));
  EXPECT_THAT(with("{} x"), HasSubstr("after the closing"));
  EXPECT_THAT(with(std::string(2000, '{')), HasSubstr("malformed"));
  std::string many = "(";
  for (int i = 0; i < 300; ++i) many += "1,";
  EXPECT_THAT(with(dictionary("<f4", many + ")")), HasSubstr("more than 256 dimensions"));
  std::string huge("\x93NUMPY\2\0\xff\xff\xff\xff", 12);
  EXPECT_THAT(failure(huge), HasSubstr("4294967295 bytes long"));
}

TEST(Npy, MissingFileNamesThePath) {
  auto result = read_npy("/nonexistent/x.npy");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.status().message(), HasSubstr("/nonexistent/x.npy"));
}

}  // namespace
}  // namespace stria
