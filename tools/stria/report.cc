// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <algorithm>
#include <set>

#include "message.h"
#include "stria/base/text.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/walk.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria::command {
namespace {

constexpr int64_t kShownValues = 8;
constexpr double kShownAsMicroseconds = 1e-4;

std::string rate(double operations, double seconds) {
  return operations > 0 && seconds > 0 ? fmt::format("{:.1f}", operations / seconds / 1e9) : "-";
}

}  // namespace

std::string describe_tensor(const std::string& name, const HostTensor& tensor) {
  std::string out = fmt::format("{}: {} =", name, to_string(tensor.type(), tensor.sizes()));
  const int64_t shown = std::min(tensor.element_count(), kShownValues);
  for (int64_t i = 0; i < shown; ++i)
    out += " " + to_string(load_scalar(tensor.type(), tensor.data(), i));
  if (shown < tensor.element_count()) out += " …";
  return out;
}

std::string describe_check(const OutputCheck& check) {
  const interp::CheckReport& report = check.report;
  std::string out = fmt::format(
      "check {}: {} elements, largest error {:.3g} absolute, {:.3g} relative, largest bound {:.3g}",
      check.name, report.compared, report.max_abs_error, report.max_rel_error, report.max_bound);
  if (report.skipped > 0) out += fmt::format(", {} undecided", report.skipped);
  if (!report.passed())
    return out + fmt::format(": {} WRONG, worst {}", report.failures, report.worst_text);
  if (report.skipped == 0) return out + ": ok";
  const int64_t decided = report.compared - report.skipped;
  return out + (decided == 0 ? ": NOT CHECKED" : fmt::format(": the other {} ok", decided));
}

std::string describe_many_undecided(const OutputCheck& check) {
  if (check.report.skipped == 0 || check.report.skipped * 100 < check.report.compared) return "";
  return fmt::format("check {}: 1% or more of the elements could not be decided", check.name);
}

// Of a kernel, which may be several of generic Stripe in one ("kernel_0+kernel_1"); 0: not known.
double operations_of(const std::string& kernel, const std::map<std::string, double>& operations) {
  double sum = 0;
  for (const std::string& part : split(kernel, '+')) {
    auto counted = operations.find(part);
    if (counted == operations.end()) return 0;
    sum += counted->second;
  }
  return sum;
}

std::string short_kernel_name(const std::string& name) {
  const std::vector<std::string> parts = split(name, '+');
  return parts.size() <= 3 ? name : parts.front() + "+..+" + parts.back();
}

// How many kernels the plugin leaves to the interpreter, and why; "" if none.
std::string describe_interpreted(const std::vector<KernelTime>& kernels) {
  std::vector<const KernelTime*> interpreted;
  for (const KernelTime& kernel : kernels)
    if (!kernel.interpreted.empty()) interpreted.push_back(&kernel);
  if (interpreted.empty()) return "";
  std::string out = fmt::format("\n{} of {} kernel{} interpreted:", interpreted.size(),
                                kernels.size(), kernels.size() == 1 ? " is" : "s are");
  const bool one_reason = std::all_of(
      interpreted.begin(), interpreted.end(),
      [&](const KernelTime* kernel) { return kernel->interpreted == interpreted[0]->interpreted; });
  if (one_reason && interpreted.size() == kernels.size())
    return out + " " + interpreted[0]->interpreted;
  for (const KernelTime* kernel : interpreted)
    out += fmt::format("\n  {}: {}", short_kernel_name(kernel->name), kernel->interpreted);
  return out;
}

std::string describe_profile(const Profile& profile,
                             const std::map<std::string, double>& operations) {
  size_t width = 6;
  double kernel_seconds = 0, all_operations = 0;
  for (const auto& [name, count] : operations) all_operations += count;
  for (const KernelTime& kernel : profile.kernels) {
    width = std::max(width, short_kernel_name(kernel.name).size());
    kernel_seconds += static_cast<double>(kernel.nanoseconds) * 1e-9;
  }
  // The unit in which the shortest kernel has digits to show.
  double shortest = profile.wall_seconds;
  for (const KernelTime& kernel : profile.kernels)
    if (kernel.nanoseconds != 0)
      shortest = std::min(shortest, static_cast<double>(kernel.nanoseconds) * 1e-9);
  const bool micro = shortest < kShownAsMicroseconds;
  const double scale = micro ? 1e6 : 1e3;
  const int digits = micro && shortest >= 1e-6 ? 1 : 3;
  // fmt counts µ as one column, as it is shown.
  std::string out = fmt::format("{:<{}}  {:>10}  {:>6}  {:>8}\n", "kernel", width,
                                micro ? "µs" : "ms", "share", "GFLOP/s");
  for (const KernelTime& kernel : profile.kernels) {
    const double seconds = static_cast<double>(kernel.nanoseconds) * 1e-9;
    const bool known = kernel.nanoseconds != 0;
    out += fmt::format("{:<{}}  {:>10}  {:>6}  {:>8}\n", short_kernel_name(kernel.name), width,
                       known ? fmt::format("{:.{}f}", seconds * scale, digits) : "unknown",
                       known ? fmt::format("{:.1f}%", 100 * seconds / kernel_seconds) : "-",
                       rate(operations_of(kernel.name, operations), seconds));
  }
  out +=
      fmt::format("{:<{}}  {:>10.{}f}  {:>6}  {:>8}\n", "run", width, profile.wall_seconds * scale,
                  digits, "", rate(all_operations, profile.wall_seconds));
  out += fmt::format("median of {} run{}; compiled in {:.1f} ms", profile.runs,
                     profile.runs == 1 ? "" : "s", profile.compile_seconds * 1e3);
  return out + describe_interpreted(profile.kernels);
}

std::vector<std::string> micro_kernel_calls(const stripe::Program& device,
                                            const std::vector<KernelTime>& times) {
  std::map<std::string, std::set<std::string>> functions;  // by kernel
  for (const stripe::Block* section : {device.prologue(), device.main()}) {
    if (section == nullptr) continue;
    for (const stripe::Statement& statement : section->stmts) {
      const stripe::Block* kernel = statement.block();
      const bool interpreted =
          kernel != nullptr && std::any_of(times.begin(), times.end(), [&](const KernelTime& time) {
            return time.name == kernel->name && !time.interpreted.empty();
          });
      if (kernel == nullptr || interpreted) continue;
      stripe::visit_blocks(*kernel, [&](const stripe::Place& place) {
        const auto* name =
            std::get_if<std::string>(place.block->tags.find(stripe::tag::kMicroKernel));
        if (name != nullptr) functions[kernel->name].insert(*name);
      });
    }
  }
  std::vector<std::string> out;
  for (const auto& [kernel, names] : functions)
    out.push_back(fmt::format("{}: {}", short_kernel_name(kernel), fmt::join(names, ", ")));
  return out;
}

std::string describe_micro_kernels(const stripe::Program& device,
                                   const std::vector<KernelTime>& times) {
  const std::vector<std::string> calls = micro_kernel_calls(device, times);
  if (calls.empty()) return "";
  return fmt::format("\n{} kernel{} functions of the plugin:\n  {}", calls.size(),
                     calls.size() == 1 ? " calls" : "s call", join(calls, "\n  "));
}

std::string describe_undecided(const std::vector<std::string>& undecided) {
  if (undecided.size() == 1) return undecided[0];
  return fmt::format("{} things undecided, the first: {}", undecided.size(), undecided[0]);
}

void print_undecided(const std::vector<StepReport>& steps) {
  for (const StepReport& step : steps)
    if (!step.undecided.empty())
      print_message(fmt::format("warning: after step '{}': {}", step.step,
                                describe_undecided(step.undecided)));
}

}  // namespace stria::command
