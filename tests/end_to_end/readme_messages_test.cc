// SPDX-License-Identifier: Apache-2.0
// What the README shows under "When something is wrong" is what the command prints: each `$ cat`
// there makes a file, each `$ stria` runs, and the lines below it are its messages.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "command.h"

namespace stria::end_to_end {
namespace {

std::string readme() {
  std::ifstream in(STRIA_SOURCE_DIR "/README.md");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// What follows `start`, up to `end`. Ends the test if they are not there.
std::string between(const std::string& text, const std::string& start, const std::string& end) {
  const size_t first = text.find(start);
  if (first == std::string::npos) throw std::runtime_error("the README has no '" + start + "'");
  const size_t from = first + start.size();
  return text.substr(from, text.find(end, from) - from);
}

// A line of a transcript: "$ command", with what it prints.
struct Step {
  std::string command, output;
};

// Indented lines of `text`; a command that ends in "\" goes on in the next line.
std::vector<Step> steps_of(const std::string& text) {
  std::vector<Step> steps;
  std::istringstream lines(text);
  bool goes_on = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("    ", 0) != 0) continue;
    line.erase(0, 4);
    const bool starts = line.rfind("$ ", 0) == 0;
    if (starts) steps.push_back({});
    if (steps.empty()) throw std::runtime_error("no command before: " + line);
    if (starts || goes_on) {
      goes_on = line.back() == '\\';
      if (goes_on) line.pop_back();
      steps.back().command += starts ? line.substr(2) : line;
    } else {
      steps.back().output += line + "\n";
    }
  }
  return steps;
}

TEST(ReadmeMessages, AreWhatTheCommandsPrint) {
  const std::string text = readme();
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
