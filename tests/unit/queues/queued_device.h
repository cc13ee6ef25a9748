// SPDX-License-Identifier: Apache-2.0
// The first device of a plugin that has queues, a small program, and what tests do with both
// through the boundary.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "../../chosen_device.h"
#include "scripted_host.h"
#include "stria/hal/device.h"

namespace stria::hal {

inline constexpr int64_t kCount = 4096;

// R = A <op> A, over parallel points; kernel "k0_double_it".
inline std::string doubling(const std::string& op = "add") {
  return R"(stripe 1.0
0: #program block [] ( // double
    none new@0 A[0] fp32(4096:1)
    none new@0 R[0] fp32(4096:1)
) {
  0: #main block [] ( // main
      in A[0] fp32(4096:1)
      out R[0] fp32(4096:1)
  ) {
    0: #kernel #parallel block [x:4096] ( // double_it
        in A[x] fp32(1:1)
        out R[x] fp32(1:1)
    ) {
      0: $a = load(A)
      1: $r = )" +
         op + R"(.fp32($a, $a)
      2: R = store($r)
    }
  }
}
)";
}

inline Plugin load_with(const std::string& name, const std::string& options = "{}") {
  LoadOptions load;
  load.driver_options = options;
  LoadResult loaded = load_plugin(built_plugin(name), scripted_host(nullptr, 2), load);
  EXPECT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  return loaded.plugin;
}

inline Result<Device> first_device(const Plugin& plugin) {
  STRIA_ASSIGN(const std::vector<DeviceInfo> devices, plugin.devices());
  if (const std::string id = chosen_device_id(plugin.id(), devices); !id.empty())
    return plugin.open(id);
  return not_found(
      "no device of '{}' is available: {}; the tests need "
      "mesa-vulkan-drivers and pocl-opencl-icd",
      plugin.id(), devices.empty() ? "none is listed" : devices[0].reason);
}

inline Result<Event> write(const Buffer& to, const std::vector<float>& from) {
  STRIA_ASSIGN(Mapping mapping, to.map_discard());
  STRIA_RETURN_IF_ERROR(mapping.ready().wait());
  std::memcpy(mapping.data(), from.data(), 4 * from.size());
  return mapping.unmap();
}

inline Result<std::vector<float>> read(const Buffer& from, const Event& after) {
  STRIA_ASSIGN(Mapping mapping, from.map_current({&after, 1}));
  STRIA_RETURN_IF_ERROR(mapping.ready().wait());
  std::vector<float> out(from.size() / 4);
  std::memcpy(out.data(), mapping.data(), from.size());
  // Until then the buffer may yet be written with what was read.
  STRIA_ASSIGN(const Event unmapped, mapping.unmap());
  STRIA_RETURN_IF_ERROR(unmapped.wait());
  return out;
}

// 0, 1, 2, …
inline std::vector<float> numbers(int64_t count = kCount) {
  std::vector<float> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(i);
  return out;
}

// Doubles numbers on the device: "" or what went wrong. Calls `before_kernel` when they are there.
inline std::string doubles(const Device& device, const std::function<void()>& before_kernel = {}) {
  const auto try_it = [&]() -> Status {
    STRIA_ASSIGN(Compiler compiler, device.create_compiler());
    STRIA_ASSIGN(Executor executor, device.create_executor());
    STRIA_ASSIGN(Build build, compiler.build(doubling()));
    STRIA_RETURN_IF_ERROR(build.done.wait());
    STRIA_ASSIGN(Kernel kernel, executor.prepare(build.library, 0));
    STRIA_ASSIGN(Buffer a, device.allocate(4 * kCount));
    STRIA_ASSIGN(Buffer r, device.allocate(4 * kCount));
    STRIA_ASSIGN(Event written, write(a, numbers()));
    if (before_kernel) {
      STRIA_RETURN_IF_ERROR(written.wait());
      before_kernel();
    }
    STRIA_ASSIGN(Event done, kernel.run(std::vector<Argument>{{r, 0}, {a, 0}}, {&written, 1}));
    STRIA_ASSIGN(const std::vector<float> result, read(r, done));
    for (size_t i = 0; i < result.size(); ++i)
      if (result[i] != 2 * static_cast<float>(i))
        return make_error(StatusCode::data_loss, "element {} is wrong", i);
    return {};
  };
  const Status status = try_it();
  return status.ok() ? "" : status.to_string();
}

// A plugin and the options of its driver.
struct PluginWith {
  const char* plugin;
  const char* options;
  friend void PrintTo(const PluginWith& with, std::ostream* out) {
    *out << with.plugin << " " << with.options;
  }
};

// What every such plugin does (queued_device_test.cc): whoever links it names its plugin and the
// options by INSTANTIATE_TEST_SUITE_P.
class QueuedDevice : public ::testing::TestWithParam<PluginWith> {
 protected:
  void SetUp() override {
    plugin_ = load_with(GetParam().plugin, GetParam().options);
    auto device = first_device(plugin_);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
    compiler_ = *device_.create_compiler();
    executor_ = *device_.create_executor();
  }
  void TearDown() override {
    compiler_ = {};
    executor_ = {};
    device_ = {};
    Status status = plugin_.shutdown();
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  Kernel prepared(const std::string& text) {
    Build build = *compiler_.build(text);
    EXPECT_TRUE(build.done.wait().ok()) << build.done.wait().to_string();
    return *executor_.prepare(build.library, 0);
  }
  Plugin plugin_;
  Device device_;
  Compiler compiler_;
  Executor executor_;
};

}  // namespace stria::hal
