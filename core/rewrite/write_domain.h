// SPDX-License-Identifier: Apache-2.0
// The write domain: which elements of a tensor one point of a block writes, as a loop nest of its
// own. Blocks that set up an accumulator, write it out, or store an identity run over it.
#pragma once

#include <string>
#include <vector>

#include "stria/base/refusal.h"
#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// The chain of blocks from `root` inward, as long as each block has a block as its only statement.
std::vector<stripe::Block*> single_chain(stripe::Block& root);

// The chains of blocks from `root` to each block that stores to `name`, a refinement of the block
// around root. With `sums_only` all views on the way must aggregate. There are several chains if a
// loop has been split into parts.
std::vector<std::vector<stripe::Block*>> writing_chains(stripe::Block& root,
                                                        const std::string& name,
                                                        bool sums_only = true);

// The block's first refinement that views `parent_name`; null if there is none.
stripe::Refinement* find_view(stripe::Block& block, const std::string& parent_name);
const stripe::Refinement* find_view(const stripe::Block& block, const std::string& parent_name);

struct WriteDomain {
  // Indices of range over 1, without affine forms. Their names differ from each other and from the
  // host's indices. They are in the order of the chain, outermost first.
  std::vector<stripe::Index> indices;
  // The element: one form for each dimension of the host's view, over `indices`, and over the
  // host's indices if that was allowed.
  std::vector<Affine> access;
  // Over `indices` and the host's indices.
  std::vector<Affine> constraints;
  // If the chain's innermost block is #vector: the name of the lane index, which is the last of
  // `indices`; else "".
  std::string lane;
  // Why the written elements are not known in this form; the rest is then empty.
  Refusal refusal = Refusal::none();
  // Two refused domains are equal, whatever the reasons are.
  bool operator==(const WriteDomain& other) const {
    return indices == other.indices && access == other.access && constraints == other.constraints &&
           lane == other.lane && !refusal == !other.refusal;
  }
};

// The elements of `name`, a refinement of the host, that one point of the host writes through
// `chain`.
//   path   from a block without outer indices (a kernel, or #main) to the host
//   chain  a block statement of the host down to the block that stores
// The domain is exact: it has each written element once, and no other. Indices that run from an
// affine form must have been made to start at 0 (start_indices_at_zero). With `may_move`, views
// inside may move with an index of the host.
WriteDomain write_domain(const std::vector<const stripe::Block*>& path,
                         const std::vector<const stripe::Block*>& chain, const std::string& name,
                         bool may_move = false);

// Restricts the block, a statement of the host with the nest's indices, to the points of the nest:
// adds its constraints, and brings in the host's values that they use.
void constrain_to(stripe::Block& block, const WriteDomain& nest);

// Are these domains disjoint at each point of their host? Also false if it takes too long to find
// out.
bool are_apart(const std::vector<WriteDomain>& nests);

// As write_domain, for several chains under a host without indices (#main). The result is as many
// disjoint domains as it takes. unknown if it takes too long to find out; unsupported if a block
// has two views of the tensor.
Result<std::vector<WriteDomain>> written_pieces(
    const stripe::Block& host, const std::vector<std::vector<const stripe::Block*>>& chains,
    const std::string& name);

}  // namespace stria::passes
