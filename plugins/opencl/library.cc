// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include "buffer.h"
#include "code_generator.h"
#include "program.h"
#include "stria/sdk/error.h"

namespace stria::opencl {

ClLibrary::ClLibrary(Context& context, semtree::ProgramSource source, bool fast_math)
    : context_(context), source_(std::move(source)) {
  for (const semtree::SourceKernel& kernel : source_.kernels)
    kernels_.push_back(code_generator::info_of(kernel));
  if (kernels_.empty()) return;
  // No warnings: some drivers print how many there are.
  std::string options = "-cl-std=CL1.2 -w";
  if (context.device().correct_division) options += " -cl-fp32-correctly-rounded-divide-sqrt";
  // Not -cl-fast-relaxed-math: NaN and infinity keep their meaning.
  if (fast_math) options += " -cl-mad-enable -cl-no-signed-zeros";
  program_ = build_program(context, source_.text, options);
}

ClLibrary::~ClLibrary() {
  if (program_) context_.cl().clReleaseProgram(program_);
}

sdk::Ref<sdk::Kernel> ClLibrary::prepare(uint64_t index) {
  return sdk::make<ClKernel>(context_, program_, source_.kernels[index]);
}

std::vector<sdk::NamedText> ClLibrary::source() const {
  std::vector<sdk::NamedText> out = {{"program.cl", source_.text}};
  for (const semtree::SourceKernel& kernel : source_.kernels)
    if (!kernel.semtree.empty()) out.push_back({kernel.symbol + ".semtree", kernel.semtree});
  return out;
}

ClKernel::ClKernel(Context& context, cl_program program, const semtree::SourceKernel& source)
    : context_(context),
      points_(static_cast<uint64_t>(source.points)),
      group_points_(static_cast<uint64_t>(source.group_points)) {
  for (const semtree::KernelArgument& argument : source.arguments)
    element_bytes_.push_back(static_cast<uint64_t>(byte_size(argument.type)));
  cl_int code = CL_SUCCESS;
  handle_ = context.cl().clCreateKernel(program, source.symbol.c_str(), &code);
  check(code, "clCreateKernel of '" + source.symbol + "'", context.name());
}

ClKernel::~ClKernel() { context_.cl().clReleaseKernel(handle_); }

cl_int ClKernel::enqueue(cl_command_queue queue, const std::vector<sdk::Argument>& arguments,
                         cl_uint count, const cl_event* waits, cl_event* event) const {
  const OpenCl& cl = context_.cl();
  if (points_ == 0) return cl.clEnqueueMarkerWithWaitList(queue, count, waits, event);
  std::lock_guard<std::mutex> lock(mutex_);
  cl_uint position = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const cl_mem memory = static_cast<const ClBuffer&>(*arguments[i].buffer).handle();
    const cl_ulong first = arguments[i].offset / element_bytes_[i];
    cl_int code = cl.clSetKernelArg(handle_, position++, sizeof memory, &memory);
    if (code == CL_SUCCESS) code = cl.clSetKernelArg(handle_, position++, sizeof first, &first);
    if (code != CL_SUCCESS) return code;
  }
  const size_t group = group_points_;
  const size_t all = (points_ + group - 1) / group * group;
  return cl.clEnqueueNDRangeKernel(queue, handle_, 1, nullptr, &all, &group, count, waits, event);
}

}  // namespace stria::opencl
