// SPDX-License-Identifier: Apache-2.0
// Programs on a driver that builds what it is told to: what is asked of it, and what the cache
// knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "fake_driver.h"
#include "program.h"
#include "scripted_host.h"
#include "stria/hal/files/disk_cache.h"
#include "stria/hal/host/services.h"

namespace stria::opencl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What the driver below has been told and says.
std::atomic<cl_int> build_answer, binary_answer;

// A driver that builds programs; a binary is "binary" and taken back as such.
OpenCl building_driver() {
  OpenCl cl = telling_driver();
  cl.clCreateProgramWithSource = [](auto, auto, auto, auto, cl_int* code) {
    calls.add("source");
    *code = CL_SUCCESS;
    return some<cl_program>();
  };
  cl.clCreateProgramWithBinary = [](auto, auto, auto, const size_t* size,
                                    const unsigned char** bytes, cl_int* status, cl_int* code) {
    calls.add(std::string(reinterpret_cast<const char*>(*bytes), *size));
    *status = *code = binary_answer;
    return *code == CL_SUCCESS ? some<cl_program>() : nullptr;
  };
  cl.clReleaseProgram = [](auto) -> cl_int {
    calls.add("released");
    return CL_SUCCESS;
  };
  cl.clBuildProgram = [](auto, auto, auto, auto, auto, auto) -> cl_int { return build_answer; };
  cl.clGetProgramBuildInfo = [](auto, auto, auto, size_t, void* value, size_t* size) -> cl_int {
    constexpr char kLog[] = "<source>:3:7: error: no such thing";
    if (size) *size = sizeof kLog;
    if (value) std::memcpy(value, kLog, sizeof kLog);
    return CL_SUCCESS;
  };
  // The second device of a shared context is ours; for the first one nothing was built.
  cl.clGetProgramInfo = [](auto, cl_program_info what, size_t size, void* value, auto) -> cl_int {
    if (what == CL_PROGRAM_NUM_DEVICES) {
      *static_cast<cl_uint*>(value) = 2;
    } else if (size < 2 * sizeof(void*)) {
      return CL_INVALID_VALUE;
    } else if (what == CL_PROGRAM_DEVICES) {
      static_cast<cl_device_id*>(value)[0] = nullptr;
      static_cast<cl_device_id*>(value)[1] = some<cl_device_id>();
    } else if (what == CL_PROGRAM_BINARY_SIZES) {
      static_cast<size_t*>(value)[0] = 0;
      static_cast<size_t*>(value)[1] = 6;
    } else {
      EXPECT_EQ(static_cast<unsigned char**>(value)[0], nullptr);
      std::memcpy(static_cast<unsigned char**>(value)[1], "binary", 6);
    }
    return CL_SUCCESS;
  };
  return cl;
}

class Programs : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)calls.take();
    build_answer = binary_answer = CL_SUCCESS;
  }
  // As a process of its own: builds, and gives what the driver was told.
  std::vector<std::string> build(const std::string& source, const std::string& device = "fake 1.0",
                                 const std::string& options = "-w") {
    hal::HostFunctions functions = hal::scripted_functions(nullptr);
    const auto cache = std::make_shared<hal::DiskCache>(folder_.path() / "cache");
    functions.cache_get = [cache](std::string_view key) { return cache->get(key); };
    functions.cache_put = [cache](std::string_view key, std::string_view value) {
      cache->put(key, value);
      return Status();
    };
    const hal::Services services(std::make_shared<hal::Host>(std::move(functions), 2));
    const sdk::Host host(services.table());
    const OpenCl cl = building_driver();
    FoundDevice found;
    found.info.name = device;
    found.handle = some<cl_device_id>();
    found.may_have_half = device != "no half";
    Context context(host, cl, found);
    (void)calls.take();
    Program program;
    if (source == kHalfProbe)
      has_half_ = context.features().fp16;
    else
      program = build_program(context, source, options);
    return calls.take();
  }
  bool has_half_ = false;
  hal::TemporaryFolder folder_;
};

TEST_F(Programs, AreBuiltOnceForASourceItsOptionsAndADriver) {
  EXPECT_THAT(build("a"), ElementsAre("source"));
  EXPECT_THAT(build("a"), ElementsAre("binary"));
  EXPECT_THAT(build("b"), ElementsAre("source"));
  EXPECT_THAT(build("a", "fake 1.1"), ElementsAre("source"));
  EXPECT_THAT(build("a", "fake 1.0", "-w -cl-mad-enable"), ElementsAre("source"));
  EXPECT_THAT(build("a"), ElementsAre("binary"));
}

TEST_F(Programs, TellOnceWhetherThereIsArithmeticOnHalf) {
  ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  EXPECT_THAT(build(kHalfProbe), ElementsAre("source", "released"));
  EXPECT_TRUE(has_half_);
  EXPECT_THAT(build(kHalfProbe), ElementsAre());
  EXPECT_TRUE(has_half_);
  build_answer = CL_BUILD_PROGRAM_FAILURE;
  EXPECT_THAT(build(kHalfProbe, "fake 2.0"), ElementsAre("source", "released"));
  EXPECT_FALSE(has_half_);
  has_half_ = true;
  build_answer = CL_SUCCESS;
  EXPECT_THAT(build(kHalfProbe, "fake 2.0"), ElementsAre());
  EXPECT_FALSE(has_half_);
  EXPECT_THAT(build(kHalfProbe, "no half"), ElementsAre());
  // A question is no fault that anyone has to look into.
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "stria" / "refused"));
}

TEST_F(Programs, WhoseBinaryIsDamagedOrRefusedAreBuiltAgain) {
  EXPECT_THAT(build("a"), ElementsAre("source"));
  binary_answer = CL_INVALID_BINARY;
  EXPECT_THAT(build("a"), ElementsAre("binary", "source"));
  binary_answer = CL_SUCCESS;
  for (const auto& file : std::filesystem::directory_iterator(folder_.path() / "cache")) {
    std::fstream bytes(file.path(), std::ios::in | std::ios::out);
    bytes.seekp(-1, std::ios::end) << 'x';
  }
  EXPECT_THAT(build("a"), ElementsAre("source"));
  EXPECT_THAT(build("a"), ElementsAre("binary"));
}

TEST_F(Programs, ThatTheDriverRejectsAreKeptAsSource) {
  build_answer = CL_BUILD_PROGRAM_FAILURE;
  ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  std::string message;
  try {
    build("a source");
  } catch (const sdk::Error& error) {
    message = error.what();
    EXPECT_EQ(error.outcome()->native_message, "<source>:3:7: error: no such thing");
  }
  EXPECT_THAT(calls.take(), ElementsAre("source", "released"));
  EXPECT_THAT(message, HasSubstr("clBuildProgram on 'fake 1.0': CL_BUILD_PROGRAM_FAILURE; "));
  EXPECT_THAT(message, HasSubstr("the driver says: <source>:3:7: error: no such thing"));
  const size_t at = message.find(folder_.path().string());
  ASSERT_NE(at, std::string::npos) << message;
  std::ifstream kept(message.substr(at, message.find(';', at) - at));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "a source");
}

}  // namespace
}  // namespace stria::opencl
