// SPDX-License-Identifier: Apache-2.0
// Small programs, and what the tests of the plugin `vulkan` do with them through the boundary.
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

// R = A0 + A1 + … of `count` tensors: more arguments than push constants hold.
inline std::string sum_of(int count) {
  std::string all, main, kernel, loads;
  for (int i = 0; i < count; ++i) {
    all += fmt::format("    none new@0 A{}[0] fp32(64:1)\n", i);
    main += fmt::format("      in A{}[0] fp32(64:1)\n", i);
    kernel += fmt::format("        in A{}[x] fp32(1:1)\n", i);
    loads += fmt::format("      {}: $a{} = load(A{})\n", i, i, i);
  }
  int n = count;
  for (int i = 1; i < count; ++i, ++n)
    loads += fmt::format("      {}: $s{} = add.fp32({}, $a{})\n", n, i,
                         i == 1 ? "$a0" : fmt::format("$s{}", i - 1), i);
  return fmt::format(R"(stripe 1.0
0: #program block [] ( // sum
{}    none new@0 R[0] fp32(64:1)
) {{
  0: #main block [] ( // main
{}      out R[0] fp32(64:1)
  ) {{
    0: #kernel #parallel block [x:64] ( // sum_them
{}        out R[x] fp32(1:1)
    ) {{
{}      {}: R = store($s{})
    }}
  }}
}}
)",
                     all, main, kernel, loads, n, count - 1);
}

inline Plugin load_vulkan(const std::string& options = "{}") {
  LoadOptions load;
  load.driver_options = options;
  LoadResult loaded = load_plugin(built_plugin("vulkan"), scripted_host(nullptr, 2), load);
  EXPECT_TRUE(loaded.status().ok()) << loaded.status().to_string();
  return loaded.plugin;
}

inline Result<Device> first_device(const Plugin& plugin) {
  STRIA_ASSIGN(const std::vector<DeviceInfo> devices, plugin.devices());
  if (const std::string id = chosen_device_id(plugin.id(), devices); !id.empty())
    return plugin.open(id);
  return not_found("no device of '{}' is available: {}; the tests need mesa-vulkan-drivers",
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

}  // namespace stria::hal
