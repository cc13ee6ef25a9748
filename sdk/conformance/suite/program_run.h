// SPDX-License-Identifier: Apache-2.0
// Runs Tile programs on the device under test in the product's own way: its runtime loads the
// plugin's folder, its passes compile for the device. Every input and output lies between guard
// bytes, each run is repeated at other places, and results are compared with the interpreter's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stria/runtime/compilation.h"
#include "stria/runtime/device.h"
#include "suite/case.h"
#include "suite/subject.h"
#include "suite/test_values.h"

namespace stria::conformance {

struct TestInput {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<int64_t> sizes;
  Values values = Values::plain;
  uint32_t seed = 0;
  int64_t limit = 0;      // of Values::index
  bool constant = false;  // the same in many runs: what depends on such inputs alone is a prologue
};

// A program and what it is run with.
struct TestProgram {
  std::string name;                     // for messages
  std::string functions;                // further ones, before the entry
  std::vector<std::string> parameters;  // "A[M, N]"
  std::vector<std::string> outputs;
  std::string body;  // statements
  std::vector<TestInput> inputs;
  std::map<std::string, std::string> settings;   // of the device's pipeline
  bool no_peepholes = false, fast_math = false;  // of the build
  // Values came about by chance: that nothing can be said of most of them is no mistake.
  bool random = false;
  bool keep_results = false;
  // The interpreter computes so many elements of each output; nothing: all of them.
  std::optional<int64_t> sample;

  std::string tile() const;
  // The same program without the other outputs.
  TestProgram only(const std::string& output) const;
};

// What became of one output.
struct OutputRun {
  std::string name;
  Status status;
  int64_t elements = 0, undecided = 0;  // that were compared; that no result of could be wrong
  Bytes result = {};                    // with keep_results
};

// What became of a program.
struct ProgramRun {
  // Why there are no results. unsupported: the device says that it lacks something.
  Status status;
  std::vector<OutputRun> outputs;
};

// The product's handle of the device under test. It is opened once per process and never given
// back: the process ends with it.
Result<::stria::Device> product_device(const Subject& subject);

// Compiles, runs and compares.
ProgramRun run_program(const Subject& subject, const TestProgram& program);

// The program as the device's pipeline leaves it, not built.
Result<Compilation> compile_for_device(const Subject& subject, const TestProgram& program);

// The values of its inputs, in their order.
Result<std::vector<HostTensor>> input_values(const TestProgram& program);

// unsupported if the device's model says that it lacks this type of elements.
Status check_has(const Subject& subject, DataType type);

// As a case's end: unsupported if the device says that it lacks something.
Finding finding_of(const Status& status);

}  // namespace stria::conformance
