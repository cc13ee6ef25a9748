// SPDX-License-Identifier: Apache-2.0
// Stage lower: Tile text and the inputs' sizes (RUN: A=2,3 B=3,4:fp16) to verified generic Stripe.
#include <cstdlib>
#include <map>

#include "golden.h"
#include "stria/base/text.h"
#include "stria/lower/lower.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace {

using stria::invalid_argument;

// "A=2,3:fp16" and so on.
stria::Result<std::map<std::string, stria::tile::TensorType>> inputs_of(const std::string& run) {
  std::map<std::string, stria::tile::TensorType> inputs;
  for (const std::string& word : stria::split(run, ' ')) {
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return invalid_argument("'{}' is not NAME=SIZES[:TYPE]", word);
    const std::vector<std::string> parts = stria::split(word.substr(equals + 1), ':');
    stria::tile::TensorType& type = inputs[word.substr(0, equals)];
    if (parts.size() > 1) {
      auto parsed = stria::parse_tensor_type(parts[1]);
      if (!parsed) return invalid_argument("'{}' is no type", parts[1]);
      type.type = *parsed;
    }
    for (const std::string& size : stria::split(parts[0], ','))
      if (!size.empty()) type.sizes.push_back(std::atoll(size.c_str()));
  }
  return inputs;
}

stria::Result<std::string> lowered(const stria::golden::Case& test) {
  STRIA_ASSIGN(auto inputs, inputs_of(test.run));
  STRIA_ASSIGN(stria::tile::Program program, stria::tile::parse(test.input));
  STRIA_ASSIGN(stria::tile::BoundProgram bound, stria::tile::bind_program(program, "", inputs));
  STRIA_ASSIGN(stria::stripe::Program generic, stria::lower(bound));
  STRIA_RETURN_IF_ERROR(stria::stripe::verify(generic));
  return stria::stripe::print(generic);
}

}  // namespace

int main(int argc, char** argv) { return stria::golden::run_stage(argc, argv, "lower", lowered); }
