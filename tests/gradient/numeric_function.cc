// SPDX-License-Identifier: Apache-2.0
#include "numeric_function.h"

#include "../chosen_device.h"
#include "stria/base/status.h"
#include "stria/type/scalar.h"

namespace stria::gradient_proof {
namespace {

// Of `type`, which may be narrower than fp64.
Result<std::string> bytes_of(const Numbers& numbers) {
  STRIA_ASSIGN(HostTensor tensor,
               HostTensor::create(numbers.type.type, numbers.type.sizes, "an input"));
  for (size_t n = 0; n < numbers.values.size(); ++n)
    store_scalar(tensor.type(), tensor.data(), static_cast<int64_t>(n),
                 Scalar::of_float(DataType::fp64, numbers.values[n]));
  return std::string(tensor.bytes());
}

Numbers numbers_of(const HostTensor& tensor) {
  Numbers out{{tensor.type(), tensor.sizes()}, {}};
  for (int64_t n = 0; n < tensor.element_count(); ++n)
    out.values.push_back(load_scalar(tensor.type(), tensor.data(), n).to_double());
  return out;
}

}  // namespace

int64_t element_count(const TensorType& type) {
  int64_t count = 1;
  for (int64_t size : type.sizes) count *= size;
  return count;
}

Result<NumericFunction> NumericFunction::compile(const Device& device, const Program& program,
                                                 const std::vector<TensorType>& inputs) {
  if (inputs.size() != program.inputs().size())
    return invalid_argument("{} types for {} inputs", inputs.size(), program.inputs().size());
  InputTypes types;
  for (size_t n = 0; n < inputs.size(); ++n) types[program.inputs()[n].name] = inputs[n];
  NumericFunction function;
  STRIA_ASSIGN(function.executable_, device.compile(program, types));
  for (const TensorInfo& info : function.executable_.inputs()) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
    function.inputs_.push_back(tensor);
  }
  for (const TensorInfo& info : function.executable_.outputs()) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
    function.outputs_.push_back(tensor);
  }
  return function;
}

Result<std::vector<Numbers>> NumericFunction::operator()(const std::vector<Numbers>& inputs) const {
  if (inputs.size() != inputs_.size())
    return invalid_argument("{} inputs of {}", inputs.size(), inputs_.size());
  for (size_t n = 0; n < inputs.size(); ++n) {
    STRIA_ASSIGN(std::string bytes, bytes_of(inputs[n]));
    STRIA_RETURN_IF_ERROR(inputs_[n].write(bytes));
  }
  STRIA_ASSIGN(Event run, executable_.run(inputs_, outputs_));
  STRIA_RETURN_IF_ERROR(run.wait());
  std::vector<Numbers> results;
  for (const Tensor& output : outputs_) {
    STRIA_ASSIGN(HostTensor tensor, output.read());
    results.push_back(numbers_of(tensor));
  }
  return results;
}

Result<Device> open_device(const std::string& plugin) {
  RuntimeOptions options;
  options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins"};
  options.only_plugin_paths = true;
  return Runtime(options).open(chosen_device(plugin));
}

}  // namespace stria::gradient_proof
