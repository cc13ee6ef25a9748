// SPDX-License-Identifier: Apache-2.0
// The plugin `opencl` through the boundary on the driver of this machine, with faults switched on
// between the two.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "../../chosen_device.h"
#include "faulty_opencl.h"
#include "scripted_host.h"
#include "stria/exec/device_memory.h"
#include "stria/hal/device.h"

namespace stria::hal {
namespace {

using ::testing::HasSubstr;

constexpr const char* kNegate = R"(stripe 1.0
0: #program block [] ( // negate
    none new@0 A[0] fp32(16:1)
    none new@0 R[0] fp32(16:1)
) {
  0: #main block [] ( // main
      in A[0] fp32(16:1)
      out R[0] fp32(16:1)
  ) {
    0: #kernel #parallel block [x:16] ( // negate_it
        in A[x] fp32(1:1)
        out R[x] fp32(1:1)
    ) {
      0: $a = load(A)
      1: $r = neg.fp32($a)
      2: R = store($r)
    }
  }
}
)";

// A variable of the loader.
std::atomic<int>& loaders(const char* name) {
  void* loader = ::dlopen(STRIA_FAULTY_OPENCL, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(loader, nullptr) << ::dlerror();
  auto* place = static_cast<std::atomic<int>*>(::dlsym(loader, name));
  EXPECT_NE(place, nullptr) << name;
  return *place;
}
void set_fault(OpenClFault fault) { loaders("stria_opencl_fault") = fault; }

Plugin load(const std::string& options) {
  LoadOptions load;
  load.driver_options = options;
  LoadResult loaded = load_plugin(built_plugin("opencl"), scripted_host(nullptr, 2), load);
  EXPECT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  return loaded.plugin;
}

// Calls go(executor, kernel, a, r) for a kernel and two buffers of the device: what its event ends
// with.
template <typename Go>
Status outcome(const Device& device, const Go& go) {
  STRIA_ASSIGN(Compiler compiler, device.create_compiler());
  STRIA_ASSIGN(Executor executor, device.create_executor());
  STRIA_ASSIGN(Build build, compiler.build(kNegate));
  STRIA_RETURN_IF_ERROR(build.done.wait());
  STRIA_ASSIGN(Kernel kernel, executor.prepare(build.library, 0));
  STRIA_ASSIGN(Buffer a, device.allocate(64));
  STRIA_ASSIGN(Buffer r, device.allocate(64));
  STRIA_ASSIGN(Event done, go(executor, kernel, a, r));
  return done.wait();
}

Status run(const Device& device) {
  return outcome(device, [](Executor&, Kernel& kernel, Buffer& a, Buffer& r) {
    return kernel.run(std::vector<Argument>{{r, 0}, {a, 0}});
  });
}

// A batch of two launches of which nobody asks for each.
Status run_unwatched(const Device& device) {
  return outcome(device, [](Executor& executor, Kernel& kernel, Buffer& a, Buffer& r) {
    return executor.submit(
        std::vector<Launch>{{kernel, {{r, 0}, {a, 0}}, {}}, {kernel, {{a, 0}, {r, 0}}, {0}}});
  });
}

class OpenClFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    set_fault(kNoFault);
    plugin_ = load(R"({"loader": ")" STRIA_FAULTY_OPENCL R"("})");
  }
  // Far more than a kernel takes that does not hang, on any machine under any load.
  void limit_to_5_seconds() {
    ASSERT_TRUE(plugin_.shutdown().ok());
    plugin_ = load(R"({"hang_limit_ms": 5000, "loader": ")" STRIA_FAULTY_OPENCL R"("})");
  }
  void TearDown() override {
    device_ = {};
    set_fault(kNoFault);
    const Status status = plugin_.shutdown();
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  const Device& device() {
    id_ = chosen_device_id("opencl", plugin_.devices().value());
    device_ = plugin_.open(id_).value();
    return device_;
  }
  DeviceInfo listed() {
    const std::vector<DeviceInfo> all = plugin_.devices().value();
    for (const DeviceInfo& info : all)
      if (info.id == id_) return info;
    return all.at(0);
  }

  // `message` is in what fails from now on, on this device alone.
  void expect_lost(const std::string& message) {
    EXPECT_EQ(run(device_).code(), StatusCode::device_lost);
    for (const Status& status : {run(device_), device_.allocate(16).status(),
                                 device_.create_executor().status(), plugin_.open(id_).status()}) {
      EXPECT_FALSE(status.ok());
      EXPECT_THAT(status.message(), HasSubstr("is lost: clEnqueueNDRangeKernel"));
      EXPECT_THAT(status.message(), HasSubstr(message));
    }
    EXPECT_FALSE(listed().available);
    EXPECT_THAT(listed().reason, HasSubstr(message));
    set_fault(kNoFault);
    EXPECT_FALSE(run(device_).ok());
    Plugin other = load("{}");
    Device well = other.open(id_).value();
    const Status status = run(well);
    EXPECT_TRUE(status.ok()) << status.to_string();
    well = {};
    EXPECT_TRUE(other.shutdown().ok());
  }

  Plugin plugin_;
  Device device_;
  std::string id_;
};

TEST_F(OpenClFaults, ALoaderWithoutDriversOrDevicesSaysSo) {
  set_fault(kNoPlatform);
  EXPECT_FALSE(listed().available);
  EXPECT_THAT(listed().reason, HasSubstr("knows no driver (CL_PLATFORM_NOT_FOUND_KHR)"));
  EXPECT_THAT(listed().reason, HasSubstr("pocl-opencl-icd"));
  set_fault(kNoDevice);
  // The driver that is there is named.
  EXPECT_FALSE(listed().available);
  EXPECT_THAT(listed().reason, HasSubstr("PoCL says that it has no device"));
  set_fault(kNoFault);
  EXPECT_TRUE(run(device()).ok());
}

TEST_F(OpenClFaults, OutOfMemoryNamesSizesAndLiveBuffers) {
  const exec::DeviceMemory memory(device());
  auto first = memory.allocate(4096, "tensor 'A'", "the caller");
  ASSERT_TRUE(first.ok());
  set_fault(kNoMemory);
  auto second = memory.allocate(1 << 20, "tensor 'B'", "a test");
  EXPECT_EQ(second.status().code(), StatusCode::out_of_memory);
  for (const char* part :
       {"no memory for 1048576 bytes for tensor 'B', held by a test",
        "1 buffers of 4096 bytes are alive:", "4096 bytes: tensor 'A', held by the caller",
        "clCreateBuffer of 1048576 bytes", "CL_MEM_OBJECT_ALLOCATION_FAILURE"})
    EXPECT_THAT(second.status().message(), HasSubstr(part));
  // Nothing is taken by what failed, which is more than any device has.
  for (const uint64_t bytes : {1 << 28, 1 << 19})
    for (int i = 0; i < 5000; ++i) (void)device_.allocate(bytes);
  set_fault(kNoFault);
  EXPECT_TRUE(memory.allocate(1 << 20, "tensor 'B'", "a test").ok());
  auto beyond = memory.allocate(uint64_t{1} << 50, "tensor 'C'", "a test");
  EXPECT_EQ(beyond.status().code(), StatusCode::out_of_memory);
  EXPECT_THAT(beyond.status().message(), HasSubstr("at most"));
  first = Buffer();
}

TEST_F(OpenClFaults, AKernelThatTheDriverRejectsFailsItsBuildAlone) {
  const TemporaryFolder cache;
  ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  device();
  set_fault(kRejects);
  const Status rejected = run(device_);
  EXPECT_THAT(rejected.message(), HasSubstr("clBuildProgram"));
  EXPECT_THAT(rejected.message(), HasSubstr("the source is " + cache.path().string()));
  set_fault(kNoFault);
  const Status status = run(device_);
  EXPECT_TRUE(status.ok()) << status.to_string();
}

// Of a kernel that is built once more because of where its tensors begin.
TEST_F(OpenClFaults, AKernelThatTheDriverRejectsLaterFailsItsRunWithTheLog) {
  const TemporaryFolder cache;
  ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  std::string text = kNegate;
  for (const auto& [from, to] : {std::pair<std::string, std::string>{
           "#kernel #parallel block [x:16]", "#kernel #vector block [x:16]"}})
    text.replace(text.find(from), from.size(), to);
  Compiler compiler = device().create_compiler().value();
  Executor executor = device_.create_executor().value();
  Build build = compiler.build(text).value();
  ASSERT_TRUE(build.done.wait().ok()) << build.done.wait().to_string();
  Kernel kernel = executor.prepare(build.library, 0).value();
  Buffer a = device_.allocate(68).value(), r = device_.allocate(68).value();
  ASSERT_TRUE(kernel.run(std::vector<Argument>{{r, 0}, {a, 0}})->wait().ok());
  set_fault(kRejects);
  const Status rejected = kernel.run(std::vector<Argument>{{r, 0}, {a, 4}})->wait();
  EXPECT_THAT(rejected.message(), HasSubstr("clBuildProgram"));
  EXPECT_THAT(rejected.message(), HasSubstr("the source is " + cache.path().string()));
  set_fault(kNoFault);
  const Status status = kernel.run(std::vector<Argument>{{r, 4}, {a, 4}})->wait();
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST_F(OpenClFaults, ArgumentsAreSetWhereTheyChange) {
  Compiler compiler = device().create_compiler().value();
  Executor executor = device_.create_executor().value();
  Build build = compiler.build(kNegate).value();
  ASSERT_TRUE(build.done.wait().ok()) << build.done.wait().to_string();
  Kernel kernel = executor.prepare(build.library, 0).value();
  const auto buffer = [&](float value) {
    Buffer made = device_.allocate(256).value();
    Mapping mapping = made.map_discard().value();
    EXPECT_TRUE(mapping.ready().wait().ok());
    for (int i = 0; i < 64; ++i) reinterpret_cast<float*>(mapping.data())[i] = value;
    EXPECT_TRUE(mapping.unmap()->wait().ok());
    return made;
  };
  Buffer a = buffer(1), b = buffer(2), r = buffer(0);
  std::atomic<int>& set = loaders("stria_opencl_arguments_set");
  const auto sets = [&](const Buffer& from, uint64_t offset) {
    const int before = set;
    EXPECT_TRUE(kernel.run(std::vector<Argument>{{r, 0}, {from, offset}})->wait().ok());
    return set - before;
  };
  const auto result = [&] {
    Mapping mapping = r.map_current().value();
    EXPECT_TRUE(mapping.ready().wait().ok());
    const float first = reinterpret_cast<const float*>(mapping.data())[0];
    EXPECT_TRUE(mapping.unmap()->wait().ok());
    return first;
  };
  EXPECT_EQ(sets(a, 0), 4);  // two of each tensor: memory and first element
  EXPECT_EQ(sets(a, 0), 0);
  EXPECT_EQ(sets(b, 0), 1);
  EXPECT_EQ(result(), -2);
  EXPECT_EQ(sets(b, 64), 1);
  EXPECT_EQ(sets(a, 64), 1);
  EXPECT_EQ(result(), -1);
  // A buffer that goes may leave its handle to the next one.
  a = Buffer();
  a = buffer(3);
  EXPECT_EQ(sets(a, 64), 4);
  EXPECT_EQ(result(), -3);
}

TEST_F(OpenClFaults, AKernelThatHangsLosesItsDeviceAlone) {
  limit_to_5_seconds();
  ASSERT_TRUE(run(device()).ok());
  set_fault(kHangs);
  expect_lost("has not ended after 5000 ms");
}

TEST_F(OpenClFaults, ABatchThatNobodyWatchesFailsAllTheSame) {
  for (const auto& [fault, message] :
       {std::pair{kLost,
                  "is lost: clEnqueueNDRangeKernel of 'k0_negate_it' in queue 'in order' on '"},
        {kHangs,
         "is lost: clEnqueueNDRangeKernel of 'k0_negate_it' in queue 'in order', the last of 2 "
         "commands, has not ended after 10000 ms"}}) {
    device_ = {};
    limit_to_5_seconds();
    ASSERT_TRUE(run_unwatched(device()).ok());
    set_fault(fault);
    const Status status = run_unwatched(device_);
    EXPECT_EQ(status.code(), StatusCode::device_lost);
    EXPECT_THAT(status.message(), HasSubstr(message));
    set_fault(kNoFault);
  }
}

// The failure of a kernel among others is the batch's, whatever the driver does behind it, and
// costs events only where it would be hidden.
TEST_F(OpenClFaults, AKernelThatFailsAmongOthersFailsABatchThatNobodyWatches) {
  std::atomic<int>& kernels = loaders("stria_opencl_kernels");
  std::atomic<int>& events = loaders("stria_opencl_kernel_events");
  const auto run_three = [&] {
    return outcome(device(), [&](Executor& executor, Kernel& kernel, Buffer& a, Buffer& r) {
      kernels = events = 0;
      return executor.submit(std::vector<Launch>{{kernel, {{r, 0}, {a, 0}}, {}},
                                                 {kernel, {{a, 0}, {r, 0}}, {0}},
                                                 {kernel, {{r, 0}, {a, 0}}, {1}}});
    });
  };
  // PoCL, and drivers whose context ends with a failed command.
  EXPECT_TRUE(run_three().ok());
  EXPECT_EQ(kernels, 3);
  EXPECT_EQ(events, 2);
  TearDown();
  SetUp();
  set_fault(kRunsOn);
  EXPECT_TRUE(run_three().ok());
  EXPECT_EQ(events, 3);
  set_fault(kRunsOnAfterOne);
  const Status status = run_three();
  EXPECT_THAT(status.message(), HasSubstr("clEnqueueNDRangeKernel of 'k0_negate_it' in queue '"));
  EXPECT_THAT(status.message(), HasSubstr("CL_OUT_OF_RESOURCES"));
  // The device is well.
  set_fault(kNoFault);
  EXPECT_TRUE(run_three().ok());
  // A driver that cannot be asked: what was to tell has ended.
  TearDown();
  SetUp();
  set_fault(kRefusesFailures);
  EXPECT_TRUE(run_three().ok());
  EXPECT_EQ(events, 3);
  EXPECT_EQ(loaders("stria_opencl_open_events"), 0);
}

TEST_F(OpenClFaults, ALaunchThatTheDriverRefusesNamesItsSizes) {
  ASSERT_TRUE(run(device()).ok());
  set_fault(kRefusesLaunches);
  EXPECT_THAT(
      run(device_).message(),
      ::testing::ContainsRegex("clEnqueueNDRangeKernel of '[^']+' with [0-9]+ x 1 x 1 items in "
                               "groups of [0-9]+ on .*CL_INVALID_GLOBAL_WORK_SIZE"));
  set_fault(kNoFault);
  EXPECT_TRUE(run(device_).ok());
}

TEST_F(OpenClFaults, ADeviceThatIsLostSaysSoAlone) {
  ASSERT_TRUE(run(device()).ok());
  set_fault(kLost);
  expect_lost("CL_OUT_OF_RESOURCES, then clFinish: CL_INVALID_COMMAND_QUEUE");
}

}  // namespace
}  // namespace stria::hal
