// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/recurrent/recurrent.h"

#include <fmt/format.h>

namespace stria::onnx {
namespace {

// A step is about twenty statements of the program.
constexpr int64_t kMostSteps = 4096;

Status read_activations(NodeWriter& node, const std::vector<std::string>& otherwise,
                        Recurrent& out) {
  std::vector<std::string> names;
  if (const Attribute* given = node.find_attribute("activations")) names = given->strings;
  if (names.empty())
    for (int64_t d = 0; d < out.directions; ++d)
      names.insert(names.end(), otherwise.begin(), otherwise.end());
  if (names.size() != otherwise.size() * static_cast<size_t>(out.directions))
    return node.error(fmt::format("{} activations for {} directions of {}", names.size(),
                                  out.directions, otherwise.size()));
  STRIA_ASSIGN(const std::vector<float> alphas, node.floats_attribute("activation_alpha"));
  STRIA_ASSIGN(const std::vector<float> betas, node.floats_attribute("activation_beta"));
  size_t alpha = 0, beta = 0;
  for (const std::string& name : names) {
    std::optional<Activation> one = find_activation(name);
    if (!one) return node.error(fmt::format("activation '{}'", name));
    if (one->takes_alpha && alpha < alphas.size()) one->alpha = alphas[alpha++];
    if (one->takes_beta && beta < betas.size()) one->beta = betas[beta++];
    out.activations.push_back(*one);
  }
  return {};
}

}  // namespace

Result<Recurrent> recurrent_of(NodeWriter& node, int64_t gates,
                               const std::vector<std::string>& activations, Weights weights) {
  Recurrent out;
  out.gates = gates;
  STRIA_ASSIGN(out.x, node.tensor(0));
  STRIA_ASSIGN(out.w, node.tensor(1));
  STRIA_ASSIGN(out.r, node.tensor(2));
  const bool small = weights == Weights::small_columns;
  if (small) out.w = out.r = "";
  if (node.has(3)) {
    STRIA_ASSIGN(out.b, node.tensor(3));
  }
  out.type = node.type(0).type;
  STRIA_ASSIGN(const int64_t layout, node.integer_attribute("layout", 0));
  STRIA_ASSIGN(const std::string direction, node.string_attribute("direction", "forward"));
  out.by_batch = layout != 0;
  out.reverse = direction == "reverse";
  out.directions = direction == "bidirectional" ? 2 : 1;
  if (out.directions == 1 && !out.reverse && direction != "forward")
    return node.error(fmt::format("direction is '{}'", direction));
  if (node.rank(0) != 3 || node.rank(1) != 3 || node.rank(2) != 3)
    return node.error("X, W and R must have 3 dimensions");
  out.steps = node.size(0, out.by_batch ? 1 : 0);
  out.batch = node.size(0, out.by_batch ? 0 : 1);
  out.inputs = node.size(0, 2);
  out.hidden = node.size(2, small ? 1 : 2);
  const int64_t rows = gates * out.hidden;
  const auto wanted = [&](int64_t columns) {
    return small ? Sizes{out.directions, columns, rows} : Sizes{out.directions, rows, columns};
  };
  if (node.type(1).sizes != wanted(out.inputs) || node.type(2).sizes != wanted(out.hidden) ||
      (node.has(3) && node.type(3).sizes != Sizes{out.directions, 2 * rows}))
    return node.error(
        fmt::format("W, R or B are not those of {} directions, {} inputs and {} "
                    "hidden elements",
                    out.directions, out.inputs, out.hidden));
  if (out.steps < 1 || out.steps > kMostSteps)
    return node.not_supported(fmt::format("{} steps; 1 to {}", out.steps, kMostSteps));
  if (out.type != wide_type(out.type))
    for (std::string* of : {&out.x, &out.w, &out.r, &out.b})
      if (!of->empty()) *of = node.let(wide(*of, out.type));
  if (node.has(4)) {
    STRIA_ASSIGN(const std::string lengths, node.tensor(4));
    if (node.type(4).sizes != Sizes{out.batch})
      return node.error(fmt::format("sequence_lens are not {} numbers", out.batch));
    out.lengths = node.let(reshaped(lengths, {out.batch, 1}));
  }
  STRIA_RETURN_IF_ERROR(read_activations(node, activations, out));
  STRIA_ASSIGN(out.clip, node.float_attribute("clip", 0));
  return out;
}

Result<std::string> initial_state(NodeWriter& node, const Recurrent& of, int i, int64_t direction) {
  const Sizes sizes = {of.batch, of.hidden};
  if (!node.has(i)) {
    // Zeros of the type: a constant takes it from what it stands beside.
    const Forms forms = of.by_batch ? Forms{"b", "0", "0"} : Forms{"0", "b", "0"};
    const std::string like = contract(node, '=', {"b", "h"}, sizes, access(of.x, forms));
    return node.let(fmt::format("0 ? {} : 0", like));
  }
  STRIA_ASSIGN(const std::string given, node.tensor(i));
  const std::string d = fmt::format("{}", direction);
  const Sizes wanted = of.by_batch ? Sizes{of.batch, of.directions, of.hidden}
                                   : Sizes{of.directions, of.batch, of.hidden};
  if (node.type(i).sizes != wanted)
    return node.error(
        fmt::format("input {} is no initial state of [{}, {}] elements", i, of.batch, of.hidden));
  const Forms forms = of.by_batch ? Forms{"b", d, "h"} : Forms{d, "b", "h"};
  const std::string out = contract(node, '=', {"b", "h"}, sizes, access(given, forms));
  return of.type == wide_type(of.type) ? out : node.let(wide(out, of.type));
}

std::string gate(NodeWriter& node, const Recurrent& of, const std::string& gates, int64_t first) {
  return contract(node, '=', {"b", "h"}, {of.batch, of.hidden},
                  access(gates, {"b", affine({{1, "h"}}, first * of.hidden)}));
}

Result<std::string> recurrence(NodeWriter& node, const Recurrent& of, const std::string& state,
                               int64_t direction, int64_t first, int64_t count) {
  if (of.product) return of.product(node, 1, direction, state, {of.batch, of.hidden});
  return contract(node, '+', {"b", "q"}, {of.batch, count * of.hidden},
                  fmt::format("{}[b, k] * {}[{}, {}, k]", state, of.r, direction,
                              affine({{1, "q"}}, first * of.hidden)));
}

std::string bias_row(NodeWriter& node, const Recurrent& of, int64_t direction, int which) {
  if (of.b.empty()) return "";
  const int64_t rows = of.gates * of.hidden;
  return contract(node, '=', {"q"}, {rows},
                  fmt::format("{}[{}, {}]", of.b, direction, affine({{1, "q"}}, which * rows)));
}

Result<std::string> activate(NodeWriter& node, const Recurrent& of, size_t which,
                             const std::string& expression) {
  const Activation& by = of.activations[which];
  const std::string clip = literal(of.clip);
  const std::string x = node.let(
      of.clip > 0 ? fmt::format("max(min({}, {}), -{})", expression, clip, clip) : expression);
  return node.let(activated(by, x));
}

Status run_steps(NodeWriter& node, const Recurrent& of, size_t states,
                 const std::vector<std::string>& bias, const RecurrentStep& step) {
  const int64_t rows = of.gates * of.hidden;
  std::string all;
  std::vector<std::string> last(states);
  const auto put = [&](std::string& to, const Forms& forms, const Sizes& sizes,
                       const std::string& from) {
    const bool whole = element_count(sizes) == of.batch * of.hidden;
    if (to.empty() && !whole) to = node.let("0");  // others follow
    to = contract(node, '=', forms, sizes, from + "[b, h]", {}, to);
  };
  for (int64_t d = 0; d < of.directions; ++d) {
    std::vector<std::string> now;
    for (size_t s = 0; s < states; ++s) {
      STRIA_ASSIGN(const std::string state, initial_state(node, of, static_cast<int>(5 + s), d));
      now.push_back(state);
    }
    // The inputs of all steps at once.
    const std::string x = access(of.x, of.by_batch ? Forms{"b", "t", "i"} : Forms{"t", "b", "i"});
    std::string inputs;
    if (of.product) {
      const Sizes sizes = {of.steps, of.batch, of.inputs};
      const std::string ordered =
          of.by_batch ? contract(node, '=', {"t", "b", "i"}, sizes, x) : of.x;
      STRIA_ASSIGN(inputs, of.product(node, 0, d, ordered, sizes));
    } else {
      inputs = contract(node, '+', {"t", "b", "q"}, {of.steps, of.batch, rows},
                        fmt::format("{} * {}[{}, q, i]", x, of.w, d));
    }
    const std::string& row = bias[static_cast<size_t>(d)];
    if (!row.empty()) inputs = node.let(fmt::format("{} + {}", inputs, row));
    const bool backward = of.reverse || d == 1;
    for (int64_t n = 0; n < of.steps; ++n) {
      const int64_t t = backward ? of.steps - 1 - n : n;
      const std::string projected =
          contract(node, '=', {"b", "q"}, {of.batch, rows}, fmt::format("{}[{}, b, q]", inputs, t));
      STRIA_ASSIGN(std::vector<std::string> next, step(d, projected, now));
      std::string y = next[0];
      // Behind its end a sequence keeps its state, whichever way it is read.
      if (!of.lengths.empty()) {
        const std::string inside = node.let(fmt::format("{} > {}", of.lengths, t));
        y = node.let(fmt::format("{} ? {} : 0", inside, next[0]));
        for (size_t s = 0; s < states; ++s)
          next[s] = node.let(fmt::format("{} ? {} : {}", inside, next[s], now[s]));
      }
      now = std::move(next);
      if (!node.wants(0)) continue;
      const std::string at = fmt::format("{}", t), direction = fmt::format("{}", d);
      if (of.by_batch)
        put(all, {"b", at, direction, "h"}, {of.batch, of.steps, of.directions, of.hidden}, y);
      else
        put(all, {at, direction, "b", "h"}, {of.steps, of.directions, of.batch, of.hidden}, y);
    }
    const std::string direction = fmt::format("{}", d);
    for (size_t s = 0; s < states; ++s) {
      if (!node.wants(static_cast<int>(s) + 1)) continue;
      if (of.by_batch)
        put(last[s], {"b", direction, "h"}, {of.batch, of.directions, of.hidden}, now[s]);
      else
        put(last[s], {direction, "b", "h"}, {of.directions, of.batch, of.hidden}, now[s]);
    }
  }
  if (node.wants(0)) {
    STRIA_RETURN_IF_ERROR(node.result(0, narrow(all, of.type)));
  }
  for (size_t s = 0; s < states; ++s)
    if (node.wants(static_cast<int>(s) + 1)) {
      STRIA_RETURN_IF_ERROR(node.result(static_cast<int>(s) + 1, narrow(last[s], of.type)));
    }
  return {};
}

}  // namespace stria::onnx
