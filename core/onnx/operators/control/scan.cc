// SPDX-License-Identifier: Apache-2.0
// Scan: its graph once for each element along an axis, one behind the other.
#include <fmt/format.h>

#include <algorithm>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/operators/sequence/sequence_value.h"
#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/graph_translator.h"

namespace stria::onnx::operators {
namespace {

// What goes through the graph one element at a time.
struct Scanned {
  std::vector<ValuePtr> inputs;
  Sizes axes, backwards;          // by input
  Sizes out_axes, out_backwards;  // by output that is collected
};

// One run over all elements: the last states, then what was collected.
Result<std::vector<ValuePtr>> scan_once(NodeWriter& node, const Graph& graph,
                                        std::vector<ValuePtr> states, const Scanned& scanned) {
  int64_t length = -1;
  for (size_t k = 0; k < scanned.inputs.size(); ++k) {
    const int64_t size = scanned.inputs[k]->type.sizes[static_cast<size_t>(scanned.axes[k])];
    if (length >= 0 && size != length)
      return node.error(fmt::format("inputs of {} and {} elements", length, size));
    length = size;
  }
  std::vector<std::vector<ValuePtr>> collected(graph.outputs.size() - states.size());
  if (length < 1 && !collected.empty())
    return node.not_supported("a scan over no elements that collects results");
  for (int64_t round = 0; round < length; ++round) {
    std::vector<ValuePtr> inputs = states;
    for (size_t k = 0; k < scanned.inputs.size(); ++k) {
      const int64_t at = scanned.backwards[k] ? length - 1 - round : round;
      STRIA_ASSIGN(ValuePtr one, part_of(node, scanned.inputs[k], scanned.axes[k], at, 1, false));
      inputs.push_back(std::move(one));
    }
    STRIA_ASSIGN(const std::vector<ValuePtr> outputs,
                 node.graph().translate_graph(graph, node.graph().scope(), inputs));
    for (size_t k = 0; k < states.size(); ++k) states[k] = outputs[k];
    for (size_t k = 0; k < collected.size(); ++k)
      collected[k].push_back(outputs[states.size() + k]);
  }
  for (size_t k = 0; k < collected.size(); ++k) {
    if (scanned.out_backwards[k]) std::reverse(collected[k].begin(), collected[k].end());
    STRIA_ASSIGN(ValuePtr all, joined_along(node, collected[k], scanned.out_axes[k], true));
    states.push_back(std::move(all));
  }
  return states;
}

Result<Sizes> one_each(NodeWriter& node, std::string_view name, size_t count) {
  STRIA_ASSIGN(Sizes list, node.integers_attribute(name, Sizes(count, 0)));
  if (list.size() != count)
    return node.error(fmt::format("'{}' has {} numbers for {}", name, list.size(), count));
  return list;
}

// Version 8: inputs have a batch first, and each batch is a run of its own.
Status scan_batches(NodeWriter& node, const Graph& graph, std::vector<ValuePtr> states,
                    Scanned scanned) {
  if (node.has(0)) {
    STRIA_ASSIGN(const Sizes lengths, node.integers(0));
    for (const int64_t length : lengths)
      if (length != scanned.inputs[0]->type.sizes[1])
        return node.not_supported(fmt::format("a sequence of {} elements among {}", length,
                                              scanned.inputs[0]->type.sizes[1]));
  }
  const Scanned all = scanned;
  const std::vector<ValuePtr> all_states = states;
  const int64_t batches = all.inputs[0]->type.sizes[0];
  std::vector<std::vector<ValuePtr>> made(static_cast<size_t>(node.output_count()));
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (size_t k = 0; k < states.size(); ++k) {
      STRIA_ASSIGN(states[k], part_of(node, all_states[k], 0, batch, 1, false));
    }
    for (size_t k = 0; k < all.inputs.size(); ++k) {
      STRIA_ASSIGN(scanned.inputs[k], part_of(node, all.inputs[k], 0, batch, 1, false));
    }
    STRIA_ASSIGN(const std::vector<ValuePtr> results, scan_once(node, graph, states, scanned));
    for (size_t k = 0; k < made.size(); ++k) made[k].push_back(results[k]);
  }
  for (size_t k = 0; k < made.size(); ++k) {
    if (made[k].empty()) return node.not_supported("a scan over no batches");
    STRIA_ASSIGN(const ValuePtr joined, joined_along(node, made[k], 0, true));
    STRIA_RETURN_IF_ERROR(node.result_value(static_cast<int>(k), joined));
  }
  return {};
}

}  // namespace

Status scan(NodeWriter& node) {
  const Attribute* const body = node.find_attribute("body");
  if (!body || !body->g) return node.error("it has no graph 'body'");
  const Graph& graph = *body->g;
  STRIA_ASSIGN(const int64_t scans, node.integer_attribute("num_scan_inputs", 0));
  const bool has_batches = node.version() < 9;
  const int first = has_batches ? 1 : 0;
  const int64_t state_count = node.input_count() - first - scans;
  if (scans < 1 || state_count < 0 ||
      static_cast<int>(graph.outputs.size()) != node.output_count() ||
      state_count > node.output_count())
    return node.error(fmt::format("{} inputs, {} of them scanned, {} outputs of its graph",
                                  node.input_count(), scans, graph.outputs.size()));
  std::vector<ValuePtr> states;
  Scanned scanned;
  const auto outputs = static_cast<size_t>(node.output_count() - state_count);
  const auto count = static_cast<size_t>(scans);
  STRIA_ASSIGN(scanned.axes, one_each(node, "scan_input_axes", count));
  STRIA_ASSIGN(scanned.backwards,
               one_each(node, has_batches ? "directions" : "scan_input_directions", count));
  STRIA_ASSIGN(scanned.out_axes, one_each(node, "scan_output_axes", outputs));
  STRIA_ASSIGN(scanned.out_backwards, one_each(node, "scan_output_directions", outputs));
  for (int i = first; i < node.input_count(); ++i) {
    if (!node.has(i) || node.value(i)->kind != Value::Kind::tensor)
      return node.error(fmt::format("input {} is no tensor", i));
    if (has_batches && node.rank(i) < (i - first < state_count ? 1 : 2))
      return node.error(fmt::format("input {} has no batches", i));
    if (i - first < state_count) {
      states.push_back(node.value(i));
      continue;
    }
    const auto k = static_cast<size_t>(i - first - state_count);
    STRIA_ASSIGN(scanned.axes[k], node.axis(scanned.axes[k], node.rank(i)));
    scanned.inputs.push_back(node.value(i));
  }
  if (has_batches) return scan_batches(node, graph, std::move(states), std::move(scanned));
  STRIA_ASSIGN(const std::vector<ValuePtr> results,
               scan_once(node, graph, std::move(states), scanned));
  for (int k = 0; k < node.output_count(); ++k)
    STRIA_RETURN_IF_ERROR(node.result_value(k, results[static_cast<size_t>(k)]));
  return {};
}

}  // namespace stria::onnx::operators
