// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <atomic>
#include <cmath>
#include <map>
#include <utility>

#include "pipelines.h"
#include "stria/codegen/code_generator.h"

namespace stria::vulkan {
namespace {

uint64_t next_id() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

VulkanKernel::VulkanKernel(Context& context, KernelCode code, const Features& features)
    : context_(context),
      code_(std::move(code)),
      features_(features),
      id_(next_id()),
      push_bytes_(vulkan::push_bytes(code_)) {
  if (context.cuts_dispatches())
    predicted_group_ns_ =
        predicted_group_ns(work_of_group(code_, context.rates().facts), context.rates());
}

double VulkanKernel::group_ns() const {
  if (!context_.cuts_dispatches()) return 0;
  double ns = predicted_group_ns_;
  {
    const std::lock_guard<std::mutex> lock(measured_mutex_);
    if (alone_.count > 0)
      ns = alone_.longest_ns;
    else if (among_others_.count > 0)
      ns = among_others_.longest_ns;
  }
  return ns > 0 ? std::exp2(std::ceil(std::log2(ns))) : 0;
}

void VulkanKernel::learn_group_ns(double ns, bool alone) const {
  const std::lock_guard<std::mutex> lock(measured_mutex_);
  (alone ? alone_ : among_others_).add(ns);
}

std::vector<uint32_t> VulkanKernel::words(bool any_offset) const {
  // Made anew each time: emitting takes far less than the driver's build.
  return code_generator::require(emit(code_, features_, any_offset));
}

KernelPipelines::~KernelPipelines() {
  if (context_.lost()) return;
  for (VkPipeline pipeline : pipelines_)
    if (pipeline) context_.vk().vkDestroyPipeline(context_.handle(), pipeline, nullptr);
}

VkPipeline KernelPipelines::of(const VulkanKernel& kernel, bool any_offset) {
  std::lock_guard<std::mutex> lock(mutex_);
  VkPipeline& pipeline = pipelines_[any_offset];
  if (!pipeline)
    pipeline = context_.pipelines().build(
        kernel.words(any_offset),
        {kernel.code().symbol, kernel.code().group_lanes, kernel.push_bytes()});
  return pipeline;
}

VulkanLibrary::VulkanLibrary(Context& context, std::vector<KernelCode> kernels,
                             const Features& features) {
  for (KernelCode& code : kernels) {
    infos_.push_back(code_generator::info_of(code));
    kernels_.push_back(sdk::make<VulkanKernel>(context, std::move(code), features));
  }
  const auto for_each = [&](size_t count, const auto& work) {
    context.host().parallel_for(count, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t k = begin; k < end; ++k) work(k);
    });
  };
  std::vector<std::vector<uint32_t>> alike(kernels_.size());
  for_each(kernels_.size(), [&](size_t k) { alike[k] = without_names(kernels_[k]->words()); });
  std::map<std::vector<uint32_t>, std::shared_ptr<KernelPipelines>> known;
  std::vector<size_t> first;
  for (size_t k = 0; k < kernels_.size(); ++k) {
    std::shared_ptr<KernelPipelines>& of = known[std::move(alike[k])];
    if (!of) {
      of = std::make_shared<KernelPipelines>(context);
      first.push_back(k);
    }
    kernels_[k]->share(of);
  }
  for_each(first.size(), [&](size_t n) { (void)kernels_[first[n]]->pipeline(false); });
}

std::vector<sdk::NamedText> VulkanLibrary::source() const {
  std::vector<sdk::NamedText> out;
  for (const auto& kernel : kernels_)
    out.push_back(
        {kernel->code().symbol + ".spvasm", code_generator::require(disassemble(kernel->words()))});
  for (const auto& kernel : kernels_)
    if (!kernel->code().semtree.empty())
      out.push_back({kernel->code().symbol + ".semtree", kernel->code().semtree});
  return out;
}

}  // namespace stria::vulkan
