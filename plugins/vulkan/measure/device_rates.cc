// SPDX-License-Identifier: Apache-2.0
#include "measure/device_rates.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "buffer.h"
#include "compiler.h"
#include "executor.h"
#include "library.h"
#include "matrix_forms.h"
#include "measure/device_rates_kernels.h"
#include "measure/groups_at_once.h"
#include "measure/matrix_rate_kernel.h"
#include "stria/base/cache_folder.h"
#include "stria/base/file.h"
#include "stria/codegen/code_generator.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::vulkan {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLimit(500);
// Of multiply_add, for each unit: so many that it does not matter how they are shared out.
constexpr int64_t kGroupsOfUnit = 64;
constexpr int64_t kUnknownUnits = 4;  // where multiply_add only keeps the device busy
constexpr size_t kSmallKernels = 200;
constexpr int kTries = 5;  // of which the fastest counts
// Local memory of a group, and how much of it groups may have together before the search ends.
constexpr int64_t kGroupBytes = 16 << 10;
constexpr int64_t kMostUnitBytes = 256 << 10;
constexpr int64_t kMostLanes = 128;

// A device that has been idle has a low clock, which rises while it is busy.
constexpr double kRoundNs = 20e6;
constexpr milliseconds kLeastBusy(60), kMostBusy(400);
constexpr double kAgree = 0.02;

// What the model says of the compute units.
struct Units {
  int64_t count = 0;         // 0: the driver does not say
  double multiply_adds = 0;  // of one, in a cycle
  int64_t subgroups = 0;     // on all of them
};

Units units_of(const Context& context, const std::filesystem::path& plugin_folder) {
  const std::string& properties = context.device().info.properties;
  const std::filesystem::path file =
      plugin_folder / "hw" / (context.device().is_software ? "software.json" : "gpu.json");
  const HardwareModel model = code_generator::require(load_hardware_model(
      {file.string(), code_generator::require(read_file(file))}, {}, properties));
  Units out;
  const auto json = nlohmann::json::parse(properties);
  if (json.contains("/exec_units/CU/count"_json_pointer))
    out.count = json["exec_units"]["CU"]["count"].get<int64_t>();
  if (const ExecutionUnit* unit = model.find_executor("CU"))
    out.multiply_adds = unit->operation == ExecutionUnit::Operation::mac ? unit->ops_per_cycle
                                                                         : unit->ops_per_cycle / 2;
  out.subgroups = model.unit_count("SUBGROUP").value_or(0);
  return out;
}

class Measurement {
 public:
  Measurement(Context& context, const std::filesystem::path& plugin_folder, milliseconds limit)
      : context_(context),
        end_(Clock::now() + limit),
        units_(units_of(context, plugin_folder)),
        compiler_(sdk::make<VulkanCompiler>(context)),
        executor_(sdk::make<VulkanExecutor>(context)) {}

  // What an error ends, `out` has up to there.
  void run(MeasuredRates& out) {
    const int64_t groups = kGroupsOfUnit * (units_.count > 0 ? units_.count : kUnknownUnits);
    std::map<std::string, MatrixRateKernel> products = matrix_kernels();
    make_buffers(written_elements(groups), products);
    const auto rates = compiler_->compile(rates_text(groups), "{}");
    if (!in_time()) return;
    const double per_ns = multiply_adds_per_ns(*rates, groups);
    if (units_.count > 0 && units_.multiply_adds > 0)
      out.clock_mhz =
          std::round(1000 * per_ns / (static_cast<double>(units_.count) * units_.multiply_adds));
    if (!in_time()) return;
    out.launch_us = std::round(small_ns(*rates)) / 1000;
    if (units_.count > 0) {
      const int64_t most_bytes = context_.device().limits.shared_bytes;
      for (const int64_t bytes : std::set{std::min(kGroupBytes, most_bytes), most_bytes}) {
        if (!in_time()) return;
        out.unit_KiB = std::max(out.unit_KiB, unit_bytes(bytes) / 1024);
      }
    }
    if (out.clock_mhz > 0)
      for (auto& [name, kernel] : products) {
        if (!in_time()) return;
        measure_products(name, std::move(kernel), out);
      }
    out.complete = in_time();
  }

 private:
  bool in_time() const { return Clock::now() < end_; }

  // By the names of the instructions that they measure.
  std::map<std::string, MatrixRateKernel> matrix_kernels() const {
    std::map<std::string, MatrixRateKernel> out;
    const FoundDevice& device = context_.device();
    if (units_.count == 0) return out;
    for (const MatrixForm& form : device.features.matrices)
      if (is_instruction(form))
        out.emplace(instruction_name(form), matrix_rate_kernel(form, units_.count, device.subgroup,
                                                               features(), device.limits));
    return out;
  }

  Features features() const {
    Features out = context_.device().features;
    if (context_.cuts_dispatches()) out.whole_groups = context_.dispatch_limit().units;
    return out;
  }

  void make_buffers(int64_t written, const std::map<std::string, MatrixRateKernel>& products) {
    int64_t read_bytes = 4 * kReadElements, written_bytes = 4 * written;
    for (const auto& [name, kernel] : products)
      for (const semtree::KernelArgument& argument : kernel.code.arguments) {
        int64_t& bytes = argument.writable ? written_bytes : read_bytes;
        bytes = std::max(bytes, argument.bytes);
      }
    zeros_ = sdk::make<VulkanBuffer>(context_, static_cast<uint64_t>(read_bytes));
    results_ = sdk::make<VulkanBuffer>(context_, static_cast<uint64_t>(written_bytes));
    wait(executor_->fill({zeros_, 0}, zeros_->size(), {4, std::byte{0}}, {}));
  }

  static uint64_t wait(const sdk::Ref<sdk::Event>& event) {
    event->wait(UINT64_MAX);
    if (event->outcome()) throw sdk::Error(event->outcome());
    return event->duration_ns();
  }

  // Of `count` launches of a kernel, one after the other.
  double ns_of(sdk::Library& library, uint64_t kernel, size_t count) {
    std::vector<sdk::Argument> arguments;
    for (const sdk::ArgumentInfo& argument : library.kernels()[kernel].arguments)
      arguments.push_back({argument.direction == STRIA_IN ? zeros_ : results_, 0});
    std::vector<uint32_t> before(count);
    std::vector<sdk::Launch> launches;
    for (size_t i = 0; i < count; ++i) {
      before[i] = static_cast<uint32_t>(i) - 1;
      launches.push_back({library.prepare(kernel), arguments, &before[i], i > 0 ? 1u : 0u});
    }
    const uint64_t ns = wait(executor_->submit(std::move(launches), {}, nullptr));
    if (ns == 0) throw sdk::Error(STRIA_UNAVAILABLE, "the device does not tell times");
    return static_cast<double>(ns);
  }
  double best_ns(sdk::Library& library, uint64_t kernel, size_t count) {
    double best = ns_of(library, kernel, count);
    for (int i = 1; i < kTries; ++i) best = std::min(best, ns_of(library, kernel, count));
    return best;
  }

  double multiply_adds_per_ns(sdk::Library& rates, int64_t groups) {
    const auto operations =
        static_cast<double>(written_elements(groups)) * static_cast<double>(kLaneMultiplyAdds);
    const auto begin = Clock::now();
    double one_ns = ns_of(rates, 0, 1), best = operations / one_ns, last = 0;
    for (;;) {
      const auto count = static_cast<size_t>(std::clamp(kRoundNs / one_ns, 1.0, 64.0));
      one_ns = ns_of(rates, 0, count) / static_cast<double>(count);
      const double now = operations / one_ns;
      best = std::max(best, now);
      const auto busy = Clock::now() - begin;
      if (busy >= kMostBusy || !in_time()) return best;
      if (busy >= kLeastBusy && std::abs(now - last) <= kAgree * now) return best;
      last = now;
    }
  }

  double small_ns(sdk::Library& rates) {
    return best_ns(rates, 1, kSmallKernels) / static_cast<double>(kSmallKernels);
  }

  // A form that cannot be emitted, or that the driver refuses, has no rate.
  void measure_products(const std::string& name, MatrixRateKernel kernel, MeasuredRates& out) {
    sdk::Ref<VulkanLibrary> library;
    try {
      std::vector<KernelCode> kernels;
      kernels.push_back(std::move(kernel.code));
      library = sdk::make<VulkanLibrary>(context_, std::move(kernels), features());
    } catch (const sdk::Error& error) {
      if (context_.lost()) throw;
      context_.host().log(STRIA_LOG_DEBUG,
                          fmt::format("'{}' has no rate of {}: {}", context_.name(), name,
                                      error.outcome()->message));
      return;
    }
    // One time may be long where a driver is slow; then it is exact, too.
    double best = ns_of(*library, 0, 1), spent = best;
    for (int i = 1; i < kTries && spent < kRoundNs; ++i) {
      const double ns = ns_of(*library, 0, 1);
      best = std::min(best, ns);
      spent += ns;
    }
    const double each_ns = best * static_cast<double>(units_.subgroups) / kernel.products;
    out.matrix_cycles[name] = std::round(each_ns * out.clock_mhz / 100) / 10;
  }

  // Of all groups on one unit, as groups of `bytes` show it; 0: they do not.
  //
  // A group is one subgroup: its lanes wait for their own results most of the time, and leave the
  // unit to the other groups.
  int64_t unit_bytes(int64_t bytes) {
    const FoundDevice& device = context_.device();
    const uint32_t subgroup = device.subgroup > 0 ? device.subgroup : device.default_subgroup;
    const int64_t lanes = std::clamp<int64_t>(subgroup, 1, kMostLanes);
    const int64_t elements = bytes / 4 / lanes * lanes;
    const int64_t most = kMostUnitBytes / bytes + 1;
    const auto kernels = compiler_->compile(beside_text(units_.count, lanes, elements, most), "{}");
    std::vector<double> times;
    int64_t at_once = 0;
    for (int64_t n = 1; n <= most && at_once == 0 && in_time(); ++n) {
      times.push_back(best_ns(*kernels, static_cast<uint64_t>(n - 1), 1));
      at_once = groups_at_once(times);
    }
    context_.host().log(
        STRIA_LOG_DEBUG,
        fmt::format(
            "'{}': {} groups of {} bytes run at once on a unit; 1, 2, ... of them: {:.0f} ns",
            context_.name(), at_once, bytes, fmt::join(times, ", ")));
    return at_once * bytes;
  }

  Context& context_;
  const Clock::time_point end_;
  const Units units_;
  const sdk::Ref<VulkanCompiler> compiler_;
  const sdk::Ref<VulkanExecutor> executor_;
  sdk::Ref<sdk::Buffer> zeros_, results_;
};

}  // namespace

MeasuredRates measure_device_rates(Context& context, const std::filesystem::path& plugin_folder,
                                   std::chrono::milliseconds limit) {
  MeasuredRates out;
  try {
    Measurement(context, plugin_folder, limit).run(out);
  } catch (const std::exception& error) {
    context.host().log(STRIA_LOG_INFO, "'" + context.name() +
                                           "' is measured in part: " + std::string(error.what()));
  }
  return out;
}

std::optional<MeasuredRates> device_rates(Context& context,
                                          const std::filesystem::path& plugin_folder,
                                          const std::filesystem::path& folder, bool may_measure) {
  if (folder.empty()) return std::nullopt;
  const std::string key = device_rates_key(context.device());
  if (auto kept = read_device_rates(folder, key)) return kept;
  // Whether they can be kept is known before the time is spent.
  if (!may_measure || make_cache_folder(folder) != 0 || ::access(folder.c_str(), W_OK) != 0)
    return std::nullopt;
  MeasuredRates rates = measure_device_rates(context, plugin_folder, kLimit);
  // Another process may have been first: all go by the same ones.
  if (auto kept = read_device_rates(folder, key)) return kept;
  // Measured in vain if the disk is full: then the next process does it again.
  if (rates.complete) (void)write_device_rates(folder, key, rates);
  return rates;
}

}  // namespace stria::vulkan
