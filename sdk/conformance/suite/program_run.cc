// SPDX-License-Identifier: Apache-2.0
#include "suite/program_run.h"

#include <chrono>
#include <cstring>

#include "stria/base/text.h"
#include "stria/runtime/check.h"
#include "stria/runtime/compile_driver.h"
#include "stria/runtime/inside.h"
#include "suite/guarded_memory.h"

namespace stria::conformance {
namespace {

// A kernel of the suite takes milliseconds, and a driver's compiler seconds, or many on a machine
// that is busy.
constexpr int kWaitMs = 40'000;

struct Product {
  Runtime runtime;
  Result<::stria::Device> device;
};

Result<::stria::Device> open_product(const Subject& subject, Runtime& runtime) {
  const std::vector<hal::PluginRecord>& records = Inside::records(runtime);
  if (records.size() != 1)
    return internal_error("the runtime finds {} plugins in '{}'", records.size(),
                          subject.options().directory.string());
  STRIA_RETURN_IF_ERROR(records[0].status());
  return Inside::open(records[0].plugin, subject.device_info().id);
}

Product make_product(const Subject& subject) {
  RuntimeOptions options;
  options.plugin_paths = {subject.options().directory};
  options.only_plugin_paths = true;
  options.probe_plugins = false;  // this process is one of its own already
  options.author = true;
  const std::chrono::milliseconds limit(patience_ms(kWaitMs));
  options.plugin_time_limit = limit;
  options.wait_limit_ns = static_cast<uint64_t>(std::chrono::nanoseconds(limit).count());
  Runtime runtime(std::move(options));
  Result<::stria::Device> device = open_product(subject, runtime);
  return {std::move(runtime), std::move(device)};
}

CompileOptions options_of(const TestProgram& program) {
  CompileOptions options;
  options.parameters = program.settings;
  options.no_peepholes = program.no_peepholes;
  options.fast_math = program.fast_math;
  for (const TestInput& input : program.inputs)
    if (input.constant) options.constants.insert(input.name);
  return options;
}

InputTypes types_of(const TestProgram& program) {
  InputTypes types;
  for (const TestInput& input : program.inputs) types[input.name] = {input.type, input.sizes};
  return types;
}

Result<Executable> compile(const ::stria::Device& device, const TestProgram& test) {
  STRIA_ASSIGN(const Program program, Program::from_tile({test.name + ".tile", test.tile()}));
  return device.compile(program, types_of(test), options_of(test));
}

// The tensors of one run: inputs that are read, then outputs.
struct Places {
  std::vector<GuardedTensor> tensors;
  std::vector<size_t> inputs;  // positions of the program's inputs, in the order of the plan's
  std::vector<size_t> outputs;
};

template <typename Infos>
size_t position_of(const Infos& infos, const std::string& name) {
  size_t at = 0;
  while (at < infos.size() && infos[at].name != name) ++at;
  return at;
}

Result<Places> places_of(const Executable& executable, const std::vector<HostTensor>& values) {
  const exec::Plan& plan = Inside::loaded(executable).plan();
  Places out;
  const auto bytes_of_values = [](const HostTensor& tensor) {
    return std::as_bytes(std::span(tensor.data(), tensor.byte_count()));
  };
  for (const size_t t : plan.inputs) {
    const size_t at = position_of(executable.inputs(), plan.tensors[t].name);
    if (at == values.size())
      return internal_error("the plan has an input '{}' of its own", plan.tensors[t].name);
    out.inputs.push_back(at);
    out.tensors.push_back({plan.tensors[t].name, plan.tensors[t].bytes,
                           static_cast<uint64_t>(byte_size(plan.tensors[t].shape.type)),
                           bytes_of_values(values[at])});
  }
  for (const size_t t : plan.outputs) {
    out.outputs.push_back(position_of(executable.outputs(), plan.tensors[t].name));
    out.tensors.push_back({plan.tensors[t].name,
                           plan.tensors[t].bytes,
                           static_cast<uint64_t>(byte_size(plan.tensors[t].shape.type)),
                           {}});
  }
  return out;
}

// A bool that is neither 0 nor 1.
Status check_truth(const HostTensor& tensor, const std::string& name) {
  if (tensor.type() != DataType::boolean) return Status();
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    if (const auto byte = std::to_integer<int>(tensor.data()[i]); byte > 1)
      return broken_rule(Rule::bool_element, "element {} of '{}' is a bool of {}, not 0 or 1", i,
                         name, byte);
  return Status();
}

class Runner {
 public:
  Runner(const ::stria::Device& device, const Executable& executable, const TestProgram& program,
         std::vector<HostTensor> values)
      : device_(device), executable_(executable), program_(program), values_(std::move(values)) {}

  ProgramRun run() {
    ProgramRun out;
    for (const TensorInfo& info : executable_.outputs())
      out.outputs.push_back({info.name, {}, 0, 0});
    for (const GuardedMemory::Layout layout :
         {GuardedMemory::Layout::apart, GuardedMemory::Layout::together}) {
      out.status = run_at(layout, out.outputs);
      if (!out.status.ok()) return out;
    }
    return out;
  }

 private:
  Status run_at(GuardedMemory::Layout layout, std::vector<OutputRun>& runs) {
    const hal::Device& device = Inside::hal_device(device_);
    STRIA_ASSIGN(const Places places, places_of(executable_, values_));
    STRIA_ASSIGN(GuardedMemory memory, GuardedMemory::make(device, places.tensors, layout));
    STRIA_RETURN_IF_ERROR(memory.write());
    const auto inputs = std::span(memory.places()).first(places.inputs.size());
    const auto outputs = std::span(memory.places()).subspan(places.inputs.size());
    STRIA_ASSIGN(const exec::Binding binding, Inside::loaded(executable_).bind(inputs));
    STRIA_ASSIGN(const exec::Run run, binding.run(inputs, outputs));
    if (const Status ended = run.wait(); !ended.ok())
      return with_rule(ended, ended.code() == StatusCode::deadline_exceeded
                                  ? Rule::begins
                                  : rule_of(Slot::executor_submit));
    STRIA_RETURN_IF_ERROR(memory.read());
    for (size_t i = 0; i < places.inputs.size(); ++i)
      STRIA_RETURN_IF_ERROR(memory.check_unchanged(i));
    std::vector<HostTensor> results(runs.size());
    for (size_t o = 0; o < places.outputs.size(); ++o) {
      const size_t at = places.outputs[o];
      const TensorInfo& info = executable_.outputs()[at];
      STRIA_ASSIGN(results[at], HostTensor::create(info.type, info.sizes, info.name));
      const std::span<const std::byte> got = memory.contents(places.inputs.size() + o);
      if (!got.empty()) std::memcpy(results[at].data(), got.data(), got.size());
      if (runs[at].status.ok()) runs[at].status = memory.check_guards(places.inputs.size() + o);
      if (runs[at].status.ok()) runs[at].status = check_truth(results[at], info.name);
      if (program_.keep_results) runs[at].result.assign(got.begin(), got.end());
    }
    return compare(std::move(results), runs);
  }

  // With the interpreter, unless every byte is what an earlier run gave.
  Status compare(std::vector<HostTensor> results, std::vector<OutputRun>& runs) {
    bool same = !earlier_.empty();
    for (size_t i = 0; same && i < results.size(); ++i)
      same = results[i].bytes() == earlier_[i].bytes();
    if (same) return Status();
    STRIA_ASSIGN(
        const std::vector<OutputCheck> checks,
        check_outputs(Inside::compilation(executable_), values_, results, program_.sample));
    for (size_t i = 0; i < checks.size(); ++i) {
      const interp::CheckReport& report = checks[i].report;
      runs[i].elements = report.compared;
      runs[i].undecided = report.skipped;
      if (runs[i].status.ok() && !report.passed())
        runs[i].status =
            broken_rule(results[i].type() == DataType::boolean || !is_float(results[i].type())
                            ? Rule::equal
                            : Rule::within_bound,
                        "{} of {} elements are wrong, the worst is {}", report.failures,
                        report.compared - report.skipped, report.worst_text);
    }
    earlier_ = std::move(results);
    return Status();
  }

  const ::stria::Device& device_;
  const Executable& executable_;
  const TestProgram& program_;
  const std::vector<HostTensor> values_;
  std::vector<HostTensor> earlier_;
};

}  // namespace

std::string TestProgram::tile() const {
  return fmt::format("{}function conform({}) -> ({}) {{\n{}}}\n", functions, join(parameters, ", "),
                     join(outputs, ", "), body);
}

TestProgram TestProgram::only(const std::string& output) const {
  TestProgram out = *this;
  out.outputs = {output};
  return out;
}

Result<::stria::Device> product_device(const Subject& subject) {
  static const Product* const product = new Product(make_product(subject));
  return product->device;
}

Result<std::vector<HostTensor>> input_values(const TestProgram& program) {
  std::vector<HostTensor> out;
  for (const TestInput& input : program.inputs) {
    STRIA_ASSIGN(HostTensor tensor,
                 make_values(input.type, input.sizes, input.values, input.seed, input.limit));
    out.push_back(std::move(tensor));
  }
  return out;
}

ProgramRun run_program(const Subject& subject, const TestProgram& program) {
  // Once the device does not end its work, nothing more is asked of it in this process: each wait
  // would take as long again.
  static auto* stuck = new Status;
  const auto failed = [](const Status& status) {
    if (status.code() == StatusCode::deadline_exceeded) *stuck = status;
    return ProgramRun{status, {}};
  };
  if (!stuck->ok()) return failed(stuck->with_context("an earlier program of this process"));
  Result<::stria::Device> device = product_device(subject);
  if (!device.ok()) return failed(device.status().with_context("the product's runtime"));
  Result<Executable> executable = compile(*device, program);
  if (!executable.ok()) return failed(with_rule(executable.status(), Rule::builds_or_refuses));
  const auto infos = Inside::loaded(*executable).library().kernels();
  if (!infos.ok()) return failed(infos.status());
  CallRecord& record = *subject.options().record;
  record.kernels += infos->size();
  for (const hal::KernelInfo& info : *infos)
    if (!info.interpreted.empty()) record.add_interpreted(info.interpreted, 1);
  Result<std::vector<HostTensor>> values = input_values(program);
  if (!values.ok()) return failed(values.status());
  ProgramRun run = Runner(*device, *executable, program, std::move(*values)).run();
  if (!run.status.ok()) return failed(run.status);
  return run;
}

Result<Compilation> compile_for_device(const Subject& subject, const TestProgram& test) {
  STRIA_ASSIGN(const ::stria::Device device, product_device(subject));
  STRIA_ASSIGN(const Program program, Program::from_tile({test.name + ".tile", test.tile()}));
  const CompileOptions options = options_of(test);
  STRIA_ASSIGN(Compilation generic, lower_program(program, types_of(test), options));
  return CompileDriver::specialize(device, std::move(generic), options);
}

Status check_has(const Subject& subject, DataType type) {
  STRIA_ASSIGN(const ::stria::Device device, product_device(subject));
  if (Inside::model(device).lacking_types.count(type) == 0) return Status();
  return unsupported("the device's model lacks {}", stria::name_of(type));
}

Finding finding_of(const Status& status) {
  if (status.code() == StatusCode::unsupported) return Finding::unsupported(status.message());
  return status;
}

}  // namespace stria::conformance
