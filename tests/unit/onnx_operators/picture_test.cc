// SPDX-License-Identifier: Apache-2.0
// ImageDecoder, of files that end early or claim more than they hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluate_node.h"

namespace stria::onnx {
namespace {

using testing::HasSubstr;

Result<EvaluatedOutput> decoded(const std::string& file, const char* format = "RGB") {
  const std::vector<uint8_t> bytes(file.begin(), file.end());
  return evaluate_node("ImageDecoder", 20, {text("pixel_format", format)},
                       {vector_input("X", ElementType::u8, bytes)});
}

std::string little(uint32_t value, int count) {
  std::string out;
  for (int b = 0; b < count; ++b) out += static_cast<char>(value >> (8 * b));
  return out;
}

// Two rows of one pixel, the lower one first, each with a byte to fill it up.
std::string bitmap() {
  return "BM" + little(62, 4) + little(0, 4) + little(54, 4) + little(40, 4) + little(1, 4) +
         little(2, 4) + little(1, 2) + little(24, 2) + std::string(24, '\0') + "cba_fed_";
}

std::string tiff_of_rows(uint32_t rows) {
  std::string out = "II" + little(42, 2) + little(8, 4) + little(5, 2);
  const std::pair<uint32_t, uint32_t> entries[] = {
      {256, 2}, {257, rows}, {258, 8}, {262, 1}, {273, 74}};
  for (const auto& [tag, value] : entries)
    out += little(tag, 2) + little(4, 2) + little(1, 4) + little(value, 4);
  return out + little(0, 4) + "abcd";
}

TEST(Picture, PlainKinds) {
  for (const auto& [file, format, wanted] :
       {std::tuple{std::string("P6 #two\n2 1 255\nabcdef"), "RGB", "abcdef"},
        {std::string("P6 2 1 255\nabcdef"), "BGR", "cbafed"},
        {std::string("P5 2 1 255\nab"), "Grayscale", "ab"},
        {bitmap(), "RGB", "defabc"},
        {tiff_of_rows(2), "Grayscale", "abcd"}}) {
    const Result<EvaluatedOutput> made = decoded(file, format);
    ASSERT_TRUE(made.ok()) << made.status().message();
    const std::vector<char> got = elements<char>(*made);
    EXPECT_EQ(std::string(got.begin(), got.end()), wanted);
  }
}

TEST(Picture, FilesThatEndEarly) {
  for (const std::string& file : {std::string("P6 2 1 255\nabcdef"), bitmap(), tiff_of_rows(2)})
    for (size_t length = 2; length < file.size(); ++length)
      EXPECT_FALSE(decoded(file.substr(0, length)).ok()) << length;
  const Result<EvaluatedOutput> many = decoded(tiff_of_rows(1 << 24));
  ASSERT_FALSE(many.ok());
  EXPECT_THAT(std::string(many.status().message()), HasSubstr("ends too early"));
}

TEST(Picture, OtherKinds) {
  EXPECT_EQ(decoded("GIF89a").status().code(), StatusCode::unsupported);
  EXPECT_EQ(decoded("P6 2 1 65535\nabcdefghijkl").status().code(), StatusCode::unsupported);
}

}  // namespace
}  // namespace stria::onnx
