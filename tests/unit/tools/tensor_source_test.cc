// SPDX-License-Identifier: Apache-2.0
// Spellings of tensor sources, and random tensors: golden values fix them for all machines, moments
// check the distribution.
#include "stria/tensor_io/tensor_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "stria/base/file.h"
#include "stria/tensor_io/npy.h"
#include "stria/tensor_io/numbers.h"
#include "stria/tensor_io/random.h"
#include "stria/type/half.h"
#include "stria/type/scalar.h"

namespace stria {
namespace {

using testing::HasSubstr;

std::string failure(std::string_view text) {
  auto source = parse_tensor_source(text);
  return source.ok() ? "ok" : source.status().message();
}

TEST(TensorSource, Spellings) {
  auto npy = parse_tensor_source("dir/a.npy");
  EXPECT_EQ(npy->kind, TensorSource::Kind::npy);
  EXPECT_EQ(npy->path, "dir/a.npy");
  EXPECT_FALSE(npy->type);
  EXPECT_EQ(parse_tensor_source("a.npy:bf16")->type, DataType::bf16);
  EXPECT_EQ(parse_tensor_source("a:b.npy")->path, "a:b.npy");
  EXPECT_EQ(parse_tensor_source("p.png:u8")->type, DataType::u8);
  EXPECT_EQ(parse_tensor_source("p.jpg")->kind, TensorSource::Kind::jpeg);
  EXPECT_EQ(parse_tensor_source("p.jpeg:u8")->type, DataType::u8);
  auto random = parse_tensor_source("random:18446744073709551615:i8");
  EXPECT_EQ(random->seed, ~uint64_t{0});
  EXPECT_EQ(random->type, DataType::i8);
  EXPECT_FALSE(parse_tensor_source("random:0")->type);
}

TEST(TensorSource, WrongSpellings) {
  EXPECT_THAT(failure(""), HasSubstr("no tensor"));
  EXPECT_THAT(failure("a.txt"), HasSubstr("no tensor"));
  EXPECT_THAT(failure("a.npy:fp32"), HasSubstr("only suffix"));
  EXPECT_THAT(failure("a.npy:bf61"), HasSubstr("did you mean 'bf16'"));
  EXPECT_THAT(failure("p.png:i8"), HasSubstr("not ':i8'"));
  EXPECT_THAT(failure("p.jpg:u16"), HasSubstr("not as ':u16'"));
  EXPECT_THAT(failure("p.jpg:u9"), HasSubstr("did you mean 'u8'"));
  EXPECT_THAT(failure("random:"), HasSubstr("the seed: '' is not"));
  EXPECT_THAT(failure("random:-1"), HasSubstr("the seed: '-1' is not"));
  EXPECT_THAT(failure("random:1x"), HasSubstr("the seed: '1x' is not"));
  EXPECT_THAT(failure("random:18446744073709551616"), HasSubstr("from 0 to 18446744073709551615"));
  EXPECT_THAT(failure("random:1:fp23"), HasSubstr("did you mean 'fp32'"));
  EXPECT_THAT(failure("random:1:i8:2"), HasSubstr("too many parts"));
}

// The elements of `text` as that type, or what is wrong.
std::string elements(const std::string& text, DataType type, const std::vector<int64_t>& sizes) {
  auto source = parse_tensor_source(text);
  if (!source.ok()) return source.status().message();
  if (source->kind != TensorSource::Kind::numbers) return "not numbers";
  auto tensor = read_tensor(*source, sizes, source->type.value_or(type), "'x'");
  if (!tensor.ok()) return tensor.status().message();
  std::string out;
  for (int64_t i = 0; i < tensor->element_count(); ++i)
    out += (i == 0 ? "" : " ") + to_string(load_scalar(tensor->type(), tensor->data(), i));
  return out;
}

TEST(TensorSource, Numbers) {
  EXPECT_EQ(elements("16000", DataType::i64, {}), "16000");
  EXPECT_EQ(elements("0", DataType::fp32, {2, 3}), "0.0 0.0 0.0 0.0 0.0 0.0");
  EXPECT_EQ(elements("1,-2.5,3e2", DataType::fp32, {3}), "1.0 -2.5 300.0");
  EXPECT_EQ(elements("1,2,3,4", DataType::u8, {2, 2}), "1 2 3 4");
  EXPECT_EQ(elements("true,false,1,0", DataType::boolean, {4}), "true false true false");
  EXPECT_EQ(elements("-9223372036854775808", DataType::i64, {}), "-9223372036854775808");
  EXPECT_EQ(elements("18446744073709551615", DataType::u64, {}), "18446744073709551615");
  EXPECT_EQ(elements("0.1", DataType::fp16, {}), "0.099975586");
  EXPECT_EQ(elements("7:i8", DataType::fp32, {1}), "7");
  EXPECT_EQ(elements("1,2", DataType::fp32, {0}),
            "'x' is fp32[0]: it takes 0 numbers or one for all, not 2");
  EXPECT_EQ(elements("5", DataType::fp32, {0, 4}), "");
  EXPECT_EQ(elements("1,2,3", DataType::fp32, {2, 2}),
            "'x' is fp32[2, 2]: it takes 4 numbers or one for all, not 3");
  EXPECT_EQ(elements("128", DataType::i8, {}), "'x': '128' is not a whole number from -128 to 127");
  EXPECT_EQ(elements("-1", DataType::u16, {}), "'x': '-1' is not a whole number from 0 to 65535");
  EXPECT_EQ(elements("1.5", DataType::i32, {}),
            "'x': '1.5' is not a whole number from -2147483648 to 2147483647");
  EXPECT_EQ(elements("true", DataType::fp32, {}), "'x': 'true' is no fp32");
  EXPECT_EQ(elements("2", DataType::boolean, {}), "'x': '2' is no bool: true, false, 1 or 0");
  EXPECT_THAT(elements("7:i9", DataType::i8, {}), HasSubstr("did you mean 'i8'"));
  for (const char* text : {"1,", ",1", "1, 2", "1;2", "0x10", "nan", "+5", "--5", "True"})
    EXPECT_THAT(elements(text, DataType::fp32, {}), HasSubstr("no tensor")) << text;
}

TEST(TensorSource, Texts) {
  const Result<TensorSource> source = parse_tensor_source("text:hello,,a:b c");
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->kind, TensorSource::Kind::texts);
  EXPECT_FALSE(source->is_file());
  EXPECT_EQ(source->texts, (std::vector<std::string>{"hello", "", "a:b c"}));
  EXPECT_EQ(read_tensor(*source, {}, DataType::fp32, "'x'").status().message(),
            "'x' takes numbers, not text");
}

TEST(TensorSource, SizesOfNumbers) {
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(sizes_of_numbers(1, std::nullopt), Sizes{});
  EXPECT_EQ(sizes_of_numbers(3, std::nullopt), Sizes{3});
  EXPECT_EQ(sizes_of_numbers(1, 0), Sizes{});
  EXPECT_EQ(sizes_of_numbers(1, 1), Sizes{1});
  EXPECT_EQ(sizes_of_numbers(3, 1), Sizes{3});
  EXPECT_EQ(sizes_of_numbers(3, 0), std::nullopt);
  EXPECT_EQ(sizes_of_numbers(1, 2), std::nullopt);
}

TEST(TensorSource, WriteAndReadBack) {
  const auto folder = std::filesystem::temp_directory_path() / "stria_tensor_source_test";
  std::filesystem::create_directories(folder);
  auto tensor = random_tensor(DataType::u8, {4, 5, 3}, 1, "t");
  for (const char* name : {"t.npy", "t.png"}) {
    std::string path = folder / name;
    auto file = format_tensor(path, *tensor);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    ASSERT_TRUE(write_files({&*file, 1}).ok());
    auto source = parse_tensor_source(path);
    if (source->kind == TensorSource::Kind::png) source->type = DataType::u8;
    auto back = read_tensor(*source, {}, DataType::fp32, "t");
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    EXPECT_EQ(back->bytes(), tensor->bytes());
  }
  EXPECT_THAT(format_tensor(folder / "t.txt", *tensor).status().message(),
              HasSubstr(".npy or .png"));
  std::filesystem::remove_all(folder);
}

TEST(Random, GoldenValues) {
  auto floats = random_tensor(DataType::fp32, {5}, 1, "t");
  const auto* f = reinterpret_cast<const float*>(floats->data());
  EXPECT_EQ((std::vector<float>(f, f + 5)),
            (std::vector<float>{-0x1.0e3d5cp-1f, 0x1.173d5ap-1f, 0x1.3b3ee4p+0f, -0x1.75f35ap-2f,
                                -0x1.796ac8p+0f}));
  auto ints = random_tensor(DataType::i8, {8}, 1, "t");
  const auto* i = reinterpret_cast<const int8_t*>(ints->data());
  EXPECT_EQ((std::vector<int>(i, i + 8)), (std::vector<int>{3, -3, -1, 7, -5, 1, -1, -6}));
}

// The header's formulas once more, with the math library.
TEST(Random, FollowsItsDocumentation) {
  auto mix = [](uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  };
  const int64_t count = 10001;
  for (uint64_t seed : {uint64_t{0}, uint64_t{7}, ~uint64_t{0}}) {
    auto word = [&](int64_t i) { return mix(mix(seed) + (i + 1) * 0x9e3779b97f4a7c15u); };
    auto tensor = random_tensor(DataType::fp64, {count}, seed, "t");
    const auto* values = reinterpret_cast<const double*>(tensor->data());
    for (int64_t i = 0; i < count; ++i) {
      double u = static_cast<double>((word(i & ~1) >> 11) + 1) * 0x1p-53;
      double v = static_cast<double>(word(i | 1) >> 11) * 0x1p-53;
      double angle = 2 * M_PI * v;
      double expected = std::sqrt(-2 * std::log(u)) * (i % 2 ? std::sin(angle) : std::cos(angle));
      ASSERT_NEAR(values[i], expected, 1e-14) << i;
    }
    auto unsigned_ints = random_tensor(DataType::u32, {count}, seed, "t");
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(reinterpret_cast<const uint32_t*>(unsigned_ints->data())[i], word(i) >> 60);
  }
}

TEST(Random, EveryTypeIsTheRoundedOne) {
  auto wide = random_tensor(DataType::fp64, {1000}, 3, "t");
  const auto* reference = reinterpret_cast<const double*>(wide->data());
  for (DataType type : {DataType::fp16, DataType::bf16, DataType::fp32}) {
    auto tensor = random_tensor(type, {10, 100}, 3, "t");
    for (int64_t i = 0; i < 1000; ++i)
      ASSERT_EQ(load_scalar(type, tensor->data(), i).f, round_to(type, reference[i]));
  }
  for (DataType type : {DataType::i8, DataType::i16, DataType::i32, DataType::i64, DataType::u8,
                        DataType::u16, DataType::u32, DataType::u64, DataType::boolean}) {
    auto tensor = random_tensor(type, {4096}, 3, "t");
    const int64_t low = is_signed_integer(type) ? -8 : 0;
    const int64_t kinds = type == DataType::boolean ? 2 : 16;
    std::vector<int> seen(16);
    for (int64_t i = 0; i < 4096; ++i) {
      int64_t value = load_scalar(type, tensor->data(), i).i - low;
      ASSERT_TRUE(value >= 0 && value < kinds);
      ++seen[value];
    }
    for (int64_t k = 0; k < kinds; ++k)
      EXPECT_NEAR(seen[k], 4096 / kinds, 6 * std::sqrt(4096 / kinds));
  }
}

TEST(Random, MomentsOfTheNormalDistribution) {
  const int64_t count = 1 << 20;
  auto tensor = random_tensor(DataType::fp64, {count}, 42, "t");
  const auto* values = reinterpret_cast<const double*>(tensor->data());
  double m[5] = {};
  for (int64_t i = 0; i < count; ++i)
    for (int k = 1; k <= 4; ++k) m[k] += std::pow(values[i], k) / count;
  EXPECT_NEAR(m[1], 0, 0.005);
  EXPECT_NEAR(m[2], 1, 0.007);
  EXPECT_NEAR(m[3], 0, 0.02);
  EXPECT_NEAR(m[4], 3, 0.05);
}

TEST(Random, Edges) {
  EXPECT_EQ(random_tensor(DataType::fp32, {0}, 1, "t")->element_count(), 0);
  EXPECT_EQ(random_tensor(DataType::fp32, {}, 1, "t")->element_count(), 1);
  EXPECT_FALSE(random_tensor(DataType::fp32, {-1}, 1, "t").ok());
  EXPECT_FALSE(random_tensor(DataType::fp32, {int64_t{1} << 62, 16}, 1, "t").ok());
}

TEST(Random, IsFast) {
  auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(random_tensor(DataType::fp32, {25, 1000000}, 1, "t").ok());
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  RecordProperty("seconds_for_100_MB", std::to_string(seconds));
  EXPECT_LT(seconds, 10);
}

}  // namespace
}  // namespace stria
