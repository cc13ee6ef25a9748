// SPDX-License-Identifier: Apache-2.0
// Brings together what the command line says of a program's inputs: sources, sizes and types.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "failure.h"
#include "inputs/named_values.h"
#include "output_files.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/device.h"
#include "stria/tensor_io/tensor_source.h"
#include "stria/type/host_tensor.h"

namespace stria::command {

// What a command line says of inputs, as spelled there.
struct InputTexts {
  std::vector<std::string> inputs;    // NAME=SOURCE
  std::vector<std::string> shapes;    // NAME=2,3[:TYPE]
  std::vector<std::string> pictures;  // KEY=VALUE: what becomes of pictures
  std::string folder;                 // has NAME.npy for others; empty: none
};

struct NamedSource {
  std::string name;
  TensorSource source;
};
struct GivenInputs {
  std::vector<NamedSource> sources;
  std::vector<ShapeText> shapes;
  std::string folder;

  std::vector<std::string> source_names() const;
  std::vector<std::string> shape_names() const;
};
// ExitCode::usage material: invalid_argument for what is malformed.
Result<GivenInputs> parse_inputs(const InputTexts& texts);
// ExitCode::program if the folder is not there.
Outcome check_input_folder(const GivenInputs& given);
// Gives each of these inputs that has no source its file in the folder, if there is one.
void add_sources_of_folder(const std::vector<std::string>& names, GivenInputs& given);
// The files that sources name.
std::vector<NamedFile> files_of(const GivenInputs& given);
// ExitCode::usage if an output of a run has no path for a tensor, or if it is the same file as
// another one or as one that is read. `labels`: a file, or empty.
Outcome check_run_files(const std::string& program, const GivenInputs& given,
                        const std::vector<NamedValue>& outputs, const std::string& labels = "");

struct ReadInputs {
  std::vector<HostTensor> tensors;  // one per input, if none is missing
  InputTypes types;
  // Of the first input without a source: what to say about it; ok if there is none.
  Status missing;
};

enum class Wanted {
  sizes,   // of every input; elements only where --input gives them
  values,  // of every input, from --input
  random,  // the same; random numbers where --input gives none
};
// Opens a device for a program that has to run before the one of the command line is known.
using DeviceOpener = std::function<Outcome(const Compilation& program, Device& device)>;

// Reads a .tile or .onnx file. What a model leaves open has to be known when a program is made of
// it: `in` gets what read_inputs would give, as far as it is wanted. Of a .tile file it gets
// nothing. `given` gets a source for each input that has a file in its folder and no source yet.
// `open`: for OnnxOptions::open_device; may be empty. It is not asked for a simulated device.
Outcome read_program(const std::string& path, const std::string& function, GivenInputs& given,
                     Wanted wanted, Program& program, ReadInputs& in,
                     const DeviceOpener& open = {});

// Types and sizes of the inputs of `program` that --shape gives; fp32 where no type is said.
InputTypes types_of_shapes(const Program& program, const GivenInputs& given);

// ExitCode::usage, with the nearest right name, if one of `names`, given to `option`, is no input
// of the program.
Outcome check_input_names(const Program& program, std::string_view option,
                          const std::vector<std::string>& names);
Outcome check_output_names(const Program& program, const std::vector<NamedValue>& outputs);

// lower_program; ExitCode::usage for a constant that is no input of a program that has bound.
Outcome lower(const Program& program, const InputTypes& types, const CompileOptions& how,
              Compilation& out);

// Reads or makes every input of `program` that has a source, in the program's order.
Outcome read_inputs(const Program& program, const GivenInputs& given, ReadInputs& out);

}  // namespace stria::command
