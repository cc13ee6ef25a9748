// SPDX-License-Identifier: Apache-2.0
// Random legal Tile programs of a few statements, each of which reads inputs and earlier results.
#pragma once

#include <cstdint>

#include "suite/program_run.h"

namespace stria::conformance {

// The same program for the same seed on every machine. As seeds go up, the first statement goes
// through all aggregations, combinations and types.
TestProgram generate_program(uint64_t seed);

}  // namespace stria::conformance
