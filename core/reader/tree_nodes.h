// SPDX-License-Identifier: Apache-2.0
// A kernel tree as the structures of stria/tree.h. They lie in an arena, and point into the tree
// for texts and numbers.
#pragma once

#include <optional>
#include <unordered_map>

#include "stria/reader/arena.h"
#include "stria/semtree/tree/tree.h"
#include "stria/tree.h"

namespace stria::reader {

class TreeNodes {
 public:
  // The function stays where it is for as long as the nodes are used.
  explicit TreeNodes(const semtree::Function& function);
  const stria_tree_nodes* nodes() const { return nodes_; }

 private:
  using Body = Arena::List<const stria_tree_statement*>;

  const stria_tree_expression* expression(const semtree::ExprRef& from);
  const stria_tree_place* place(const semtree::Place& from);
  const stria_tree_matrix* matrix(const semtree::MatrixPlace& from);
  const stria_tree_parameter* parameter(const semtree::Parameter& from);
  const stria_tree_array* array(const semtree::Array& from);
  const stria_tree_variable* variable(const semtree::Variable& from);
  const stria_tree_operand* operand(const semtree::Instruction::Operand& from);
  const stria_tree_operand* operand(const semtree::MicroKernel::Operand& from);
  Body body(const semtree::Body& from);
  template <typename To>
  void set_body(const semtree::Body& from, To& to);
  template <typename From>
  void set_operands(const From& from, stria_tree_statement& to);
  void set_fragments(std::initializer_list<const semtree::FragmentRef*> from,
                     stria_tree_statement& to);

  // One for each kind of statement: a kind without one does not compile.
  void set(const semtree::Let& from, stria_tree_statement& to);
  void set(const semtree::Load& from, stria_tree_statement& to);
  void set(const semtree::Store& from, stria_tree_statement& to);
  void set(const semtree::For& from, stria_tree_statement& to);
  void set(const semtree::If& from, stria_tree_statement& to);
  void set(const semtree::Barrier& from, stria_tree_statement& to);
  void set(const semtree::Instruction& from, stria_tree_statement& to);
  void set(const semtree::Prefetch& from, stria_tree_statement& to);
  void set(const semtree::MatrixFill& from, stria_tree_statement& to);
  void set(const semtree::MatrixLoad& from, stria_tree_statement& to);
  void set(const semtree::MatrixStore& from, stria_tree_statement& to);
  void set(const semtree::MatrixMultiply& from, stria_tree_statement& to);
  void set(const semtree::ElementLoop& from, stria_tree_statement& to);
  void set(const semtree::SubgroupBarrier& from, stria_tree_statement& to);
  void set(const semtree::MicroKernel& from, stria_tree_statement& to);

  Arena arena_;
  // Expressions are shared, and stay so.
  std::unordered_map<const semtree::Expr*, const stria_tree_expression*> made_;
  const stria_tree_nodes* nodes_ = nullptr;
};

stria_tree_operation number_of(semtree::Op op);
// None if there is no such operation.
std::optional<semtree::Op> operation_of(stria_tree_operation number);

}  // namespace stria::reader
