// SPDX-License-Identifier: Apache-2.0
// The tests of tests/unit/kernels on the first device that OpenCL has, through the boundary.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "../../chosen_device.h"
#include "kernel_runner.h"
#include "scripted_host.h"
#include "stria/hal/device.h"

namespace stria::kernels {

// STRIA_KERNEL_TESTS_ONE_OF=1 runs all, which takes minutes where the CPU is the device.
const int kOneOf = [] {
  const char* text = std::getenv("STRIA_KERNEL_TESTS_ONE_OF");
  return text ? std::max(1, std::atoi(text)) : 12;
}();

namespace {

const hal::Device& device() {
  static const hal::Device opened = [] {
    hal::LoadResult loaded =
        hal::load_plugin(hal::built_plugin("opencl"), hal::scripted_host(nullptr));
    STRIA_CHECK(loaded.status().ok(), "{}", loaded.status().to_string());
    const std::vector<hal::DeviceInfo> devices = loaded.plugin.devices().value();
    const std::string id = chosen_device_id("opencl", devices);
    STRIA_CHECK(!id.empty(), "no OpenCL device is available here; the tests need pocl-opencl-icd");
    return loaded.plugin.open(id).value();
  }();
  return opened;
}

Status copy_in(const hal::Buffer& to, TestBuffer& from) {
  STRIA_ASSIGN(hal::Mapping mapping, to.map_discard());
  STRIA_RETURN_IF_ERROR(mapping.ready().wait());
  std::memcpy(mapping.data(), from.data(), from.bytes());
  STRIA_ASSIGN(hal::Event done, mapping.unmap());
  return done.wait();
}

Status copy_out(TestBuffer& to, const hal::Buffer& from) {
  STRIA_ASSIGN(hal::Mapping mapping, from.map_current());
  STRIA_RETURN_IF_ERROR(mapping.ready().wait());
  std::memcpy(to.data(), mapping.data(), to.bytes());
  return {};
}

}  // namespace

Status run_compiled(const stripe::Program& program, const std::string& text, TestBuffers& buffers) {
  STRIA_ASSIGN(hal::Compiler compiler, device().create_compiler());
  STRIA_ASSIGN(hal::Executor executor, device().create_executor());
  STRIA_ASSIGN(hal::Build build, compiler.build(text));
  STRIA_RETURN_IF_ERROR(build.done.wait());
  std::map<const TestBuffer*, hal::Buffer> memory;
  for (auto& [name, buffer] : buffers) {
    STRIA_ASSIGN(memory[&buffer], device().allocate(buffer.bytes()));
    STRIA_RETURN_IF_ERROR(copy_in(memory[&buffer], buffer));
  }
  STRIA_ASSIGN(std::vector<hal::KernelInfo> kernels, build.library.kernels());
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<hal::Argument> arguments;
    for (const hal::ArgumentInfo& argument : kernels[k].arguments)
      arguments.push_back({memory[&buffer_behind(program, argument.name, buffers)], 0});
    STRIA_ASSIGN(hal::Kernel kernel, executor.prepare(build.library, k));
    STRIA_ASSIGN(hal::Event done, kernel.run(arguments));
    STRIA_RETURN_IF_ERROR(done.wait());
  }
  for (auto& [name, buffer] : buffers) STRIA_RETURN_IF_ERROR(copy_out(buffer, memory[&buffer]));
  return {};
}

}  // namespace stria::kernels
