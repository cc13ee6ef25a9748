// SPDX-License-Identifier: Apache-2.0
// Tile text with random inputs, lowered, and the check that a pipeline keeps its values at every
// step.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stria/interp/check.h"
#include "stria/interp/interpret.h"
#include "stria/pass/pipeline.h"
#include "stria/stripe/block.h"
#include "stria/tile/bind/bind.h"

namespace stria::passes {

struct TestTensor {
  std::string name;
  TensorShape shape;  // dense
  std::vector<uint8_t> bytes;
  interp::TensorArg arg() { return {name, bytes.data(), shape}; }
};

struct TileProgram {
  stripe::Program generic;
  std::vector<TestTensor> inputs;
  std::vector<interp::Reference> expected;  // of each output
};

// Lowers the text for inputs of these types.
Result<stripe::Program> lower_text(const std::string& text,
                                   const std::map<std::string, tile::TensorType>& inputs);

// The same with what it computes; `values` by input name, row-major, random ones for
// inputs it lacks.
Result<TileProgram> make_program(const std::string& text,
                                 const std::map<std::string, tile::TensorType>& inputs,
                                 const std::map<std::string, std::vector<Scalar>>& values = {});

// Marks some of the program's inputs as constants, others for another seed.
void mark_constants(stripe::Program& program, uint64_t seed);

// "" or what is wrong with the values that `run` computes of the inputs, for the outputs: it has
// both.
std::string wrong_values(TileProgram& original,
                         const std::function<Status(const std::vector<interp::TensorArg>&)>& run);

// The same of those that `program` computes.
std::string wrong_values(const stripe::Program& program, TileProgram& original);

// Runs the pipeline on a copy and compares after every step; "" or the first step that goes wrong,
// with the program there. `counters` adds up what the steps report, by "pass: counter".
std::string wrong_step(const std::string& pipeline, const TemplateSettings& settings,
                       const HardwareModel& model, TileProgram& original,
                       std::map<std::string, int64_t>* counters = nullptr);

// The CPU plugin's pipeline.
std::string cpu_pipeline();

// Cores with vectors of `vector_bytes`.
HardwareModel small_model(int64_t vector_bytes, int64_t registers);

}  // namespace stria::passes
