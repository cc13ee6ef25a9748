// SPDX-License-Identifier: Apache-2.0
// Makes the derivative of a Tile function, as a Tile function: source to source and before any
// binding, so that sizes stay names and the result serves every size and type.
#pragma once

#include <string>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/tile/syntax/ast.h"

namespace stria::tile {

struct GradientOptions {
  std::string function;          // to differentiate; empty: the entry (entry_function)
  std::vector<std::string> wrt;  // parameters to differentiate by; empty: every one
  std::string of;                // the result to differentiate; empty: all that depend on `wrt`
  bool keep_results = false;     // the function's results come before the derivatives
  // Of the function made. Empty: the function's with "_gradient" behind it, and a number if the
  // program has a function of that name.
  std::string name;
};

// The last function of the program that is returned is named `options.name`. Its parameters are
// those of the function (a bare one may have got dimensions), and then one `DR` for each
// differentiated result R that is not known to be of rank 0: the derivative of some number by R, of
// R's sizes. For a result of rank 0 this derivative is 1. Its results are those of the function if
// they are kept, and then one `DA` for each parameter A of `wrt`: the derivative of that number by
// A, with A's sizes. Names are others if these are taken. The functions before it belong to it
// (their names begin with its name). The text is that of print(), and all places in the program lie
// in it.
//
// `notes` gets a note, with a place in `program`, for each parameter that no result depends on: its
// derivative is zero. invalid_argument: the function cannot be bound with any inputs, or something
// has no derivative; with places in `program`. not_found: unknown names, with the nearest. Pure;
// safe from every thread.
Result<Program> gradient(const Program& program, const GradientOptions& options,
                         std::vector<Diagnostic>* notes = nullptr);

}  // namespace stria::tile
