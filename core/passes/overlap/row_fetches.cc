// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/row_fetches.h"

#include <algorithm>

#include "stria/passes/overlap/fetch_request.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::Refinement;

// The dimension that counts rows; rank() if there is none.
size_t row_dimension(const Refinement& view) {
  size_t best = view.shape.rank();
  for (size_t d = 0; d < view.shape.rank(); ++d) {
    const Dim& dim = view.shape.dims[d];
    if (dim.size > 1 && dim.stride != 1 &&
        (best == view.shape.rank() || dim.size > view.shape.dims[best].size))
      best = d;
  }
  return best;
}

}  // namespace

int64_t row_count(const Refinement& view) {
  const size_t d = row_dimension(view);
  return d < view.shape.rank() ? view.shape.dims[d].size : 1;
}

double turn_count(const Block& loop) {
  double turns = 1;
  for (const Index& index : loop.idxs)
    if (!index.affine) turns *= static_cast<double>(index.range);
  return turns;
}

bool can_hold_fetches(const Block& loop) {
  return std::none_of(loop.refs.begin(), loop.refs.end(),
                      [](const Refinement& ref) { return ref.tags.has(stripe::tag::kClamp); });
}

void fetch_rows(Block& loop, const std::vector<Refinement>& views,
                const std::vector<Affine>& constraints) {
  int64_t rows = 1;
  for (const Refinement& view : views) rows = std::max(rows, row_count(view));
  Block asks;
  Affine turn;
  int64_t turns = 1;
  for (const stripe::Index* index : loop_indices(loop)) {
    turn.add_term(bring_in(asks, index->name), turns);
    turns *= index->range;
  }
  for (const Affine& form : constraints) {
    Affine here(form.constant());
    for (const Affine::Term& term : form.terms())
      here.add_term(bring_in(asks, term.first), term.second);
    asks.constraints.push_back(here);
  }
  if (turns > rows) asks.constraints.push_back(Affine(rows - 1) - turn);
  for (const Refinement& view : views) {
    Refinement row = view;
    for (Affine& access : row.access) access = Affine();
    row.from = view.into;
    row.into = asks.fresh_name(view.into);
    row.tags.set(stripe::tag::kFetch);
    if (const size_t d = row_dimension(view); d < row.shape.rank()) {
      row.access[d] = turn;
      row.shape.dims[d].size = 1;
    }
    asks.refs.push_back(std::move(row));
  }
  loop.stmts.insert(loop.stmts.begin(), stripe::Statement(std::move(asks)));
  run_in_order(loop);
}

}  // namespace stria::passes
