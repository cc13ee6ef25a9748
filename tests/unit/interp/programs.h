// SPDX-License-Identifier: Apache-2.0
// Makes the tests of the interpreter short: Stripe text in, tensors as vectors of double.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "stria/interp/interpret.h"
#include "stria/stripe/text/parser.h"

namespace stria::interp::testing {

// Raw bytes of a dense tensor.
struct Data {
  TensorShape shape;
  std::vector<char> bytes;

  Data() = default;
  Data(DataType type, std::vector<int64_t> sizes) : shape(dense_shape(type, sizes)) {
    bytes.resize(static_cast<size_t>(shape.span_bytes()) + 8);
  }
  Data(DataType type, std::vector<int64_t> sizes, const std::vector<double>& values)
      : Data(type, std::move(sizes)) {
    for (size_t i = 0; i < values.size(); ++i) set(static_cast<int64_t>(i), values[i]);
  }
  void set(int64_t i, double value) {
    store_scalar(shape.type, bytes.data(), i, Scalar::of_float(DataType::fp64, value));
  }
  Scalar at(int64_t i) const { return load_scalar(shape.type, bytes.data(), i); }
  std::vector<double> values() const {
    std::vector<double> out;
    for (int64_t i = 0; i < shape.element_count(); ++i) out.push_back(at(i).to_double());
    return out;
  }
  // Small whole numbers and quarters, the same for a seed.
  void randomize(uint32_t seed) {
    std::mt19937 random(seed);
    for (int64_t i = 0; i < shape.element_count(); ++i) {
      double value = static_cast<double>(random() % 33) - 16;
      if (is_float(shape.type)) value = value / 4 + (random() % 7) * 0.03;
      set(i, value);
    }
  }
};

inline stripe::Program parsed(const std::string& text) {
  auto program = stripe::parse({"<test>", text});
  EXPECT_TRUE(program.ok()) << program.status().to_string() << "\n" << text;
  return program.ok() ? *program : stripe::Program();
}

inline Status run(const stripe::Program& program, std::map<std::string, Data>& data,
                  const InterpOptions& options = {}) {
  std::vector<TensorArg> args;
  for (auto& [name, one] : data) args.push_back({name, one.bytes.data(), one.shape});
  return interpret(program, args, options);
}

// A program with the given refinements of the entry ("I fp32(4:1)") and main ("in I[0] …"), and
// kernels.
inline std::string program_text(const std::string& tensors, const std::string& main_refs,
                                const std::string& kernels) {
  return "stripe 1.0\n0: #program block [] ( // test\n" + tensors +
         ") {\n  0: #main block [] ( // main\n" + main_refs + "  ) {\n" + kernels + "  }\n}\n";
}

}  // namespace stria::interp::testing
