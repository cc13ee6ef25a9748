// SPDX-License-Identifier: Apache-2.0
// docs/stripe_in_twenty_minutes.md from the first line to the last: each `$ cat` there makes a
// file, each `$ stria` runs and prints what the page shows.
#include <gtest/gtest.h>

#include "command.h"
#include "transcript.h"

namespace stria::end_to_end {
namespace {

TEST(StripeInTwentyMinutes, CommandsPrintWhatThePageShows) {
  const Folder folder;
  int commands = 0;
  for (const Step& step : steps_of(read_page("docs/stripe_in_twenty_minutes.md"))) {
    std::vector<std::string> command = words(step.command);
    ASSERT_GE(command.size(), 2u);
    if (command[0] == "cat") {
      folder.write(command[1], step.output);
      continue;
    }
    ASSERT_EQ(command[0], "stria");
    command.erase(command.begin());
    const Ended ended = folder.stria(command);
    EXPECT_TRUE(shows(step.output, ended.out + ended.err))
        << step.command << "\nprints\n"
        << ended.out << ended.err << "and the page shows\n"
        << step.output;
    ++commands;
  }
  EXPECT_GE(commands, 10);
}

TEST(Transcript, DotsStandForAnyLines) {
  EXPECT_TRUE(shows("a\n…\nd\n", "a\nb\n\nc\nd\n"));
  EXPECT_TRUE(shows("…\n", ""));
  EXPECT_FALSE(shows("a\n…\n", "b\na\n"));
  EXPECT_FALSE(shows("a\n", "a\nb\n"));
  EXPECT_FALSE(shows("a\nb\n", "a\n"));
}

}  // namespace
}  // namespace stria::end_to_end
