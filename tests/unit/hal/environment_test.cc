// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/guard/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <string>

namespace stria::hal {
namespace {

std::set<std::string> names() {
  std::set<std::string> all;
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string text = *variable;
    all.insert(text.substr(0, text.find('=')));
  }
  return all;
}

TEST(Environment, StaysAsItIsWhereTheStarterHasTheSameRights) {
  ::setenv("ACME_DRIVER_FILES", "/tmp/x", 1);
  restrict_environment(false);
  EXPECT_STREQ(std::getenv("ACME_DRIVER_FILES"), "/tmp/x");
}

// Variables of which no driver has been heard yet are cleared like those that are known.
TEST(Environment, ElevatedKeepsOnlyWhatLoadsNothing) {
  for (const char* name : {"ACME_DRIVER_FILES", "OCL_ICD_VENDORS", "VK_DRIVER_FILES", "LOCPATH",
                           "XDG_CACHE_HOME", "STRIA_PLUGIN_PATH", "TMPDIR", "LD_LIBRARY_PATH"})
    ::setenv(name, "/tmp/x", 1);
  ::setenv("LANG", "de_DE.UTF-8", 1);
  ::setenv("LC_NUMERIC", "C", 1);
  ::setenv("TERM", "xterm", 1);
  ::setenv("HOME", "/tmp/x", 1);
  ::setenv("PATH", "/tmp/x", 1);
  restrict_environment(true);
  const std::set<std::string> harmless = {"LANG",  "LANGUAGE", "TERM", "TZ",  "COLUMNS",
                                          "LINES", "NO_COLOR", "HOME", "PATH"};
  for (const std::string& name : names())
    EXPECT_TRUE(name.rfind("LC_", 0) == 0 || harmless.count(name) > 0) << name;
  EXPECT_STREQ(std::getenv("LANG"), "de_DE.UTF-8");
  EXPECT_STREQ(std::getenv("LC_NUMERIC"), "C");
  EXPECT_STREQ(std::getenv("TERM"), "xterm");
  EXPECT_STREQ(std::getenv("PATH"), "/usr/bin:/bin");
  EXPECT_STRNE(std::getenv("HOME"), "/tmp/x");
}

}  // namespace
}  // namespace stria::hal
