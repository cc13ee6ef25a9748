// SPDX-License-Identifier: Apache-2.0
#include "proof.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "slope.h"
#include "stria/base/status.h"

namespace stria::gradient_proof {
namespace {

// Of 0.5 .. 1.5 and either sign: nothing that flows back is 0 or 1 by chance.
Numbers weights_of(const TensorInfo& output, std::mt19937_64& random) {
  Numbers out{{DataType::fp64, output.sizes}, {}};
  for (int64_t n = 0; n < element_count(out.type); ++n) {
    const double size = 0.5 + static_cast<double>(random() % 64 + 1) / 64;
    out.values.push_back(random() % 2 ? size : -size);
  }
  return out;
}

// The forward program, and what each of its outputs counts in the loss.
struct Loss {
  NumericFunction forward;
  std::vector<Numbers> weights;  // empty: the output does not count

  Result<double> at(const std::vector<Numbers>& inputs) const {
    STRIA_ASSIGN(std::vector<Numbers> results, forward(inputs));
    double sum = 0;
    for (size_t o = 0; o < results.size(); ++o)
      for (size_t n = 0; n < weights[o].values.size(); ++n)
        sum += results[o].values[n] * weights[o].values[n];
    return sum;
  }
};

std::vector<size_t> chosen_elements(size_t count, size_t most, std::mt19937_64& random) {
  std::vector<size_t> out(count);
  std::iota(out.begin(), out.end(), size_t{0});
  for (size_t n = 0; n < std::min(count, most); ++n)
    std::swap(out[n], out[n + random() % (count - n)]);
  out.resize(std::min(count, most));
  return out;
}

}  // namespace

Proof& Proof::operator+=(const Proof& other) {
  regular += other.regular;
  irregular += other.irregular;
  wrong += other.wrong;
  if (first_wrong.empty()) first_wrong = other.first_wrong;
  return *this;
}

double Proof::irregular_share() const {
  return regular + irregular == 0 ? 0 : static_cast<double>(irregular) / (regular + irregular);
}

Result<Proof> prove(const Device& device, const Program& program,
                    const std::vector<Numbers>& inputs, const ProofOptions& options) {
  std::mt19937_64 random(options.seed);
  std::vector<TensorType> types;
  for (const Numbers& input : inputs) types.push_back(input.type);
  Loss loss;
  STRIA_ASSIGN(loss.forward, NumericFunction::compile(device, program, types));

  GradientOptions asked;
  asked.of = options.of;
  for (size_t n = 0; n < inputs.size(); ++n)
    if (inputs[n].type.type == DataType::fp64) asked.wrt.push_back(program.inputs()[n].name);
  STRIA_ASSIGN(Program gradient, program.gradient(asked));

  std::vector<TensorInfo> counted;
  for (const TensorInfo& output : loss.forward.outputs())
    if (options.of.empty() || output.name == options.of) counted.push_back(output);
  std::map<std::string, Numbers> weights;
  for (const TensorInfo& output : counted)
    if (output.sizes.empty()) weights[output.name] = {{DataType::fp64, {}}, {1}};
  std::vector<Numbers> given = inputs;
  for (const TensorInfo& output : given_outputs(gradient, inputs.size(), counted))
    given.push_back(weights[output.name] = weights_of(output, random));
  for (const TensorInfo& output : loss.forward.outputs())
    loss.weights.push_back(weights[output.name]);
  types.clear();
  for (const Numbers& input : given) types.push_back(input.type);
  STRIA_ASSIGN(NumericFunction derivative, NumericFunction::compile(device, gradient, types));
  STRIA_ASSIGN(std::vector<Numbers> got, derivative(given));
  if (got.size() != asked.wrt.size())
    return internal_error("{} derivatives of {} inputs", got.size(), asked.wrt.size());

  Proof proof;
  for (size_t n = 0, d = 0; n < inputs.size(); ++n) {
    if (inputs[n].type.type != DataType::fp64) continue;
    const Numbers& derivatives = got[d++];
    if (derivatives.type != inputs[n].type)
      return internal_error("the derivative by {} has other sizes or another type",
                            program.inputs()[n].name);
    for (size_t i :
         chosen_elements(inputs[n].values.size(), static_cast<size_t>(options.elements), random)) {
      Samples samples;
      std::vector<Numbers> moved = inputs;
      for (size_t s = 0; s < samples.size(); ++s) {
        moved[n].values[i] = inputs[n].values[i] + kOffsets[s];
        STRIA_ASSIGN(samples[s], loss.at(moved));
      }
      const Slope slope = slope_of(samples);
      if (!slope.regular) {
        ++proof.irregular;
        continue;
      }
      ++proof.regular;
      if (std::fabs(derivatives.values[i] - slope.value) <= slope.tolerance) continue;
      if (++proof.wrong == 1)
        proof.first_wrong = fmt::format(
            "by element {} of {}: {}, but differences give {} within {:.2g}", i,
            program.inputs()[n].name, derivatives.values[i], slope.value, slope.tolerance);
    }
  }
  return proof;
}

// The name has a number if it was taken.
static bool is_derivative_by(const std::string& parameter, const std::string& output) {
  return parameter.starts_with("D" + output) &&
         parameter.find_first_not_of("_0123456789", output.size() + 1) == std::string::npos;
}

std::vector<TensorInfo> given_outputs(const Program& gradient, size_t inputs,
                                      const std::vector<TensorInfo>& outputs) {
  std::vector<TensorInfo> out;
  for (const TensorInfo& output : outputs) {
    const size_t next = inputs + out.size();
    if (next < gradient.inputs().size() &&
        is_derivative_by(gradient.inputs()[next].name, output.name))
      out.push_back(output);
  }
  return out;
}

Numbers distinct_numbers(std::vector<int64_t> sizes, uint64_t seed) {
  Numbers out{{DataType::fp64, std::move(sizes)}, {}};
  std::mt19937_64 random(seed);
  std::vector<int> all(4096);
  std::iota(all.begin(), all.end(), -2048);
  for (int64_t n = 0; n < element_count(out.type); ++n) {
    const auto at = static_cast<size_t>(n) % all.size();
    std::swap(all[at], all[at + random() % (all.size() - at)]);
    out.values.push_back(all[at] / 1024.0);
  }
  return out;
}

}  // namespace stria::gradient_proof
