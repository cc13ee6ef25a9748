// SPDX-License-Identifier: Apache-2.0
// What there is to know of an ONNX model before it runs: inputs and outputs, nodes with the sizes
// of their results, operations and weights, and what keeps it from being a program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stria/runtime/onnx_model.h"
#include "stria/runtime/onnx_options.h"

namespace stria::command {

// A value of the graph; sizes as far as they are known.
struct SummaryValue {
  std::string name;
  std::string type;  // "fp32"; "" if it is not known
  bool has_dims = false;
  std::vector<OnnxDimension> dims;
  std::string text() const;  // "fp32[1, n]"; "?" if nothing is known
};

struct SummaryNode {
  std::string name;      // "" if it has none
  std::string op;        // with its domain unless that is the standard's
  bool unknown = false;  // there is no such operator
  bool known = false;    // its results are known when the program is made
  std::vector<SummaryValue> results;
  std::optional<double> operations;  // as kernel_operations counts; none: not known
  // Of the initialisers among its inputs, of its attributes and of the graphs in it.
  int64_t weight_bytes = 0;
};

struct ModelSummary {
  std::string file;
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, int64_t> opsets;  // by domain; "ai.onnx"
  std::vector<OnnxInput> inputs;          // those with values in the model, too
  std::vector<SummaryValue> outputs;
  std::vector<SummaryNode> nodes;            // of the graph; not of graphs inside nodes
  std::map<std::string, int64_t> operators;  // nodes by operator, those inside nodes as well
  int64_t weight_bytes = 0;                  // each counted once
  // Inputs whose sizes are open: "image: fp32[batch, 3, 224, 224]".
  std::vector<std::string> open;
  std::vector<std::string> unknown_operators;  // "com.acme.Frob: 'node_1', 'node_2' and 7 more"
  std::string missing;  // why there is no program for these sizes; "" if there is one, or `open`
  std::optional<double> operations;  // of one run; none: not known
};

// `options` as for OnnxModel::program. What is wrong with the model or the sizes is part of it.
ModelSummary summary_of(const OnnxModel& model, const std::string& file,
                        const OnnxOptions& options);

}  // namespace stria::command
