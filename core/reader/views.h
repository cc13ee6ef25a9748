// SPDX-License-Identifier: Apache-2.0
// A program's structures as those of stria/reader.h. They lie in an arena, and point into the
// program for texts.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "stria/reader.h"
#include "stria/reader/arena.h"
#include "stria/semtree/build/kernels.h"
#include "stria/stripe/block.h"

namespace stria::reader {

class Views {
 public:
  // Both stay where they are for as long as the views are used.
  const stria_program_view* of(const stripe::Program& program,
                               const semtree::ProgramKernels& kernels);

 private:
  template <typename T>
  using List = Arena::List<T>;

  List<const stria_affine*> forms(const std::vector<Affine>& from);
  List<const stria_tag*> tags(const stripe::Tags& from);
  List<const stria_unit*> units(const stripe::Location& from);
  const stria_string* text(const std::string& from);
  List<const stria_string> texts(const std::vector<std::string>& from);

  const stria_affine* form(const Affine& from);
  const stria_tag* tag(const std::string& name, const stripe::TagValue& value, bool is_known);
  const stria_owner* owner(const std::string& name, const stripe::BitFieldForm& from);
  const stria_unit* unit(const stripe::LocationUnit& from);
  const stria_index* index(const stripe::Index& from);
  const stria_refinement* refinement(const stripe::Refinement& from);
  const stria_statement* statement(const stripe::Statement& from);
  const stria_block* block(const stripe::Block& from);
  const stria_kernel_block* kernel(const semtree::KernelBlock& from, const stripe::Program& program,
                                   const stria_program_view& view);

  void set_operation(const stripe::Load& from, stria_statement& to);
  void set_operation(const stripe::Store& from, stria_statement& to);
  void set_operation(const stripe::LoadIndex& from, stria_statement& to);
  void set_operation(const stripe::Constant& from, stria_statement& to);
  void set_operation(const stripe::Intrinsic& from, stria_statement& to);
  void set_operation(const stripe::Box<stripe::Special>& from, stria_statement& to);
  void set_operation(const stripe::Box<stripe::Block>& from, stria_statement& to);
  template <typename From>
  void set_access(const From& from, const std::string& input, const std::string& output,
                  stria_statement& to);

  Arena arena_;
  std::deque<Affine> made_;  // forms that the program does not have itself
};

}  // namespace stria::reader
