// SPDX-License-Identifier: Apache-2.0
// Which elements of a tensor one point of a block writes, as a loop nest of its own: what the
// blocks that set an accumulator up, write it out, or store an identity run over.
#pragma once

#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// `root`, its only statement if that is a block, that one's only statement, …
std::vector<stripe::Block*> single_chain(stripe::Block& root);

// The chains of blocks from `root` to each block that stores to its view of `name`, a refinement of
// the block around root, through views that aggregate, or through any. More than one if a loop has
// been split into parts.
std::vector<std::vector<stripe::Block*>> writing_chains(stripe::Block& root,
                                                        const std::string& name,
                                                        bool sums_only = true);

// The block's first refinement that views `parent_name`; null if there is none.
stripe::Refinement* find_view(stripe::Block& block, const std::string& parent_name);
const stripe::Refinement* find_view(const stripe::Block& block, const std::string& parent_name);

struct WriteDomain {
  // Range over 1, no affine form; names differ from each other and from the host's indices. In the
  // order of the chain, outermost first.
  std::vector<stripe::Index> indices;
  // The element, one form per dimension of the host's view, over `indices`; over the host's too if
  // that was allowed.
  std::vector<Affine> access;
  // Over `indices` and the host's indices.
  std::vector<Affine> constraints;
  // `indices` has the vector index of the chain's innermost block (as its last): its name, else "".
  std::string lane;
  // Why the written elements are not known in this form; then the rest is empty.
  Refusal refusal = Refusal::none();
  // Two refused nests are equal, whatever refused them.
  bool operator==(const WriteDomain& other) const {
    return indices == other.indices && access == other.access && constraints == other.constraints &&
           lane == other.lane && !refusal == !other.refusal;
  }
};

// The elements of `name`, a refinement of the host, that one point of the host writes through
// `chain`.
//   path   from a block without outer indices (a kernel, or #main) to the host
//   chain  a block statement of the host down to the block that stores
// Exact: each written element once, no other. Indices that run from an affine form must start at 0
// (start_indices_at_zero). With `may_move`, views inside may move with an index of the host.
WriteDomain write_domain(const std::vector<const stripe::Block*>& path,
                         const std::vector<const stripe::Block*>& chain, const std::string& name,
                         bool may_move = false);

// Keeps the block, a statement of the host with the nest's indices, to the points of the nest: adds
// its constraints, and brings in the values of the host that they name.
void constrain_to(stripe::Block& block, const WriteDomain& nest);

// Do no two of these nests of one host write one element at one of its points? False as well if it
// takes too long to find out.
bool are_apart(const std::vector<WriteDomain>& nests);

// As write_domain, for several chains under a host without indices (#main): as many nests as it
// takes, disjoint. unknown if that takes too long to find out; unsupported if a block has two views
// of the tensor.
Result<std::vector<WriteDomain>> written_pieces(
    const stripe::Block& host, const std::vector<std::vector<const stripe::Block*>>& chains,
    const std::string& name);

}  // namespace stria::passes
