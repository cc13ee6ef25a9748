// SPDX-License-Identifier: Apache-2.0
// What is written is read; what is no message says so.
#include "stria/hal/isolation/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/hal/isolation/messages.h"

namespace stria::hal::isolation {
namespace {

using ::testing::HasSubstr;

template <typename M>
std::string body_of(const M& message) {
  return encoded(message).substr(Header::kBytes);
}

// What the reader says of bytes that are no M; "" if they are one.
template <typename M>
std::string wrong(std::string_view body) {
  try {
    (void)decoded<M>(body);
    return "";
  } catch (const Malformed& error) {
    return error.what();
  }
}

std::string wrong_header(const std::string& bytes) {
  try {
    (void)read_header(bytes);
    return "";
  } catch (const Malformed& error) {
    return error.what();
  }
}

TEST(Wire, IsLittleEndianWithoutPadding) {
  Copy copy;
  copy.executor = 1;
  copy.done = 2;
  copy.source = 3;
  copy.source_offset = 0x1122;
  copy.waits = {9};
  const std::string bytes = encoded(copy, 5);
  ASSERT_EQ(bytes.size(), Header::kBytes + 7 * 8 + 4 + 8);
  EXPECT_EQ(bytes.substr(0, 16), std::string("\x54\0\0\0\x1d\0\x01\0\x05\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(bytes.substr(16 + 24, 8), std::string("\x22\x11\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(bytes.size() - 12), std::string("\x01\0\0\0\x09\0\0\0\0\0\0\0", 12));
}

TEST(Wire, MessagesComeBack) {
  Submit submit;
  submit.executor = 7;
  submit.done = 8;
  submit.waits = {1, 2};
  submit.launches.resize(2);
  submit.launches[1].kernel = 11;
  submit.launches[1].arguments = {{3, 64}};
  submit.launches[1].after = {0};
  const auto again = decoded<Submit>(body_of(submit));
  EXPECT_EQ(again.waits, submit.waits);
  ASSERT_EQ(again.launches.size(), 2u);
  EXPECT_EQ(again.launches[1].arguments[0].offset, 64u);
  EXPECT_EQ(again.launches[1].after, submit.launches[1].after);

  auto cause = std::make_shared<sdk::Failure>();
  cause->message = "the first";
  Done done;
  done.event = 3;
  done.failure = std::make_shared<sdk::Failure>(
      sdk::Failure{STRIA_OUT_OF_MEMORY, "no room", -4, "E4", "a.cc:1", "buy more", cause});
  const auto failed = decoded<Done>(body_of(done));
  ASSERT_TRUE(failed.failure && failed.failure->cause);
  EXPECT_EQ(failed.failure->native_code, -4);
  EXPECT_EQ(failed.failure->suggestion, "buy more");
  EXPECT_EQ(failed.failure->cause->message, "the first");

  Answer<Kernels> answer;
  KernelFields& kernel = answer.value.all.emplace_back();
  kernel.name = "k";
  kernel.arguments.resize(1);
  kernel.arguments[0].direction = Direction::inout;
  kernel.arguments[0].may_overlap = {1, 2};
  const auto kernels = decoded<Answer<Kernels>>(body_of(answer));
  ASSERT_EQ(kernels.value.all.size(), 1u);
  EXPECT_EQ(kernels.value.all[0].arguments[0], kernel.arguments[0]);
}

TEST(Wire, AFailureHasNothingBehindIt) {
  Answer<Hello::Answer> answer;
  answer.value.slots = 5;
  answer.failure = std::make_shared<sdk::Failure>();
  EXPECT_EQ(decoded<Answer<Hello::Answer>>(body_of(answer)).value.slots, 0u);
}

TEST(Wire, WhatIsNoMessageSaysWhy) {
  const std::string whole = body_of(Copy());
  EXPECT_THAT(wrong<Copy>(whole.substr(0, 20)), HasSubstr("needs 8 bytes where 4 are left"));
  EXPECT_THAT(wrong<Copy>(whole + "x"), HasSubstr("1 bytes are left behind the last field"));
  std::string many = whole;
  many[whole.size() - 1] = '\x7f';
  EXPECT_THAT(wrong<Copy>(many), HasSubstr("a list of 2130706432 items where 0 bytes are left"));
  Done done;
  std::string no_boolean = body_of(done);
  no_boolean.back() = 2;
  EXPECT_THAT(wrong<Done>(no_boolean), HasSubstr("2 is no boolean"));
  done.failure = std::make_shared<sdk::Failure>();
  std::string no_code = body_of(done);
  no_code[17] = 99;
  EXPECT_THAT(wrong<Done>(no_code), HasSubstr("99 is no code of a failure"));
}

TEST(Wire, CausesHaveALimit) {
  std::shared_ptr<sdk::Failure> failure;
  for (int i = 0; i < 100; ++i) {
    auto outer = std::make_shared<sdk::Failure>();
    outer->cause = failure;
    failure = outer;
  }
  Done done;
  done.failure = failure;
  int causes = 0;
  for (auto one = decoded<Done>(body_of(done)).failure; one->cause; one = one->cause) ++causes;
  EXPECT_EQ(causes, sdk::kMaxCauses);
  // One that has more was not written by us.
  std::string deep = body_of(Done{}).substr(0, 16);
  const std::string level =
      std::string("\x01\x01\0\0\0", 5) + std::string(8, '\0') + std::string(16, '\0');
  for (int i = 0; i < 20; ++i) deep += level;
  EXPECT_THAT(wrong<Done>(deep + '\0'), HasSubstr("a failure has more than 8 causes"));
}

TEST(Wire, HeadersAreChecked) {
  std::string bytes = encoded(Ping(), 3);
  EXPECT_EQ(wrong_header(bytes), "");
  bytes[6] = 2;
  EXPECT_THAT(wrong_header(bytes), HasSubstr("a message of version 2, this side speaks version 1"));
  bytes = encoded(Ping());
  bytes[0] = 15;
  EXPECT_THAT(wrong_header(bytes), HasSubstr("a message of 15 bytes, of which 16 to"));
  bytes[3] = '\x7f';
  EXPECT_THAT(wrong_header(bytes), HasSubstr("are allowed"));
}

}  // namespace
}  // namespace stria::hal::isolation
