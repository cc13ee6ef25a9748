// SPDX-License-Identifier: Apache-2.0
// What each kernel of a chain of 1,000 costs, as a batch of stria's `opencl` and as a program in C
// asks the same driver for it: a queue in order without profiling, no events, arguments set once.
// Both in turns; most of either is the time that the driver takes to enqueue a kernel, which is its
// host's. Where the host is a machine among others, that depends on what else runs on the processor
// that this one has got: so each round is on the next processor, and the median is over all.
//   stria_chain_bench [--device TEXT] [--rounds N]
// --device: the first OpenCL device whose name holds the text. --rounds: on each processor.
#include <sched.h>

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

// Those that this process may use; it runs on any of them again when this goes.
class Processors {
 public:
  Processors() { must_be_set(sched_getaffinity(0, sizeof all_, &all_)); }
  Processors(const Processors&) = delete;
  ~Processors() { sched_setaffinity(0, sizeof all_, &all_); }
  int count() const { return CPU_COUNT(&all_); }
  void move_to_next() {
    do last_ = (last_ + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(last_, &all_));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last_, &one);
    must_be_set(sched_setaffinity(0, sizeof one, &one));
  }

 private:
  static void must_be_set(int code) {
    if (code != 0) must(Status(StatusCode::internal, "processors cannot be chosen"));
  }
  cpu_set_t all_;
  int last_ = -1;
};

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
  ours(), theirs();  // the threads that they make may run anywhere
  std::vector<double> our_us, their_us, ratios;
  Processors processors;
  const int64_t all_rounds = int64_t{rounds} * processors.count();
  for (int64_t round = 0; round < all_rounds; ++round) {
    processors.move_to_next();
    ours(), theirs();
    // Each is the first one in every other turn of a processor.
    const bool first = round / processors.count() % 2 == 0;
    double a = first ? us_of_each(ours) : 0;
    const double b = us_of_each(theirs);
    if (!first) a = us_of_each(ours);
    our_us.push_back(a);
    their_us.push_back(b);
    ratios.push_back(a / b);
  }
  const double each = median(our_us);
  std::printf(
      "%7lld elements  %7.3f us (half of all %.3f to %.3f)  < %g us %-6s  the driver alone %.3f us "
      "(%.3f to %.3f)  %.3f times as long\n",
      static_cast<long long>(count), each, quantile(our_us, 0.25), quantile(our_us, 0.75), kGoalUs,
      each < kGoalUs ? "met" : "MISSED", median(their_us), quantile(their_us, 0.25),
      quantile(their_us, 0.75), median(ratios));
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
  int rounds = 20;
  if (!stria::bench::read_options(argc, argv, {{{"--device", &device}}, {{"--rounds", &rounds}}}) ||
      rounds < 1) {
    std::fprintf(stderr, "usage: stria_chain_bench [--device TEXT] [--rounds N]\n");
    return 2;
  }
  stria::bench::run(device, rounds);
}
