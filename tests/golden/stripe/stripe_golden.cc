// SPDX-License-Identifier: Apache-2.0
// Stage stripe: parse and print. The output is also read again and must print as itself.
#include "golden.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"

namespace {

stria::Result<std::string> round_trip(const stria::golden::Case& test) {
  STRIA_ASSIGN(stria::stripe::Program program, stria::stripe::parse(test.input));
  std::string text = stria::stripe::print(program);
  STRIA_ASSIGN(stria::stripe::Program again, stria::stripe::parse({"printed text", text}));
  if (!(again == program))
    return stria::internal_error("the printed text reads as another program:\n{}", text);
  if (stria::stripe::print(again) != text)
    return stria::internal_error("printing is not canonical:\n{}", text);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  return stria::golden::run_stage(argc, argv, "stripe", round_trip);
}
