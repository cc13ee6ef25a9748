// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/guard/kept_signals.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>

namespace stria::hal {
namespace {

void of_the_owner(int) {}
void of_a_driver(int) {}

using Handler = void (*)(int);

Handler handler() {
  struct sigaction now{};
  ::sigaction(SIGINT, nullptr, &now);
  return now.sa_handler;
}

class KeptSignalsTest : public testing::Test {
 protected:
  void SetUp() override { before_ = std::signal(SIGINT, of_the_owner); }
  void TearDown() override { (void)std::signal(SIGINT, before_); }

 private:
  Handler before_ = nullptr;
};

TEST_F(KeptSignalsTest, TheOwnersAreThereAgain) {
  {
    const KeptSignals kept;
    (void)std::signal(SIGINT, of_a_driver);
  }
  EXPECT_EQ(handler(), of_the_owner);
}

// Plugins are listed side by side: the second finds what the first one's driver has put there.
TEST_F(KeptSignalsTest, AlsoWherePluginsAreAtItAtOnce) {
  for (const bool first_ends_first : {true, false}) {
    std::optional<KeptSignals> first, second;
    first.emplace();
    (void)std::signal(SIGINT, of_a_driver);
    second.emplace();
    (first_ends_first ? first : second).reset();
    EXPECT_EQ(handler(), of_the_owner);
    (first_ends_first ? second : first).reset();
    EXPECT_EQ(handler(), of_the_owner);
  }
}

TEST_F(KeptSignalsTest, WhatTheOwnerSetsInBetweenCounts) {
  {
    const KeptSignals kept;
  }
  (void)std::signal(SIGINT, SIG_IGN);
  {
    const KeptSignals kept;
  }
  EXPECT_EQ(handler(), SIG_IGN);
}

}  // namespace
}  // namespace stria::hal
