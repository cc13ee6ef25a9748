// SPDX-License-Identifier: Apache-2.0
// What each kernel of a chain of 1,000 costs, as a batch of stria's `opencl` and as a program in C
// asks the same driver for it: a queue in order without profiling, no events, arguments set once.
// Both in turns; most of either is the time that the driver takes to enqueue a kernel, which is its
// host's.
//   stria_chain_bench [--device TEXT] [--rounds N]
// --device: the first OpenCL device whose name holds the text.
#include <chrono>
#include <cstdio>
#include <vector>

#include "../median.h"
#include "../must.h"
#include "../options.h"
#include "../tiny_kernel.h"
#include "opencl_driver.h"
#include "stria/hal/plugin_set.h"

namespace stria::bench {
namespace {

constexpr uint32_t kChain = 1000;
constexpr double kGoalUs = 6;

double us_of_each(const auto& chain) {
  const auto begin = std::chrono::steady_clock::now();
  chain();
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / kChain;
}

// R = A + A over `count` floats, one group.
class DriversChain {
 public:
  DriversChain(const OpenClDriver& driver, size_t count)
      : driver_(driver), cl_(driver.cl()), count_(count) {
    cl_int code = CL_SUCCESS;
    queue_ = cl_.clCreateCommandQueue(driver.context(), driver.device(), 0, &code);
    driver.check(code, "clCreateCommandQueue");
    program_ = driver.build(
        "__kernel void twice(__global float* r, __global const float* a) {"
        " const size_t n = get_global_id(0); r[n] = a[n] + a[n]; }");
    kernel_ = cl_.clCreateKernel(program_.get(), "twice", &code);
    driver.check(code, "clCreateKernel");
    const float zero = 0;
    for (cl_uint n = 0; n < 2; ++n) {
      const size_t bytes = count * sizeof(float);
      buffers_[n] = cl_.clCreateBuffer(driver.context(), CL_MEM_READ_WRITE, bytes, nullptr, &code);
      driver.check(code, "clCreateBuffer");
      driver.check(cl_.clEnqueueFillBuffer(queue_, buffers_[n], &zero, sizeof zero, 0, bytes, 0,
                                           nullptr, nullptr),
                   "clEnqueueFillBuffer");
      driver.check(cl_.clSetKernelArg(kernel_, n, sizeof(cl_mem), &buffers_[n]), "clSetKernelArg");
    }
  }
  DriversChain(const DriversChain&) = delete;
  ~DriversChain() {
    cl_.clFinish(queue_);
    for (cl_mem buffer : buffers_) cl_.clReleaseMemObject(buffer);
    cl_.clReleaseKernel(kernel_);
    cl_.clReleaseCommandQueue(queue_);
  }

  void run() const {
    // A group that the driver chooses itself costs time with each kernel.
    const size_t items = count_, group = count_;
    for (uint32_t n = 0; n < kChain; ++n)
      driver_.check(cl_.clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &items, &group, 0,
                                               nullptr, nullptr),
                    "clEnqueueNDRangeKernel");
    driver_.check(cl_.clFinish(queue_), "clFinish");
  }

 private:
  const OpenClDriver& driver_;
  const opencl::OpenCl& cl_;
  const size_t count_;
  cl_command_queue queue_ = nullptr;
  opencl::Program program_;
  cl_kernel kernel_ = nullptr;
  cl_mem buffers_[2] = {};
};

void measure(const hal::Device& device, const OpenClDriver& driver, int64_t count, int rounds) {
  const hal::Compiler compiler = must(device.create_compiler());
  const hal::Executor executor = must(device.create_executor());
  const hal::Build build = must(compiler.build(elementwise(count)));
  must(build.done.wait());
  const hal::Kernel kernel = must(executor.prepare(build.library, 0));
  const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(float);
  const std::vector<hal::Argument> arguments = {{must(device.allocate(bytes)), 0},
                                                {must(device.allocate(bytes)), 0}};
  std::vector<hal::Launch> batch;
  for (uint32_t n = 0; n < kChain; ++n)
    batch.push_back(
        {kernel, arguments, n ? std::vector<uint32_t>{n - 1} : std::vector<uint32_t>{}});
  const DriversChain chain(driver, static_cast<size_t>(count));
  const auto ours = [&] { must(must(executor.submit(batch)).wait()); };
  const auto theirs = [&] { chain.run(); };
  ours(), theirs();
  std::vector<double> our_us, their_us, ratios;
  for (int round = 0; round < rounds; ++round) {
    // Each is the first one in every other turn.
    double a = round % 2 == 0 ? us_of_each(ours) : 0;
    const double b = us_of_each(theirs);
    if (round % 2 == 1) a = us_of_each(ours);
    our_us.push_back(a);
    their_us.push_back(b);
    ratios.push_back(a / b);
  }
  const double each = median(our_us);
  std::printf(
      "%7lld elements  %7.3f us  < %g us %-6s  the driver alone %7.3f us  %5.2f times as long\n",
      static_cast<long long>(count), each, kGoalUs, each < kGoalUs ? "met" : "MISSED",
      median(their_us), median(ratios));
  std::fflush(stdout);
}

void run(const std::string& text, int rounds) {
  const OpenClDriver driver(text);
  const auto host = std::make_shared<hal::Host>(hal::HostFunctions());
  hal::SearchOptions options;
  options.only_ids = {"opencl"};
  hal::PluginSet plugins = hal::PluginSet::load(host, options);
  for (const hal::PluginRecord& record : plugins.records()) {
    must(record.status());
    for (const hal::DeviceInfo& info : must(record.plugin.devices())) {
      if (!info.available || info.name.find(driver.name()) == std::string::npos) continue;
      std::printf("%s: each kernel of a chain of %u\n", info.name.c_str(), kChain);
      const hal::Device device = must(record.plugin.open(info.id));
      for (const int64_t count : {1, 64}) measure(device, driver, count, rounds);
      return;
    }
  }
  must(Status(StatusCode::not_found, "opencl lists no device '" + driver.name() + "'"));
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  std::string device;
  int rounds = 50;
  if (!stria::bench::read_options(argc, argv, {{{"--device", &device}}, {{"--rounds", &rounds}}}) ||
      rounds < 1) {
    std::fprintf(stderr, "usage: stria_chain_bench [--device TEXT] [--rounds N]\n");
    return 2;
  }
  stria::bench::run(device, rounds);
}
