// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/program_values.h"

#include <cmath>
#include <random>

namespace stria::interp {
namespace {

// lower .. upper, the same on every machine.
int64_t between(std::mt19937_64& random, int64_t lower, int64_t upper) {
  return lower + static_cast<int64_t>(random() % static_cast<uint64_t>(upper - lower + 1));
}

GivenTensor random_tensor(const ProgramTensor& like, std::mt19937_64& random) {
  const DataType type = like.shape.type;
  GivenTensor tensor = empty_tensor(like);
  for (int64_t i = 0; i < tensor.shape.element_count(); ++i)
    store_scalar(type, tensor.bytes.data(), i,
                 is_float(type)
                     ? Scalar::of_float(type, static_cast<double>(between(random, -8, 8)) / 4)
                     : Scalar::of_int(type, between(random, -4, 4)));
  return tensor;
}

bool is_same(const Scalar& a, const Scalar& b) {
  if (!is_float(a.type)) return a.i == b.i;
  return a.f == b.f || (std::isnan(a.f) && std::isnan(b.f));
}

}  // namespace

GivenTensor empty_tensor(const ProgramTensor& like) {
  GivenTensor tensor{like.name, like.dir, dense_shape(like.shape.type, like.shape.sizes()), {}};
  tensor.bytes.resize(static_cast<size_t>(tensor.shape.span_bytes()) + 64);
  return tensor;
}

Result<std::vector<GivenTensor>> random_inputs(const stripe::Program& program, uint64_t seed) {
  STRIA_ASSIGN(auto inputs, program_inputs(program));
  STRIA_ASSIGN(auto outputs, program_outputs(program));
  std::mt19937_64 random(seed);
  std::vector<GivenTensor> out;
  for (const auto& input : inputs) out.push_back(random_tensor(input, random));
  for (const auto& output : outputs)
    if (output.dir == stripe::RefDir::inout) out.push_back(random_tensor(output, random));
  return out;
}

Result<ProgramValues> run_on_random(const stripe::Program& program, uint64_t seed) {
  ProgramValues values;
  STRIA_ASSIGN(values.given, random_inputs(program, seed));
  std::vector<TensorArg> args;
  for (GivenTensor& tensor : values.given) args.push_back(tensor.arg());
  STRIA_ASSIGN(values.expected, interpret_with_bounds(program, args));
  return values;
}

Refusal difference(const stripe::Program& program, ProgramValues& values, Same same) {
  std::vector<GivenTensor> tensors;  // of this run: what continues is overwritten
  for (const GivenTensor& tensor : values.given)
    if (tensor.dir == stripe::RefDir::inout) tensors.push_back(tensor);
  for (const Reference& reference : values.expected) {
    bool continues = false;
    for (const GivenTensor& tensor : tensors) continues |= tensor.name == reference.name;
    if (continues) continue;
    GivenTensor tensor{reference.name, stripe::RefDir::out, reference.shape, {}};
    tensor.bytes.resize(static_cast<size_t>(tensor.shape.span_bytes()) + 64);
    tensors.push_back(std::move(tensor));
  }
  std::vector<TensorArg> args;
  for (GivenTensor& tensor : values.given)
    if (tensor.dir == stripe::RefDir::in) args.push_back(tensor.arg());
  for (GivenTensor& tensor : tensors) args.push_back(tensor.arg());
  if (Status status = interpret(program, args); !status.ok())
    return "does not run: " + status.to_string();
  for (const Reference& reference : values.expected)
    for (GivenTensor& tensor : tensors) {
      if (tensor.name != reference.name) continue;
      if (same == Same::exact) {
        for (int64_t i = 0; i < reference.shape.element_count(); ++i) {
          const Scalar got = load_scalar(tensor.shape.type, tensor.bytes.data(), i);
          const Scalar& wanted = reference.typed[static_cast<size_t>(i)];
          if (!is_same(got, wanted))
            return fmt::format("{}, element {}: {} instead of {}", tensor.name, i, to_string(got),
                               to_string(wanted));
        }
        continue;
      }
      auto report = compare(tensor.arg(), reference);
      if (!report.ok()) return report.status().to_string();
      if (!report->passed()) return report->worst_text;
    }
  return Refusal::none();
}

}  // namespace stria::interp
