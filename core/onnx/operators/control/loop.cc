// SPDX-License-Identifier: Apache-2.0
// Loop and SequenceMap: their graphs once for each round, one behind the other.
#include <fmt/format.h>

#include <functional>
#include <string>

#include "stria/onnx/operators/sequence/sequence_value.h"
#include "stria/onnx/operators/shape/moves.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/onnx/translate/operator.h"

namespace stria::onnx::operators {
namespace {

// Each round is text of the program.
constexpr int64_t kMostRounds = 10000;

Result<bool> holds(NodeWriter& node, const ValuePtr& condition) {
  STRIA_ASSIGN(const std::shared_ptr<const HostTensor> elements, node.graph().elements(condition));
  if (elements->type() != DataType::boolean || elements->element_count() != 1)
    return node.error(fmt::format("the condition '{}' is no bool", condition->name));
  return *elements->data() != std::byte{0};
}

// What a loop of no rounds collects: as the graph says, with no elements along the first axis.
// Where the graph leaves that open, it is what a round would give: `round` translates one.
Result<ValuePtr> nothing_collected(NodeWriter& node, const Graph& graph, size_t output,
                                   const std::function<Result<std::vector<ValuePtr>>()>& round) {
  const ValueInfo& info = graph.outputs[output];
  const auto type = tile_type_of(info.type.type);
  Sizes sizes = {0};
  bool known = type && info.type.dims.has_value();
  for (size_t d = 0; known && d < info.type.dims->size(); ++d) {
    known = (*info.type.dims)[d].size.has_value();
    if (known) sizes.push_back(*(*info.type.dims)[d].size);
  }
  if (!known) {
    const Result<std::vector<ValuePtr>> made = round();
    if (!made.ok())
      return made.status().with_context(fmt::format(
          "a loop of no rounds, whose graph does not say the sizes of '{}'", info.name));
    const ValuePtr& of = (*made)[output];
    if (!of || of->kind != Value::Kind::tensor)
      return node.not_supported(
          fmt::format("a loop of no rounds that collects '{}', which is no tensor", info.name));
    sizes.resize(1);
    sizes.insert(sizes.end(), of->type.sizes.begin(), of->type.sizes.end());
    STRIA_ASSIGN(HostTensor none, HostTensor::create(of->type.type, sizes, info.name));
    return node.graph().known(info.name, std::move(none), element_of(*of));
  }
  STRIA_ASSIGN(HostTensor none, HostTensor::create(*type, sizes, info.name));
  return node.graph().known(info.name, std::move(none), info.type.type);
}

// The values of the graph's outputs after round `round`.
Result<std::vector<ValuePtr>> round_of(NodeWriter& node, const Graph& graph, int64_t round,
                                       ValuePtr condition, const std::vector<ValuePtr>& carried) {
  STRIA_ASSIGN(HostTensor number, integer_table({round}, {}));
  if (!condition) {
    STRIA_ASSIGN(HostTensor yes, number_table(DataType::boolean, {1}, {}));
    condition = node.graph().known("condition", std::move(yes));
  }
  std::vector<ValuePtr> inputs = {node.graph().known("round", std::move(number)),
                                  std::move(condition)};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  return node.graph().translate_graph(graph, node.graph().scope(), inputs);
}

}  // namespace

Status loop(NodeWriter& node) {
  const Attribute* const body = node.find_attribute("body");
  if (!body || !body->g) return node.error("it has no graph 'body'");
  const Graph& graph = *body->g;
  std::optional<int64_t> rounds;
  if (node.has(0)) {
    STRIA_ASSIGN(rounds, node.integer(0));
  }
  ValuePtr condition;
  if (node.has(1)) condition = node.value(1);
  std::vector<ValuePtr> carried;
  for (int i = 2; i < node.input_count(); ++i) {
    // An optional without anything is carried, too.
    if (!node.has(i) && node.node().inputs[static_cast<size_t>(i)].empty())
      return node.error(fmt::format("input {} is missing", i));
    carried.push_back(node.value(i));
  }
  if (graph.outputs.size() < 1 + carried.size() ||
      graph.outputs.size() != 1 + static_cast<size_t>(node.output_count()))
    return node.error(fmt::format("its graph has {} outputs for {} carried values and {} results",
                                  graph.outputs.size(), carried.size(), node.output_count()));
  std::vector<std::vector<ValuePtr>> collected(graph.outputs.size() - 1 - carried.size());
  for (int64_t round = 0; !rounds || round < *rounds; ++round) {
    if (condition) {
      STRIA_ASSIGN(const bool goes_on, holds(node, condition));
      if (!goes_on) break;
    }
    if (round >= kMostRounds)
      return node.not_supported(fmt::format("a loop of {} rounds, which is more than {}",
                                            rounds ? std::to_string(*rounds) : "no known number of",
                                            kMostRounds));
    STRIA_ASSIGN(const std::vector<ValuePtr> outputs,
                 round_of(node, graph, round, condition, carried));
    // Without a condition the loop ends by its number of rounds alone.
    if (condition) condition = outputs[0];
    for (size_t k = 0; k < carried.size(); ++k) carried[k] = outputs[k + 1];
    for (size_t k = 0; k < collected.size(); ++k)
      collected[k].push_back(outputs[1 + carried.size() + k]);
  }
  for (size_t k = 0; k < carried.size(); ++k)
    STRIA_RETURN_IF_ERROR(node.result_value(static_cast<int>(k), carried[k]));
  // Translated once: loops in loops would double the work with each result.
  std::optional<std::vector<ValuePtr>> trial;
  for (size_t k = 0; k < collected.size(); ++k) {
    ValuePtr all;
    if (collected[k].empty()) {
      const auto one_round = [&]() -> Result<std::vector<ValuePtr>> {
        if (!trial) {
          STRIA_ASSIGN(trial, round_of(node, graph, 0, condition, carried));
        }
        return *trial;
      };
      STRIA_ASSIGN(all, nothing_collected(node, graph, 1 + carried.size() + k, one_round));
    } else {
      STRIA_ASSIGN(all, joined_along(node, collected[k], 0, true));
    }
    STRIA_RETURN_IF_ERROR(node.result_value(static_cast<int>(carried.size() + k), all));
  }
  return {};
}

Status sequence_map(NodeWriter& node) {
  const Attribute* const body = node.find_attribute("body");
  if (!body || !body->g) return node.error("it has no graph 'body'");
  STRIA_ASSIGN(const std::vector<ValuePtr> first, items_of(node, 0));
  std::vector<std::vector<ValuePtr>> made(static_cast<size_t>(node.output_count()));
  for (size_t round = 0; round < first.size(); ++round) {
    std::vector<ValuePtr> inputs;
    for (int i = 0; i < node.input_count(); ++i) {
      if (!node.has(i)) return node.error(fmt::format("input {} is missing", i));
      const ValuePtr& value = node.value(i);
      if (value->kind == Value::Kind::sequence && value->items.size() != first.size())
        return node.error(
            fmt::format("sequences of {} and {} items", first.size(), value->items.size()));
      inputs.push_back(value->kind == Value::Kind::sequence ? value->items[round] : value);
    }
    STRIA_ASSIGN(const std::vector<ValuePtr> outputs,
                 node.graph().translate_graph(*body->g, node.graph().scope(), inputs));
    if (outputs.size() != made.size())
      return node.error(
          fmt::format("its graph has {} outputs, the node has {}", outputs.size(), made.size()));
    for (size_t k = 0; k < made.size(); ++k) made[k].push_back(outputs[k]);
  }
  for (size_t k = 0; k < made.size(); ++k)
    STRIA_RETURN_IF_ERROR(
        node.result_value(static_cast<int>(k), sequence_of(node, std::move(made[k]))));
  return {};
}

}  // namespace stria::onnx::operators
