// SPDX-License-Identifier: Apache-2.0
// The nodes of an ONNX model that its graph reaches, and those of them that nothing can run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stria/onnx/model/model.h"

namespace stria::command {

using VisitNode = std::function<void(const onnx::Node&)>;

// "Conv", "com.acme.Frob".
std::string qualified(const onnx::Node& node);
// Is it an operator of stria, or a function of the model?
bool is_known(const onnx::Model& model, const onnx::Node& node);
// The node and those in its graphs.
void visit_nodes(const onnx::Node& node, const VisitNode& each);
// The nodes of the graph and of the functions that it calls, each of these once.
void visit_called_nodes(const onnx::Model& model, const VisitNode& each);
// Operators that are not known, with the first nodes that use them: "Foo: 'a', 'b' and 2 more".
std::vector<std::string> unknown_operators(const onnx::Model& model);

}  // namespace stria::command
