// SPDX-License-Identifier: Apache-2.0
// Which of several devices `auto` takes.
#include <gtest/gtest.h>

#include "bad_folder.h"
#include "stria/runtime/runtime.h"

namespace stria::bad_plugins {
namespace {

class AutoTest : public ::testing::Test {
 protected:
  // A plugin whose device's model promises so many operations in a cycle.
  void add(const std::string& name, const std::string& kind, int operations,
           bool simulated = false) {
    ManifestText manifest;
    manifest.kind = kind;
    const fs::path made = make_bad(folder_.path(), name, manifest);
    put(made / "misdeed", kind == "software" ? "devices of_software\n" : "\n");
    put(made / "hw/reference.json",
        fmt::format(R"({{"name": "{}", "simulated": {}, "clock_mhz": 1000,
            "mem_units": {{"DRAM": {{"count": 1, "size_KiB": 1024}}}},
            "exec_units": {{"CORE": {{"count": 1, "ops_per_cycle": {}}}}}}})",
                    name, simulated, operations));
  }
  void remove(const std::string& name) { fs::remove_all(folder_.path() / name); }
  std::string taken() const {
    RuntimeOptions options;
    options.plugin_paths = {folder_.path()};
    options.only_plugin_paths = true;
    const Runtime runtime(options);
    const Result<Device> device = runtime.open("auto");
    return device.ok() ? device->info().plugin : device.status().to_string();
  }

 private:
  const hal::TemporaryFolder folder_;
};

TEST_F(AutoTest, TakesWhatPromisesMost) {
  add("a", "reference", 10);
  add("b", "reference", 30);
  add("c", "reference", 20);
  EXPECT_EQ(taken(), "b");
}

TEST_F(AutoTest, TakesSoftwareAfterEverythingElse) {
  add("fast_software", "software", 1000);
  add("software", "software", 100);
  add("plain", "reference", 10);
  add("simulated", "reference", 10000, true);
  EXPECT_EQ(taken(), "plain");
  remove("plain");
  EXPECT_EQ(taken(), "simulated");
  remove("simulated");
  EXPECT_EQ(taken(), "fast_software");
  remove("fast_software");
  EXPECT_EQ(taken(), "software");
}

}  // namespace
}  // namespace stria::bad_plugins
