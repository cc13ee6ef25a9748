// SPDX-License-Identifier: Apache-2.0
// What a model computes by the interpreter. Its inputs are known, or given when it runs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stria/base/result.h"
#include "stria/onnx/translate/translate.h"
#include "stria/runtime/host/tile_evaluator.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"
#include "stria/type/host_tensor.h"

namespace stria::onnx {

struct EvaluatedOutput : TranslatedOutput {
  std::shared_ptr<const HostTensor> elements;  // of a tensor
};

using GivenTensors = std::map<std::string, std::shared_ptr<const HostTensor>>;

inline Result<std::vector<EvaluatedOutput>> evaluate_model(const Model& model,
                                                           TranslateOptions options = {},
                                                           const GivenTensors& when_run = {}) {
  options.evaluate = TileEvaluator();
  for (const auto& [name, tensor] : when_run) options.sizes[name] = tensor->sizes();
  STRIA_ASSIGN(const Translation made, translate(model, options));
  std::map<std::string, std::shared_ptr<const HostTensor>> results;
  if (!made.text.empty()) {
    KnownCall call;
    call.function = made.function;
    call.text = made.text;
    for (const onnx::TranslatedInput& input : made.inputs) {
      call.parameters.push_back(input.tile);
      call.arguments.push_back({when_run.at(input.name)});
    }
    for (const onnx::TranslatedConstant& constant : made.constants) {
      call.parameters.push_back(constant.tile);
      call.arguments.push_back({constant.elements});
    }
    STRIA_ASSIGN(const KnownResults elements, TileEvaluator()({call}));
    STRIA_ASSIGN(const tile::Program parsed, tile::parse({"model.tile", made.text}));
    STRIA_ASSIGN(const tile::Function* main, tile::entry_function(parsed, made.function));
    for (size_t k = 0; k < elements[0].size(); ++k) results[main->results[k].text] = elements[0][k];
  }
  std::vector<EvaluatedOutput> out;
  for (const TranslatedOutput& output : made.outputs) out.push_back({output, results[output.tile]});
  return out;
}

}  // namespace stria::onnx
