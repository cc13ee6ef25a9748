// SPDX-License-Identifier: Apache-2.0
// The command on a machine whose Vulkan drivers are bad, or none: the listing has everything else,
// and says what is wrong with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "command.h"

namespace stria::end_to_end {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class VulkanDrivers : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("crashing.json",
                  R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")" STRIA_CRASHING_ICD
                  R"(", "api_version": "1.3.0"}})");
    folder_.write("absent.json", R"({"file_format_version": "1.0.0", "ICD": {"library_path": )"
                                 R"("/nowhere/libvulkan_none.so", "api_version": "1.3.0"}})");
    folder_.write("malformed.json", "{ \"ICD\": oops");
    folder_.write("m.tile", "function (A[N]) -> (R) { R = A + A; }\n");
  }
  // With these drivers alone, and one more variable.
  Ended stria(const std::string& arguments, const std::string& drivers,
              const std::string& name = "", const std::string& value = "") const {
    return folder_.stria(words(arguments), [&] {
      ::setenv("VK_DRIVER_FILES", drivers.c_str(), 1);
      ::setenv("VK_ICD_FILENAMES", drivers.c_str(), 1);
      if (!name.empty()) ::setenv(name.c_str(), value.c_str(), 1);
    });
  }
  // Lists without failing, the other plugins' devices too. Returns the line of the Vulkan plugin.
  std::string listed(const std::string& drivers, const std::string& name = "",
                     const std::string& value = "") const {
    const Ended ended = stria("devices", drivers, name, value);
    EXPECT_EQ(ended.code, 0) << "signal " << ended.signal << ": " << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("llvm_cpu:0"), HasSubstr("reference:0")));
    const Ended json = stria("devices --json", drivers, name, value);
    EXPECT_EQ(json.code, 0) << json.err;
    EXPECT_TRUE(nlohmann::json::accept(json.out)) << json.out;
    const size_t at = ended.out.rfind("\nvulkan") + 1;
    return ended.out.substr(at, ended.out.find('\n', at) - at);
  }
  std::string file(const char* name) const { return folder_.path(name).string(); }

  Folder folder_;
};

TEST_F(VulkanDrivers, OfWhichOneCrashesAreListedAsBroken) {
  for (const std::string& drivers :
       {file("crashing.json"), file("crashing.json") + ":" + std::getenv("VK_DRIVER_FILES")}) {
    EXPECT_THAT(listed(drivers),
                AllOf(HasSubstr("broken: plugin vulkan: it crashed (Aborted), in "),
                      Not(HasSubstr("available"))));
    // Other plugins' devices run, and Vulkan's say why not.
    const Ended other =
        stria("run m.tile --device llvm_cpu --input A=random:1 --shape A=16 --check", drivers);
    EXPECT_EQ(other.code, 0) << other.err;
    const Ended own = stria("run m.tile --device vulkan --input A=random:1 --shape A=16", drivers);
    EXPECT_EQ(own.code, 3) << "signal " << own.signal;
    EXPECT_THAT(own.err, HasSubstr("plugin vulkan: it crashed (Aborted)"));
  }
}

TEST_F(VulkanDrivers, ThatAreNotThereAreListedWithWhatToInstall) {
  for (const char* name : {"absent.json", "none.json"})
    EXPECT_THAT(listed(file(name)),
                AllOf(HasSubstr("not available: the Vulkan loader finds no driver (set: "),
                      HasSubstr("VK_DRIVER_FILES=" + file(name)), HasSubstr("install libvulkan1")));
  // Loaders differ in what they say of this one.
  EXPECT_THAT(
      listed(file("malformed.json")),
      AllOf(HasSubstr("not available: "), HasSubstr("VK_DRIVER_FILES=" + file("malformed.json"))));
}

TEST_F(VulkanDrivers, ThatAreDisabledAreListedWithTheVariable) {
  const char* drivers = std::getenv("VK_DRIVER_FILES");
  ASSERT_NE(drivers, nullptr) << "the tests' environment has no drivers";
  EXPECT_THAT(listed(drivers), HasSubstr(" available"));
  for (const char* pattern : {"*", "*lvp*,*intel*"})
    EXPECT_THAT(listed(drivers, "VK_LOADER_DRIVERS_DISABLE", pattern),
                AllOf(HasSubstr("not available: the Vulkan loader finds no driver (set: "),
                      HasSubstr(std::string("VK_LOADER_DRIVERS_DISABLE=") + pattern)));
  // What does not match is left.
  EXPECT_THAT(listed(drivers, "VK_LOADER_DRIVERS_DISABLE", "*nothing*"),
              AllOf(HasSubstr(" available"), Not(HasSubstr("not available"))));
}

}  // namespace
}  // namespace stria::end_to_end
