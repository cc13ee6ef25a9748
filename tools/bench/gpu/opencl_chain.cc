// SPDX-License-Identifier: Apache-2.0
// A queue in order without profiling, no events, arguments set once.
#include "drivers_chain.h"
#include "opencl_driver.h"

namespace stria::bench {
namespace {

class OpenClChain final : public DriversChain {
 public:
  OpenClChain(const OpenClDriver& driver, uint32_t kernels, size_t count)
      : driver_(driver), cl_(driver.cl()), kernels_(kernels), count_(count) {
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
  OpenClChain(const OpenClChain&) = delete;
  ~OpenClChain() override {
    cl_.clFinish(queue_);
    for (cl_mem buffer : buffers_) cl_.clReleaseMemObject(buffer);
    cl_.clReleaseKernel(kernel_);
    cl_.clReleaseCommandQueue(queue_);
  }

  void run() override {
    // A group that the driver chooses itself costs time with each kernel.
    const size_t items = count_, group = count_;
    for (uint32_t n = 0; n < kernels_; ++n)
      driver_.check(cl_.clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &items, &group, 0,
                                               nullptr, nullptr),
                    "clEnqueueNDRangeKernel");
    driver_.check(cl_.clFinish(queue_), "clFinish");
  }

 private:
  const OpenClDriver& driver_;
  const opencl::OpenCl& cl_;
  const uint32_t kernels_;
  const size_t count_;
  cl_command_queue queue_ = nullptr;
  opencl::Program program_;
  cl_kernel kernel_ = nullptr;
  cl_mem buffers_[2] = {};
};

class OpenClChains final : public ChainDriver {
 public:
  explicit OpenClChains(const std::string& text) : driver_(text) {}
  const std::string& name() const override { return driver_.name(); }
  bool is(const hal::DeviceInfo& listed) const override {
    return listed.name.find(driver_.name()) != std::string::npos;
  }
  ChainGoals goals() const override { return {6, 0}; }
  std::unique_ptr<DriversChain> chain(uint32_t kernels, int64_t count) override {
    return std::make_unique<OpenClChain>(driver_, kernels, static_cast<size_t>(count));
  }

 private:
  const OpenClDriver driver_;
};

}  // namespace

std::unique_ptr<ChainDriver> open_opencl_chains(const std::string& text) {
  return std::make_unique<OpenClChains>(text);
}

}  // namespace stria::bench
