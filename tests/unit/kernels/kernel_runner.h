// SPDX-License-Identifier: Apache-2.0
// Runs a Stripe program twice on the same random inputs, by a plugin's code generator and by the
// interpreter, and compares. The tests of this folder are linked into one binary per plugin, each
// with a run_compiled of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/stripe/block.h"
#include "stria/type/scalar.h"
#include "stria/type/tensor_shape.h"

namespace stria::kernels {

// A tensor of a test program.
struct TestTensor {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<int64_t> sizes;
  const char* dir = "in";  // of main's refinement
};

// "stripe 1.0 …": the program whose main has these tensors and these kernels, each of them text
// that starts with its tags ("#kernel block …").
std::string program_text(const std::vector<TestTensor>& tensors,
                         const std::vector<std::string>& kernels);
// "R[x, 0] fp32(1:8, 1:1)": a view of one element of the tensor.
std::string element_view(const TestTensor& tensor, const std::string& access);

// Memory of a tensor of the program, aligned to every element type.
struct TestBuffer {
  TensorShape shape;
  std::vector<uint64_t> words;
  void* data() { return words.data(); }
  uint64_t bytes() const {
    return static_cast<uint64_t>(shape.span_elements() * byte_size(shape.type));
  }
};
using TestBuffers =
    std::map<std::string, TestBuffer>;  // by the name of the program's entry, or main's

// Defined by each plugin's tests: compiles and runs the kernels in order.
Status run_compiled(const stripe::Program& program, const std::string& text, TestBuffers& buffers);
// Also defined there: a device whose compiler is slow gets one of so many cases; 1: all.
extern const int kOneOf;
// The tensor that main's refinement `name` shows, in `buffers`.
TestBuffer& buffer_behind(const stripe::Program& program, const std::string& name,
                          TestBuffers& buffers);

using Values = std::map<std::string, std::vector<Scalar>>;

// The outcome by the interpreter alone; filled as below.
Result<Values> run_interpreted(const std::string& text, const Values& given, uint64_t seed);

// Compiled and interpreted: inputs (and inout outputs) are filled from `given` where it has the
// name, else with numbers that reach the edges of their type, drawn from `seed`. The results are
// compared: integers and bool exactly, floats within `ulps` of their type plus `relative` times the
// expected value; NaN equals NaN. "" or what differs.
std::string difference(const std::string& text, double ulps = 0, double relative = 0,
                       const Values& given = {}, uint64_t seed = 1);

// One edge or random number of the type.
Scalar sample(DataType type, uint64_t& state);

}  // namespace stria::kernels
