// SPDX-License-Identifier: Apache-2.0
// What a block's statements use, and changes of their list that keep the dependencies between them
// right.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::passes {

// Drops the statements that do not stay. What waited for one of them waits for what that waited
// for.
void erase_statements(stripe::Block& block, const std::vector<bool>& stays);

// Statement i is the old statement order[i]: a permutation in which dependencies point backward.
void reorder_statements(stripe::Block& block, const std::vector<size_t>& order);

// Statement i becomes the list parts[i], which may be empty and whose dependencies are of the old
// positions. What waited for statement i waits for all of them, and so does each for those of the
// list before it.
void replace_statements(stripe::Block& block, std::vector<std::vector<stripe::Statement>> parts);

// The scalars that the statement itself uses and defines.
std::vector<std::string> scalar_inputs(const stripe::Statement& stmt);
std::vector<std::string> scalar_outputs(const stripe::Statement& stmt);

// Gives the scalars that the statement uses their new names.
void rename_inputs(stripe::Statement& stmt, const std::map<std::string, std::string>& renamed);

// Every use of a scalar in `renamed` becomes, if it is not yet, one of the scalar that it is
// renamed to, which an earlier statement defines; in a #deps block the user waits for that
// statement.
void forward_scalars(stripe::Block& block, const std::map<std::string, std::string>& renamed);

// `base` or `base_0`, `base_1`, …: the first that is not taken, and from now on is.
std::string fresh_name(const std::string& base, std::set<std::string>& taken);

// Which of a block's statements use which of its refinements: one walk for all of them. Right as
// long as the statements stay.
class StatementUsers {
 public:
  explicit StatementUsers(const stripe::Block& block);
  // The positions, in order.
  const std::vector<size_t>& of(const std::string& ref) const;

 private:
  std::map<std::string, std::vector<size_t>> users_;
};

// The names of the block's refinements that its statements use, and of those that nothing uses but
// that alone say that the block writes what a later statement of the block around it reads: a read
// needs a writer before it. `around`: that block, null for the root; `position`: of the block among
// its statements.
std::set<std::string> needed_refinements(const stripe::Block& block, const stripe::Block* around,
                                         size_t position);

// Of the statements that are not to stay, makes those stay that are the only writers before one
// that stays and reads what they would write.
void keep_only_writers(const stripe::Block& block, std::vector<bool>& stays);

}  // namespace stria::passes
