// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <gtest/gtest.h>

#include <iostream>

#include "program_run.h"
#include "stria/base/file.h"
#include "stria/builtins/evaluate.h"
#include "stria/passes/all_passes.h"

namespace stria::lanes {

Machine with_pipeline(const Machine& usual, const std::string& path,
                      const TemplateSettings& settings) {
  auto pipeline = parse_pipeline({path, read_file(path).value()}, settings, usual.model,
                                 passes::pass_registry());
  STRIA_CHECK(pipeline.ok(), "{}", pipeline.status().to_string());
  Machine out = usual;
  out.pipeline = std::move(pipeline).value();
  return out;
}

Result<stripe::Program> run_passes(const Machine& machine, const stripe::Program& generic) {
  static const EvaluateIntrinsic evaluator = evaluate;
  stripe::Program device = generic;
  PipelineOptions how;
  how.verify_each = false;
  how.evaluate = &evaluator;
  STRIA_RETURN_IF_ERROR(run_pipeline(device, machine.pipeline, machine.model, how).status());
  return device;
}

Result<stripe::Program> compile(const Machine& machine, const stripe::Program& generic) {
  STRIA_ASSIGN(stripe::Program device, run_passes(machine, generic));
  STRIA_ASSIGN(const semtree::ProgramKernels kernels, semtree::kernels_of(device));
  for (const semtree::KernelBlock& kernel : kernels.kernels)
    STRIA_RETURN_IF_ERROR(semtree::build_kernel(kernel, machine.options).status());
  return device;
}

bool is_refusal(const Status& status) {
  return status.code() == StatusCode::unsupported || status.code() == StatusCode::out_of_range;
}

std::string wrong_on(const Machine& machine, passes::TileProgram& program, uint64_t seed,
                     RunCounts& counts) {
  const Result<stripe::Program> device = compile(machine, program.generic);
  if (device.ok())
    return passes::wrong_values(program, [&](const std::vector<interp::TensorArg>& tensors) {
      return run_program(*device, machine.options, tensors, seed, counts);
    });
  if (!machine.may_refuse || !is_refusal(device.status())) return device.status().to_string();
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
