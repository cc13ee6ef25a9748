// SPDX-License-Identifier: Apache-2.0
// Parts of the plugin on a driver of the test's own making, which fails where real ones hardly ever
// do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "command.h"
#include "device_query.h"
#include "scripted_host.h"
#include "stria/hal/services.h"

namespace stria::opencl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What was called, in order; from any thread.
class Calls {
 public:
  void add(const std::string& call) {
    std::lock_guard<std::mutex> lock(mutex_);
    all_.push_back(call);
  }
  std::vector<std::string> take() {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::move(all_);
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;  // guarded by mutex_
};
Calls calls;
cl_int finish_code = CL_SUCCESS;

// Handles that stand for nothing.
template <typename Handle>
Handle some() {
  static char place;
  return reinterpret_cast<Handle>(&place);
}

// A driver that takes commands and will not say when they are done.
OpenCl unheard_driver() {
  OpenCl cl;
  cl.clCreateContext = [](auto, auto, auto, auto, auto, cl_int* code) {
    *code = CL_SUCCESS;
    return some<cl_context>();
  };
  cl.clCreateCommandQueue = [](auto, auto, auto, cl_int* code) {
    *code = CL_SUCCESS;
    return some<cl_command_queue>();
  };
  cl.clReleaseContext = [](auto) -> cl_int { return CL_SUCCESS; };
  cl.clReleaseCommandQueue = [](auto) -> cl_int { return CL_SUCCESS; };
  cl.clReleaseEvent = [](auto) -> cl_int { return CL_SUCCESS; };
  cl.clFlush = [](auto) -> cl_int { return CL_SUCCESS; };
  cl.clSetEventCallback = [](auto, auto, auto, auto) -> cl_int { return CL_OUT_OF_HOST_MEMORY; };
  cl.clFinish = [](auto) -> cl_int {
    calls.add("finish");
    return finish_code;
  };
  return cl;
}

// Memory that the device uses.
struct Staging : sdk::Object {
  ~Staging() override { calls.add("freed"); }
};

// Starts a command with staging memory and gives what its event says.
std::string outcome_of_command(std::vector<std::string>* called) {
  const OpenCl cl = unheard_driver();
  const hal::Services services(hal::scripted_host(nullptr, 2));
  const sdk::Host host(services.table());
  const auto tracker = sdk::make<sdk::Tracker>();
  FoundDevice device;
  device.info.name = "fake";
  Context context(host, cl, device);
  sdk::Ref<sdk::Event> done =
      start(context, tracker,
            {"clEnqueueReadBuffer",
             [staging = sdk::make<Staging>()](cl_uint, const cl_event*, cl_event* event) -> cl_int {
               *event = some<cl_event>();
               return CL_SUCCESS;
             },
             context.transfer_queue()},
            {});
  EXPECT_TRUE(done->wait(UINT64_MAX));
  EXPECT_TRUE(tracker->wait_for_none(UINT64_MAX));
  *called = calls.take();
  return done->outcome() ? done->outcome()->message : "well";
}

TEST(Command, WhatTheDeviceMayUseGoesAfterTheQueueIsDone) {
  std::vector<std::string> called;
  finish_code = CL_SUCCESS;
  EXPECT_EQ(outcome_of_command(&called), "clSetEventCallback on 'fake': CL_OUT_OF_HOST_MEMORY");
  EXPECT_THAT(called, ElementsAre("finish", "freed"));
}

TEST(Command, WhatTheDeviceMayUseForEverNeverGoes) {
  std::vector<std::string> called;
  finish_code = CL_OUT_OF_RESOURCES;
  EXPECT_EQ(outcome_of_command(&called), "clSetEventCallback on 'fake': CL_OUT_OF_HOST_MEMORY");
  EXPECT_THAT(called, ElementsAre("finish"));
}

// A driver with one platform, which has no devices.
template <const char* kName>
OpenCl driver_of() {
  OpenCl cl;
  cl.clGetPlatformIDs = [](cl_uint, cl_platform_id* ids, cl_uint* count) -> cl_int {
    if (count) *count = 1;
    if (ids) *ids = some<cl_platform_id>();
    return CL_SUCCESS;
  };
  cl.clGetPlatformInfo = [](auto, auto, size_t, void* value, size_t* size) -> cl_int {
    if (size) *size = std::strlen(kName) + 1;
    if (value) std::strcpy(static_cast<char*>(value), kName);
    return CL_SUCCESS;
  };
  cl.clGetDeviceIDs = [](auto, auto, auto, auto, auto) -> cl_int {
    calls.add("devices");
    return CL_DEVICE_NOT_FOUND;
  };
  return cl;
}

constexpr char kPocl[] = "Portable Computing Language";
constexpr char kOther[] = "Other";

TEST(Devices, OfAPlatformThatWouldEndTheProcessAreNotAskedFor) {
  (void)calls.take();
  const hal::TemporaryFolder sysfs;
  const OpenCl pocl = driver_of<kPocl>();
  auto devices = find_devices(pocl, sysfs.path().string());
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_FALSE(devices[0].info.available);
  EXPECT_EQ(devices[0].info.name, kPocl);
  EXPECT_THAT(devices[0].info.reason, HasSubstr("PoCL would abort this process"));
  EXPECT_THAT(devices[0].info.reason, HasSubstr("mount sysfs at " + sysfs.path().string()));
  EXPECT_THAT(calls.take(), ElementsAre());
  // Others do not mind.
  (void)find_devices(driver_of<kOther>(), sysfs.path().string());
  EXPECT_THAT(calls.take(), ElementsAre("devices"));
  // Nor does PoCL where the processor is described.
  const std::filesystem::path topology = sysfs.path() / "devices/system/cpu/cpu0/topology";
  std::filesystem::create_directories(topology);
  (void)find_devices(pocl, sysfs.path().string());
  EXPECT_THAT(calls.take(), ElementsAre());
  std::ofstream(topology / "core_cpus") << "1\n";
  (void)find_devices(pocl, sysfs.path().string());
  EXPECT_THAT(calls.take(), ElementsAre("devices"));
}

}  // namespace
}  // namespace stria::opencl
