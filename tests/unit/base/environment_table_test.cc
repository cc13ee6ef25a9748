// SPDX-License-Identifier: Apache-2.0
// Environment variables that change while other threads read them.
#include "stria/base/environment_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace stria {
namespace {

constexpr const char* kName = "STRIA_TEST_ENVIRONMENT_TABLE";

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "(none)";
}

TEST(EnvironmentTable, SetsChangesAndRemovesAVariable) {
  const std::string path = value_of("PATH");
  set_variable(kName, "one");
  EXPECT_EQ(value_of(kName), "one");
  set_variable(kName, "two=2");
  EXPECT_EQ(value_of(kName), "two=2");
  set_variable(kName, "");
  EXPECT_EQ(value_of(kName), "");
  set_variable(kName, std::nullopt);
  EXPECT_EQ(value_of(kName), "(none)");
  set_variable(kName, std::nullopt);
  EXPECT_EQ(value_of("PATH"), path);
  // A name that begins like it is another one.
  set_variable(std::string(kName) + "_2", "other");
  set_variable(kName, std::nullopt);
  EXPECT_EQ(value_of((std::string(kName) + "_2").c_str()), "other");
  set_variable(std::string(kName) + "_2", std::nullopt);
}

TEST(EnvironmentTable, GoesTogetherWithTheFunctionsOfTheLibrary) {
  ::setenv(kName, "library", 1);
  set_variable(kName, "ours");
  EXPECT_EQ(value_of(kName), "ours");
  ::setenv(kName, "library again", 1);
  EXPECT_EQ(value_of(kName), "library again");
  set_variable(kName, "ours");
  ::unsetenv(kName);
  EXPECT_EQ(value_of(kName), "(none)");
}

TEST(EnvironmentTable, LeavesTheGivenVariablesAlone) {
  std::vector<std::string> before;
  for (char** variable = environ; *variable != nullptr; ++variable) before.emplace_back(*variable);
  replace_variables({"A=1", std::string(kName) + "=2"});
  EXPECT_EQ(value_of("A"), "1");
  EXPECT_EQ(value_of(kName), "2");
  EXPECT_EQ(value_of("PATH"), "(none)");
  replace_variables(before);
  EXPECT_NE(value_of("PATH"), "(none)");
}

// What getenv() in another thread may be reading is not freed; the address sanitizer sees it.
TEST(EnvironmentTable, KeepsWhatOthersRead) {
  ::setenv(kName, "in a table of the library's", 1);
  char** const table = environ;
  const char* const value = std::getenv(kName);
  for (int i = 0; i < 100; ++i) set_variable(kName, std::to_string(i));
  set_variable(kName, std::nullopt);
  int found = 0;
  for (char** variable = table; *variable != nullptr; ++variable)
    found += std::string_view(*variable).starts_with(kName);
  EXPECT_EQ(found, 1);
  EXPECT_STREQ(value, "in a table of the library's");
}

TEST(EnvironmentTable, ChangesBesideReaders) {
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done)
      if (std::getenv("STRIA_TEST_NO_SUCH_VARIABLE")) std::abort();
  });
  for (int i = 0; i < 2000; ++i) {
    set_variable(kName, std::to_string(i));
    set_variable(kName, std::nullopt);
  }
  done = true;
  reader.join();
  EXPECT_EQ(value_of(kName), "(none)");
}

}  // namespace
}  // namespace stria
