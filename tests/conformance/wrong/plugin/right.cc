// SPDX-License-Identifier: Apache-2.0
#include "right.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "staged_buffer.h"

namespace stria::wrong {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{8} << 30;  // as hw/board.json says

// Of the drivers that there are, in the order in which they were made. Never destroyed: a driver
// may outlive what is.
struct Hosts {
  std::mutex mutex;
  std::vector<const sdk::Host*> all;  // guarded by mutex
};
Hosts& hosts() {
  static auto* const one = new Hosts;
  return *one;
}

// Name and type of a line that declares a tensor: "    out R[m, n]:add.fp32 fp32(1:5, 1:1)".
void add_type(std::string_view line, std::map<std::string, std::string, std::less<>>& out) {
  const size_t begin = line.find_first_not_of(' ');
  const size_t bracket = line.find('[');
  if (begin == std::string_view::npos || bracket == std::string_view::npos) return;
  const std::string_view direction = line.substr(begin, line.find_first_of(" <", begin) - begin);
  if (direction != "in" && direction != "out" && direction != "inout" && direction != "none")
    return;
  const size_t end = line.find(']', bracket);
  const size_t paren = end == std::string_view::npos ? end : line.find('(', end);
  if (paren == std::string_view::npos) return;
  const size_t name = line.rfind(' ', bracket) + 1, type = line.rfind(' ', paren) + 1;
  out.emplace(line.substr(name, bracket - name), line.substr(type, paren - type));
}

std::map<std::string, std::string, std::less<>> types_of(std::string_view stripe) {
  std::map<std::string, std::string, std::less<>> out;
  for (size_t at = 0; at < stripe.size();) {
    const size_t end = std::min(stripe.find('\n', at), stripe.size());
    add_type(stripe.substr(at, end - at), out);
    at = end + 1;
  }
  return out;
}

using Types = std::map<std::string, std::string, std::less<>>;

class RightKernel final : public sdk::Kernel {
 public:
  RightKernel(sdk::Ref<sdk::Kernel> interpreted, sdk::KernelInfo info, std::shared_ptr<Types> types)
      : interpreted_(std::move(interpreted)), info_(std::move(info)), types_(std::move(types)) {}
  void run(const stria_memory* arguments, uint64_t count) const override {
    const Hooks& hook = hooks();
    if (!hook.instead_of_run && !hook.after_run) return interpreted_->run(arguments, count);
    uint64_t runs = runs_++;
    const KernelRun now{info_, *types_, arguments, runs};
    if (hook.instead_of_run && hook.instead_of_run(now)) return;
    interpreted_->run(arguments, count);
    if (hook.after_run) hook.after_run(now);
  }

 private:
  const sdk::Ref<sdk::Kernel> interpreted_;
  const sdk::KernelInfo info_;
  const std::shared_ptr<Types> types_;
  mutable std::atomic<uint64_t> runs_{0};
};

class RightLibrary final : public sdk::Library {
 public:
  RightLibrary(const sdk::Host& host, std::string_view stripe)
      : interpreted_(sdk::make<sdk::InterpretedLibrary>(
            host, hooks().misread ? hooks().misread(std::string(stripe)) : std::string(stripe))),
        types_(std::make_shared<Types>(types_of(stripe))),
        kernels_(interpreted_->kernels()) {
    if (hooks().list_kernels) hooks().list_kernels(kernels_);
  }
  const std::vector<sdk::KernelInfo>& kernels() const override { return kernels_; }
  sdk::Ref<sdk::Kernel> prepare(uint64_t index) override {
    return sdk::make<RightKernel>(interpreted_->prepare(index), interpreted_->kernels()[index],
                                  types_);
  }

 private:
  const sdk::Ref<sdk::InterpretedLibrary> interpreted_;
  const std::shared_ptr<Types> types_;
  std::vector<sdk::KernelInfo> kernels_;
};

class RightCompiler final : public sdk::Compiler {
 public:
  explicit RightCompiler(const sdk::Host& host) : host_(host) {}
  sdk::Ref<sdk::Library> compile(std::string_view stripe, std::string_view) override {
    return sdk::make<RightLibrary>(host_, stripe);
  }

 private:
  const sdk::Host& host_;
};

// How often the innermost statements of a program run, by the ranges of its kernels' indices.
uint64_t points_of(std::string_view stripe) {
  uint64_t all = 0;
  constexpr std::string_view kKernel = "#kernel block [";
  for (size_t at = stripe.find(kKernel); at != std::string_view::npos;
       at = stripe.find(kKernel, at)) {
    at += kKernel.size();
    const std::string_view ranges = stripe.substr(at, stripe.find(']', at) - at);
    uint64_t points = 1;
    for (size_t colon = ranges.find(':'); colon != std::string_view::npos;
         colon = ranges.find(':', colon + 1))
      points *= std::strtoull(std::string(ranges.substr(colon + 1)).c_str(), nullptr, 10);
    all += points;
  }
  return all;
}

class RightDevice final : public sdk::Device {
 public:
  using Device::Device;
  sdk::Ref<sdk::Compiler> create_compiler() override { return sdk::make<RightCompiler>(host()); }
  sdk::Ref<sdk::Buffer> allocate(uint64_t bytes, std::string_view memory) override {
    must_be_main(memory);
    return sdk::make<StagedBuffer>(host(), budget_, bytes);
  }
  stria_estimate estimate(std::string_view stripe, std::string_view) override {
    const sdk::HostProgram read(host(), stripe);  // refuses what is no program
    stria_estimate out{};
    out.time_ns = 1000 + 20 * points_of(stripe);
    out.low_time_ns = out.time_ns / 4;
    out.high_time_ns = out.time_ns * 4;
    if (hooks().estimate) hooks().estimate(out);
    return out;
  }

 private:
  const sdk::Ref<sdk::MemoryBudget> budget_ = sdk::make<sdk::MemoryBudget>(kMemoryBytes);
};

}  // namespace

Hooks& hooks() {
  static auto* const all = new Hooks;
  return *all;
}

std::vector<const sdk::Host*> live_hosts() {
  const std::lock_guard<std::mutex> lock(hosts().mutex);
  return hosts().all;
}

const sdk::Host* last_host() {
  const std::vector<const sdk::Host*> all = live_hosts();
  return all.empty() ? nullptr : all.back();
}

RightDriver::RightDriver(const sdk::Host& host, sdk::DriverOptions options)
    : Driver(host, std::move(options)) {
  const std::lock_guard<std::mutex> lock(hosts().mutex);
  hosts().all.push_back(&host);
}

RightDriver::~RightDriver() {
  const std::lock_guard<std::mutex> lock(hosts().mutex);
  std::erase(hosts().all, &host());
}

std::vector<sdk::DeviceInfo> RightDriver::enumerate() {
  sdk::DeviceInfo info;
  info.id = "slot-1";
  info.name = "a board of the suite's own tests";
  info.kind = kKind;
  info.vendor = "stria";
  info.memory_bytes = kMemoryBytes;
  sdk::DeviceInfo missing = info;
  missing.id = "slot-2";
  missing.available = false;
  missing.reason = "no board is in the slot";
  return {info, missing};
}

sdk::Ref<sdk::Device> RightDriver::open(const sdk::DeviceInfo& info, std::string_view) {
  return sdk::make<RightDevice>(host(), info);
}

}  // namespace stria::wrong
