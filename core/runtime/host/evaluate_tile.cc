// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/evaluate_tile.h"

#include <fmt/format.h>

#include <list>
#include <map>
#include <utility>

#include "stria/base/status.h"
#include "stria/interp/interpret.h"
#include "stria/lower/lower.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria {
namespace {

constexpr double kMostPoints = 1e11;
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

}  // namespace

// A function for its types.
struct TileEvaluator::Lowered {
  static Result<Lowered> make(const std::string& text, const std::string& function,
                              const std::map<std::string, TensorType>& types);
  stripe::Program generic;
  std::vector<interp::ProgramTensor> inputs;
  std::vector<tile::BoundTensor> outputs;
  double points = 0;  // of all its blocks
};

Result<TileEvaluator::Lowered> TileEvaluator::Lowered::make(
    const std::string& text, const std::string& function,
    const std::map<std::string, TensorType>& types) {
  Lowered out;
  STRIA_ASSIGN(const tile::Program parsed, tile::parse({function + ".tile", text}));
  STRIA_ASSIGN(const tile::BoundProgram bound, tile::bind_program(parsed, function, types));
  double bytes = 0;
  for (const tile::TensorId id : bound.outputs) {
    out.outputs.push_back(bound.tensors[static_cast<size_t>(id)]);
    double elements = 1;
    for (const int64_t size : out.outputs.back().sizes) elements *= static_cast<double>(size);
    bytes += elements * bit_width(out.outputs.back().outside_type()) / 8;
  }
  if (bytes > kMostBytes)
    return make_error(StatusCode::out_of_range,
                      "its result of {:.0f} bytes is needed while the program is made; {:.0f} are "
                      "the most",
                      bytes, kMostBytes);
  STRIA_ASSIGN(out.generic, lower(bound));
  STRIA_ASSIGN(out.inputs, interp::program_inputs(out.generic));
  if (const stripe::Block* main = out.generic.main()) out.points = points_inside(*main);
  return out;
}

struct TileEvaluator::State {
  std::map<std::string, Lowered> functions;  // by text, name and types
  double points = 0;                         // of what ran
};

TileEvaluator::TileEvaluator() : state_(std::make_shared<State>()) {}

double TileEvaluator::points() const { return state_->points; }

Result<std::vector<HostTensor>> TileEvaluator::operator()(
    const std::string& text, const std::string& function, const std::vector<std::string>& names,
    const std::vector<std::shared_ptr<const HostTensor>>& inputs) const {
  std::map<std::string, TensorType> types;
  std::string key = function + "\n" + text;
  for (size_t i = 0; i < inputs.size(); ++i) {
    types[names[i]] = {inputs[i]->type(), inputs[i]->sizes()};
    key += fmt::format("\n{} {}", names[i], to_string(inputs[i]->type(), inputs[i]->sizes()));
  }
  auto at = state_->functions.find(key);
  if (at == state_->functions.end()) {
    STRIA_ASSIGN(Lowered made, Lowered::make(text, function, types));
    at = state_->functions.emplace(std::move(key), std::move(made)).first;
  }
  const Lowered& made = at->second;
  state_->points += made.points;
  if (state_->points > kMostPoints)
    return make_error(StatusCode::out_of_range,
                      "what is needed while the program is made takes {:.3g} points of loops; "
                      "{:.0e} are the most",
                      state_->points, kMostPoints);
  std::vector<interp::TensorArg> arguments;
  std::list<HostTensor> copies;  // of elements that do not lie where they can be read
  for (size_t i = 0; i < inputs.size(); ++i)
    for (const interp::ProgramTensor& tensor : made.inputs) {
      if (tensor.name != names[i]) continue;
      const HostTensor* input = inputs[i].get();
      if (!input->is_aligned()) {
        STRIA_ASSIGN(HostTensor copy, input->clone());
        copies.push_back(std::move(copy));
        input = &copies.back();
      }
      // The interpreter writes to outputs only.
      arguments.push_back({names[i], const_cast<std::byte*>(input->data()),
                           memory_shape(input->type(), input->sizes())});
    }
  std::vector<HostTensor> out;
  for (const tile::BoundTensor& tensor : made.outputs) {
    STRIA_ASSIGN(HostTensor result,
                 HostTensor::create(tensor.outside_type(), tensor.sizes, tensor.name));
    arguments.push_back(
        {tensor.name, result.data(), memory_shape(tensor.outside_type(), tensor.sizes)});
    out.push_back(std::move(result));
  }
  STRIA_RETURN_IF_ERROR(interp::interpret(made.generic, arguments));
  return out;
}

Result<std::vector<HostTensor>> evaluate_tile(
    const std::string& text, const std::string& function, const std::vector<std::string>& names,
    const std::vector<std::shared_ptr<const HostTensor>>& inputs) {
  return TileEvaluator()(text, function, names, inputs);
}

}  // namespace stria
