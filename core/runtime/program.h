// SPDX-License-Identifier: Apache-2.0
// A tensor program as its author wrote it, before sizes and types are known.
//
//   STRIA_ASSIGN(Program program, Program::from_tile({"matmul", text}));
//   STRIA_ASSIGN(Executable run, device.compile(program, {{"A", {DataType::fp32, {64, 32}}}, …}));
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/base/source_text.h"

namespace stria {

// A parameter of the program's function. Plain value.
struct STRIA_API ProgramInput {
  std::string name;
  bool has_dims = false;          // false: any rank fits
  std::vector<std::string> dims;  // names of the dimensions
  std::string text() const;       // "A[M, K]", or "A"
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
  // Reads a .tile file. unsupported for other endings; not_found, permission_denied.
  static Result<Program> read(const std::filesystem::path& path, std::string_view function = {});

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
