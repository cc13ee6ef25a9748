// SPDX-License-Identifier: Apache-2.0
// What the README shows under "When something is wrong" is what the command prints: each `$ cat`
// there makes a file, each `$ stria` runs, and the lines below it are its messages.
#include <gtest/gtest.h>

#include <sstream>

#include "command.h"
#include "transcript.h"

namespace stria::end_to_end {
namespace {

TEST(ReadmeMessages, AreWhatTheCommandsPrint) {
  const std::string text = read_page("README.md");
  Folder folder;
  // The program and the file that the README has made before.
  std::istringstream program(between(text, "`matmul.tile`:\n\n", "\n\n"));
  std::string tile;
  for (std::string line; std::getline(program, line);) tile += line.substr(4) + "\n";
  folder.write("matmul.tile", tile);
  const Ended compiled =
      folder.stria(words("compile matmul.tile --device llvm_cpu --shape A=64,32 --shape B=32,48 "
                         "-o matmul.stripe"));
  ASSERT_EQ(compiled.code, 0) << compiled.err;

  int messages = 0;
  for (const Step& step : steps_of(between(text, "## When something is wrong\n", "\n## "))) {
    std::vector<std::string> command = words(step.command);
    ASSERT_GE(command.size(), 2u);
    if (command[0] == "cat") {
      folder.write(command[1], step.output);
      continue;
    }
    ASSERT_EQ(command[0], "stria");
    command.erase(command.begin());
    const Ended ended = folder.stria(command);
    EXPECT_EQ(ended.code, 1) << step.command;
    EXPECT_EQ(ended.out, "") << step.command;
    EXPECT_EQ(ended.err, step.output) << step.command;
    ++messages;
  }
  EXPECT_EQ(messages, 3);
}

}  // namespace
}  // namespace stria::end_to_end
