// SPDX-License-Identifier: Apache-2.0
#include "gpu_machine.h"

#include <gtest/gtest.h>

#include <iostream>

#include "emit/dialect.h"
#include "program_run.h"
#include "stria/base/file.h"
#include "stria/builtins/evaluate.h"
#include "stria/passes/all_passes.h"

namespace stria::lanes {
namespace {

// `device` is what the driver says, over what hw/gpu.json says of all.
Machine make_machine(const std::string& name, const std::string& device, int64_t local_KiB,
                     int64_t threads) {
  const std::string folder = STRIA_SOURCE_DIR "/plugins/opencl/";
  std::string text = read_file(folder + "hw/gpu.json").value();
  const std::string usual = "\"threads\": 256";
  const size_t at = text.find(usual);
  STRIA_CHECK(at != std::string::npos, "hw/gpu.json has no {}", usual);
  text.replace(at, usual.size(), fmt::format("\"threads\": {}", threads));
  TemplateSettings settings;
  if (!device.empty()) settings["device"] = device;
  auto model = load_hardware_model({folder + "hw/gpu.json", text}, settings);
  STRIA_CHECK(model.ok(), "{}", model.status().to_string());
  semtree::SourceOptions options = opencl::source_options();
  options.build.enough_parallel_points = INT32_MAX;
  options.shared_bytes = local_KiB << 10;
  options.largest_group = std::max<int64_t>(threads, 256);
  return with_pipeline({name, std::move(model).value(), {}, options}, folder + "passes/gpu.json",
                       {});
}

}  // namespace

Machine with_pipeline(const Machine& usual, const std::string& path,
                      const TemplateSettings& settings) {
  auto pipeline =
      parse_pipeline({path, read_file(path).value()}, settings, usual.model, passes::all_passes());
  STRIA_CHECK(pipeline.ok(), "{}", pipeline.status().to_string());
  Machine out = usual;
  out.pipeline = std::move(pipeline).value();
  return out;
}

const std::vector<Machine>& gpus() {
  static const std::vector<Machine> all = [] {
    std::vector<Machine> out;
    out.push_back(make_machine("no driver", "", 48, 256));
    out.push_back(make_machine(
        "large",
        R"({"exec_units": {"CU": {"count": 132}}, "mem_units": {"LOCAL": {"size_KiB": 48}}})", 48,
        256));
    out.push_back(make_machine(
        "small",
        R"({"exec_units": {"CU": {"count": 4}}, "mem_units": {"LOCAL": {"size_KiB": 16}}})", 16,
        64));
    return out;
  }();
  return all;
}

std::string wrong_on(const Machine& machine, passes::TileProgram& program, uint64_t seed,
                     RunCounts& counts) {
  static const EvaluateIntrinsic evaluator = evaluate;
  stripe::Program device = program.generic;
  PipelineOptions how;
  how.verify_each = false;
  how.evaluate = &evaluator;
  Status status = run_pipeline(device, machine.pipeline, machine.model, how).status();
  std::string wrong =
      status.ok() ? passes::wrong_values(program,
                                         [&](const std::vector<interp::TensorArg>& tensors) {
                                           return status = run_program(device, machine.options,
                                                                       tensors, seed, counts);
                                         })
                  : status.to_string();
  const bool refused =
      status.code() == StatusCode::unsupported || status.code() == StatusCode::out_of_range;
  if (!refused || !machine.may_refuse) return wrong;
  ++counts.refused;
  return "";
}

void expect_groups(const RunCounts& counts) {
  std::cout << fmt::format(
      "groups: {}, of several lanes: {}, barriers met: {}, elements touched: {}, programs refused: "
      "{}\n",
      counts.groups, counts.groups_of_lanes, counts.barriers, counts.accesses, counts.refused);
  EXPECT_GT(counts.groups_of_lanes, 0);
  EXPECT_GT(counts.barriers, 0);
}

}  // namespace stria::lanes
