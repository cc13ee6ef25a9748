// SPDX-License-Identifier: Apache-2.0
// What the tests of core/tile share: programs that parse, and short ways to parse and bind.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria::tile {

using Inputs = std::map<std::string, TensorType>;

inline Result<BoundProgram> bind_text(const std::string& text, const Inputs& inputs,
                                      const std::string& function = "") {
  Result<Program> program = parse({"test.tile", text});
  if (!program.ok()) return program.status();
  return bind_program(*program, function, inputs);
}

// The message of a program that must be refused.
inline std::string failure_of(const std::string& text, const Inputs& inputs,
                              const std::string& function = "") {
  Result<BoundProgram> bound = bind_text(text, inputs, function);
  EXPECT_FALSE(bound.ok()) << text;
  return bound.status().message();
}

inline const BoundTensor& tensor_of(const BoundProgram& program, const std::string& name) {
  for (const BoundTensor& tensor : program.tensors)
    if (tensor.name == name) return tensor;
  ADD_FAILURE() << "no tensor " << name;
  return program.tensors.at(0);
}

inline const BoundContraction& contraction_of(const BoundProgram& program, size_t statement = 0) {
  return std::get<BoundContraction>(program.statements.at(statement).form);
}

// "i:0..3 j:-1..2 | 3 - i - j"
inline std::string domain_text(const BoundContraction& c) {
  std::string out;
  for (const BoundIndex& index : c.indices)
    out += fmt::format("{}{}:{}..{}", out.empty() ? "" : " ", index.name, index.range.lower,
                       index.range.upper);
  for (const Affine& form : c.constraints) out += " | " + form.to_string();
  return c.empty ? "empty" : out;
}

// What lines "# shape A=2,3:i8" of a program say of its inputs; fp32 where no type stands.
inline Inputs shapes_in(const std::string& text) {
  Inputs out;
  for (const std::string& line : split(text, '\n')) {
    if (!line.starts_with("# shape ")) continue;
    const std::vector<std::string> name = split(line.substr(8), '=');
    const std::vector<std::string> parts = split(name.at(1), ':');
    TensorType& type = out[name[0]];
    if (parts.size() > 1) type.type = parse_tensor_type(parts[1]).value();
    if (!parts[0].empty())
      for (const std::string& size : split(parts[0], ',')) type.sizes.push_back(std::stoll(size));
  }
  return out;
}

// Every program of the house: files in the tests and demos, path -> text.
inline std::map<std::string, std::string> house_programs() {
  std::map<std::string, std::string> out;
  for (const char* folder : {"tests/end_to_end", "tools/demo"}) {
    std::filesystem::path root = std::filesystem::path(STRIA_SOURCE_DIR) / folder;
    if (!std::filesystem::exists(root)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".tile") continue;
      Result<std::string> text = read_file(entry.path());
      EXPECT_TRUE(text.ok()) << text.status().to_string();
      if (text.ok()) out[entry.path().string()] = *text;
    }
  }
  return out;
}

// Programs that together use every production of the grammar; all parse, not all bind.
inline const std::vector<std::string>& grammar_programs() {
  static const std::vector<std::string> programs = {
      "function (A) -> (R) { R = A; }",
      "function f() -> (R) { R = 1; }",
      "function F(A[], B[N], C[N, M']) -> (R, S') { R = A; S' = B; }",
      "function (A) -> (R) { R = A + 2 * A - A / 3 % 2; }",
      "function (A) -> (R) { R = (A + 2) * (A - A) / (3 % A); }",
      "function (A, B) -> (R) { R = A || B && A ^ B | A & B == A < B << 1 + 2 * -A; }",
      "function (A, B) -> (R) { R = ((((((((A || B) && A) ^ B) | A) & B) == A) < B) << 1) + 2; }",
      "function (A, B) -> (R) { R = A - (B - A) - B; }",
      "function (A, B) -> (R) { R = !A && ~B == -(-A); }",
      "function (A, B) -> (R) { R = (A < B) < (B > A); }",
      "function (A, B, C) -> (R) { R = A ? B : C ? A : B; }",
      "function (A, B, C) -> (R) { R = (A ? B : C) + (A >= B ? 1 : 0.5) * max(A, B ? C : A); }",
      "function (A) -> (R) { R = A * 1.5 + 1e3 - 2.5e-3 + 1E+5 + 0.1; }",
      "function (A) -> (R) { R = A + 9223372036854775807; }",
      "function (A[N]) -> (R) { R[i : N] = +(A[i]); }",
      "function (A[N]) -> (R) { R[:] = *(A[i]); S[] = >(A[i]); T[i : N + 1] = <(A[i]); }",
      "function (A[N]) -> (R) { R[i : N] = =(A[i]); S[i : N] == (A[i]); }",
      "function (A[N], B[N]) -> (R) { R[i : N] = +(A[i] + B[i]); S[i : N] = +(A[i] == B[i]); }",
      "function (A[N], B[N], C[N]) -> (R) { R[i : N] = +(A[i] == B[i] ? C[i]); }",
      "function (A[N]) -> (R) { R[2 i - 1, -j + 3 : N, (N + 1) / 2] = +(A[(2 * i + j - N) / 3 + "
      "1]), j < 2, i - j < N * 2; }",
      "function (A[N]) -> (R) { R[i : N] = =(A[2 * i]) no_defract default A; }",
      "function (A[N]) -> (R) { R[i : N] = =(A[2 * i]) default A no_defract; }",
      "function (A[N]) -> (R) { [[pid(conv_1)]] R[i : N] = +(A[i]); [[a]] [[b(x, Y, 3)]] S = A; "
      "[[e()]] T = A; }",
      "function f(A) -> (R) { R = A; } function g(A, B) -> (S, T) { S = A; T = B; }\n"
      "function (A) -> (R) { X = f(A); (S, T) = g(X, f(A + 1)); (U) = f(T); R = F(S) + U; }",
      "# before\n// and again\nfunction (A) -> (R) { // after the brace\n  # one\n\n  R = A; # "
      "behind\n\n  // two\n"
      "  S = A # within\n + 1;\n  # last\n}\n# end\n",
      "function(A)->(R){R=A<-1?-A:!A;}",
      "function (A) -> (R) { R = as_float(A, 16) + index(A, 0) + shape(A); }",
  };
  return programs;
}

}  // namespace stria::tile
