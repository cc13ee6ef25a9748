// SPDX-License-Identifier: Apache-2.0
// What a block's statements use, and changes of their list that keep dependencies right.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// Removes the statements that do not stay. A statement that waited for a removed one then waits for
// what that one waited for.
void erase_statements(stripe::Block& block, const std::vector<bool>& stays);

// Reorders the statements: statement i is the old statement order[i]. In the new order all
// dependencies must point backward.
void reorder_statements(stripe::Block& block, const std::vector<size_t>& order);

// Replaces statement i by the list parts[i], which may be empty; dependencies in the list are old
// positions. A statement that waited for statement i waits for the whole list, and each statement
// of the list waits for those before it in the list.
void replace_statements(stripe::Block& block, std::vector<std::vector<stripe::Statement>> parts);

// Does the statement itself load, store or pass to a special the refinement `name` of the block
// around? A block does not: it accesses tensors through its own views.
bool uses_itself(const stripe::Statement& stmt, const std::string& name);

// The scalars that the statement itself uses and defines.
std::vector<std::string> scalar_inputs(const stripe::Statement& stmt);
std::vector<std::string> scalar_outputs(const stripe::Statement& stmt);

// Gives the scalars that the statement uses their new names.
void rename_inputs(stripe::Statement& stmt, const std::map<std::string, std::string>& renamed);

// Replaces each use of a scalar in `renamed`. An earlier statement defines the new scalar; in a
// #deps block the user waits for that statement. Uses may have been replaced already.
void forward_scalars(stripe::Block& block, const std::map<std::string, std::string>& renamed);

// The first of `base`, `base_0`, `base_1`, … that is not taken. It is taken from now on.
std::string fresh_name(const std::string& base, std::set<std::string>& taken);

// Which of a block's statements use which of its refinements, found in one walk. Valid as long as
// the statements stay.
class StatementUsers {
 public:
  explicit StatementUsers(const stripe::Block& block);
  // The positions of the statements that use the refinement, in order.
  const std::vector<size_t>& of(const std::string& ref) const;

 private:
  std::map<std::string, std::vector<size_t>> users_;
};

// The names of the block's refinements that are needed. These are the ones that its statements use,
// and views that no statement uses but that alone make the block a writer of what a later statement
// around it reads: a read needs a writer before it. The block is statement `position` of `around`,
// which is null for the root.
std::set<std::string> needed_refinements(const stripe::Block& block, const stripe::Block* around,
                                         size_t position);

// Keeps those statements that are the only writers before a statement that stays and reads what
// they write.
void keep_only_writers(const stripe::Block& block, std::vector<bool>& stays);

}  // namespace stria::passes
