// SPDX-License-Identifier: Apache-2.0
// The checklist of every record of a function that is not elementwise, and their rules of types and
// sizes.
#include "stria/builtins/special.h"

#include <gtest/gtest.h>

#include <set>

namespace stria {
namespace {

SpecialResult call(std::string_view name, std::vector<TensorType> tensors,
                   std::vector<int64_t> numbers = {}) {
  return find_special(name)->result({std::move(tensors), std::move(numbers)});
}

TEST(Special, EveryRecordIsComplete) {
  std::set<std::string> names;
  for (const Special* s : all_specials()) {
    SCOPED_TRACE(s->name);
    EXPECT_TRUE(names.insert(s->name).second);
    EXPECT_EQ(find_special(s->name), s);
    EXPECT_EQ(find_builtin(s->name), nullptr);
    EXPECT_EQ(std::string(s->call).rfind(std::string(s->name) + "(", 0), 0u);
    EXPECT_EQ(s->tensors >= 1, s->number == nullptr);
    EXPECT_LE(s->least_numbers, s->most_numbers < 0 ? 1 : s->most_numbers);
    ASSERT_NE(s->result == nullptr, s->number == nullptr);
    EXPECT_EQ(s->rule[0], 'M');
    EXPECT_EQ(std::string(s->doc).back(), '.');
    EXPECT_NE(std::string(s->example).find(std::string(" = ") + s->name + "("), std::string::npos);
    int derivatives = 0;
    for (const char* of : s->gradient.of) derivatives += of != nullptr;
    EXPECT_EQ(derivatives > 0, s->gradient.why_not == nullptr);
  }
  EXPECT_GE(names.size(), 8u);
  EXPECT_EQ(find_special("nonsense"), nullptr);
}

TEST(M13, SizesOfGather) {
  const TensorType data{DataType::bf16, {7, 2, 3}};
  for (int t = 0; t < kDataTypeCount; ++t) {
    const auto type = static_cast<DataType>(t);
    const SpecialResult r = call("gather", {data, {type, {4, 5}}});
    EXPECT_EQ(r.error.empty(), is_integer(type)) << name_of(type);
    if (!is_integer(type)) {
      EXPECT_EQ(r.argument, 1);
      continue;
    }
    EXPECT_EQ(r.type, (TensorType{DataType::bf16, {4, 5, 2, 3}}));
  }
  EXPECT_EQ(call("gather", {data, {DataType::i32, {}}}).type.sizes, (std::vector<int64_t>{2, 3}));
  // Nothing to clamp to, unless nothing is taken.
  EXPECT_EQ(call("gather", {{DataType::i8, {0}}, {DataType::i32, {1}}}).argument, 0);
  EXPECT_EQ(call("gather", {{DataType::i8, {0}}, {DataType::i32, {0}}}).error, "");
}

TEST(M14, TypesAndSizesOfScatter) {
  const TensorType index{DataType::u8, {4}}, like{DataType::boolean, {9, 9}};
  const std::pair<DataType, DataType> types[] = {
      {DataType::boolean, DataType::i32}, {DataType::i8, DataType::i32},
      {DataType::i16, DataType::i32},     {DataType::u8, DataType::u32},
      {DataType::u16, DataType::u32},     {DataType::i32, DataType::i32},
      {DataType::u64, DataType::u64},     {DataType::fp16, DataType::fp16},
      {DataType::bf16, DataType::bf16},   {DataType::fp64, DataType::fp64}};
  for (const auto& [from, sum] : types)
    EXPECT_EQ(call("scatter", {{from, {4, 6}}, index, like}).type, (TensorType{sum, {9, 6}}));
  EXPECT_EQ(call("scatter", {{DataType::i32, {}}, {DataType::i32, {}}, like}).type.sizes,
            (std::vector<int64_t>{9}));
  EXPECT_EQ(call("scatter", {{DataType::i32, {5}}, index, like}).argument, 0);
  EXPECT_EQ(call("scatter", {{DataType::i32, {}}, index, like}).argument, 0);
}

TEST(M15, SizesOfIndexShapeAndReshape) {
  const TensorType t{DataType::fp16, {4, 6}};
  EXPECT_EQ(call("index", {t}, {1}).type, (TensorType{DataType::i32, {4, 6}}));
  EXPECT_EQ(call("index", {t}, {2}).argument, 1);
  EXPECT_EQ(call("index", {t}, {-1}).argument, 1);
  EXPECT_NE(call("index", {{DataType::i8, {int64_t{1} << 31}}}, {0}).error, "");
  EXPECT_EQ(call("shape", {t}).type, (TensorType{DataType::i32, {2}}));
  EXPECT_NE(call("shape", {{DataType::i8, {int64_t{1} << 31}}}).error, "");
  EXPECT_EQ(call("reshape", {t}, {3, 8}).type, (TensorType{DataType::fp16, {3, 8}}));
  EXPECT_NE(call("reshape", {t}, {5, 5}).error, "");
  EXPECT_NE(call("reshape", {t}, {-4, -6}).error, "");
}

TEST(M16, SizesOfRandomNumbers) {
  const TensorType state{DataType::u32, {3, 2048}};
  EXPECT_EQ(call("prng_step", {state}, {5, 2}).type, (TensorType{DataType::fp32, {5, 2}}));
  EXPECT_EQ(call("prng_step", {state}).type, (TensorType{DataType::fp32, {}}));
  EXPECT_EQ(call("prng_step", {{DataType::i32, {3, 2048}}}, {5}).argument, 0);
  EXPECT_EQ(call("prng_step", {{DataType::u32, {2048, 3}}}, {5}).argument, 0);
  EXPECT_NE(call("prng_step", {state}, {int64_t{1} << 40, int64_t{1} << 40}).error, "");
}

TEST(M19, FunctionsOfDimensions) {
  auto number = [](std::string_view name, int64_t a, int64_t b) {
    const std::vector<int64_t> numbers = {a, b};
    return find_special(name)->number(numbers);
  };
  EXPECT_EQ(number("broadcast", 3, 3).value(), 3);
  EXPECT_EQ(number("broadcast", 1, 3).value(), 3);
  EXPECT_EQ(number("broadcast", 3, 1).value(), 3);
  EXPECT_EQ(number("broadcast", 0, 1).value(), 0);
  EXPECT_EQ(number("broadcast", 3, 4).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(number("broadcast", 0, 3).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(number("match", 4, 4).value(), 4);
  EXPECT_EQ(number("match", 1, 4).status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace stria
