// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "buffer.h"
#include "emit/dialect.h"
#include "pocl_needs.h"
#include "program.h"
#include "stria/codegen/code_generator.h"
#include "stria/sdk/error.h"
#include "stria/semtree/c/source_names.h"

namespace stria::opencl {

ClLibrary::ClLibrary(Context& context, semtree::ProgramSource source, bool fast_math)
    : context_(context), source_(std::move(source)) {
  for (size_t k = 0; k < source_.kernels.size(); ++k) {
    kernels_.push_back(code_generator::info_of(source_.kernels[k]));
    if (source_.kernels[k].code == k) codes_.push_back(k);
  }
  if (kernels_.empty()) return;
  options_ = kLanguage;
  if (context.device().correct_division) options_ += " -cl-fp32-correctly-rounded-divide-sqrt";
  // Not -cl-fast-relaxed-math: NaN and infinity keep their meaning.
  if (fast_math) options_ += " -cl-mad-enable -cl-no-signed-zeros";
  programs_.resize(std::min(codes_.size(), context.build_parts()));
  std::vector<std::string> texts(programs_.size(), source_.common);
  for (size_t code = 0; code < codes_.size(); ++code) {
    const std::string& text = source_.kernels[codes_[code]].text;
    texts[part_of(code)] += text;
    texts_.push_back(std::make_shared<KernelText>(context, source_.common + text, options_));
  }
  context.host().parallel_for(programs_.size(), 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t part = begin; part < end; ++part)
      programs_[part] = build_program(context, texts[part], options_);
  });
}

ClLibrary::~ClLibrary() {
  // With what PoCL has made of its kernels when they were first run.
  if (!programs_.empty() && context_.device().is_pocl) record_pocl_folder();
}

size_t ClLibrary::code_of(size_t kernel) const {
  const auto at = std::lower_bound(codes_.begin(), codes_.end(), source_.kernels[kernel].code);
  return static_cast<size_t>(at - codes_.begin());
}

sdk::Ref<sdk::Kernel> ClLibrary::prepare(uint64_t index) {
  const semtree::SourceKernel& kernel = source_.kernels[index];
  const size_t code = code_of(index);
  return sdk::make<ClKernel>(context_, programs_[part_of(code)].get(), kernel,
                             semtree::kernel_symbol(index, kernel.name), texts_[code]);
}

std::vector<sdk::NamedText> ClLibrary::source() const {
  std::vector<sdk::NamedText> out = {{"program.cl", source_.text}};
  for (const size_t k : codes_) {
    const semtree::SourceKernel& kernel = source_.kernels[k];
    if (!kernel.semtree.empty()) out.push_back({kernel.symbol + ".semtree", kernel.semtree});
  }
  std::string shared;
  for (size_t k = 0; k < source_.kernels.size(); ++k)
    if (const semtree::SourceKernel& kernel = source_.kernels[k]; kernel.code != k)
      shared += fmt::format("{} runs {}\n", semtree::kernel_symbol(k, kernel.name), kernel.symbol);
  if (!shared.empty()) out.push_back({"shared_kernels.txt", std::move(shared)});
  return out;
}

bool KernelText::needs_alignment() const { return text_.find(kAnyOffset) != std::string::npos; }

cl_program KernelText::for_any_offset() {
  std::lock_guard lock(mutex_);
  if (!any_offset_)
    any_offset_ = build_program(context_, text_, fmt::format("{} -D{}", options_, kAnyOffset));
  return any_offset_.get();
}

ClKernel::ClKernel(Context& context, cl_program program, const semtree::SourceKernel& source,
                   std::string symbol, std::shared_ptr<KernelText> text)
    : context_(context),
      symbol_(std::move(symbol)),
      function_(source.symbol),
      text_(std::move(text)),
      group_points_(static_cast<size_t>(source.group_points)) {
  for (size_t d = 0; d < points_.size(); ++d) points_[d] = static_cast<size_t>(source.groups[d]);
  points_[0] *= group_points_;
  for (const semtree::KernelArgument& argument : source.arguments)
    places_.push_back({static_cast<uint64_t>(byte_size(argument.type)),
                       static_cast<uint64_t>(argument.offset_bytes)});
  handle_.kernel = kernel_of(program);
}

ClKernel::~ClKernel() {
  context_.cl().clReleaseKernel(handle_.kernel);
  if (any_offset_.kernel) context_.cl().clReleaseKernel(any_offset_.kernel);
}

cl_kernel ClKernel::kernel_of(cl_program program) const {
  cl_int code = CL_SUCCESS;
  const cl_kernel kernel = context_.cl().clCreateKernel(program, function_.c_str(), &code);
  check(code, "clCreateKernel of '" + symbol_ + "'", context_.name());
  return kernel;
}

ClKernel::Handle& ClKernel::handle_for(const std::vector<sdk::Argument>& arguments) const {
  const bool aligned = std::all_of(
      arguments.begin(), arguments.end(),
      [](const sdk::Argument& place) { return place.offset % semtree::kMemoryAlignment == 0; });
  if (aligned || !text_->needs_alignment()) return handle_;
  if (!any_offset_.kernel) any_offset_.kernel = kernel_of(text_->for_any_offset());
  return any_offset_;
}

void ClKernel::set_arguments(Handle& handle, const std::vector<sdk::Argument>& arguments) const {
  const uint64_t released = context_.released_buffers();
  if (handle.released_buffers != released) handle.arguments.clear();
  handle.released_buffers = released;
  handle.arguments.resize(arguments.size(), {nullptr, UINT64_MAX});
  const auto set = [&](size_t position, auto& known, auto value) {
    if (known == value) return;
    const cl_int code = context_.cl().clSetKernelArg(handle.kernel, static_cast<cl_uint>(position),
                                                     sizeof value, &value);
    if (code != CL_SUCCESS) {
      handle.arguments.clear();
      check(code, "clSetKernelArg of '" + symbol_ + "'", context_.name());
    }
    known = value;
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto& [memory, first] = handle.arguments[i];
    set(2 * i, memory, static_cast<const ClBuffer&>(*arguments[i].buffer).handle());
    set(2 * i + 1, first,
        static_cast<cl_ulong>((arguments[i].offset + places_[i].offset_bytes) /
                              places_[i].element_bytes));
  }
}

void ClKernel::enqueue(cl_command_queue queue, const std::vector<sdk::Argument>& arguments,
                       cl_uint count, const cl_event* waits, cl_event* event) const {
  const OpenCl& cl = context_.cl();
  // Not their product, which may be more than a size_t holds.
  if (std::find(points_.begin(), points_.end(), size_t{0}) != points_.end())
    return check(cl.clEnqueueMarkerWithWaitList(queue, count, waits, event),
                 "clEnqueueMarkerWithWaitList for '" + symbol_ + "'", context_.name());
  std::lock_guard<std::mutex> lock(mutex_);
  Handle& handle = handle_for(arguments);
  set_arguments(handle, arguments);
  const size_t group[] = {group_points_, 1, 1};
  const cl_uint dimensions = points_[2] > 1 ? 3 : points_[1] > 1 ? 2 : 1;
  const cl_int code = cl.clEnqueueNDRangeKernel(queue, handle.kernel, dimensions, nullptr,
                                                points_.data(), group, count, waits, event);
  // The text is made for a failure alone: this is every launch's way.
  if (code != CL_SUCCESS)
    check(code,
          fmt::format("clEnqueueNDRangeKernel of '{}' with {} x {} x {} items in groups of {}",
                      symbol_, points_[0], points_[1], points_[2], group_points_),
          context_.name());
}

}  // namespace stria::opencl
