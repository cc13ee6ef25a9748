// SPDX-License-Identifier: Apache-2.0
// Stage tile: parse and print canonically. What is printed must read as the same program.
#include "golden.h"
#include "stria/tile/syntax/parser.h"
#include "stria/tile/syntax/print.h"

namespace {

stria::Result<std::string> canonical(const stria::golden::Case& test) {
  STRIA_ASSIGN(stria::tile::Program program, stria::tile::parse(test.input));
  std::string text = stria::tile::print(program);
  STRIA_ASSIGN(stria::tile::Program again, stria::tile::parse({"printed text", text}));
  if (!(again == program))
    return stria::internal_error("the printed text reads as another program:\n{}", text);
  return text;
}

}  // namespace

int main(int argc, char** argv) { return stria::golden::run_stage(argc, argv, "tile", canonical); }
