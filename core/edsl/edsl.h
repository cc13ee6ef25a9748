// SPDX-License-Identifier: Apache-2.0
// Tile written in C++: tensors, dimensions and indices are variables, and what is computed with
// them is a program of the Tile language, which prints as one.
//
//   using namespace stria::edsl;
//   Dim M, N, K;
//   Index i, j, k;
//   Tensor A = input("A", M, K), B = input("B", K, N);
//   Tensor C("C", M, N);
//   C(i, j) += A(i, k) * B(k, j);
//   STRIA_ASSIGN(stria::Program layer, program("layer", {A, B}, {relu(C)}));
//   std::puts(layer.text().c_str());
//
//   Dim          an integer known when the program is compiled; sizes (dim.h)
//   Index, Form  which element of a tensor (form.h)
//   Tensor       input, output of a contraction, or elementwise expression (tensor.h, functions.h)
//   Access, …    contractions (contraction.h)
//   Function     a function to be called; program() makes a stria::Program (function.h)
//
// What cannot be right in C++ does not compile: an index as a tensor, a tensor as a size, a tensor
// without its indices in a contraction, a built-in function with another number of arguments. All
// other mistakes are found while the program is written, where operators and constructors cannot
// return them: such a call gives a tensor that *fails*, and so does what is made from it.
// Tensor::status() tells at once; program() returns every mistake that its results depend on. No
// function ends the process or throws, but for std::bad_alloc.
//
// Everything is a handle; nothing is global, and threads need locks only where a header says so.
// Names: functions and operators are found without `using` where an argument is of this namespace;
// stria::Tensor is a device's memory, stria::edsl::Tensor a tensor in a program.
#pragma once

#include "stria/edsl/contraction.h"
#include "stria/edsl/dim.h"
#include "stria/edsl/form.h"
#include "stria/edsl/function.h"
#include "stria/edsl/functions.h"
#include "stria/edsl/tensor.h"
