// SPDX-License-Identifier: Apache-2.0
// What RNN, GRU and LSTM share: inputs, directions, lengths, activations, and the steps in order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stria/onnx/operators/activation.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx {

struct Recurrent {
  DataType type = DataType::fp32;
  bool by_batch = false;  // layout = 1
  bool reverse = false;   // of the first direction
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  int64_t gates = 0;
  std::string x, w, r, b;               // wide; b may be ""
  std::string lengths;                  // [batch, 1], or ""
  std::vector<Activation> activations;  // as many for each direction
  double clip = 0;                      // 0: none
  // Rows of `sizes` times W (0) or R (1) of a direction, for all gates: […, gates * hidden]. Null:
  // contractions with w and r. With it, w and r are "".
  std::function<Result<std::string>(NodeWriter& node, int which, int64_t direction,
                                    const std::string& rows, const Sizes& sizes)>
      product;
};

// Inputs 1 and 2: [directions, gates * hidden, …] of the type of X, or [directions, …, gates *
// hidden] of small integers.
enum class Weights { rows, small_columns };
// `activations` are those of one direction, unless the node has others.
Result<Recurrent> recurrent_of(NodeWriter& node, int64_t gates,
                               const std::vector<std::string>& activations,
                               Weights weights = Weights::rows);
// The state of a direction that input `i` gives; zeros without it.
Result<std::string> initial_state(NodeWriter& node, const Recurrent& of, int i, int64_t direction);
// Columns `first` … of [batch, …]: those of one gate.
std::string gate(NodeWriter& node, const Recurrent& of, const std::string& gates, int64_t first);
// State [batch, hidden] times R, for gates first … first + count - 1.
Result<std::string> recurrence(NodeWriter& node, const Recurrent& of, const std::string& state,
                               int64_t direction, int64_t first, int64_t count);
// A row of biases, of W (0) or R (1): for all gates, 0 from `gates` on; "" without any.
std::string bias_row(NodeWriter& node, const Recurrent& of, int64_t direction, int which);
// An activation of the clipped value of an expression.
Result<std::string> activate(NodeWriter& node, const Recurrent& of, size_t which,
                             const std::string& expression);

// A step of one direction: what the input gives for all gates [batch, gates * hidden], and the
// states; gives the next states.
using RecurrentStep = std::function<Result<std::vector<std::string>>(
    int64_t direction, const std::string& projected, const std::vector<std::string>& states)>;
// The LSTM whose inputs were read.
Status run_lstm(NodeWriter& node, const Recurrent& of);
// All steps of all directions, and the results: Y, then the last of each state. `bias` is what each
// direction adds to the products with W. States come from inputs 5 and, if there are two, 6.
Status run_steps(NodeWriter& node, const Recurrent& of, size_t states,
                 const std::vector<std::string>& bias, const RecurrentStep& step);

}  // namespace stria::onnx
