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

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/tile/ast.h"

namespace stria {

// A parameter of the program's function.
struct ProgramInput {
  std::string name;
  bool has_dims = false;          // false: any rank fits
  std::vector<std::string> dims;  // names of the dimensions
  std::string text() const;       // "A[M, K]", or "A"
};

// A handle on constant data; safe from any thread.
class Program {
 public:
  // Parses Tile text. `function` names the entry; empty: the unnamed or the last function.
  // invalid_argument with all mistakes found; not_found if there is no such function.
  static Result<Program> from_tile(SourceText source, std::string_view function = {});
  // Reads a .tile file. unsupported for other endings.
  static Result<Program> read(const std::filesystem::path& path, std::string_view function = {});

  const std::string& name() const;  // of the function; the file's stem if it has none
  const std::vector<ProgramInput>& inputs() const;
  const std::vector<std::string>& outputs() const;
  // The index in inputs(), or not_found with the nearest name.
  Result<size_t> find_input(std::string_view name) const;
  Result<size_t> find_output(std::string_view name) const;

  const tile::Program& tile() const;
  const std::string& function() const;  // as asked for

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace stria
