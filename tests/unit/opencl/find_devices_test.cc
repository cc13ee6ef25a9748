// SPDX-License-Identifier: Apache-2.0
// What is listed of the devices of several drivers, which are made up here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "device_query.h"
#include "fake_driver.h"
#include "scripted_host.h"

namespace stria::opencl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct FakeDevice {
  cl_device_type type;
  std::map<cl_device_info, uint64_t> numbers;
};

struct FakePlatform {
  const char* name;
  cl_int answer = CL_SUCCESS;
  std::vector<FakeDevice> devices = {};
};

// 64-bit addresses, little-endian, with a compiler, and what else is given.
FakeDevice well(cl_device_type type, std::map<cl_device_info, uint64_t> more) {
  more.insert({{CL_DEVICE_AVAILABLE, CL_TRUE},
               {CL_DEVICE_COMPILER_AVAILABLE, CL_TRUE},
               {CL_DEVICE_ENDIAN_LITTLE, CL_TRUE},
               {CL_DEVICE_ADDRESS_BITS, 64},
               {CL_DEVICE_MAX_WORK_GROUP_SIZE, 1024}});
  return {type, std::move(more)};
}

std::vector<FakePlatform> platforms;
cl_int platforms_answer = CL_SUCCESS;  // to the second question, for the platforms themselves

OpenCl driver() {
  OpenCl cl;
  cl.clGetPlatformIDs = [](cl_uint, cl_platform_id* ids, cl_uint* count) -> cl_int {
    if (count) *count = static_cast<cl_uint>(platforms.size());
    if (!ids) return CL_SUCCESS;
    for (FakePlatform& platform : platforms) *ids++ = reinterpret_cast<cl_platform_id>(&platform);
    return platforms_answer;
  };
  cl.clGetPlatformInfo = [](cl_platform_id id, auto, size_t, void* value, size_t* size) -> cl_int {
    const char* name = reinterpret_cast<FakePlatform*>(id)->name;
    if (size) *size = std::strlen(name) + 1;
    if (value) std::strcpy(static_cast<char*>(value), name);
    return CL_SUCCESS;
  };
  cl.clGetDeviceIDs = [](cl_platform_id id, auto, auto, cl_device_id* ids,
                         cl_uint* count) -> cl_int {
    auto& platform = *reinterpret_cast<FakePlatform*>(id);
    if (platform.answer != CL_SUCCESS) return platform.answer;
    if (count) *count = static_cast<cl_uint>(platform.devices.size());
    if (ids)
      for (FakeDevice& device : platform.devices) *ids++ = reinterpret_cast<cl_device_id>(&device);
    return CL_SUCCESS;
  };
  cl.clGetDeviceInfo = [](cl_device_id id, cl_device_info what, size_t size, void* value,
                          size_t*) -> cl_int {
    const auto& device = *reinterpret_cast<FakeDevice*>(id);
    const auto number = device.numbers.find(what);
    uint64_t answer = device.type;
    if (what != CL_DEVICE_TYPE) {
      if (number == device.numbers.end() || !value) return CL_INVALID_VALUE;
      answer = number->second;
    }
    std::memcpy(value, &answer, std::min(size, sizeof answer));  // little-endian
    return CL_SUCCESS;
  };
  return cl;
}

TEST(FindDevices, ListsEveryDeviceOfEveryPlatform) {
  FakeDevice no_compiler = well(CL_DEVICE_TYPE_GPU, {});
  no_compiler.numbers[CL_DEVICE_COMPILER_AVAILABLE] = CL_FALSE;
  FakeDevice narrow = well(CL_DEVICE_TYPE_ACCELERATOR, {});
  narrow.numbers[CL_DEVICE_ADDRESS_BITS] = 32;
  platforms = {{"absent", CL_DEVICE_NOT_FOUND},
               {"broken", CL_OUT_OF_HOST_MEMORY},
               {"two",
                CL_SUCCESS,
                {well(CL_DEVICE_TYPE_GPU,
                      {{CL_DEVICE_DOUBLE_FP_CONFIG, CL_FP_FMA},
                       {CL_DEVICE_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE},
                       {CL_DEVICE_MAX_COMPUTE_UNITS, 7},
                       {CL_DEVICE_LOCAL_MEM_SIZE, 32 << 10}}),
                 well(CL_DEVICE_TYPE_CPU, {{CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 16}})}},
               {"empty"},
               {"unusable", CL_SUCCESS, {no_compiler, narrow}}};
  const std::vector<FoundDevice> found = find_devices(driver());
  std::vector<std::string> ids;
  for (const FoundDevice& device : found) ids.push_back(device.info.id);
  EXPECT_THAT(ids, testing::ElementsAre("1.none", "2.0", "2.1", "4.0", "4.1"));

  EXPECT_FALSE(found[0].info.available);
  EXPECT_EQ(found[0].info.name, "broken");
  EXPECT_EQ(found[0].info.reason,
            "its driver does not say its devices: clGetDeviceIDs: CL_OUT_OF_HOST_MEMORY");

  EXPECT_TRUE(found[1].info.available) << found[1].info.reason;
  EXPECT_EQ(found[1].info.kind, "gpu");
  EXPECT_TRUE(found[1].features.fp64);
  EXPECT_TRUE(found[1].out_of_order);
  EXPECT_EQ(found[1].local_bytes, 32 << 10);
  EXPECT_EQ(found[1].largest_group, 1024);
  EXPECT_THAT(found[1].info.properties, HasSubstr(R"("count":7)"));

  EXPECT_TRUE(found[2].info.available) << found[2].info.reason;
  EXPECT_EQ(found[2].info.kind, "cpu");
  EXPECT_FALSE(found[2].features.fp64);
  EXPECT_FALSE(found[2].out_of_order);
  EXPECT_THAT(found[2].info.properties, HasSubstr(R"("vector_bytes":64)"));
  // What the driver does not say is the model's to say.
  EXPECT_THAT(found[2].info.properties, testing::Not(HasSubstr("count")));

  EXPECT_EQ(found[3].info.reason, "its driver has no compiler");
  EXPECT_EQ(found[4].info.reason, "its addresses do not have 64 bits");
  EXPECT_EQ(found[4].info.kind, "accelerator");
}

TEST(FindDevices, SaysWhyThereAreNoPlatforms) {
  platforms = {{"one"}};
  platforms_answer = CL_OUT_OF_HOST_MEMORY;
  const std::vector<FoundDevice> found = find_devices(driver());
  platforms_answer = CL_SUCCESS;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].info.reason,
            "the OpenCL loader does not say its drivers: clGetPlatformIDs: CL_OUT_OF_HOST_MEMORY");
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
  EXPECT_THAT(devices[0].info.reason,
              HasSubstr("PoCL cannot run here: the processor is not described"));
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
  devices = find_devices(pocl, sysfs.path().string());
  EXPECT_THAT(calls.take(), ElementsAre("devices"));
  // Its hardware is never absent: that it has no device has another reason.
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].info.name, kPocl);
  EXPECT_THAT(devices[0].info.reason, HasSubstr("PoCL says that it has no device"));
  ::setenv("POCL_DEVICES", "nonsense", 1);
  devices = find_devices(pocl, sysfs.path().string());
  ::unsetenv("POCL_DEVICES");
  EXPECT_THAT(devices[0].info.reason, HasSubstr("POCL_DEVICES is 'nonsense'"));
}

}  // namespace
}  // namespace stria::opencl
