// SPDX-License-Identifier: Apache-2.0
// A program whose gradient is proved, with its inputs; and a file of such cases. In the file, a
// case is a line "name: inputs" and its program below, indented by two spaces:
//
//   gather: [4, 3], [5] = 2 0 2 3 0
//     function (D, I) -> (R) { R = gather(D, I); }
//
// An input is its sizes in brackets. "= numbers" gives the elements; without it they are made.
// Empty lines and lines that begin with "//" are skipped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "proof.h"

namespace stria::gradient_proof {

// An input: fp64 numbers, all different; or above 0; or integers that are given.
struct Input {
  std::vector<int64_t> sizes;
  enum { any, positive, chosen } kind = any;
  std::vector<double> integers = {};

  Numbers numbers(uint64_t seed) const;
};

struct ProofCase {
  std::string name;  // of the tutorial's file, or of the text
  std::vector<Input> inputs;
  std::string text = "";
  std::vector<std::string> of = {""};  // differentiated one after the other; "" is all together
  double most_irregular = 0;           // share of the elements
};

// The cases in `text`. Fails at the first line that is wrong: "<path>:<line>: <what>".
Result<std::vector<ProofCase>> parse_proof_cases(const std::filesystem::path& path,
                                                 std::string_view text);

}  // namespace stria::gradient_proof
