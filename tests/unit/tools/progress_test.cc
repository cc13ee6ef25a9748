// SPDX-License-Identifier: Apache-2.0
// The progress line on a terminal: a child has one as its stderr, and works until it is told to
// end.
#include "progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stria::command {
namespace {

using std::chrono::milliseconds;
using testing::EndsWith;
using testing::StartsWith;

// Reads until `text` ends with `end`, or until nobody writes any more.
void read_until(int file, const std::string& end, std::string& text) {
  char next;
  while (!text.ends_with(end) && ::read(file, &next, 1) == 1) text += next;
}

// What a child writes on its stderr, `stderr_write`, while it has a Progress. It ends once `wanted`
// has been read from `stderr_read`; "" is soon.
std::string shown(int stderr_read, int stderr_write, milliseconds interval,
                  const std::string& wanted) {
  int gate[2];
  EXPECT_EQ(::pipe(gate), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(gate[1]);
    ::dup2(stderr_write, STDERR_FILENO);
    {
      Progress progress("counting", interval);
      char byte;
      (void)!::read(gate[0], &byte, 1);
    }
    std::fflush(stderr);
    ::_exit(0);
  }
  ::close(gate[0]);
  ::close(stderr_write);
  std::string text;
  if (wanted.empty())
    ::usleep(50'000);  // time enough for many intervals, for what must not be shown
  else
    read_until(stderr_read, wanted, text);
  ::close(gate[1]);
  read_until(stderr_read, "\n", text);  // there is none: to the end
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ::close(stderr_read);
  return text;
}

TEST(Progress, CountsOnATerminalAndClearsItsLine) {
  int terminal = -1, side = -1;
  if (::openpty(&terminal, &side, nullptr, nullptr, nullptr) != 0)
    GTEST_SKIP() << "no terminals here: " << std::strerror(errno);  // /dev/pts is not mounted
  const std::string text = shown(terminal, side, milliseconds(1), "\rcounting … 0 s\rcounting");
  EXPECT_THAT(text, StartsWith("\rcounting … 0 s\r"));
  EXPECT_THAT(text, EndsWith("\r\x1b[K"));
}

TEST(Progress, ShowsNothingOnATerminalIfTheWorkIsShort) {
  int terminal = -1, side = -1;
  if (::openpty(&terminal, &side, nullptr, nullptr, nullptr) != 0)
    GTEST_SKIP() << "no terminals here: " << std::strerror(errno);  // /dev/pts is not mounted
  EXPECT_EQ(shown(terminal, side, std::chrono::hours(1), ""), "");
}

TEST(Progress, ShowsNothingElsewhere) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(shown(ends[0], ends[1], milliseconds(1), ""), "");
}

}  // namespace
}  // namespace stria::command
