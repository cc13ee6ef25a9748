// SPDX-License-Identifier: Apache-2.0
// Runs a Stripe program twice on the same random inputs, compiled and by the interpreter, and compares.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria::llvm_cpu {

// A tensor of a test program.
struct TestTensor {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<int64_t> sizes;
  const char* dir = "in";  // of main's refinement
};

// "stripe 0.1 …": the program whose main has these tensors and these kernels, each of them text that
// starts with its tags ("#kernel block …").
std::string program_text(const std::vector<TestTensor>& tensors, const std::vector<std::string>& kernels);
// "R[x, 0] fp32(1:8, 1:1)": a view of one element of the tensor.
std::string element_view(const TestTensor& tensor, const std::string& access);

using Values = std::map<std::string, std::vector<Scalar>>;

// Fills inputs (and inout outputs) from `given` where it has the name, else with numbers that reach the
// edges of their type, drawn from `seed`. Runs the kernels in order, points in pieces of 3.
Result<Values> run_compiled(const std::string& text, const Values& given, uint64_t seed);
Result<Values> run_interpreted(const std::string& text, const Values& given, uint64_t seed);

// Both, compared: integers and bool exactly, floats within `ulps` of their type plus `relative` times the
// expected value; NaN equals NaN. "" or what differs.
std::string difference(const std::string& text, double ulps = 0, double relative = 0, const Values& given = {},
                       uint64_t seed = 1);

// One edge or random number of the type.
Scalar sample(DataType type, uint64_t& state);

}  // namespace stria::llvm_cpu
