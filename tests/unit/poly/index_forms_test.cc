// SPDX-License-Identifier: Apache-2.0
#include "stria/poly/index_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace stria {
namespace {

using testing::ElementsAre;

Affine form(int64_t constant, std::initializer_list<Affine::Term> terms) {
  Affine out(constant);
  for (const auto& [name, coefficient] : terms) out.add_term(name, coefficient);
  return out;
}

TEST(IndexForms, TightenedKeepsTheIntegerPoints) {
  EXPECT_EQ(tightened(form(-1, {{"i", 2}})), form(-1, {{"i", 1}}));  // 2 i >= 1: i >= 1
  EXPECT_EQ(tightened(form(7, {{"i", -4}, {"j", 6}})), form(3, {{"i", -2}, {"j", 3}}));
  EXPECT_EQ(tightened(form(5, {{"i", 1}, {"j", 6}})), form(5, {{"i", 1}, {"j", 6}}));
  EXPECT_EQ(tightened(Affine(-3)), Affine(-3));
}

TEST(IndexForms, ToldApart) {
  EXPECT_THAT(told_apart(form(0, {{"k", 1}, {"x", 2}}), {{"k", 2}, {"x", 9}}, 1),
              ElementsAre("k", "x"));
  EXPECT_THAT(told_apart(form(0, {{"k", 1}, {"x", 2}}), {{"k", 3}, {"x", 9}}, 1), ElementsAre());
  EXPECT_THAT(told_apart(form(0, {{"k", 1}, {"x", -4}}), {{"k", 3}, {"x", 9}}, 2),
              ElementsAre("x"));
  EXPECT_THAT(told_apart(form(0, {{"k", 1}, {"x", 2}}), {{"k", 1}, {"x", 9}}, 1), ElementsAre("x"));
}

// An index that is told apart never has two values at one value of the form.
TEST(IndexForms, ToldApartAgreesWithEnumeration) {
  std::mt19937 engine(3);
  int apart_count = 0;
  for (int round = 0; round < 300; ++round) {
    std::map<std::string, int64_t> ranges;
    Affine f;
    for (const char* name : {"a", "b", "c"}) {
      ranges[name] = 1 + static_cast<int64_t>(engine() % 4);
      f.add_term(name, static_cast<int64_t>(engine() % 19) - 9);
    }
    for (const std::string& name : told_apart(f, ranges, 1)) {
      ++apart_count;
      std::map<int64_t, int64_t> value_of;  // of the form -> of the index
      for (int64_t a = 0; a < ranges["a"]; ++a)
        for (int64_t b = 0; b < ranges["b"]; ++b)
          for (int64_t c = 0; c < ranges["c"]; ++c) {
            const std::map<std::string, int64_t> at = {{"a", a}, {"b", b}, {"c", c}};
            auto [known, added] = value_of.emplace(f.evaluate(at), at.at(name));
            EXPECT_EQ(known->second, at.at(name)) << f.to_string();
          }
    }
  }
  EXPECT_GT(apart_count, 100);
}

TEST(IndexForms, SubstituteChecked) {
  const std::map<std::string, Affine> values = {{"i", form(3, {{"x", 2}, {"y", -1}})}};
  auto result = substitute_checked(form(1, {{"i", -2}, {"j", 5}, {"x", 4}}), values);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, form(-5, {{"j", 5}, {"y", 2}}));
  const int64_t big = std::numeric_limits<int64_t>::max() / 2;
  EXPECT_EQ(substitute_checked(form(0, {{"i", big}}), values).status().code(),
            StatusCode::out_of_range);
}

}  // namespace
}  // namespace stria
