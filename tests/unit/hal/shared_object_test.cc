// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/shared_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "scripted_host.h"
#include "stria/base/file.h"

namespace stria::hal {
namespace {

std::filesystem::path reference() { return built_plugin("reference") / "libstria_reference.so"; }

TEST(SharedObject, ReadsABuiltPlugin) {
  auto object = read_shared_object(reference());
  ASSERT_TRUE(object.ok()) << object.status().to_string();
  EXPECT_THAT(object->exports, ::testing::ElementsAre("stria_plugin_query"));
  EXPECT_FALSE(object->executable_stack);
  EXPECT_TRUE(check_shared_object(reference(), "stria_plugin_query").ok());
  EXPECT_EQ(check_shared_object(reference(), "another").code(), StatusCode::incompatible);
  EXPECT_EQ(read_shared_object("/nowhere").status().code(), StatusCode::not_found);
  EXPECT_EQ(read_shared_object("/").status().code(), StatusCode::not_found);
}

TEST(SharedObject, NoCutIsTakenForTheWhole) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "cut.so";
  const std::string bytes = read_file(reference()).value();
  std::vector<size_t> lengths = {bytes.size() - 1, bytes.size() - 64};
  for (size_t n = 0; n < 200; n += n < 80 ? 1 : 13) lengths.push_back(n);
  for (size_t n = 1; n < 64; ++n) lengths.push_back(bytes.size() / 64 * n);
  for (size_t length : lengths) {
    ASSERT_TRUE(write_file(file, bytes.substr(0, length)).ok());
    EXPECT_FALSE(check_shared_object(file, "stria_plugin_query").ok()) << length;
  }
}

TEST(SharedObject, DamageIsAnErrorNotACrash) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "damaged.so";
  const std::string bytes = read_file(reference()).value();
  // Where the tables are: the head of the file, and its end with the section headers.
  const size_t end = std::min<size_t>(bytes.size(), 4096);
  int refused = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    std::string damaged = bytes;
    for (int change = 0; change < 4; ++change) {
      const size_t at = random() % (change % 2 == 0 ? 512 : end);
      damaged[change % 2 == 0 ? at : bytes.size() - 1 - at] = static_cast<char>(random());
    }
    ASSERT_TRUE(write_file(file, damaged).ok());
    refused += !read_shared_object(file).ok();
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace stria::hal
