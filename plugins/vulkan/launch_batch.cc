// SPDX-License-Identifier: Apache-2.0
#include "launch_batch.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "buffer.h"
#include "pipelines.h"
#include "stria/semtree/c/dialect.h"

namespace stria::vulkan {
namespace {

// What one vkCmdUpdateBuffer takes at most.
constexpr uint64_t kUpdateBytes = 65536;
// Names in a message.
constexpr size_t kMostNames = 8;
// Objects that are known to be held already: launches near each other have tensors in common.
constexpr size_t kRemembered = 64;

const VulkanKernel& kernel_of(const sdk::Launch& launch) {
  return static_cast<const VulkanKernel&>(*launch.kernel);
}

VkDeviceAddress address_of(const sdk::Argument& argument) {
  return static_cast<const VulkanBuffer&>(*argument.buffer).memory().address() + argument.offset;
}

// What the kernel is given.
std::vector<VkDeviceAddress> addresses_of(const sdk::Launch& launch) {
  const std::vector<semtree::KernelArgument>& takes = kernel_of(launch).code().arguments;
  std::vector<VkDeviceAddress> out;
  for (size_t i = 0; i < launch.arguments.size(); ++i)
    out.push_back(address_of(launch.arguments[i]) + static_cast<uint64_t>(takes[i].offset_bytes));
  return out;
}

bool is_idle(const KernelCode& code) {
  return std::find(code.groups.begin(), code.groups.end(), 0) != code.groups.end();
}

// How each launch is cut; nothing where dispatches are not.
std::vector<std::vector<DispatchPiece>> cut(const Context& context, const LaunchBatch& batch) {
  std::vector<std::vector<DispatchPiece>> out;
  if (!context.cuts_dispatches()) return out;
  DispatchPlan plan(context.dispatch_limit());
  for (size_t n = 0; n < batch.launches.size(); ++n)
    out.push_back(plan.add(kernel_of(batch.launches[n]).code().groups, batch.group_ns[n]));
  return out;
}

uint32_t part_marks(const std::vector<std::vector<DispatchPiece>>& pieces) {
  uint32_t parts = pieces.empty() ? 0 : 1;
  for (const auto& of_launch : pieces)
    for (const DispatchPiece& piece : of_launch) parts += piece.begins_part;
  return 2 * parts;
}

}  // namespace

LaunchBatch batch_of(std::vector<sdk::Launch> launches, bool each) {
  LaunchBatch out;
  out.each = each;
  out.after.reserve(launches.size());
  out.group_ns.reserve(launches.size());
  out.key.reserve(launches.size() * 8 + 1);
  out.key.push_back(each);
  for (const sdk::Launch& launch : launches) {
    const VulkanKernel& kernel = kernel_of(launch);
    // Of one kernel the number of arguments is always the same, so no two batches have one key.
    out.key.push_back(kernel.id());
    for (const sdk::Argument& argument : launch.arguments) out.key.push_back(address_of(argument));
    out.key.push_back(launch.after_count);
    for (uint64_t a = 0; a < launch.after_count; ++a) {
      out.after.push_back(launch.after[a]);
      out.key.push_back(launch.after[a]);
    }
    const double group_ns = kernel.group_ns();
    out.group_ns.push_back(group_ns);
    // Where dispatches are cut, it says how. The bits are more than any number of launches.
    if (group_ns > 0) out.key.push_back(std::bit_cast<uint64_t>(group_ns));
  }
  out.launches = std::move(launches);
  return out;
}

void LaunchBatch::keep_only_used() {
  const sdk::Object* remembered[kRemembered] = {};
  const auto keep = [&](auto& object) {
    const sdk::Object*& place =
        remembered[reinterpret_cast<uintptr_t>(object.get()) / 64 % kRemembered];
    if (place == object.get()) return;
    place = object.get();
    used.push_back(std::move(object));
  };
  for (sdk::Launch& launch : launches) {
    keep(launch.kernel);
    for (sdk::Argument& argument : launch.arguments) keep(argument.buffer);
  }
  launches = {};
}

BatchRecording::BatchRecording(Context& context, DeviceQueue& queue, const LaunchBatch& batch,
                               bool again)
    : BatchRecording(context, queue, batch, again, cut(context, batch)) {}

BatchRecording::BatchRecording(Context& context, DeviceQueue& queue, const LaunchBatch& batch,
                               bool again, const std::vector<std::vector<DispatchPiece>>& pieces)
    : Recording(context, queue, batch.each ? static_cast<uint32_t>(batch.launches.size()) + 1 : 2,
                part_marks(pieces)) {
  for (const sdk::Launch& launch : batch.launches)
    kernels_.push_back(sdk::Ref<VulkanKernel>(static_cast<VulkanKernel*>(launch.kernel.get())));
  if (!pieces.empty()) group_ns_ = batch.group_ns;
  begin(again);
  write_addresses(batch);
  wait_for_all();
  mark();
  if (!pieces.empty()) mark_part();
  VkPipeline bound = nullptr;
  size_t next_after = 0, last_barrier = 0;
  uint64_t addresses_at = 0;
  for (size_t n = 0; n < batch.launches.size(); ++n) {
    const sdk::Launch& launch = batch.launches[n];
    const VulkanKernel& kernel = kernel_of(launch);
    const KernelCode& code = kernel.code();
    bool waits = batch.each && n > 0;
    for (const size_t end = next_after + launch.after_count; next_after < end; ++next_after)
      waits = waits || batch.after[next_after] >= last_barrier;
    if (waits) {
      wait_for_kernels();
      last_barrier = n;
    }
    std::vector<VkDeviceAddress> addresses = addresses_of(launch);
    const bool aligned =
        std::all_of(addresses.begin(), addresses.end(), [](VkDeviceAddress address) {
          return address % static_cast<uint64_t>(semtree::kMemoryAlignment) == 0;
        });
    if (code.addresses_in_buffer) {
      const uint64_t bytes = addresses.size() * sizeof addresses[0];
      addresses = {addresses_.address() + addresses_at};
      addresses_at += bytes;
    }
    if (!is_idle(code)) {
      const VkPipeline pipeline = kernel.pipeline(!aligned);
      // In a command buffer of its own nothing is bound.
      const auto bind = [&](bool all) {
        if (all || pipeline != bound)
          vk().vkCmdBindPipeline(commands(), VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        bound = pipeline;
        if (!addresses.empty())
          vk().vkCmdPushConstants(commands(), context.pipelines().layout(kernel.push_bytes()),
                                  VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                  static_cast<uint32_t>(addresses.size() * sizeof addresses[0]),
                                  addresses.data());
      };
      if (pieces.empty()) {
        bind(false);
        vk().vkCmdDispatch(commands(), static_cast<uint32_t>(code.groups[0]),
                           static_cast<uint32_t>(code.groups[1]),
                           static_cast<uint32_t>(code.groups[2]));
      } else if (dispatch(n, pieces[n], bind)) {
        last_barrier = n;
      }
    }
    if (batch.each) mark();
  }
  if (!batch.each) mark();
  if (!pieces.empty()) mark_part();
  if (context.is_direct()) show_to_host();
  end();
}

bool BatchRecording::dispatch(size_t launch, const std::vector<DispatchPiece>& pieces,
                              const std::function<void(bool)>& bind) {
  const VulkanKernel& kernel = *kernels_[launch];
  bool began = false;
  for (size_t n = 0; n < pieces.size(); ++n) {
    const DispatchPiece& piece = pieces[n];
    if (piece.begins_part) {
      mark_part();
      begin_part();
      mark_part();
      began = true;
    }
    if (n == 0 || piece.begins_part) bind(piece.begins_part);
    if (kernel.code().takes_base_group)
      vk().vkCmdPushConstants(commands(), context().pipelines().layout(kernel.push_bytes()),
                              VK_SHADER_STAGE_COMPUTE_BIT, kernel.push_bytes() - kBaseGroupBytes,
                              kBaseGroupBytes, piece.first.data());
    vk().vkCmdDispatch(commands(), piece.count[0], piece.count[1], piece.count[2]);
    ran_.push_back({launch, part_count() - 1, piece.groups()});
  }
  return began;
}

void BatchRecording::write_addresses(const LaunchBatch& batch) {
  std::vector<VkDeviceAddress> all;
  for (const sdk::Launch& launch : batch.launches)
    if (kernel_of(launch).code().addresses_in_buffer) {
      const std::vector<VkDeviceAddress> own = addresses_of(launch);
      all.insert(all.end(), own.begin(), own.end());
    }
  const uint64_t bytes = all.size() * sizeof(VkDeviceAddress);
  if (bytes == 0) return;
  addresses_ = context().device_memory().take(bytes);
  // Nobody else uses this memory: the barrier behind is enough.
  for (uint64_t at = 0; at < bytes; at += kUpdateBytes)
    vk().vkCmdUpdateBuffer(commands(), addresses_.buffer(), addresses_.offset() + at,
                           std::min(kUpdateBytes, bytes - at),
                           reinterpret_cast<const std::byte*>(all.data()) + at);
}

void BatchRecording::learn() {
  if (ran_.empty()) return;
  const std::vector<uint64_t> times = part_times();
  if (times.size() < 2 * part_count()) return;
  // Of each launch as a whole: one piece may have had to wait for what has nothing to do with it.
  struct Took {
    double ns = 0, groups = 0;
    bool alone = true;
  };
  std::vector<Took> took(kernels_.size());
  for (auto first = ran_.begin(); first != ran_.end();) {
    const auto end = std::find_if(first, ran_.end(),
                                  [first](const Ran& ran) { return ran.part != first->part; });
    const uint64_t began = times[2 * first->part], ended = times[2 * first->part + 1];
    const double ns = ended > began ? static_cast<double>(ended - began) : 0;
    double predicted = 0;
    for (auto ran = first; ran != end; ++ran) predicted += ran->groups * group_ns_[ran->launch];
    for (auto ran = first; ran != end; ++ran) {
      Took& all = took[ran->launch];
      const bool alone = first + 1 == end;
      const double part = ran->groups * group_ns_[ran->launch];
      all.ns += alone ? ns : predicted > 0 ? ns * part / predicted : 0;
      all.groups += ran->groups;
      all.alone = all.alone && alone;
    }
    first = end;
  }
  for (size_t n = 0; n < took.size(); ++n)
    if (took[n].ns > 0) kernels_[n]->learn_group_ns(took[n].ns / took[n].groups, took[n].alone);
}

std::string BatchRecording::what() const {
  std::string out = kernels_.size() == 1 ? "kernel " : "kernels ";
  for (size_t n = 0; n < std::min(kernels_.size(), kMostNames); ++n)
    out += (n > 0 ? ", '" : "'") + kernels_[n]->code().symbol + "'";
  if (kernels_.size() > kMostNames)
    out += " and " + std::to_string(kernels_.size() - kMostNames) + " more";
  return out;
}

RecordingCache::Entry* RecordingCache::find(const std::vector<uint64_t>& key) {
  for (auto at = entries_.begin(); at != entries_.end(); ++at)
    if (at->key == key) {
      entries_.splice(entries_.begin(), entries_, at);
      return &entries_.front();
    }
  return nullptr;
}

sdk::Ref<Recording> RecordingCache::take(const LaunchBatch& batch) {
  bool keeps = true;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (const Entry* entry = find(batch.key)) {
      for (const sdk::Ref<Recording>& copy : entry->copies)
        if (!copy->in_use()) {
          copy->set_in_use(true);
          return copy;
        }
      // Beyond that each is for one use: nothing here ever waits.
      keeps = entry->copies.size() < kMostCopies;
    }
  }
  auto made = sdk::make<BatchRecording>(context_, queue_, batch, keeps);
  made->set_in_use(true);
  if (!keeps) return made;
  std::list<Entry> gone;  // its recordings go without the lock
  std::lock_guard<std::mutex> lock(mutex_);
  Entry* entry = find(batch.key);
  if (!entry) {
    entries_.push_front({batch.key, {}});
    entry = &entries_.front();
    if (entries_.size() > kMostBatches) gone.splice(gone.end(), entries_, --entries_.end());
  }
  if (entry->copies.size() < kMostCopies) entry->copies.push_back(made);
  return made;
}

}  // namespace stria::vulkan
