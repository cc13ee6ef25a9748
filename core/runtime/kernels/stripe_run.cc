// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/kernels/stripe_run.h"

#include <map>
#include <utility>

#include "stria/exec/loaded_program.h"
#include "stria/interp/check.h"
#include "stria/pass/model_rules.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/runtime/inside.h"
#include "stria/runtime/kernels/strided_tensor.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria {
namespace {

constexpr uint64_t kSampleSeed = 1;

Status verify_for(const Device& device, const stripe::Program& program) {
  STRIA_ASSIGN(const ModelRules rules, ModelRules::of(Inside::model(device)));
  return stripe::verify(program, rules.options(&intrinsic_signatures()))
      .with_context(device.name());
}

// Compares what the device made of `inputs` with what the interpreter makes of them.
Result<std::vector<OutputCheck>> checks_of(const Device& device, const StripeProgram& program,
                                           std::map<std::string, StridedTensor>& inputs,
                                           std::map<std::string, StridedTensor>& outputs,
                                           const StripeCheck& check) {
  std::vector<interp::TensorArg> arguments;
  for (auto& [name, tensor] : inputs) arguments.push_back(argument_of(name, tensor));
  interp::InterpOptions options;
  options.flushed = Inside::model(device).flushed_subnormals;
  options.need_all_outputs = false;  // others may write the rest of a kernel's results
  STRIA_ASSIGN(const std::vector<interp::Reference> references,
               check.sample ? interp::interpret_sample(program.program, arguments, *check.sample,
                                                       kSampleSeed, options)
                            : interp::interpret_with_bounds(program.program, arguments, options));
  std::vector<OutputCheck> out;
  for (const interp::Reference& reference : references) {
    STRIA_ASSIGN(
        interp::CheckReport report,
        interp::compare(argument_of(reference.name, outputs.at(reference.name)), reference));
    out.push_back({reference.name, std::move(report)});
  }
  return out;
}

}  // namespace

Result<StripeProgram> read_stripe_program(const SourceText& file) {
  StripeProgram out;
  STRIA_ASSIGN(out.program, stripe::parse(file));
  stripe::VerifyOptions options;
  options.intrinsics = &intrinsic_signatures();
  STRIA_RETURN_IF_ERROR(stripe::verify(out.program, options).with_context(file.name));
  STRIA_ASSIGN(out.inputs, interp::program_inputs(out.program));
  STRIA_ASSIGN(out.outputs, interp::program_outputs(out.program));
  for (const interp::ProgramTensor& one : out.outputs)
    if (one.dir == stripe::RefDir::inout) out.inputs.push_back(one);
  return out;
}

Result<StripeRun> run_stripe(const Device& device, const StripeProgram& program,
                             std::span<const HostTensor> inputs, const CompileOptions& options,
                             const std::optional<StripeCheck>& check) {
  if (inputs.size() != program.inputs.size())
    return internal_error("{} inputs for a program with {}", inputs.size(), program.inputs.size());
  STRIA_RETURN_IF_ERROR(verify_for(device, program.program));
  STRIA_ASSIGN(
      const exec::LoadedProgram loaded,
      CompileDriver::build(device, program.program, stripe::print(program.program), options));
  const exec::Plan& plan = loaded.plan();
  std::map<std::string, StridedTensor> given, made;
  const auto tensors = [&](const std::vector<size_t>& positions,
                           std::vector<hal::Argument>& arguments) -> Status {
    for (const size_t position : positions) {
      const exec::PlannedTensor& tensor = plan.tensors[position];
      STRIA_ASSIGN(hal::Buffer buffer, Inside::hal_device(device).allocate(tensor.bytes));
      arguments.push_back({std::move(buffer), 0});
      StridedTensor values{std::vector<std::byte>(tensor.bytes), tensor.shape};
      for (size_t i = 0; i < inputs.size(); ++i)
        if (program.inputs[i].name == tensor.name) {
          values = strided(inputs[i], tensor.shape, tensor.bytes);
          given[tensor.name] = values;
        }
      STRIA_RETURN_IF_ERROR(write_strided(values, arguments.back()).with_context(tensor.name));
    }
    return Status();
  };
  std::vector<hal::Argument> from, to;
  STRIA_RETURN_IF_ERROR(tensors(plan.inputs, from));
  STRIA_RETURN_IF_ERROR(tensors(plan.outputs, to));
  STRIA_ASSIGN(const exec::Binding binding, loaded.bind(from));
  STRIA_ASSIGN(const exec::Run run, binding.run(from, to));
  STRIA_RETURN_IF_ERROR(run.wait());
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const exec::PlannedTensor& tensor = plan.tensors[plan.outputs[i]];
    STRIA_ASSIGN(made[tensor.name], read_strided(tensor.shape, tensor.bytes, to[i]));
  }
  StripeRun out;
  for (const interp::ProgramTensor& one : program.outputs) {
    STRIA_ASSIGN(HostTensor result, dense(one.name, made.at(one.name)));
    out.results.push_back(std::move(result));
  }
  if (check) {
    STRIA_ASSIGN(out.checks, checks_of(device, program, given, made, *check));
  }
  return out;
}

}  // namespace stria
