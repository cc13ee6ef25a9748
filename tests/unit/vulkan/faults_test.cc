// SPDX-License-Identifier: Apache-2.0
// The plugin `vulkan` through the boundary where its loader, its drivers or its device fail: by the
// plugin's own hook, by the loader's variables, and by a loader with faults between the plugin and
// the driver of this machine.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "faulty_vulkan.h"
#include "stria/exec/device_memory.h"
#include "vulkan_programs.h"

namespace stria::hal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string inject(int submit, const std::string& then) {
  return fmt::format(R"({{"staging": "always", "inject": {{"submit": {}, "then": "{}"}}}})", submit,
                     then);
}

DeviceInfo listed(const Plugin& plugin, const std::string& id) {
  const std::vector<DeviceInfo> all = plugin.devices().value();
  for (const DeviceInfo& info : all)
    if (info.id == id) return info;
  return all.at(0);
}

// Every submission of a program in turn: to the device, two kernels, from the device and back.
TEST(VulkanInjection, OfAFailureIsOneErrorAndNothingMore) {
  for (int at = 1; at <= 4; ++at) {
    Plugin plugin = load_vulkan(inject(at, "fail"));
    Device device = first_device(plugin).value();
    const std::string problem = doubles(device);
    EXPECT_THAT(problem, HasSubstr("VK_ERROR_OUT_OF_DEVICE_MEMORY")) << at;
    EXPECT_THAT(problem, HasSubstr("vkQueueSubmit2, queue '"));
    EXPECT_THAT(problem, HasSubstr(at == 2 ? "kernel 'k0_double_it'" : "copy to the")) << at;
    EXPECT_THAT(problem, Not(HasSubstr("lost")));
    // The device is well.
    EXPECT_EQ(doubles(device), "");
    EXPECT_TRUE(listed(plugin, device.info().id).available);
    device = {};
    EXPECT_TRUE(plugin.shutdown().ok());
  }
}

TEST(VulkanInjection, OfALossIsTheEndOfThisDeviceAlone) {
  for (int at = 1; at <= 4; ++at) {
    Plugin plugin = load_vulkan(inject(at, "lose"));
    Device device = first_device(plugin).value();
    const std::string id = device.info().id;
    const std::string problem = doubles(device);
    EXPECT_THAT(problem, AllOf(HasSubstr("is lost: vkQueueSubmit2, queue '"),
                               HasSubstr("VK_ERROR_DEVICE_LOST")));
    EXPECT_THAT(problem, HasSubstr(at == 2 ? "kernel 'k0_double_it'" : "copy to the")) << at;
    for (const Status& status : {device.allocate(16).status(), device.create_executor().status(),
                                 plugin.open(id).status()})
      EXPECT_THAT(status.message(), HasSubstr("is lost: vkQueueSubmit2")) << at;
    EXPECT_THAT(doubles(device), HasSubstr("is lost"));
    EXPECT_FALSE(listed(plugin, id).available);
    EXPECT_THAT(listed(plugin, id).reason, HasSubstr("is lost"));
    Plugin other = load_vulkan();
    EXPECT_EQ(doubles(first_device(other).value()), "");
    EXPECT_TRUE(other.shutdown().ok());
    device = {};
    EXPECT_TRUE(plugin.shutdown().ok());
  }
}

// What is in flight when the device is lost, before and behind.
TEST(VulkanInjection, OfALossReachesAllThatIsInFlight) {
  Plugin plugin = load_vulkan(R"({"inject": {"submit": 6, "then": "lose"}})");
  Device device = first_device(plugin).value();
  Executor executor = device.create_executor().value();
  Build build = device.create_compiler()->build(doubling()).value();
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = executor.prepare(build.library, 0).value();
  Buffer a = device.allocate(4 * kCount).value(), r = device.allocate(4 * kCount).value();
  std::vector<Event> all;
  Status refused;
  for (int i = 0; i < 20 && refused.ok(); ++i) {
    const std::vector<Event> waits = all.empty() ? all : std::vector<Event>{all.back()};
    auto done = kernel.run(std::vector<Argument>{{r, 0}, {a, 0}}, waits);
    refused = done.status();
    if (done.ok()) all.push_back(*done);
  }
  EXPECT_EQ(refused.code(), StatusCode::device_lost);
  a = {};
  r = {};
  EXPECT_THAT(all.back().wait().message(), HasSubstr("is lost"));
  for (const Event& event : all) (void)event.wait();
  EXPECT_TRUE(executor.drain().ok());
}

TEST(VulkanFeatures, ThatAreHiddenAreNamedWhereTheyAreNeeded) {
  for (const char* feature :
       {"bufferDeviceAddress", "timelineSemaphore", "vulkanMemoryModel", "synchronization2"}) {
    Plugin plugin = load_vulkan(fmt::format(R"({{"hide_features": ["{}"]}})", feature));
    for (const DeviceInfo& info : plugin.devices().value()) {
      EXPECT_FALSE(info.available);
      EXPECT_THAT(info.reason, AllOf(HasSubstr("lacks"), HasSubstr(feature)));
      EXPECT_EQ(plugin.open(info.id).status().code(), StatusCode::unavailable);
    }
    EXPECT_TRUE(plugin.shutdown().ok());
  }
  // Of these there is something else.
  Plugin plugin = load_vulkan(
      R"({"hide_features": ["shaderInt64", "shaderFloat64", "shaderInt8", "shaderInt16",
          "shaderFloat16", "storageBuffer8BitAccess", "storageBuffer16BitAccess",
          "workgroupMemoryExplicitLayout", "subgroupSizeControl", "deviceFault"]})");
  EXPECT_EQ(doubles(first_device(plugin).value()), "");
  EXPECT_TRUE(plugin.shutdown().ok());
}

TEST(VulkanWithoutLoader, ListsWhatToInstall) {
  Plugin plugin = load_vulkan(R"({"loader": "libNoSuchVulkan.so.1"})");
  auto devices = plugin.devices();
  ASSERT_TRUE(devices.ok());
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_FALSE(devices->at(0).available);
  EXPECT_THAT(devices->at(0).reason,
              AllOf(HasSubstr("libNoSuchVulkan.so.1"), HasSubstr("install libvulkan1")));
  EXPECT_EQ(plugin.open(devices->at(0).id).status().code(), StatusCode::unavailable);
  EXPECT_TRUE(plugin.shutdown().ok());
  // A library that is no loader.
  Plugin other = load_vulkan(R"({"loader": "libm.so.6"})");
  EXPECT_THAT(other.devices()->at(0).reason, HasSubstr("no function vkGetInstanceProcAddr"));
  EXPECT_TRUE(other.shutdown().ok());
}

// A variable for the life of this object.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    had_ = std::getenv(name) != nullptr;
    ::setenv(name, value, 1);
  }
  ~Variable() { had_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* const name_;
  std::string before_;
  bool had_ = false;
};

TEST(VulkanLoader, WithoutDriversSaysWhichVariablesAreSet) {
  {
    const Variable disable("VK_LOADER_DRIVERS_DISABLE", "*");
    Plugin plugin = load_vulkan();
    const DeviceInfo info = plugin.devices()->at(0);
    EXPECT_FALSE(info.available);
    EXPECT_THAT(info.reason,
                AllOf(HasSubstr("finds no driver"), HasSubstr("VK_LOADER_DRIVERS_DISABLE=*")));
    EXPECT_TRUE(plugin.shutdown().ok());
  }
  const Variable files("VK_DRIVER_FILES", "/nowhere/none.json");
  const Variable names("VK_ICD_FILENAMES", "/nowhere/none.json");
  Plugin plugin = load_vulkan();
  EXPECT_THAT(plugin.devices()->at(0).reason, HasSubstr("VK_DRIVER_FILES=/nowhere/none.json"));
  EXPECT_TRUE(plugin.shutdown().ok());
}

// A variable of the loader with faults.
std::atomic<int>& loaders(const char* name) {
  void* loader = ::dlopen(STRIA_FAULTY_VULKAN, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(loader, nullptr) << ::dlerror();
  auto* place = static_cast<std::atomic<int>*>(::dlsym(loader, name));
  EXPECT_NE(place, nullptr) << name;
  return *place;
}
void set_fault(VulkanFault fault) { loaders("stria_vulkan_fault") = fault; }

class VulkanFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    set_fault(kNoFault);
    load("");
  }
  void load(const std::string& more) {
    plugin_ = load_vulkan(R"({"loader": ")" STRIA_FAULTY_VULKAN R"(")" + more + "}");
  }
  void load_again(const std::string& more) {
    device_ = {};
    ASSERT_TRUE(plugin_.shutdown().ok());
    load(more);
  }
  void TearDown() override {
    device_ = {};
    set_fault(kNoFault);
    const Status status = plugin_.shutdown();
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  const Device& device() {
    device_ = first_device(plugin_).value();
    return device_;
  }
  Plugin plugin_;
  Device device_;
};

TEST_F(VulkanFaults, DriversThatAreOfNoUseSayWhy) {
  set_fault(kNoDriver);
  EXPECT_THAT(plugin_.devices()->at(0).reason, HasSubstr("the Vulkan loader finds no driver"));
  set_fault(kNoDevice);
  EXPECT_THAT(plugin_.devices()->at(0).reason, HasSubstr("no Vulkan driver has a device"));
  set_fault(kOldDriver);
  for (const DeviceInfo& info : plugin_.devices().value()) {
    EXPECT_FALSE(info.available);
    EXPECT_THAT(info.reason, HasSubstr("Vulkan 1.1.0; 1.2 is needed"));
  }
  set_fault(kNoComputeQueue);
  EXPECT_THAT(plugin_.devices()->at(0).reason, HasSubstr("none of its queues computes"));
  set_fault(kNoFault);
  EXPECT_EQ(doubles(device()), "");
}

TEST_F(VulkanFaults, ADeviceThatCannotBeMadeIsListedSo) {
  const std::string id = chosen_device_id("vulkan", plugin_.devices().value());
  set_fault(kNoDeviceMade);
  const Status status = plugin_.open(id).status();
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_THAT(status.message(), HasSubstr("VK_ERROR_INITIALIZATION_FAILED"));
  EXPECT_FALSE(listed(plugin_, id).available);
  EXPECT_THAT(listed(plugin_, id).reason, HasSubstr("its driver cannot make it: vkCreateDevice"));
}

TEST_F(VulkanFaults, TwoDevicesOfOneKindHaveIdsOfTheirOwn) {
  const size_t count = plugin_.devices()->size();
  const std::string id = plugin_.devices()->at(0).id;
  set_fault(kTwins);
  EXPECT_EQ(plugin_.devices()->size(), 2 * count);
  EXPECT_TRUE(listed(plugin_, id).available);
  EXPECT_EQ(listed(plugin_, id + ".1").id, id + ".1");
  EXPECT_EQ(listed(plugin_, id + ".1").name, listed(plugin_, id).name);
  Device second = plugin_.open(id + ".1").value(), first = plugin_.open(id).value();
  EXPECT_EQ(doubles(second), "");
  EXPECT_EQ(doubles(first), "");
}

TEST_F(VulkanFaults, OutOfMemoryNamesSizesAndLiveBuffers) {
  const exec::DeviceMemory memory(device());
  auto first = memory.allocate(4096, "tensor 'A'", "the caller");
  ASSERT_TRUE(first.ok());
  set_fault(kNoMemory);
  const uint64_t bytes = uint64_t{100} << 20;
  auto second = memory.allocate(bytes, "tensor 'B'", "a test");
  EXPECT_EQ(second.status().code(), StatusCode::out_of_memory);
  for (const char* part :
       {"no memory for 104857600 bytes for tensor 'B', held by a test",
        "1 buffers of 4096 bytes are alive:", "4096 bytes: tensor 'A', held by the caller",
        "no device memory for 104857600 bytes on",
        "vkAllocateMemory: VK_ERROR_OUT_OF_DEVICE_MEMORY", "1 buffers of 4096 bytes are in use"})
    EXPECT_THAT(second.status().message(), HasSubstr(part));
  // In the block that is there already there is room.
  EXPECT_TRUE(device_.allocate(1 << 20).ok());
  set_fault(kNoFault);
  EXPECT_TRUE(memory.allocate(bytes, "tensor 'B'", "a test").ok());
  first = Buffer();
}

// Each is refused by the limit that it does not keep, and no other.
TEST_F(VulkanFaults, TensorsThatAreTooLargeNameTheLimit) {
  const auto refused = [this](uint64_t bytes) {
    const Status status = device_.allocate(bytes).status();
    EXPECT_EQ(status.code(), StatusCode::out_of_memory);
    return std::string(status.message());
  };
  set_fault(kSmallBuffers);
  const uint64_t all = device().info().memory_bytes;
  EXPECT_THAT(refused(kSmallBytes + 1),
              AllOf(HasSubstr("no device memory for 1048577 bytes on"),
                    HasSubstr("one buffer has 1048576 at most"), Not(HasSubstr("VK_ERROR"))));
  EXPECT_TRUE(device_.allocate(kSmallBytes).ok());
  load_again("");
  set_fault(kSmallPieces);
  device();
  EXPECT_THAT(refused(kSmallBytes + 1),
              HasSubstr("vkAllocateMemory: VK_ERROR_OUT_OF_DEVICE_MEMORY, the driver promises "
                        "1048576 in one piece at most"));
  EXPECT_TRUE(device_.allocate(kSmallBytes).ok());
  // More than there is, and more than is left: the driver is not asked.
  load_again("");
  set_fault(kNoFault);
  device();
  if (all > uint64_t{8} << 30) return;
  EXPECT_THAT(refused(all + 1), AllOf(HasSubstr(fmt::format("there are {} in all", all)),
                                      Not(HasSubstr("VK_ERROR"))));
  const uint64_t most = all / 4 * 3;
  const Buffer large = device_.allocate(most).value();
  EXPECT_THAT(refused(most), AllOf(HasSubstr(fmt::format("the limit is {}", all)),
                                   HasSubstr("1 buffers of"), Not(HasSubstr("VK_ERROR"))));
}

TEST_F(VulkanFaults, AModuleThatTheDriverRejectsFailsItsBuildAloneAndIsKept) {
  const TemporaryFolder cache;
  const Variable folder("XDG_CACHE_HOME", cache.path().c_str());
  device();
  set_fault(kRejects);
  const std::string rejected = doubles(device_);
  EXPECT_THAT(rejected, HasSubstr("vkCreateComputePipelines of 'k0_double_it' on"));
  EXPECT_THAT(rejected,
              HasSubstr("the module is " + cache.path().string() + "/stria/refused/vulkan_"));
  EXPECT_THAT(rejected, HasSubstr(".spv"));
  set_fault(kNoFault);
  EXPECT_EQ(doubles(device_), "");
}

// Whatever the device has, copies go through staging memory, too: then others than the kernel are
// under way, and may be whose trouble is noticed first.
class VulkanLoss : public VulkanFaults, public ::testing::WithParamInterface<const char*> {
 protected:
  void load_staged(const std::string& more = "") {
    load_again(fmt::format(R"(, "staging": "{}"{})", GetParam(), more));
  }
  // Of a device that is lost now.
  void expect_nothing_freed() {
    const int memories = loaders("stria_vulkan_memories");
    std::atomic<int>& freed = loaders("stria_vulkan_freed_after_loss");
    freed = 0;
    EXPECT_THAT(doubles(device_), HasSubstr("is lost"));
    device_ = {};
    EXPECT_TRUE(plugin_.shutdown().ok());
    EXPECT_EQ(freed, 0);
    EXPECT_EQ(loaders("stria_vulkan_memories"), memories);
    load("");
  }
};

TEST_P(VulkanLoss, ByASubmissionThatHangsNamesItsKernelAndFreesNothing) {
  // Far more than a kernel takes that does not hang, on any machine under any load.
  load_staged(R"(, "hang_limit_ms": 3000)");
  ASSERT_EQ(doubles(device()), "");
  EXPECT_THAT(doubles(device_, [] { set_fault(kHangs); }),
              AllOf(HasSubstr("is lost: a submission, queue '"), HasSubstr("kernel 'k0_double_it'"),
                    HasSubstr("has not ended after 3000 ms")));
  expect_nothing_freed();
}

TEST_P(VulkanLoss, ByTheDriverNamesItsKernelAndFreesNothing) {
  load_staged();
  ASSERT_EQ(doubles(device()), "");
  const std::string id = device_.info().id;
  EXPECT_THAT(doubles(device_, [] { set_fault(kLost); }),
              AllOf(HasSubstr("is lost: vkWaitSemaphores, queue '"),
                    HasSubstr("kernel 'k0_double_it'"), HasSubstr("VK_ERROR_DEVICE_LOST")));
  EXPECT_FALSE(listed(plugin_, id).available);
  set_fault(kNoFault);
  Plugin other = load_vulkan();
  EXPECT_EQ(doubles(first_device(other).value()), "");
  EXPECT_TRUE(other.shutdown().ok());
  set_fault(kLost);
  expect_nothing_freed();
}

// As NVIDIA's driver does it (DeviceQueue::ask_whether_lost).
TEST_P(VulkanLoss, ThatTheDriverTellsNoWaiterNamesItsKernelAndFreesNothing) {
  load_staged();
  ASSERT_EQ(doubles(device()), "");
  EXPECT_THAT(doubles(device_, [] { set_fault(kLostInSilence); }),
              AllOf(HasSubstr("is lost: vkQueueSubmit2, queue '"),
                    HasSubstr("kernel 'k0_double_it'"), HasSubstr("VK_ERROR_DEVICE_LOST")));
  expect_nothing_freed();
}

INSTANTIATE_TEST_SUITE_P(All, VulkanLoss, ::testing::Values("auto", "always"));

TEST_F(VulkanFaults, ADeviceThatIsLostTellsTheDriversReport) {
  set_fault(kReports);
  ASSERT_EQ(doubles(device()), "");
  EXPECT_THAT(doubles(device_, [] { set_fault(kLost); }),
              AllOf(HasSubstr("kernel 'k0_double_it'"), HasSubstr("VK_ERROR_DEVICE_LOST"),
                    HasSubstr("; the driver reports: made up, invalid write at 0xabc000, within "
                              "4096 bytes")));
  device_ = {};
  EXPECT_TRUE(plugin_.shutdown().ok());
  load("");
}

// On a GPU that is there to be lost: its kernel writes where no memory is. A software device would
// end the process.
TEST_F(VulkanFaults, ADeviceThatIsReallyLostNamesKernelAndQueue) {
  if (std::getenv("STRIA_TEST_REAL_LOSS") == nullptr)
    GTEST_SKIP() << "STRIA_TEST_REAL_LOSS is not set: no device may be lost";
  const std::string name = device().info().name;
  ASSERT_EQ(name.find("software"), std::string::npos) << name << " is this process";
  ASSERT_EQ(doubles(device_), "");
  std::atomic<int>& freed = loaders("stria_vulkan_freed_after_loss");
  freed = 0;
  const std::string problem = doubles(device_, [] { set_fault(kNowhere); });
  std::printf("%s\n", problem.c_str());
  EXPECT_THAT(problem,
              AllOf(HasSubstr("is lost: "), HasSubstr("queue 'compute'"),
                    HasSubstr("kernel 'k0_double_it'"), HasSubstr("VK_ERROR_DEVICE_LOST")));
  EXPECT_THAT(device_.allocate(16).status().message(), HasSubstr("is lost: "));
  device_ = {};
  EXPECT_TRUE(plugin_.shutdown().ok());
  EXPECT_EQ(freed, 0);
  set_fault(kNoFault);
  load("");
  EXPECT_EQ(doubles(device()), "") << "the same GPU, as a device that is made anew";
}

// A kernel behind a copy that hangs: both say the same, and it names both.
TEST_F(VulkanFaults, ACopyThatHangsIsNamedByTheKernelBehindIt) {
  load_again(R"(, "staging": "always", "hang_limit_ms": 3000)");
  Executor executor = device().create_executor().value();
  Build build = device_.create_compiler()->build(doubling()).value();
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = executor.prepare(build.library, 0).value();
  Buffer a = device_.allocate(4 * kCount).value(), r = device_.allocate(4 * kCount).value();
  set_fault(kHangs);
  Event written = write(a, numbers()).value();
  Event done = kernel.run(std::vector<Argument>{{r, 0}, {a, 0}}, {&written, 1}).value();
  const std::string message = done.wait().message();
  EXPECT_EQ(written.wait().message(), message);
  EXPECT_THAT(message, AllOf(HasSubstr("copy to the device"), HasSubstr("kernel 'k0_double_it'"),
                             HasSubstr("has not ended after 3000 ms"), HasSubstr("under way: ")));
}

// A batch that comes again is not recorded again, and has no barrier that it does not need.
TEST_F(VulkanFaults, BatchesAreRecordedOnce) {
  Executor executor = device().create_executor().value();
  Build build = device_.create_compiler()->build(doubling()).value();
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = executor.prepare(build.library, 0).value();
  std::vector<Argument> places;
  for (int i = 0; i < 5; ++i) places.push_back({device_.allocate(4 * kCount).value(), 0});
  Event written = write(places[0].buffer, std::vector<float>(kCount, 1)).value();
  // 1 and 2 of 0, then 3 of 1 and 4 of 2.
  const std::vector<Launch> batch = {{kernel, {places[1], places[0]}, {}},
                                     {kernel, {places[2], places[0]}, {}},
                                     {kernel, {places[3], places[1]}, {0}},
                                     {kernel, {places[4], places[2]}, {1}}};
  ASSERT_TRUE(executor.submit(batch, {&written, 1})->wait().ok());
  std::atomic<int>&recordings = loaders("stria_vulkan_recordings"),
  &submits = loaders("stria_vulkan_submits"), &barriers = loaders("stria_vulkan_barriers");
  recordings = submits = barriers = 0;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(executor.submit(batch)->wait().ok());
  EXPECT_EQ(recordings, 0);
  EXPECT_EQ(submits, 10);
  // Where one of its arguments is another: at the start, between the two pairs, at the end.
  std::vector<Launch> other = batch;
  std::swap(other[2].arguments[0], other[3].arguments[0]);
  ASSERT_TRUE(executor.submit(other)->wait().ok());
  EXPECT_EQ(recordings, 1);
  EXPECT_LE(barriers, 3);
  EXPECT_GE(barriers, 2);
  // The same kernels and tensors in another order.
  other[3].after = {0, 2};
  ASSERT_TRUE(executor.submit(other)->wait().ok());
  EXPECT_EQ(recordings, 2);
  // More at the same time than recordings are kept: those beyond are for one use.
  recordings = 0;
  Event gate = device_.create_event().value();
  std::vector<Event> all;
  for (int i = 0; i < 8; ++i) all.push_back(executor.submit(batch, {&gate, 1}).value());
  ASSERT_TRUE(gate.signal().ok());
  for (const Event& event : all) ASSERT_TRUE(event.wait().ok());
  EXPECT_LE(recordings, 7);
  auto values = read(places[3].buffer, all.back());
  ASSERT_TRUE(values.ok());
  EXPECT_EQ((*values)[77], 4);
}

// Copies have a queue of the driver's of their own: each waits for the other's semaphore, and
// nothing waits for what is in the same queue.
TEST_F(VulkanFaults, QueuesOfTheDriverWaitForEachOther) {
  set_fault(kTransferQueue);
  load_again(R"(, "staging": "always")");
  Executor executor = device().create_executor().value();
  Build build = device_.create_compiler()->build(doubling()).value();
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = executor.prepare(build.library, 0).value();
  Buffer a = device_.allocate(4 * kCount).value(), r = device_.allocate(4 * kCount).value();
  std::atomic<int>&waits = loaders("stria_vulkan_waits"),
  &submits = loaders("stria_vulkan_submits");
  waits = submits = 0;
  Event written = write(a, numbers()).value();
  Event there = kernel.run(std::vector<Argument>{{r, 0}, {a, 0}}, {&written, 1}).value();
  Event back = kernel.run(std::vector<Argument>{{a, 0}, {r, 0}}, {&there, 1}).value();
  auto result = read(a, back);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ((*result)[77], 4 * 77);
  // In, twice on the device, out and back in.
  EXPECT_EQ(submits, 5);
  EXPECT_EQ(waits, 2);
  EXPECT_GT(*written.duration_ns(), 0u);
  EXPECT_EQ(doubles(device_), "");
}

// Built when first needed, for tensors that begin at no multiple of 64 bytes.
TEST_F(VulkanFaults, KernelsForAnyOffsetAreBuiltWhenTheyAreNeeded) {
  Executor executor = device().create_executor().value();
  Build build = device_.create_compiler()->build(doubling()).value();
  ASSERT_TRUE(build.done.wait().ok());
  Kernel kernel = executor.prepare(build.library, 0).value();
  Buffer a = device_.allocate(4 * kCount + 64).value(), r = device_.allocate(4 * kCount).value();
  std::atomic<int>& pipelines = loaders("stria_vulkan_pipelines");
  pipelines = 0;
  EXPECT_TRUE(kernel.run(std::vector<Argument>{{r, 0}, {a, 64}})->wait().ok());
  EXPECT_EQ(pipelines, 0);
  EXPECT_TRUE(kernel.run(std::vector<Argument>{{r, 0}, {a, 4}})->wait().ok());
  EXPECT_TRUE(kernel.run(std::vector<Argument>{{r, 0}, {a, 8}})->wait().ok());
  EXPECT_EQ(pipelines, 1);
}

}  // namespace
}  // namespace stria::hal
