// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/tile_evaluator.h"

#include <fmt/format.h>

#include <list>
#include <map>
#include <string>
#include <utility>

#include "stria/base/status.h"
#include "stria/interp/interpret.h"
#include "stria/lower/lower.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria {
namespace {

constexpr double kMostPoints = 1e11;
constexpr double kMostPointsOnDevice = 1e14;
constexpr double kOnDeviceFrom = 1e8;  // points: the interpreter takes 0.4 s
constexpr double kMostBytes = 1 << 30;

// Points of the blocks inside, and of what is inside these.
double points_inside(const stripe::Block& block) {
  double out = 0;
  for (const stripe::Statement& stmt : block.stmts) {
    const stripe::Block* inner = stmt.block();
    if (!inner) continue;
    double points = 1;
    for (const stripe::Index& index : inner->idxs)
      if (!index.affine) points *= static_cast<double>(index.range);
    out += points * (1 + points_inside(*inner));
  }
  return out;
}

Status too_long(double points, double most) {
  return make_error(StatusCode::out_of_range,
                    "what is needed while the program is made takes {:.3g} points of loops; "
                    "{:.0e} are the most",
                    points, most);
}

}  // namespace

// A function for its types.
struct TileEvaluator::Lowered {
  static Result<Lowered> make(const std::string& text, const std::string& function,
                              const std::map<std::string, TensorType>& types);
  stripe::Program generic;
  // Gives all its results.
  Result<std::vector<std::shared_ptr<const HostTensor>>> run(
      const std::vector<std::string>& parameters,
      const std::vector<std::shared_ptr<const HostTensor>>& arguments) const;
  std::vector<interp::ProgramTensor> inputs;
  std::vector<tile::BoundTensor> outputs;
  // out_of_range: the results have more than the host should hold. `wanted`: null for all.
  Status check_bytes(const std::vector<bool>* wanted) const;
  double points = 0;  // of all its blocks
};

Result<TileEvaluator::Lowered> TileEvaluator::Lowered::make(
    const std::string& text, const std::string& function,
    const std::map<std::string, TensorType>& types) {
  Lowered out;
  STRIA_ASSIGN(const tile::Program parsed, tile::parse({function + ".tile", text}));
  STRIA_ASSIGN(const tile::BoundProgram bound, tile::bind_program(parsed, function, types));
  for (const tile::TensorId id : bound.outputs)
    out.outputs.push_back(bound.tensors[static_cast<size_t>(id)]);
  STRIA_ASSIGN(out.generic, lower(bound));
  STRIA_ASSIGN(out.inputs, interp::program_inputs(out.generic));
  if (const stripe::Block* main = out.generic.main()) out.points = points_inside(*main);
  return out;
}

Result<std::vector<std::shared_ptr<const HostTensor>>> TileEvaluator::Lowered::run(
    const std::vector<std::string>& parameters,
    const std::vector<std::shared_ptr<const HostTensor>>& arguments) const {
  std::vector<interp::TensorArg> tensors;
  std::list<HostTensor> copies;  // of elements that do not lie where they can be read
  for (size_t i = 0; i < arguments.size(); ++i)
    for (const interp::ProgramTensor& tensor : inputs) {
      if (tensor.name != parameters[i]) continue;
      const HostTensor* input = arguments[i].get();
      if (!input->is_aligned()) {
        STRIA_ASSIGN(HostTensor copy, input->clone());
        copies.push_back(std::move(copy));
        input = &copies.back();
      }
      // The interpreter writes to outputs only.
      tensors.push_back({tensor.name, const_cast<std::byte*>(input->data()),
                         memory_shape(input->type(), input->sizes())});
    }
  std::vector<std::shared_ptr<const HostTensor>> out;
  for (const tile::BoundTensor& tensor : outputs) {
    STRIA_ASSIGN(HostTensor result,
                 HostTensor::create(tensor.outside_type(), tensor.sizes, tensor.name));
    tensors.push_back(
        {tensor.name, result.data(), memory_shape(tensor.outside_type(), tensor.sizes)});
    out.push_back(std::make_shared<const HostTensor>(std::move(result)));
  }
  STRIA_RETURN_IF_ERROR(interp::interpret(generic, tensors));
  return out;
}

Status TileEvaluator::Lowered::check_bytes(const std::vector<bool>* wanted) const {
  double bytes = 0;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (wanted && !(*wanted)[k]) continue;
    double elements = 1;
    for (const int64_t size : outputs[k].sizes) elements *= static_cast<double>(size);
    bytes += elements * bit_width(outputs[k].outside_type()) / 8;
  }
  if (bytes <= kMostBytes) return {};
  return make_error(StatusCode::out_of_range,
                    "its result of {:.0f} bytes is needed while the program is made; {:.0f} are "
                    "the most",
                    bytes, kMostBytes);
}

struct TileEvaluator::State {
  OnDevice on_device;
  std::map<std::string, Lowered> functions;  // by text, name and types
  double points = 0;                         // of what ran
};

TileEvaluator::TileEvaluator(OnDevice on_device) : state_(std::make_shared<State>()) {
  state_->on_device = std::move(on_device);
}

double TileEvaluator::points() const { return state_->points; }

Result<const TileEvaluator::Lowered*> TileEvaluator::lowered(
    const onnx::KnownCall& call, const std::vector<TensorType>& types) const {
  std::map<std::string, TensorType> by_name;
  // Another program has other functions of these names.
  std::string key = call.function + "\n" + call.text;
  for (size_t i = 0; i < types.size(); ++i) {
    by_name[call.parameters[i]] = types[i];
    key += fmt::format("\n{} {}", call.parameters[i], to_string(types[i].type, types[i].sizes));
  }
  auto at = state_->functions.find(key);
  if (at == state_->functions.end()) {
    STRIA_ASSIGN(Lowered made, Lowered::make(call.text, call.function, by_name));
    at = state_->functions.emplace(std::move(key), std::move(made)).first;
  }
  return &at->second;
}

Result<onnx::KnownResults> TileEvaluator::operator()(
    const std::vector<onnx::KnownCall>& calls) const {
  std::vector<const Lowered*> functions;
  double points = 0;
  for (const onnx::KnownCall& call : calls) {
    std::vector<TensorType> types;
    for (const onnx::KnownCall::Argument& argument : call.arguments)
      if (argument.elements) {
        types.push_back({argument.elements->type(), argument.elements->sizes()});
      } else {
        const tile::BoundTensor& tensor = functions[argument.call]->outputs[argument.result];
        types.push_back({tensor.outside_type(), tensor.sizes});
      }
    Result<const Lowered*> function = lowered(call, types);
    if (!function.ok()) return function.status().with_context(call.node);
    functions.push_back(*function);
    points += functions.back()->points;
  }
  // The last call is the one whose results are asked for.
  const std::string& node = calls.back().node;
  const auto check_bytes = [&](bool all) {
    for (size_t c = 0; c < calls.size(); ++c)
      if (Status status = functions[c]->check_bytes(all ? nullptr : &calls[c].wanted); !status.ok())
        return status.with_context(calls[c].node);
    return Status();
  };
  if (points > kOnDeviceFrom && state_->on_device) {
    if (points > kMostPointsOnDevice)
      return too_long(points, kMostPointsOnDevice).with_context(node);
    STRIA_RETURN_IF_ERROR(check_bytes(false));
    auto results = state_->on_device(calls);
    if (!results.ok()) return results.status().with_context(node);
    if (*results) return *std::move(*results);
  }
  state_->points += points;
  if (state_->points > kMostPoints) return too_long(state_->points, kMostPoints).with_context(node);
  STRIA_RETURN_IF_ERROR(check_bytes(true));
  onnx::KnownResults out;
  for (size_t c = 0; c < calls.size(); ++c) {
    std::vector<std::shared_ptr<const HostTensor>> arguments;
    for (const onnx::KnownCall::Argument& argument : calls[c].arguments)
      arguments.push_back(argument.elements ? argument.elements
                                            : out[argument.call][argument.result]);
    auto results = functions[c]->run(calls[c].parameters, arguments);
    if (!results.ok()) return results.status().with_context(calls[c].node);
    out.push_back(*std::move(results));
  }
  return out;
}

}  // namespace stria
