// SPDX-License-Identifier: Apache-2.0
// What a model must keep that no single message of its file can break: names that are there once.
#pragma once

#include "stria/base/status.h"
#include "stria/onnx/model/model.h"

namespace stria::onnx {

// invalid_argument, naming the graph, if it or one inside it has two inputs or two initialisers of
// one name (outputs have places, and may be one value); if a node has two attributes of one name;
// if two functions of one domain and overload have one name, or a function two parameters.
Status check_names(const Model& model);

}  // namespace stria::onnx
