// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/run_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <utility>

#include "stria/runtime/inside.h"
#include "stria/tile/syntax/parser.h"

namespace stria {

Result<CallsProgram> program_of_calls(const std::vector<onnx::KnownCall>& calls) {
  CallsProgram out;
  auto binding = std::make_shared<ProgramBinding>();
  std::map<const HostTensor*, std::string> names;
  std::set<std::string> written;
  std::vector<std::string> parameters, results;
  std::string functions, statements;
  const auto result_name = [](size_t call, size_t result) {
    return fmt::format("V{}r{}", call, result);  // without '_': node_of
  };
  for (size_t c = 0; c < calls.size(); ++c) {
    const onnx::KnownCall& call = calls[c];
    if (written.insert(call.function).second) functions += call.text + "\n";
    std::vector<std::string> arguments, made;
    for (const onnx::KnownCall::Argument& argument : call.arguments) {
      if (!argument.elements) {
        arguments.push_back(result_name(argument.call, argument.result));
        continue;
      }
      std::string& name = names[argument.elements.get()];
      if (name.empty()) {
        name = fmt::format("X{}", parameters.size());
        parameters.push_back(name);
        binding->inputs.push_back({name, name});
        binding->types[name] = {argument.elements->type(), argument.elements->sizes()};
        out.arguments.push_back(argument.elements);
      }
      arguments.push_back(name);
    }
    for (size_t k = 0; k < call.wanted.size(); ++k) made.push_back(result_name(c, k));
    binding->nodes[made.front()] = call.node;
    statements +=
        fmt::format("  {} = {}({});\n",
                    made.size() == 1 ? made.front() : fmt::format("({})", fmt::join(made, ", ")),
                    call.function, fmt::join(arguments, ", "));
    for (size_t k = 0; k < made.size(); ++k) {
      if (!call.wanted[k]) continue;
      results.push_back(fmt::format("Y{}", results.size()));
      statements += fmt::format("  {} = {};\n", results.back(), made[k]);
      binding->nodes[results.back()] = call.node;
      binding->outputs.push_back({results.back(), results.back()});
    }
  }
  const std::string text =
      fmt::format("{}function main({}) -> ({}) {{\n{}}}\n", functions, fmt::join(parameters, ", "),
                  fmt::join(results, ", "), statements);
  STRIA_ASSIGN(tile::Program tile, tile::parse({"what sizes depend on", text}));
  STRIA_ASSIGN(out.program, Inside::program(std::move(tile), "main", std::move(binding)));
  return out;
}

Result<onnx::KnownResults> run_calls(const Device& device, const CallsProgram& made,
                                     const std::vector<onnx::KnownCall>& calls) {
  STRIA_ASSIGN(const Executable executable, device.compile(made.program));
  std::vector<Tensor> inputs, outputs;
  for (size_t i = 0; i < made.arguments.size(); ++i) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(executable.inputs()[i]));
    STRIA_RETURN_IF_ERROR(tensor.write(made.arguments[i]->bytes()));
    inputs.push_back(std::move(tensor));
  }
  for (const TensorInfo& info : executable.outputs()) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
    outputs.push_back(std::move(tensor));
  }
  STRIA_ASSIGN(const Event run, executable.run(inputs, outputs));
  STRIA_RETURN_IF_ERROR(run.wait());
  onnx::KnownResults out;
  size_t next = 0;
  for (const onnx::KnownCall& call : calls) {
    auto& results = out.emplace_back(call.wanted.size());
    for (size_t k = 0; k < results.size(); ++k) {
      if (!call.wanted[k]) continue;
      STRIA_ASSIGN(HostTensor elements, outputs[next++].read());
      results[k] = std::make_shared<const HostTensor>(std::move(elements));
    }
  }
  return out;
}

}  // namespace stria
