// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/files/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "stria/base/file.h"

namespace stria::hal {
namespace {

class DiskCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/stria_disk_cache_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    folder_ = root_ / "a" / "b";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      out.push_back(entry.path());
    return out;
  }
  std::filesystem::path root_, folder_;
};

TEST_F(DiskCacheTest, KeepsWhatWasPutForOtherProcesses) {
  const std::string value = std::string("with a \0 and a \n", 16);
  {
    DiskCache cache(folder_);
    EXPECT_EQ(cache.get("key"), std::nullopt);
    cache.put("key", value);
    cache.put("empty", "");
    EXPECT_EQ(cache.get("key"), value);
  }
  DiskCache cache(folder_);
  EXPECT_EQ(cache.get("key"), value);
  EXPECT_EQ(cache.get("empty"), "");
  EXPECT_EQ(cache.get("Key"), std::nullopt);
  cache.put("key", "new");
  EXPECT_EQ(cache.get("key"), "new");
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(DiskCacheTest, ADamagedEntryIsAMiss) {
  DiskCache cache(folder_);
  const std::string value(1000, 'v');
  cache.put("key", value);
  const std::filesystem::path file = files().at(0);
  const std::string whole = *read_file(file);
  for (size_t size : {size_t{0}, size_t{5}, size_t{60}, whole.size() - 1000, whole.size() - 1}) {
    ASSERT_TRUE(write_file(file, whole.substr(0, size)).ok());
    EXPECT_EQ(cache.get("key"), std::nullopt) << size;
  }
  for (size_t at : {size_t{0}, size_t{20}, whole.size() - 500, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    ASSERT_TRUE(write_file(file, damaged).ok());
    EXPECT_EQ(cache.get("key"), std::nullopt) << at;
  }
  ASSERT_TRUE(write_file(file, whole + "more").ok());
  EXPECT_EQ(cache.get("key"), std::nullopt);
  // An entry that lies where another key's should.
  ASSERT_TRUE(write_file(file, whole).ok());
  cache.put("other", "o");
  const std::filesystem::path other = files().at(0) == file ? files().at(1) : files().at(0);
  std::filesystem::copy_file(file, other, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(cache.get("other"), std::nullopt);
  EXPECT_EQ(cache.get("key"), value);
  // It is written again.
  ASSERT_TRUE(write_file(file, "").ok());
  cache.put("key", value);
  EXPECT_EQ(cache.get("key"), value);
}

TEST_F(DiskCacheTest, HoldsItsLimitAndKeepsWhatIsUsed) {
  DiskCache cache(folder_, 10'000);
  const std::string value(1000, 'v');
  const auto earlier = [&](const std::string& key, int hours) {
    cache.put(key, value);
    std::filesystem::path newest;
    for (const std::filesystem::path& file : files())
      if (newest.empty() || last_write_time(file) > last_write_time(newest)) newest = file;
    last_write_time(newest, last_write_time(newest) - std::chrono::hours(hours));
  };
  for (int n = 0; n < 8; ++n) earlier(std::to_string(n), 100 - n);
  EXPECT_EQ(cache.get("0"), value);  // used now
  for (int n = 8; n < 12; ++n) cache.put(std::to_string(n), value);
  uint64_t bytes = 0;
  for (const std::filesystem::path& file : files()) bytes += file_size(file);
  EXPECT_LE(bytes, 10'000u);
  EXPECT_EQ(cache.get("0"), value);
  EXPECT_EQ(cache.get("1"), std::nullopt);
  EXPECT_EQ(cache.get("11"), value);
  // What is there when a process begins counts too.
  DiskCache later(folder_, 4'000);
  later.put("12", std::string(900, 'v'));
  bytes = 0;
  for (const std::filesystem::path& file : files()) bytes += file_size(file);
  EXPECT_LE(bytes, 4'000u);
  later.put("large", std::string(1001, 'v'));
  EXPECT_EQ(later.get("large"), std::nullopt);
}

TEST_F(DiskCacheTest, AFolderThatOthersMayWriteIsNotUsed) {
  DiskCache cache(folder_);
  cache.put("key", "value");
  struct stat made{};
  ASSERT_EQ(stat(folder_.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0700u);
  for (mode_t mode : {0720, 0702}) {
    ASSERT_EQ(chmod(folder_.c_str(), mode), 0);
    EXPECT_EQ(cache.get("key"), std::nullopt);
    cache.put("second", "value");
    EXPECT_EQ(files().size(), 1u);
  }
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  EXPECT_EQ(cache.get("key"), "value");
  // Nor one that a link stands for.
  const std::filesystem::path link = root_ / "link";
  std::filesystem::create_directory_symlink(folder_, link);
  EXPECT_EQ(DiskCache(link).get("key"), std::nullopt);
}

TEST_F(DiskCacheTest, WhatIsNoFileIsAMissAtOnceAndIsReplaced) {
  const auto begin = std::chrono::steady_clock::now();
  DiskCache cache(folder_);
  cache.put("key", "value");
  const std::filesystem::path file = files().at(0);
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(cache.get("key"), std::nullopt);
  cache.put("key", "value");
  EXPECT_EQ(cache.get("key"), "value");
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/dev/zero", file);
  EXPECT_EQ(cache.get("key"), std::nullopt);
  cache.put("key", "value");
  EXPECT_EQ(cache.get("key"), "value");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(DiskCacheTest, WhereNothingCanBeKeptNothingFails) {
  DiskCache none("");
  none.put("key", "value");
  EXPECT_EQ(none.get("key"), std::nullopt);
  ASSERT_TRUE(write_file(root_ / "a", "a file").ok());
  DiskCache blocked(folder_);
  blocked.put("key", "value");
  EXPECT_EQ(blocked.get("key"), std::nullopt);
}

TEST_F(DiskCacheTest, SeveralAtOnceSeeWholeValues) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      DiskCache cache(folder_, 40'000);
      for (int n = 0; n < 50; ++n) {
        const std::string key = std::to_string(n % 10), value(4000, static_cast<char>('a' + t));
        cache.put(key, value);
        if (const auto seen = cache.get(key)) {
          EXPECT_EQ(seen->size(), 4000u);
          EXPECT_EQ(seen->find_first_not_of((*seen)[0]), std::string::npos);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace stria::hal
