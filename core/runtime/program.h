// SPDX-License-Identifier: Apache-2.0
// A tensor program as its author wrote it, before sizes and types are known.
//
//   STRIA_ASSIGN(Program program, Program::from_tile({"matmul", text}));
//   STRIA_ASSIGN(Executable run, device.compile(program, {{"A", {DataType::fp32, {64, 32}}}, …}));
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/base/source_text.h"
#include "stria/runtime/onnx_options.h"
#include "stria/type/tensor_type.h"

namespace stria {

// A parameter of the program's function. Plain value.
struct STRIA_API ProgramInput {
  std::string name;
  bool has_dims = false;          // false: any rank fits
  std::vector<std::string> dims;  // names of the dimensions
  // Of a program that was made for one type and these sizes alone: of an ONNX model.
  std::optional<TensorType> type;
  std::string text() const;  // "A[M, K]", "A", or "A: fp32[2, 3]"
};

// What Program::gradient makes; core/tile/gradient/gradient.h says more. Plain value.
struct STRIA_API GradientOptions {
  std::string function;          // to differentiate; empty: the program's own
  std::vector<std::string> wrt;  // inputs to differentiate by; empty: every one
  std::string of;                // the output to differentiate; empty: all that depend on `wrt`
  bool keep_results = false;     // the outputs come before the derivatives
  std::string name;              // of the function made; empty: "…_gradient"
};

// A handle on constant data; safe from any thread. Every function but the two that make one needs a
// program that one of them has made.
class STRIA_API Program {
 public:
  Program() = default;
  bool valid() const { return state_ != nullptr; }

  // Parses Tile text. `function` names the entry; empty: the unnamed or the last function.
  // invalid_argument with all mistakes found, each with file, line and column; not_found if there
  // is no such function.
  static Result<Program> from_tile(SourceText source, std::string_view function = {});
  // Reads an .onnx file and makes a program of it for the sizes and values of `options`; more in
  // onnx_model.h, where a model is read once for many sizes. Its inputs have their types, so that
  // Device::compile needs none.
  static Result<Program> from_onnx(const std::filesystem::path& path,
                                   const OnnxOptions& options = {});
  // Reads a .tile or .onnx file; the latter must leave nothing open. unsupported for other endings;
  // not_found, permission_denied. An .onnx file has no `function`: invalid_argument.
  static Result<Program> read(const std::filesystem::path& path, std::string_view function = {});

  // The derivative, a program with the inputs of this one and, for each differentiated output R
  // that is not known to be of rank 0, an input DR: the derivative of a number by R. Its outputs
  // are one DA of the sizes of A for each input A of `wrt`: the derivative of that number by A.
  // invalid_argument: something has no derivative, said with its place; not_found: a name of the
  // options, with the nearest.
  Result<Program> gradient(const GradientOptions& options = {}) const;

  // What was noted when it was made, each with its place: inputs whose derivative is zero.
  const std::vector<std::string>& notes() const;

  const std::string& name() const;  // of the function; the file's stem if it has none
  const std::vector<ProgramInput>& inputs() const;
  const std::vector<std::string>& outputs() const;
  // All functions as canonical Tile: from_tile of it gives an equal program.
  std::string text() const;
  // The index in inputs() or outputs(), or not_found with the nearest name.
  Result<size_t> find_input(std::string_view name) const;
  Result<size_t> find_output(std::string_view name) const;

 private:
  friend struct Inside;
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stria
