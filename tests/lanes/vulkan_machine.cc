// SPDX-License-Identifier: Apache-2.0
#include "vulkan_machine.h"

#include <algorithm>
#include <bit>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "emit/group_check.h"
#include "emit/matrix_check.h"
#include "emit/matrix_patches.h"
#include "emit/requirements.h"
#include "matrix_forms.h"
#include "program_run.h"
#include "stria/base/file.h"
#include "stria/stripe/text/printer.h"

namespace stria::lanes {
namespace {

// As device_query.cc and compiler.cc of plugins/vulkan have them.
constexpr int64_t kGroupLanes = 256;
constexpr int64_t kGroupPoints = 256, kGroupPointsOfSoftware = 64;
// Numbers of points are looked at one by one up to here.
constexpr int64_t kMostPoints = 1 << 20;

vulkan::Features everything() {
  vulkan::Features out;
  out.device = "Made-up device";
  out.fp64 = out.fp16 = out.int64 = out.int16 = out.int8 = out.storage16 = out.storage8 = true;
  out.shared_views = out.shared_views16 = out.shared_views8 = true;
  return out;
}

// How often each point of a kernel runs, of the numbers that a dispatch has: every group of every
// dimension, every lane.
std::string wrong_points(const vulkan::KernelCode& kernel) {
  const semtree::Function& function = kernel.function;
  const bool in_groups = function.group_lanes > 1;
  const int64_t each = in_groups ? 1 : kernel.group_lanes;
  if (function.trip_count > kMostPoints) return "";
  std::vector<int> runs(static_cast<size_t>(function.trip_count));
  for (int64_t z = 0; z < kernel.groups[2]; ++z)
    for (int64_t y = 0; y < kernel.groups[1]; ++y)
      for (int64_t x = 0; x < kernel.groups[0]; ++x)
        for (int64_t lane = 0; lane < each; ++lane) {
          const int64_t group = x + kernel.groups[0] * (y + kernel.groups[1] * z);
          const int64_t point = group * each + lane;
          if (point < function.trip_count) ++runs[static_cast<size_t>(point)];
        }
  for (size_t point = 0; point < runs.size(); ++point)
    if (runs[point] != 1) return fmt::format("point {} runs {} times", point, runs[point]);
  return "";
}

}  // namespace

std::string VulkanNumbers::text() const {
  return fmt::format("{}, subgroups of {}, {} lanes, {} KiB", is_software ? "software" : "gpu",
                     subgroup, group_lanes, local_KiB) +
         (narrow_shared ? "" : ", words alone are shared") + (matrices ? ", matrices" : "");
}

VulkanMachine vulkan_machine(const VulkanNumbers& numbers) {
  const std::string folder = STRIA_SOURCE_DIR "/plugins/vulkan/";
  const std::string kind = numbers.is_software ? "software.json" : "gpu.json";
  const std::string hw = folder + "hw/" + kind;
  VulkanMachine out;
  out.features = everything();
  out.features.shared_views16 = out.features.shared_views8 = numbers.narrow_shared;
  // Matrices are rounded to halves whole, as the hardware rounds.
  if (numbers.matrices) out.features.of16 = {true, true, true};
  if (numbers.matrices)
    out.features.matrices = {{16, 16, 16, DataType::fp16, DataType::fp16, DataType::fp32},
                             {16, 16, 16, DataType::fp16, DataType::fp16, DataType::fp16},
                             {16, 16, 16, DataType::bf16, DataType::bf16, DataType::fp32},
                             {16, 16, 32, DataType::i8, DataType::i8, DataType::i32},
                             {16, 16, 32, DataType::u8, DataType::u8, DataType::u32}};
  nlohmann::json device;
  device["exec_units"]["SUBGROUP"]["max_threads"] = numbers.subgroup;
  device["mem_units"]["LOCAL"]["size_KiB"] = numbers.local_KiB;
  device["settings"]["threads"] =
      std::bit_floor(static_cast<uint64_t>(std::min(kGroupLanes, numbers.group_lanes)));
  if (numbers.matrices) {
    // On one unit the products of small tensors take long enough for matrices to pay.
    device["exec_units"]["CU"]["count"] = 1;
    device["mem_units"]["MATRIX"] = nlohmann::json::object();
    nlohmann::json& instructions = device["exec_units"]["SUBGROUP"]["instructions"];
    instructions = vulkan::instructions_of(out.features.matrices);
    for (auto& [name, instruction] : instructions.items()) instruction["cycles"] = 16;
  }
  const std::string known = device.dump();
  auto model = load_hardware_model({hw, read_file(hw).value()}, {{"device", known}},
                                   numbers.matrices ? known : "");
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  out.limits.group_lanes = numbers.group_lanes;
  out.limits.shared_bytes = numbers.local_KiB << 10;
  out.limits.groups = {numbers.groups, numbers.groups, numbers.groups};
  out.subgroup = numbers.subgroup;
  semtree::SourceOptions options = vulkan::source_options(out.limits);
  options.build.subgroup_lanes = vulkan::matrix_lanes(out.features, out.subgroup);
  options.group_points =
      std::min(out.limits.group_lanes, numbers.is_software ? kGroupPointsOfSoftware : kGroupPoints);
  out.machine = with_pipeline({numbers.text(), std::move(model).value(), {}, options},
                              folder + "passes/" + kind, {});
  // Tiles are chosen by what elements take elsewhere; such a device may have no room for them.
  out.machine.may_refuse = !numbers.narrow_shared;
  return out;
}

VulkanNumbers made_up_device(trust::Dice& dice) {
  VulkanNumbers out;
  out.is_software = dice.once_in(4);
  out.subgroup = int64_t{1} << dice.between(0, 7);
  // Any number, and as often a power of two.
  out.group_lanes = dice.once_in(2) ? int64_t{1} << dice.between(1, 10) : dice.between(2, 1024);
  out.local_KiB = dice.between(16, 100);
  // No driver has so few, but numbers of groups in several dimensions come sooner.
  if (dice.once_in(2)) out.groups = dice.between(50, 500);
  out.narrow_shared = !dice.once_in(4);
  return out;
}

const std::vector<VulkanMachine>& vulkan_machines(bool all) {
  const auto make = [](const std::vector<VulkanNumbers>& numbers) {
    std::vector<VulkanMachine> out;
    for (const VulkanNumbers& n : numbers) out.push_back(vulkan_machine(n));
    return out;
  };
  if (!all) {
    static const std::vector<VulkanMachine> some = make({{true, 4, 128, 32},
                                                         {true, 8, 64, 16},
                                                         {false, 16, 128, 32},
                                                         {false, 32, 256, 48},
                                                         {false, 64, 256, 32},
                                                         {false, 128, 64, 16},
                                                         {false, 128, 256, 48}});
    return some;
  }
  static const std::vector<VulkanMachine> every = [&] {
    std::vector<VulkanNumbers> numbers;
    for (const int64_t subgroup : {4, 8, 16, 32, 64, 128})
      for (const int64_t threads : {16, 64, 256})
        for (const int64_t local_KiB : {16, 32, 48})
          for (const bool is_software : {false, true})
            if (!is_software || threads <= 64)
              numbers.push_back({is_software, subgroup, threads, local_KiB});
    return make(numbers);
  }();
  return every;
}

void TileCounts::print() const {
  std::cout << fmt::format(
      "kernels: {}, of whole subgroups: {}, of parts of one: {}; device programs: {}, of which {} "
      "as on another machine; groups run: {}, elements stored once: {}, programs refused: {}\n",
      kernels, whole, parts, programs, same, runs.groups, runs.stores, runs.refused);
}

std::string wrong_dispatch(const VulkanMachine& on, const stripe::Program& device,
                           const std::vector<vulkan::KernelCode>& kernels, TileCounts& counts) {
  if (const Status status =
          vulkan::check_groups(device, kernels, on.features, on.limits, on.subgroup);
      !status.ok())
    return status.to_string();
  for (const vulkan::KernelCode& kernel : kernels) {
    ++counts.kernels;
    const auto wrong = [&](const std::string& what) {
      return fmt::format("kernel '{}': {}", kernel.name, what);
    };
    if (kernel.group_lanes > on.limits.group_lanes)
      return wrong(fmt::format("groups of {} lanes", kernel.group_lanes));
    if (const int64_t shared = vulkan::shared_layout(kernel.function, on.features).end;
        shared > on.limits.shared_bytes)
      return wrong(fmt::format("{} bytes are shared", shared));
    const bool is_whole = kernel.group_lanes % on.subgroup == 0;
    counts.whole += is_whole;
    counts.parts += !is_whole && kernel.function.group_lanes > 1;
    // Nothing that a part of a subgroup cannot do.
    if (!is_whole && vulkan::subgroup_operation(kernel.function))
      return wrong(fmt::format("groups of {} lanes run an instruction of subgroups of {}",
                               kernel.group_lanes, on.subgroup));
    if (const std::string points = wrong_points(kernel); !points.empty()) return wrong(points);
    if (!vulkan::subgroup_operation(kernel.function)) continue;
    ++counts.with_matrices;
    // For tensors at any offset there may be no room.
    for (const bool any_offset : {false, true})
      if (const auto words = vulkan::emit(kernel, on.features, any_offset);
          !words.ok() && !(any_offset && words.status().code() == StatusCode::out_of_range))
        return words.status().to_string();
  }
  return "";
}

namespace {

// Compiles the program; no value: something is `wrong`, or the machine has refused it as it may.
std::optional<stripe::Program> compiled(const VulkanMachine& on, const stripe::Program& generic,
                                        bool may_refuse, TileCounts& counts, std::string& wrong) {
  Result<stripe::Program> device = run_passes(on.machine, generic);
  if (!device.ok()) {
    wrong = device.status().to_string();
    return {};
  }
  const auto kernels = vulkan::build_kernels(*device, on.features, on.machine.options);
  if (!kernels.ok() && (may_refuse || on.machine.may_refuse) && is_refusal(kernels.status())) {
    ++counts.runs.refused;
    return {};
  }
  wrong =
      kernels.ok() ? wrong_dispatch(on, *device, *kernels, counts) : kernels.status().to_string();
  if (!wrong.empty()) return {};
  ++counts.programs;
  return std::move(*device);
}

}  // namespace

std::string wrong_kernels(const VulkanMachine& on, const stripe::Program& generic, bool may_refuse,
                          TileCounts& counts) {
  std::string wrong;
  (void)compiled(on, generic, may_refuse, counts, wrong);
  return wrong;
}

std::string wrong_on_any(const std::vector<VulkanMachine>& machines, passes::TileProgram& program,
                         uint64_t seed, bool may_refuse, TileCounts& counts) {
  std::set<std::string> seen;
  for (const VulkanMachine& on : machines) {
    std::string wrong;
    const auto device = compiled(on, program.generic, may_refuse, counts, wrong);
    if (device && !seen.insert(stripe::print(*device)).second) {
      ++counts.same;
    } else if (device) {
      wrong = passes::wrong_values(program, [&](const std::vector<interp::TensorArg>& tensors) {
        // As its kernels are for aligned tensors, and for others.
        return run_program(*device, on.machine.options, tensors, seed, counts.runs,
                           [&](semtree::Function kernel) {
                             return vulkan::through_patches(std::move(kernel), on.features,
                                                            on.machine.options.build.subgroup_lanes,
                                                            seed % 2 == 0);
                           });
      });
    }
    if (!wrong.empty()) return fmt::format("on the machine '{}': {}", on.machine.name, wrong);
  }
  return "";
}

}  // namespace stria::lanes
