// SPDX-License-Identifier: Apache-2.0
// What a plugin that links the reader is: small, quick to load, with one name that others see, and
// without a need for anything of stria's. Its path is in STRIA_LINKED_PLUGIN.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

namespace stria {
namespace {

namespace fs = std::filesystem;
const std::string kPlugin = STRIA_LINKED_PLUGIN;

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  char some[4096];
  for (size_t count; (count = fread(some, 1, sizeof some, pipe)) > 0;) out.append(some, count);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return out;
}

TEST(ReaderLinked, Size) {
  const fs::path stripped =
      fs::temp_directory_path() / ("stria_reader_" + std::to_string(::getpid()) + "_stripped.so");
  output_of("strip -o '" + stripped.string() + "' '" + kPlugin + "'");
  const auto bytes = fs::file_size(stripped);
  fs::remove(stripped);
  std::printf("a plugin with the reader, stripped: %.2f MB\n", static_cast<double>(bytes) / 1e6);
  EXPECT_LE(bytes, 3'000'000u);
}

// The limit is 5 ms, and no machine under load keeps it: a time that is printed.
TEST(ReaderLinked, LoadTime) {
  const auto begin = std::chrono::steady_clock::now();
  void* loaded = dlopen(kPlugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  ASSERT_NE(loaded, nullptr) << dlerror();
  std::printf("a plugin with the reader, with isl, which the host has loaded anyway: %.2f ms\n",
              took.count());
  EXPECT_NE(dlsym(loaded, "stria_plugin_query"), nullptr);
  EXPECT_EQ(dlsym(loaded, "stria_reader_read"), nullptr);
  dlclose(loaded);
  // A plugin must be able to leave.
  EXPECT_EQ(dlopen(kPlugin.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST(ReaderLinked, NamesAndNeeds) {
  EXPECT_THAT(output_of("nm -D --defined-only '" + kPlugin + "' | cut -d' ' -f3"),
              "stria_plugin_query\n");
  const std::string needs =
      output_of("readelf -d '" + kPlugin + "' | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p'");
  EXPECT_THAT(needs, testing::HasSubstr("libisl.so"));
  for (const char* other : {"libstria", "libfmt", "libboost", "libgmp"})
    EXPECT_EQ(needs.find(other), std::string::npos) << needs;
}

}  // namespace
}  // namespace stria
