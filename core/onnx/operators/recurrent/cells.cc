// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM, unrolled: the number of steps is a size.
#include <fmt/format.h>

#include "stria/onnx/operators/recurrent/recurrent.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx {
namespace {

// The biases of W and R of each direction, added.
std::vector<std::string> both_biases(NodeWriter& node, const Recurrent& of) {
  std::vector<std::string> out;
  for (int64_t d = 0; d < of.directions; ++d) {
    const std::string w = bias_row(node, of, d, 0), r = bias_row(node, of, d, 1);
    out.push_back(w.empty() ? "" : node.let(w + " + " + r));
  }
  return out;
}

// Of the gate at `place` of the first direction or the second one.
size_t activation_at(const Recurrent& of, int64_t direction, size_t place) {
  const size_t each = of.activations.size() / static_cast<size_t>(of.directions);
  return static_cast<size_t>(direction) * each + place;
}

}  // namespace

namespace operators {

Status rnn(NodeWriter& node) {
  STRIA_ASSIGN(const Recurrent of, recurrent_of(node, 1, {"Tanh"}));
  const auto step = [&](int64_t d, const std::string& projected,
                        const std::vector<std::string>& now) -> Result<std::vector<std::string>> {
    STRIA_ASSIGN(const std::string back, recurrence(node, of, now[0], d, 0, 1));
    STRIA_ASSIGN(const std::string next,
                 activate(node, of, activation_at(of, d, 0), projected + " + " + back));
    return std::vector<std::string>{next};
  };
  return run_steps(node, of, 1, both_biases(node, of), step);
}

// Gates: update, reset, hidden.
Status gru(NodeWriter& node) {
  STRIA_ASSIGN(const Recurrent of, recurrent_of(node, 3, {"Sigmoid", "Tanh"}));
  STRIA_ASSIGN(const int64_t linear, node.integer_attribute("linear_before_reset", 0));
  std::vector<std::string> bias(static_cast<size_t>(of.directions)), hidden_bias(bias.size());
  if (!linear) bias = both_biases(node, of);
  if (linear && !of.b.empty())
    for (int64_t d = 0; d < of.directions; ++d) {
      const auto at = static_cast<size_t>(d);
      // The hidden gate's bias of R is reset, too.
      const std::string w = bias_row(node, of, d, 0), r = bias_row(node, of, d, 1);
      bias[at] = node.let(fmt::format("{} + (index({}, 0) < {} ? {} : 0)", w, r, 2 * of.hidden, r));
      hidden_bias[at] =
          contract(node, '=', {"h"}, {of.hidden}, fmt::format("{}[h + {}]", r, 2 * of.hidden));
    }
  const auto step = [&](int64_t d, const std::string& projected,
                        const std::vector<std::string>& now) -> Result<std::vector<std::string>> {
    const std::string& state = now[0];
    STRIA_ASSIGN(const std::string back, recurrence(node, of, state, d, 0, linear ? 3 : 2));
    const size_t f = activation_at(of, d, 0), g = activation_at(of, d, 1);
    STRIA_ASSIGN(
        const std::string update,
        activate(node, of, f, gate(node, of, projected, 0) + " + " + gate(node, of, back, 0)));
    STRIA_ASSIGN(
        const std::string reset,
        activate(node, of, f, gate(node, of, projected, 1) + " + " + gate(node, of, back, 1)));
    std::string inner;
    if (linear) {
      inner = gate(node, of, back, 2);
      const std::string& row = hidden_bias[static_cast<size_t>(d)];
      if (!row.empty()) inner = fmt::format("({} + {})", inner, row);
      inner = fmt::format("{} * {}", reset, inner);
    } else {
      const std::string kept = node.let(fmt::format("{} * {}", reset, state));
      STRIA_ASSIGN(inner, recurrence(node, of, kept, d, 2, 1));
    }
    STRIA_ASSIGN(const std::string hidden,
                 activate(node, of, g, gate(node, of, projected, 2) + " + " + inner));
    return std::vector<std::string>{
        node.let(fmt::format("(1 - {0}) * {1} + {0} * {2}", update, hidden, state))};
  };
  return run_steps(node, of, 1, bias, step);
}

Status lstm(NodeWriter& node) {
  STRIA_ASSIGN(const Recurrent of, recurrent_of(node, 4, {"Sigmoid", "Tanh", "Tanh"}));
  return run_lstm(node, of);
}

}  // namespace operators

// Gates: input, output, forget, cell. Peepholes: input, output, forget.
Status run_lstm(NodeWriter& node, const Recurrent& of) {
  STRIA_ASSIGN(const int64_t coupled, node.integer_attribute("input_forget", 0));
  std::vector<std::vector<std::string>> peepholes(static_cast<size_t>(of.directions));
  if (node.has(7)) {
    STRIA_ASSIGN(const std::string given, node.tensor(7));
    if (node.type(7).sizes != Sizes{of.directions, 3 * of.hidden})
      return node.error("its peepholes have other sizes");
    const std::string p = of.type == wide_type(of.type) ? given : node.let(wide(given, of.type));
    for (int64_t d = 0; d < of.directions; ++d)
      for (int64_t which = 0; which < 3; ++which)
        peepholes[static_cast<size_t>(d)].push_back(
            contract(node, '=', {"h"}, {of.hidden},
                     fmt::format("{}[{}, {}]", p, d, affine({{1, "h"}}, which * of.hidden))));
  }
  const auto step = [&](int64_t d, const std::string& projected,
                        const std::vector<std::string>& now) -> Result<std::vector<std::string>> {
    const std::string& cell = now[1];
    STRIA_ASSIGN(const std::string back, recurrence(node, of, now[0], d, 0, 4));
    const std::string gates = node.let(projected + " + " + back);
    const auto with_peephole = [&](int64_t which, const std::string& state) {
      const std::string of_gate = gate(node, of, gates, which);
      const std::vector<std::string>& holes = peepholes[static_cast<size_t>(d)];
      return holes.empty()
                 ? of_gate
                 : fmt::format("{} + {} * {}", of_gate, holes[static_cast<size_t>(which)], state);
    };
    const size_t f = activation_at(of, d, 0);
    STRIA_ASSIGN(const std::string in, activate(node, of, f, with_peephole(0, cell)));
    std::string forget;
    if (coupled) {
      forget = node.let("1 - " + in);
    } else {
      STRIA_ASSIGN(forget, activate(node, of, f, with_peephole(2, cell)));
    }
    STRIA_ASSIGN(const std::string candidate, activate(node, of, f + 1, gate(node, of, gates, 3)));
    const std::string next =
        node.let(fmt::format("{} * {} + {} * {}", forget, cell, in, candidate));
    STRIA_ASSIGN(const std::string out, activate(node, of, f, with_peephole(1, next)));
    // The cell's own clip was that of its parts; it is not clipped again.
    Recurrent unclipped = of;
    unclipped.clip = 0;
    STRIA_ASSIGN(const std::string shown, activate(node, unclipped, f + 2, next));
    return std::vector<std::string>{node.let(out + " * " + shown), next};
  };
  return run_steps(node, of, 2, both_biases(node, of), step);
}

}  // namespace stria::onnx
